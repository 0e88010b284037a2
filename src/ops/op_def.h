#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sardonyx/element_type.h"

namespace sardonyx::ops {

class InferContext;

/// Fills in the outputs' types, or throws an Error saying what about the inputs is wrong. A pure function of its context.
using InferFn = void (*)(InferContext&);

/// A set of small indices, such as "inputs 1 and 2".
using IndexMask = std::uint32_t;
constexpr IndexMask mask(std::initializer_list<int> indices) {
  IndexMask bits = 0;
  for (int i : indices) bits |= 1u << i;
  return bits;
}

/// What planning and optimisation may know of an operator, beyond its types.
struct OpTraits {
  /// Output 0 holds exactly input 0's bytes, in order, in another shape: it may share the memory and needs no kernel.
  bool view = false;
  /// Inputs whose memory output 0 may overwrite when types and shapes are equal (the kernel reads element i before writing i).
  IndexMask in_place = 0;
  /// Inputs whose values decide the output shapes. They stay on the host.
  IndexMask shape_inputs = 0;
  /// Inputs whose elements are moved as bytes and never computed with: kernels take them at any alignment, so that a large
  /// table may stay where the model file put it.
  IndexMask moved_inputs = 0;
  /// Output shapes depend on more than shapes and shape_inputs (NonZero, Unique): the kernel allocates its outputs.
  bool data_dependent = false;
  /// Two runs may differ (random numbers without a seed): never folded or shared.
  bool nondeterministic = false;
  /// One batch row's answer depends on the others (DynamicQuantizeLinear, batch normalisation in training mode).
  bool mixes_batch = false;
  /// Has bodies and is run by the runtime, not by a provider.
  bool control_flow = false;
};

/// One input or output of a signature.
struct Port {
  enum class Kind : std::uint8_t { kRequired, kOptional, kVariadic };
  std::string name;
  std::string type;  ///< a type variable of the signature ("T"), or a type ("tensor(int64)")
  Kind kind = Kind::kRequired;
};

/// An operator's interface as the ONNX standard states it, for the newest version.
struct Signature {
  struct TypeVariable {
    std::string name;
    std::vector<std::string> types;  ///< in ONNX's spelling: "tensor(float)", "seq(tensor(int64))"
  };
  struct AttributeInfo {
    std::string name;
    std::string type;  ///< "int", "float", "string", "tensor", "graph", "ints", "floats", "strings", …
    bool required = false;
  };
  std::string domain, name;
  int since_version = 0;
  bool deprecated = false;
  std::vector<Port> inputs, outputs;
  std::vector<TypeVariable> type_variables;
  std::vector<AttributeInfo> attributes;
};

/// One operator in its newest meaning. Lives in a family's table row (add_*_ops), one per (domain, name).
struct OpDef {
  std::string_view domain;  ///< "" is ai.onnx
  std::string_view name;
  InferFn infer = nullptr;
  OpTraits traits;
};

}  // namespace sardonyx::ops
