#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "base/fail.h"
#include "ops/infer.h"
#include "optimizer/gradient/gradient.h"

namespace sardonyx::optimizer {
namespace {

using graph::Graph;
using graph::kNoValue;
using graph::Model;
using graph::Node;
using graph::NodeId;
using graph::ValueId;

constexpr const char* kDomain = "ai.onnx.preview.training";

bool is_gradient(const Node& node) { return node.domain == kDomain && node.op_type == "Gradient"; }

/// One Gradient node.
class Expansion {
 public:
  Expansion(Model& model, Graph& graph, NodeId id)
      : graph_(graph), id_(id), edit_(graph), builder_(model, graph, edit_, id) {}

  void run() {
    read_names();
    find_way();
    replay();
    accumulate();
    const Node& gradient = graph_.node(id_);
    for (std::size_t i = 0; i < gradient.outputs.size(); ++i) {
      if (gradient.outputs[i] == kNoValue) continue;
      const auto found = gradients_.find(named_[i]);
      const ValueId result = found != gradients_.end() ? found->second : builder_.filled_like(gradient.inputs[i], 0);
      // By Identity, so that another Gradient may still ask for this result by its name.
      Node named;
      named.op_type = "Identity";
      named.name = gradient.name + "/result";
      named.inputs = {result};
      named.outputs = {gradient.outputs[i]};
      edit_.insert_before(id_, std::move(named));
    }
    edit_.remove(id_);
    edit_.commit();
    graph_.sort();
    graph_.remove_unused();
  }

 private:
  bool is_float(ValueId value) const {
    const graph::ValueType& type = graph_.value(value).type;
    return type.is_tensor() && is_floating_point(type.element);
  }

  void read_names() {
    const Node& gradient = graph_.node(id_);
    std::unordered_map<std::string_view, ValueId> by_name;
    for (std::size_t i = 0; i < graph_.value_count(); ++i) {
      by_name.try_emplace(graph_.value(static_cast<ValueId>(i)).name, static_cast<ValueId>(i));
    }
    const auto find = [&](const std::string& attribute, const std::string& name) {
      const auto found = by_name.find(name);
      if (found != by_name.end()) return found->second;
      fail(ErrorCode::kInvalidModel, "{}: attribute '{}' names '{}', but the graph around it has no such value",
           ops::node_place(gradient), attribute, name);
    };
    for (const char* attribute : {"xs", "zs"}) {
      const std::vector<std::string>* names = gradient.attributes.strings(attribute);
      if (names) {
        for (const std::string& name : *names) named_.push_back(find(attribute, name));
      }
      if (attribute == std::string_view("xs")) variables_ = named_.size();
    }
    if (gradient.inputs.size() != named_.size() || gradient.outputs.size() > variables_) {
      fail(ErrorCode::kInvalidModel,
           "{}: expected an input for each of the {} names in 'xs' and 'zs' and at most {} outputs, found {} and {}",
           ops::node_place(gradient), named_.size(), variables_, gradient.inputs.size(), gradient.outputs.size());
    }
    target_ = find("y", gradient.attributes.get_string("y"));
    if (!is_float(target_)) {
      fail(ErrorCode::kInvalidModel, "{}: 'y' must name a tensor of floats, found {}", ops::node_place(gradient),
           graph_.value(target_).type.to_string());
    }
  }

  /// The nodes between the named inputs and y, in the graph's order, and the values that depend on a variable.
  void find_way() {
    const std::unordered_set<ValueId> named(named_.begin(), named_.end());
    std::unordered_set<ValueId> wanted = {target_};
    std::unordered_set<NodeId> behind;  // what y is computed from
    for (auto it = graph_.order().rbegin(); it != graph_.order().rend(); ++it) {
      const Node& node = graph_.node(*it);
      const bool makes_wanted = std::any_of(node.outputs.begin(), node.outputs.end(), [&](ValueId output) {
        return wanted.contains(output) && !named.contains(output);
      });
      if (!makes_wanted) continue;
      behind.insert(*it);
      for (ValueId input : node.inputs) {
        if (input != kNoValue) wanted.insert(input);
      }
    }
    std::unordered_set<ValueId> reached = named;  // by any named input, and below by a variable
    depends_.insert(named_.begin(), named_.begin() + static_cast<std::ptrdiff_t>(variables_));
    for (NodeId id : graph_.order()) {
      if (!behind.contains(id)) continue;
      const Node& node = graph_.node(id);
      const auto reads = [&](const std::unordered_set<ValueId>& values, bool floats_only) {
        return std::any_of(node.inputs.begin(), node.inputs.end(),
                           [&](ValueId input) { return values.contains(input) && (!floats_only || is_float(input)); });
      };
      if (!reads(reached, false)) continue;
      way_.push_back(id);
      reached.insert(node.outputs.begin(), node.outputs.end());
      if (!reads(depends_, true)) continue;
      for (ValueId output : node.outputs) {
        if (output != kNoValue && is_float(output)) depends_.insert(output);
      }
    }
  }

  ValueId current(ValueId value) const {
    const auto found = current_.find(value);
    return found == current_.end() ? value : found->second;
  }

  /// Where the node is given other tensors than the named ones, the way is computed again from them.
  void replay() {
    const Node& gradient = graph_.node(id_);
    for (std::size_t i = 0; i < named_.size(); ++i) {
      if (gradient.inputs[i] != named_[i]) current_[named_[i]] = gradient.inputs[i];
    }
    if (current_.empty()) return;
    for (NodeId id : way_) {
      Node again = graph_.node(id);
      again.name += "/again";
      for (ValueId& input : again.inputs) input = current(input);
      for (ValueId& output : again.outputs) {
        if (output == kNoValue) continue;
        const graph::ValueInfo info = graph_.value(output);
        output = current_[output] = graph_.add_value(info.name + "/again", info.type);
      }
      edit_.insert_before(id_, std::move(again));
    }
  }

  /// Backwards over the way. gradients_ is by the values' names in the graph, not by what replay made of them.
  void accumulate() {
    if (!depends_.contains(target_)) return;
    gradients_[target_] = builder_.filled_like(current(target_), 1);
    for (auto it = way_.rbegin(); it != way_.rend(); ++it) {
      const Node& original = graph_.node(*it);
      const auto output = std::find_if(original.outputs.begin(), original.outputs.end(),
                                       [&](ValueId value) { return gradients_.contains(value); });
      if (output == original.outputs.end() || !depends_.contains(*output)) continue;
      const DerivativeRule rule = original.domain.empty() ? find_derivative_rule(original.op_type) : nullptr;
      if (!rule || original.outputs.size() != 1) {
        fail(ErrorCode::kUnsupported, "Gradient can't go through {}; it knows {}", ops::node_place(original),
             derivative_rule_names());
      }
      Node node = original;
      for (ValueId& value : node.inputs) value = current(value);
      for (ValueId& value : node.outputs) value = current(value);
      const std::vector<ValueId> found = rule(builder_, node, gradients_.at(*output));
      for (std::size_t i = 0; i < std::min(found.size(), original.inputs.size()); ++i) {
        const ValueId input = original.inputs[i];
        if (found[i] == kNoValue || !depends_.contains(input)) continue;
        const auto [place, is_new] = gradients_.try_emplace(input, found[i]);
        if (!is_new) place->second = builder_.add("Add", {place->second, found[i]});
      }
    }
  }

  Graph& graph_;
  NodeId id_;
  graph::GraphEdit edit_;
  GradientBuilder builder_;
  std::vector<ValueId> named_;  ///< the values that xs and zs name
  std::size_t variables_ = 0;   ///< how many of them are xs
  ValueId target_ = kNoValue;   ///< y
  std::vector<NodeId> way_;
  std::unordered_set<ValueId> depends_;             ///< on a variable, by way of floats
  std::unordered_map<ValueId, ValueId> current_;    ///< what stands for a value of the way, where replay made another
  std::unordered_map<ValueId, ValueId> gradients_;  ///< of y by each value so far
};

/// The first Gradient node in the graph or a body, expanded; false where there is none.
bool expand_first(Model& model, Graph& graph) {
  for (NodeId id : graph.order()) {
    if (is_gradient(graph.node(id))) {
      Expansion(model, graph, id).run();
      return true;
    }
    bool inside = false;
    graph::for_each_subgraph(graph.node(id), [&](Graph& body) { inside = inside || expand_first(model, body); });
    if (inside) return true;
  }
  return false;
}

}  // namespace

bool expand_gradients(Model& model) {
  bool expanded = false;
  // One at a time: a later one may ask for the gradient of an earlier one's result, whose types must be known by then.
  while (expand_first(model, model.graph)) {
    expanded = true;
    ops::infer(model);
  }
  return expanded;
}

}  // namespace sardonyx::optimizer
