#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "graph/attribute.h"
#include "graph/value_type.h"

namespace sardonyx::graph {

/// All that inference and providers see of one node. Borrows everything; valid while the graph is unchanged.
struct NodeDesc {
  std::string_view domain;   ///< "" is ai.onnx
  std::string_view op_type;
  std::string_view name;
  const Attributes* attributes = nullptr;
  std::span<const ValueType> inputs;           ///< kind kNone: left out
  std::span<const ValueType> outputs;          ///< empty before inference; kind kNone: left out
  std::span<const Tensor* const> constants;    ///< per input: its constant of any size, or null
  std::size_t captures = 0;                    ///< how many of the last inputs are captures of bodies

  bool has_input(std::size_t i) const { return i < inputs.size() && !inputs[i].is_none(); }
  const Tensor* constant(std::size_t i) const { return i < constants.size() ? constants[i] : nullptr; }
  ElementType input_type(std::size_t i) const { return i < inputs.size() ? inputs[i].element : ElementType::kUndefined; }
  ElementType output_type(std::size_t i) const { return i < outputs.size() ? outputs[i].element : ElementType::kUndefined; }
};

/// A provider's answer about one node: yes, or why not.
struct Support {
  bool yes = false;
  std::string reason;              ///< set when no
  std::vector<int> host_inputs;    ///< inputs that stay in host memory
  std::vector<int> host_outputs;

  static Support accept() { return {.yes = true}; }
  static Support decline(std::string why) { return {.yes = false, .reason = std::move(why)}; }
};

}  // namespace sardonyx::graph
