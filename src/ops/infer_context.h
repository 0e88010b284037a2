#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "graph/node_desc.h"

namespace sardonyx::ops {

using graph::Dim;
using graph::ValueType;

/// Something inference took for granted; checked when shapes are bound.
struct Constraint {
  enum class Kind : std::uint8_t {
    kEqual,
    kBroadcastable,  ///< equal, or one of them 1
    kBroadcastsTo,   ///< equal, or a is 1
  };
  Kind kind = Kind::kEqual;
  Dim a, b;
  std::string what;  ///< names the dimensions, for the message
  std::string node;  ///< whose assumption it is: "node 'encoder/Add_3' (Add)"
  /// The graph whose node took it for granted. A body's constraints hold only when that body runs.
  const graph::Graph* graph = nullptr;
};

/// The element count above which an integer tensor's values are not tracked as expressions.
inline constexpr std::size_t kMaxTrackedValues = 4096;
/// Limits on what inference keeps for each value, so that a small file can't make it grow without bound: the rank of a
/// tensor (a higher one is an Error), the number of known values, and the length of an expression (beyond both: not
/// known).
inline constexpr std::size_t kMaxRank = 64;
inline constexpr std::size_t kMaxKeptValues = 256;
inline constexpr std::size_t kMostComplex = 4096;

/// What an operator's inference function works with. Dimensions may be symbolic or all concrete: at run time the same
/// functions compute the shapes of nodes that depend on values.
class InferContext {
 public:
  /// Infers a body with the given input types and returns its outputs' types.
  using BodyInference = std::function<std::vector<ValueType>(graph::Graph& body, const std::vector<ValueType>& inputs)>;

  InferContext(const graph::NodeDesc& node, std::size_t num_outputs, graph::SymbolTable& symbols,
               std::vector<Constraint>* constraints = nullptr, BodyInference infer_body = {});

  // The node
  // ---------------------------------------------------------------------------------------------------------------
  const graph::NodeDesc& node() const { return node_; }
  const graph::Attributes& attributes() const { return *node_.attributes; }
  std::size_t num_inputs() const { return node_.inputs.size(); }
  std::size_t num_outputs() const { return outputs_.size(); }
  /// How many of the last inputs are outer values that bodies capture.
  std::size_t num_captures() const { return node_.captures; }
  bool has_input(std::size_t i) const { return node_.has_input(i); }
  /// The input's type; kind kNone when left out.
  const ValueType& input(std::size_t i) const;
  ElementType element(std::size_t i) const { return input(i).element; }
  bool has_rank(std::size_t i) const { return input(i).has_rank; }
  std::size_t rank(std::size_t i) const { return input(i).dims.size(); }
  const Dim& dim(std::size_t i, std::size_t axis) const { return input(i).dims[axis]; }
  const std::vector<Dim>& dims(std::size_t i) const { return input(i).dims; }
  /// The input as a constant (or, at run time, its tensor when it is a shape input), or null.
  const Tensor* constant(std::size_t i) const { return node_.constant(i); }
  /// The values of an integer input of rank 0 or 1, as far as known as expressions; nullopt when unknown.
  std::optional<std::vector<Dim>> values(std::size_t i) const;
  /// The same when all are plain numbers.
  std::optional<std::vector<std::int64_t>> int_values(std::size_t i) const;
  /// A float or double constant's first element (a scale, a ratio); nullopt when not constant.
  std::optional<std::vector<float>> float_values(std::size_t i) const;

  // Checks: each throws kInvalidModel (with constants) or kInvalidArgument naming what differs
  // ------------------------------
  /// Requires a tensor; returns it. An input that is left out or of another kind is an Error.
  const ValueType& tensor(std::size_t i) const;
  void require(bool condition, const std::string& message) const;
  void require_rank(std::size_t i, std::size_t rank) const;  ///< passes when the rank is unknown
  /// axis in [-rank, rank) → [0, rank).
  std::size_t axis(std::int64_t value, std::size_t rank) const;
  /// Attribute `name` as a normalised axis.
  std::size_t axis_attribute(const char* name, std::int64_t fallback, std::size_t rank) const;

  // Dimensions
  // -------------------------------------------------------------------------------------------------------------
  Dim fresh(const std::string& hint = "u") { return symbols_.fresh(hint); }
  std::vector<Dim> fresh_dims(std::size_t rank, const std::string& hint = "u");
  /// a and b must be equal: records the constraint and returns the better known of the two.
  Dim same(const Dim& a, const Dim& b, const std::string& what);
  /// `a` must be a multiple of `b`, and `b` not 0; `a` must not exceed `b`. Recorded as equalities where not yet known.
  void require_multiple(const Dim& a, const Dim& b, const std::string& what);
  /// `a` must be 1 or `b`: it may be repeated, and never makes what it broadcasts to larger.
  void require_broadcasts_to(const Dim& a, const Dim& b, const std::string& what);
  void require_at_most(const Dim& a, const Dim& b, const std::string& what);
  /// NumPy broadcasting of two dimensions or shapes, recording what it assumes.
  Dim broadcast(const Dim& a, const Dim& b);
  std::vector<Dim> broadcast(const std::vector<Dim>& a, const std::vector<Dim>& b);

  // Outputs
  // ----------------------------------------------------------------------------------------------------------------
  /// Setting an output beyond num_outputs(), or one that is left out, does nothing.
  void set_output(std::size_t i, ValueType type);
  void set_tensor(std::size_t i, ElementType element, std::vector<Dim> dims);
  void set_unranked(std::size_t i, ElementType element);
  /// Output i has input `from`'s element type and shape (unknown rank included).
  void set_like(std::size_t i, std::size_t from);
  void set_like(std::size_t i, std::size_t from, ElementType element);
  /// Records known integer values of an output already set.
  void set_values(std::size_t i, std::vector<Dim> values);

  std::vector<ValueType> infer_body(graph::Graph& body, const std::vector<ValueType>& inputs) {
    return infer_body_(body, inputs);
  }
  graph::SymbolTable& symbols() { return symbols_; }

  std::vector<ValueType>& outputs() { return outputs_; }

 private:
  const graph::NodeDesc& node_;
  graph::SymbolTable& symbols_;
  std::vector<Constraint>* constraints_;
  BodyInference infer_body_;
  std::vector<ValueType> outputs_;
};

/// Elements of an integer (or bool) tensor as int64. Throws kInvalidModel for other types.
std::vector<std::int64_t> to_int64s(const TensorView& tensor);

}  // namespace sardonyx::ops
