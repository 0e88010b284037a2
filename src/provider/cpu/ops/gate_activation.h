#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "graph/attribute.h"

namespace sardonyx::provider::cpu {

/// One activation function of a recurrent layer with its parameters.
struct GateActivation {
  enum class Function : std::uint8_t {
    kRelu,
    kTanh,
    kSigmoid,
    kAffine,
    kLeakyRelu,
    kThresholdedRelu,
    kScaledTanh,
    kHardSigmoid,
    kElu,
    kSoftsign,
    kSoftplus
  };
  Function function = Function::kTanh;
  float alpha = 0, beta = 0;

  /// Replaces x[0 … n) by its activation. T is float or double.
  template <typename T>
  void apply(T* x, std::size_t n) const;
};

/// The attributes activations, activation_alpha and activation_beta, or `defaults` repeated per direction. The values
/// of alpha and beta go, in order, to the functions that take them. A wrong count or name is an Error.
std::vector<GateActivation> parse_activations(const graph::Attributes& attributes,
                                              const std::vector<std::string>& defaults, std::size_t directions);

}  // namespace sardonyx::provider::cpu
