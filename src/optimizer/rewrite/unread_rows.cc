// A classifier reads row 0 of its last layer: [batch, sequence, hidden] → Gather(0, axis 1). Everything up to the last
// attention treats rows one by one, so the row can be taken first. The Gather gets a Slice [0:1] before it, and the
// Slice moves up:
//
//   Slice(f(a, b)) = f(Slice(a), Slice(b))     where f is independent along the axis
//
// through layer norm, the feed-forward part, the residuals, the attention output, the product with V, the softmax, and
// the product Q·Kᵀ, down to the layer's input: K and V still see all rows.
#include <algorithm>
#include <deque>
#include <map>
#include <optional>
#include <string_view>

#include "graph/graph_edit.h"
#include "ops/infer.h"
#include "optimizer/rewrite.h"

namespace sardonyx::optimizer {
namespace {

using graph::Dim;
using graph::Graph;
using graph::Model;
using graph::Node;
using graph::NodeId;
using graph::ValueId;
using graph::ValueType;

bool is_one_of(const Node& node, std::initializer_list<std::string_view> ops) {
  return node.domain.empty() && std::find(ops.begin(), ops.end(), node.op_type) != ops.end();
}

class RowSkipper {
 public:
  RowSkipper(Model& model, Graph& graph) : model_(model), graph_(graph), edit_(graph) {
    for (const auto& readers : graph.uses()) readers_.push_back(readers.size());
  }

  bool run() {
    const std::vector<NodeId> order = graph_.order();
    for (NodeId id : order) take_first_row(graph_.node(id));
    bool moved = false;
    while (!slices_.empty()) {
      const NodeId slice = slices_.front();
      slices_.pop_front();
      moved |= move_up(slice);
    }
    edit_.commit();
    graph_.sort();
    graph_.remove_unused();
    return moved;
  }

 private:
  const ValueType& type(ValueId value) const { return graph_.value(value).type; }

  /// Gather(x, 0, axis) reads one row: puts a Slice between, which can move.
  void take_first_row(Node& node) {
    if (!node.is("Gather") || !node.has_input(0)) return;
    const Tensor* index = model_.constant_of(graph_, node.inputs[1]);
    const ValueType& x = type(node.inputs[0]);
    if (!index || index->num_elements() != 1 || !x.has_rank || model_.constant_of(graph_, node.inputs[0])) return;
    if (ops::to_int64s(index->view())[0] != 0) return;
    const std::int64_t axis = node.attributes.get_int("axis", 0);
    const auto at = static_cast<std::size_t>(axis < 0 ? axis + static_cast<std::int64_t>(x.rank()) : axis);
    if (x.dims[at].is_constant() && x.dims[at].constant() <= 1) return;
    read_instead(node, 0, slice_of(node.inputs[0], at));
  }

  /// The value's first row along `axis`: an existing Slice of it, or a new one that will be tried to move.
  ValueId slice_of(ValueId value, std::size_t axis) {
    if (const auto made = made_.find({value, axis}); made != made_.end()) return made->second;
    const auto constant = [&](std::int64_t number) {
      return model_.add_constant_value(graph_, graph_.value(value).name + "/row" + std::to_string(number),
                                       Tensor::from<std::int64_t>({1}, std::span<const std::int64_t>(&number, 1)));
    };
    ValueType sliced = type(value);
    sliced.dims[axis] = Dim(1);
    sliced.values.reset();
    Node slice;
    slice.op_type = "Slice";
    slice.name = graph_.value(value).name + "/first_row";
    slice.inputs = {value, constant(0), constant(1), constant(static_cast<std::int64_t>(axis))};
    slice.outputs = {graph_.add_value(slice.name, std::move(sliced))};
    const ValueId result = slice.outputs[0];
    slices_.push_back(graph_.add_node(std::move(slice)).id);
    made_.emplace(std::pair(value, axis), result);
    readers_.resize(graph_.value_count());
    ++readers_[static_cast<std::size_t>(value)];
    return result;
  }

  /// Moves a Slice above the node that makes what it slices. The node must have no other reader.
  bool move_up(NodeId slice_id) {
    Node& slice = graph_.node(slice_id);
    const ValueId value = slice.inputs[0];
    const NodeId producer = graph_.value(value).producer;
    if (producer == graph::kNoNode || readers_[static_cast<std::size_t>(value)] != 1) return false;
    Node& node = graph_.node(producer);
    if (node.outputs.size() != 1) return false;
    const auto axis = static_cast<std::size_t>(ops::to_int64s(model_.constant_of(graph_, slice.inputs[3])->view())[0]);
    const std::optional<std::vector<std::pair<std::size_t, std::size_t>>> sliced_inputs = inputs_along(node, axis);
    if (!sliced_inputs) return false;
    for (const auto& [input, input_axis] : *sliced_inputs)
      read_instead(node, input, slice_of(node.inputs[input], input_axis));
    if (node.is("Reshape")) fix_shape(node, axis);
    // The node now makes the row itself; the Slice is gone.
    const ValueId row = slice.outputs[0];
    edit_.remove(slice_id);
    graph_.value(value).producer = graph::kNoNode;
    node.outputs[0] = row;
    graph_.value(row).producer = node.id;
    made_.erase({value, axis});
    return true;
  }

  void read_instead(Node& node, std::size_t input, ValueId value) {
    --readers_[static_cast<std::size_t>(node.inputs[input])];
    ++readers_[static_cast<std::size_t>(value)];
    node.inputs[input] = value;
  }

  using InputAxes = std::vector<std::pair<std::size_t, std::size_t>>;  // (input, its axis)

  /// Which inputs must be sliced, and where, so that the node gives its output's row; nullopt when rows are not
  /// independent.
  std::optional<InputAxes> inputs_along(const Node& node, std::size_t axis) const {
    const ValueType& out = type(node.outputs[0]);
    if (!out.has_rank) return std::nullopt;
    const std::size_t rank = out.rank();
    if (is_one_of(node, {"LayerNormalization", "RMSNormalization", "Softmax", "LogSoftmax"})) {
      const std::int64_t norm = node.attributes.get_int("axis", -1);
      const auto first = static_cast<std::size_t>(norm < 0 ? norm + static_cast<std::int64_t>(rank) : norm);
      const bool single = node.op_type.ends_with("Softmax");
      if (single ? axis == first : axis >= first) return std::nullopt;
      return InputAxes{{0, axis}};
    }
    if (is_one_of(node, {"Gelu",  "Relu", "Tanh", "Sigmoid", "Erf", "Cast", "Sqrt",  "Exp", "Neg", "Not",
                         "IsNaN", "Add",  "Sub",  "Mul",     "Div", "Pow",  "Where", "And", "Or",  "Equal"})) {
      return broadcast_inputs(node, node.inputs.size(), axis);
    }
    if (node.domain == "ai.sardonyx" && node.op_type == "FusedAttention") return attention_inputs(node, axis);
    if (node.is("MatMul") || (node.domain == "ai.sardonyx" && node.op_type == "FusedMatMul"))
      return product_inputs(node, axis);
    if (node.is("Transpose")) {
      const auto* perm = node.attributes.ints("perm");
      if (!perm) return std::nullopt;
      return InputAxes{{0, static_cast<std::size_t>((*perm)[axis])}};
    }
    if (node.is("Reshape")) return reshape_inputs(node, axis);
    return std::nullopt;
  }

  /// Elementwise with broadcasting: an operand that has the whole axis is sliced, one that has 1 or nothing there is
  /// not.
  std::optional<InputAxes> broadcast_inputs(const Node& node, std::size_t count, std::size_t axis) const {
    const ValueType& out = type(node.outputs[0]);
    InputAxes axes;
    for (std::size_t i = 0; i < count; ++i) {
      if (!node.has_input(i)) continue;
      const ValueType& in = type(node.inputs[i]);
      if (!in.has_rank || in.rank() > out.rank()) return std::nullopt;
      const std::size_t missing = out.rank() - in.rank();
      if (axis < missing || in.dims[axis - missing].is(1)) continue;
      if (!(in.dims[axis - missing] == out.dims[axis])) return std::nullopt;
      axes.emplace_back(i, axis - missing);
    }
    if (axes.empty()) return std::nullopt;
    return axes;
  }

  /// Rows of a product are the rows of its left side.
  std::optional<InputAxes> product_inputs(const Node& node, std::size_t axis) const {
    const std::size_t rank = type(node.outputs[0]).rank();
    const ValueType& left = type(node.inputs[0]);
    if (rank < 2 || axis != rank - 2 || !left.has_rank || left.rank() != rank) return std::nullopt;
    if (!(left.dims[axis] == type(node.outputs[0]).dims[axis])) return std::nullopt;
    InputAxes axes{{0, axis}};
    constexpr std::size_t kResidual = 5;  // of FusedMatMul
    if (node.op_type == "FusedMatMul" && node.has_input(kResidual)) {
      const ValueType& residual = type(node.inputs[kResidual]);
      if (!residual.has_rank || residual.rank() != rank) return std::nullopt;
      axes.emplace_back(kResidual, axis);
    }
    return axes;
  }

  /// A row of attention is made from that row of the query and of the mask; keys and values are read whole.
  std::optional<InputAxes> attention_inputs(const Node& node, std::size_t axis) const {
    const ValueType& query = type(node.inputs[0]);
    if (!query.has_rank || axis != query.rank() - 2) return std::nullopt;
    InputAxes axes{{0, axis}};
    if (!node.has_input(3)) return axes;
    const ValueType& mask = type(node.inputs[3]);
    if (!mask.has_rank) return std::nullopt;
    if (mask.rank() >= 2 && !mask.dims[mask.rank() - 2].is(1)) axes.emplace_back(3, mask.rank() - 2);
    return axes;
  }

  /// A Reshape that keeps every dimension up to the axis only rearranges what is inside each row.
  std::optional<InputAxes> reshape_inputs(const Node& node, std::size_t axis) const {
    const ValueType &in = type(node.inputs[0]), &out = type(node.outputs[0]);
    const Tensor* shape = model_.constant_of(graph_, node.inputs[1]);
    if (!shape || !in.has_rank || in.rank() <= axis) return std::nullopt;
    for (std::size_t i = 0; i <= axis; ++i) {
      if (!(in.dims[i] == out.dims[i])) return std::nullopt;
    }
    const std::vector<std::int64_t> numbers = ops::to_int64s(shape->view());
    // What stands at the axis becomes 1; "the rest" anywhere else still comes out right.
    return numbers.size() == out.rank() ? std::optional(InputAxes{{0, axis}}) : std::nullopt;
  }

  void fix_shape(Node& reshape, std::size_t axis) {
    std::vector<std::int64_t> numbers = ops::to_int64s(model_.constant_of(graph_, reshape.inputs[1])->view());
    numbers[axis] = 1;
    reshape.inputs[1] =
        model_.add_constant_value(graph_, reshape.name + "/row_shape",
                                  Tensor::from<std::int64_t>({static_cast<std::int64_t>(numbers.size())}, numbers));
  }

  Model& model_;
  Graph& graph_;
  std::deque<NodeId> slices_;
  std::map<std::pair<ValueId, std::size_t>, ValueId> made_;  ///< Slices by what they slice, and where
  graph::GraphEdit edit_;
  std::vector<std::size_t> readers_;  ///< of each value, kept up to date
};

}  // namespace

bool skip_unread_rows(Model& model, Graph& graph) { return RowSkipper(model, graph).run(); }

}  // namespace sardonyx::optimizer
