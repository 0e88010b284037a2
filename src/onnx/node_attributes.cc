#include <fmt/core.h>
#include <iterator>
#include <utility>
#include <variant>

#include "base/fail.h"
#include "onnx/context.h"
#include "onnx/graph_builder.h"

namespace sardonyx::onnx {
namespace {

/// The AttributeType of each alternative of graph::Attribute.
constexpr AttributeType kTypeOfAlternative[] = {
    AttributeType::kInt,    AttributeType::kFloat,     AttributeType::kString,       AttributeType::kTensor,
    AttributeType::kGraph,  AttributeType::kTypeProto, AttributeType::kSparseTensor, AttributeType::kInts,
    AttributeType::kFloats, AttributeType::kStrings,   AttributeType::kTensors,      AttributeType::kGraphs,
};
static_assert(std::size(kTypeOfAlternative) == std::variant_size_v<graph::Attribute>);

/// What a reference stands for; null when the call did not give it and the function has no default.
const graph::Attribute* resolve(const AttributeProto& proto, const AttributeBindings* bindings) {
  if (!bindings) {
    fail(ErrorCode::kInvalidModel, "attribute '{}' refers to '{}', but only functions have attributes to refer to",
         proto.name, proto.ref_attr_name);
  }
  const auto bound = bindings->find(proto.ref_attr_name);
  if (bound == bindings->end()) return nullptr;
  const AttributeType type = kTypeOfAlternative[bound->second.index()];
  if (proto.type != 0 && proto.type != static_cast<std::int64_t>(type)) {
    fail(ErrorCode::kInvalidModel, "attribute '{}' of type {} refers to '{}', which has type {}", proto.name,
         proto.type, proto.ref_attr_name, static_cast<int>(type));
  }
  return &bound->second;
}

std::size_t bytes_of(const AttributeProto& proto) {
  std::size_t bytes = proto.s.size() + proto.ints.size() * sizeof(std::int64_t) + proto.floats.size() * sizeof(float);
  for (std::string_view text : proto.strings) bytes += text.size() + sizeof(std::string);
  return bytes;
}

/// What a copy takes; tensors are shared.
std::size_t bytes_of(const graph::Attribute& attribute) {
  if (const auto* text = std::get_if<std::string>(&attribute)) return text->size();
  if (const auto* ints = std::get_if<std::vector<std::int64_t>>(&attribute)) return ints->size() * sizeof(std::int64_t);
  if (const auto* floats = std::get_if<std::vector<float>>(&attribute)) return floats->size() * sizeof(float);
  std::size_t bytes = 0;
  if (const auto* texts = std::get_if<std::vector<std::string>>(&attribute)) {
    for (const std::string& text : *texts) bytes += text.size() + sizeof text;
  }
  return bytes;
}

}  // namespace

graph::Attributes GraphBuilder::read_attributes(const NodeProto& proto) {
  constexpr std::size_t kMostAttributes = 1000;  // they are looked up one after the other
  if (proto.attributes.size() > kMostAttributes) {
    fail(ErrorCode::kUnsupported, "a node has {} attributes; at most {} are supported", proto.attributes.size(),
         kMostAttributes);
  }
  graph::Attributes attributes;
  for (const AttributeProto& attribute : proto.attributes) {
    std::string name(attribute.name);
    if (name.empty()) fail(ErrorCode::kInvalidModel, "an attribute has no name");
    if (attributes.has(name)) fail(ErrorCode::kInvalidModel, "attribute '{}' is given twice", name);
    if (!attribute.ref_attr_name.empty()) {
      if (const graph::Attribute* bound = resolve(attribute, scope_.bindings)) {
        state_.tensors.take(bytes_of(*bound));
        attributes.set(std::move(name), *bound);
      }
      continue;
    }
    if (scope_.bindings) state_.tensors.take(bytes_of(attribute));
    const AttributeType type = type_of(attribute);
    if (type == AttributeType::kGraph || type == AttributeType::kGraphs) {
      attributes.set(std::move(name), std::shared_ptr<graph::Graph>());  // a place in the order; build_bodies fills it
      continue;
    }
    attributes.set(name, in_context([&] { return fmt::format("attribute '{}'", name); },
                                    [&] { return to_attribute(attribute, state_.tensors, state_.model.symbols); }));
  }
  return attributes;
}

}  // namespace sardonyx::onnx
