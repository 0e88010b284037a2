#include "provider/cpu/ops/gate_activation.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <type_traits>

#include "base/fail.h"
#include "kernels/math/elementwise.h"

namespace sardonyx::provider::cpu {
namespace {

using Function = GateActivation::Function;

struct FunctionInfo {
  const char* name;  ///< in lower case
  Function function;
  bool has_alpha, has_beta;
  float alpha, beta;  ///< defaults
};

constexpr FunctionInfo kFunctions[] = {
    {"relu", Function::kRelu, false, false, 0, 0},
    {"tanh", Function::kTanh, false, false, 0, 0},
    {"sigmoid", Function::kSigmoid, false, false, 0, 0},
    {"affine", Function::kAffine, true, true, 1, 0},
    {"leakyrelu", Function::kLeakyRelu, true, false, 0.01f, 0},
    {"thresholdedrelu", Function::kThresholdedRelu, true, false, 1, 0},
    {"scaledtanh", Function::kScaledTanh, true, true, 1, 1},
    {"hardsigmoid", Function::kHardSigmoid, true, true, 0.2f, 0.5f},
    {"elu", Function::kElu, true, false, 1, 0},
    {"softsign", Function::kSoftsign, false, false, 0, 0},
    {"softplus", Function::kSoftplus, false, false, 0, 0},
};

const FunctionInfo& find_function(const std::string& name) {
  std::string lower = name;
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  for (const FunctionInfo& info : kFunctions) {
    if (lower == info.name) return info;
  }
  fail(ErrorCode::kInvalidModel, "'{}' is not an activation function of recurrent operators", name);
}

template <typename T, typename Fn>
void map(T* x, std::size_t n, Fn&& fn) {
  for (std::size_t i = 0; i < n; ++i) x[i] = fn(x[i]);
}

template <typename T>
T sigmoid(T x) {
  return T(1) / (T(1) + std::exp(-x));
}

/// The fp32 kernel of a function, or kCount where there is none.
constexpr kernels::Unary kernel_of(Function function) {
  switch (function) {
    case Function::kRelu: return kernels::Unary::kRelu;
    case Function::kTanh: return kernels::Unary::kTanh;
    case Function::kSigmoid: return kernels::Unary::kSigmoid;
    case Function::kAffine: return kernels::Unary::kAffine;
    case Function::kLeakyRelu: return kernels::Unary::kLeakyRelu;
    case Function::kHardSigmoid: return kernels::Unary::kHardSigmoid;
    case Function::kElu: return kernels::Unary::kElu;
    case Function::kSoftsign: return kernels::Unary::kSoftsign;
    case Function::kSoftplus: return kernels::Unary::kSoftplus;
    default: return kernels::Unary::kCount;
  }
}

}  // namespace

template <typename T>
void GateActivation::apply(T* x, std::size_t n) const {
  if constexpr (std::is_same_v<T, float>) {
    const kernels::Unary kernel = kernel_of(function);
    if (kernel != kernels::Unary::kCount) return kernels::unary_function(kernel)(x, x, n, alpha, beta);
  }
  const T a = static_cast<T>(alpha), b = static_cast<T>(beta);
  switch (function) {
    case Function::kRelu: return map(x, n, [](T v) { return v < T(0) ? T(0) : v; });
    case Function::kTanh: return map(x, n, [](T v) { return std::tanh(v); });
    case Function::kSigmoid: return map(x, n, [](T v) { return sigmoid(v); });
    case Function::kAffine: return map(x, n, [=](T v) { return a * v + b; });
    case Function::kLeakyRelu: return map(x, n, [=](T v) { return v >= T(0) ? v : a * v; });
    case Function::kThresholdedRelu: return map(x, n, [=](T v) { return v >= a ? v : T(0); });
    case Function::kScaledTanh: return map(x, n, [=](T v) { return a * std::tanh(b * v); });
    case Function::kHardSigmoid: return map(x, n, [=](T v) { return std::min(std::max(a * v + b, T(0)), T(1)); });
    case Function::kElu: return map(x, n, [=](T v) { return v >= T(0) ? v : a * std::expm1(v); });
    case Function::kSoftsign: return map(x, n, [](T v) { return v / (T(1) + std::abs(v)); });
    case Function::kSoftplus:
      return map(x, n, [](T v) { return std::max(v, T(0)) + std::log1p(std::exp(-std::abs(v))); });
  }
}

template void GateActivation::apply<float>(float*, std::size_t) const;
template void GateActivation::apply<double>(double*, std::size_t) const;

std::vector<GateActivation> parse_activations(const graph::Attributes& attributes,
                                              const std::vector<std::string>& defaults, std::size_t directions) {
  std::vector<std::string> names;
  if (const auto* given = attributes.strings("activations")) {
    names = *given;
    // RNN's default lists both directions even where there is one.
    if (names.size() > defaults.size() * directions && names.size() == defaults.size() * 2)
      names.resize(defaults.size());
  } else {
    for (std::size_t d = 0; d < directions; ++d) names.insert(names.end(), defaults.begin(), defaults.end());
  }
  if (names.size() != defaults.size() * directions) {
    fail(ErrorCode::kInvalidModel, "attribute 'activations' must have {} elements, found {}",
         defaults.size() * directions, names.size());
  }
  const auto* alphas = attributes.floats("activation_alpha");
  const auto* betas = attributes.floats("activation_beta");
  std::size_t next_alpha = 0, next_beta = 0;
  std::vector<GateActivation> activations;
  for (const std::string& name : names) {
    const FunctionInfo& info = find_function(name);
    GateActivation activation{info.function, info.alpha, info.beta};
    if (info.has_alpha && alphas && next_alpha < alphas->size()) activation.alpha = (*alphas)[next_alpha++];
    if (info.has_beta && betas && next_beta < betas->size()) activation.beta = (*betas)[next_beta++];
    activations.push_back(activation);
  }
  return activations;
}

}  // namespace sardonyx::provider::cpu
