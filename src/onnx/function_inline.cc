#include <algorithm>
#include <fmt/core.h>
#include <utility>

#include "base/fail.h"
#include "onnx/context.h"
#include "onnx/graph_builder.h"

namespace sardonyx::onnx {

using graph::kNoValue;
using graph::ValueId;

Function* GraphBuilder::find_function(const NodeProto& proto) {
  if (state_.functions.empty()) return nullptr;
  const auto found = state_.functions.find({canonical_domain(proto.domain), proto.op_type, proto.overload});
  return found == state_.functions.end() ? nullptr : &found->second;
}

AttributeBindings GraphBuilder::bind_attributes(const Function& function, const graph::Attributes& attributes) {
  AttributeBindings bindings;
  for (const AttributeProto& proto : function.proto.attribute_defaults) {
    bindings.insert_or_assign(std::string(proto.name), to_attribute(proto, state_.tensors, state_.model.symbols));
  }
  for (const auto& [name, value] : attributes) {
    if (std::holds_alternative<std::shared_ptr<graph::Graph>>(value)) {
      fail(ErrorCode::kUnsupported, "attribute '{}': graphs as attributes of model-local functions are not supported",
           name);
    }
    bindings.insert_or_assign(name, value);
  }
  return bindings;
}

/// Calls count as well: functions without nodes can call one another as often as others can.
void GraphBuilder::count_inlined() {
  if (++state_.inlined_nodes > state_.options.most_inlined_nodes) {
    fail(ErrorCode::kResourceExhausted,
         "the model's functions expand into more than {} nodes (ReadOptions::most_inlined_nodes)",
         state_.options.most_inlined_nodes);
  }
}

namespace {

/// What begins the names inside a call: the call's own name, cut where it is so long that its copies would fill the
/// memory.
std::string prefix_of(const Scope& scope, const NodeProto& call) {
  constexpr std::size_t kLongestName = 200, kLongestPrefix = 1000;
  std::string prefix = scope.full_name((call.name.empty() ? call.op_type : call.name).substr(0, kLongestName)) + "/";
  if (prefix.size() > kLongestPrefix) prefix.erase(0, prefix.size() - kLongestPrefix);
  return prefix;
}

}  // namespace

void GraphBuilder::expand_call(const NodeProto& proto, Function& function, const graph::Attributes& attributes) {
  const FunctionProto& callee = function.proto;
  if (function.is_active) fail(ErrorCode::kInvalidModel, "function '{}.{}' calls itself", callee.domain, callee.name);
  if (proto.inputs.size() > callee.inputs.size() || proto.outputs.size() > callee.outputs.size()) {
    fail(ErrorCode::kInvalidModel, "function '{}.{}' has {} inputs and {} outputs, but is called with {} and {}",
         callee.domain, callee.name, callee.inputs.size(), callee.outputs.size(), proto.inputs.size(),
         proto.outputs.size());
  }
  count_inlined();
  const NestingLevel level(state_);
  const AttributeBindings bindings = bind_attributes(function, attributes);
  Scope inner(scope_.graph(), nullptr, function.opsets);
  inner.bindings = &bindings;
  inner.prefix = prefix_of(scope_, proto);
  const std::vector<ValueId> inputs = read_inputs(proto);
  for (std::size_t i = 0; i < callee.inputs.size(); ++i) {
    inner.define(callee.inputs[i], i < inputs.size() ? inputs[i] : kNoValue);
  }
  struct Active {
    explicit Active(bool& flag) : flag(flag) { flag = true; }
    ~Active() { flag = false; }
    bool& flag;
  } active(function.is_active);
  in_context([&] { return fmt::format("function '{}.{}'", callee.domain, callee.name); },
             [&] {
               if (!function.is_ordered) {
                 function.producers = find_producers(callee.nodes);
                 function.order = order_nodes(callee.nodes, function.producers);
                 function.is_ordered = true;
               }
               GraphBuilder(state_, inner).build_nodes(callee.nodes, function.order);
               take_outputs(proto, function, inner);
             });
}

void GraphBuilder::take_outputs(const NodeProto& proto, const Function& function, Scope& inner) {
  for (std::size_t i = 0; i < proto.outputs.size(); ++i) {
    const std::optional<ValueId> value = inner.find(function.proto.outputs[i]);
    if (!value) fail(ErrorCode::kInvalidModel, "the output '{}' is made by no node", function.proto.outputs[i]);
    if (proto.outputs[i].empty()) continue;
    if (*value == kNoValue) {
      fail(ErrorCode::kInvalidModel, "the output '{}' is an input that the call leaves out", function.proto.outputs[i]);
    }
    scope_.define(proto.outputs[i], *value);
    graph::ValueInfo& info = scope_.graph().value(*value);
    if (info.name.starts_with(inner.prefix)) info.name = scope_.full_name(proto.outputs[i]);
  }
}

}  // namespace sardonyx::onnx
