#include <algorithm>
#include <cmath>
#include <string>

#include "kernels/math/elementwise.h"
#include "kernels/quant/quant.h"
#include "provider/cpu/dispatch.h"
#include "provider/cpu/families.h"

namespace sardonyx::provider::cpu {
namespace {

using kernels::Rare;
using kernels::Unary;

struct UnaryParams {
  float alpha = 0, beta = 0;
};

/// A function of one float tensor. Single precision is the kernels layer's, the same on every machine; 16-bit floats
/// are computed in it.
struct FloatFunction {
  std::string_view name;
  Unary f32 = Unary::kCount;
  Rare rare = Rare::kSin;  ///< where f32 is kCount
  void (*f64)(const double*, double*, std::size_t, const UnaryParams&) = nullptr;
  /// Attributes and their defaults; null where there is none.
  const char* alpha = nullptr;
  float alpha_default = 0;
  const char* beta = nullptr;
  float beta_default = 0;
};

/// Applies a stateless callable to every element.
template <typename Fn>
void apply(const double* x, double* y, std::size_t n, const UnaryParams& params) {
  constexpr Fn fn{};
  const double alpha = params.alpha, beta = params.beta;
  for (std::size_t i = 0; i < n; ++i) y[i] = fn(x[i], alpha, beta);
}

template <typename Fn>
constexpr FloatFunction function(std::string_view name, Unary f32, Fn, const char* alpha = nullptr,
                                 float alpha_default = 0, const char* beta = nullptr, float beta_default = 0) {
  return {name, f32, Rare::kSin, apply<Fn>, alpha, alpha_default, beta, beta_default};
}
template <typename Fn>
constexpr FloatFunction function(std::string_view name, Rare rare, Fn) {
  return {name, Unary::kCount, rare, apply<Fn>};
}

double sigmoid(double x) {
  const double e = std::exp(-std::abs(x));
  return x >= 0 ? 1 / (1 + e) : e / (1 + e);
}
double softplus(double x) { return std::log1p(std::exp(-std::abs(x))) + (x > 0 ? x : 0 * x); }
double clamp01(double x) { return x < 0 ? 0 : (x > 1 ? 1 : x); }

// Each takes the element and the two parameters. NaN in gives NaN out.
constexpr FloatFunction kFunctions[] = {
    function("Acos", Rare::kAcos, [](auto x, auto, auto) { return std::acos(x); }),
    function("Acosh", Rare::kAcosh, [](auto x, auto, auto) { return std::acosh(x); }),
    function("Asin", Rare::kAsin, [](auto x, auto, auto) { return std::asin(x); }),
    function("Asinh", Rare::kAsinh, [](auto x, auto, auto) { return std::asinh(x); }),
    function("Atan", Rare::kAtan, [](auto x, auto, auto) { return std::atan(x); }),
    function("Atanh", Rare::kAtanh, [](auto x, auto, auto) { return std::atanh(x); }),
    function("Ceil", Unary::kCeil, [](auto x, auto, auto) { return std::ceil(x); }),
    function(
        "Celu", Unary::kCelu, [](auto x, auto alpha, auto) { return x > 0 ? x : alpha * std::expm1(x / alpha); },
        "alpha", 1.0f),
    function("Cos", Rare::kCos, [](auto x, auto, auto) { return std::cos(x); }),
    function("Cosh", Rare::kCosh, [](auto x, auto, auto) { return std::cosh(x); }),
    function(
        "Elu", Unary::kElu, [](auto x, auto alpha, auto) { return x >= 0 ? x : alpha * std::expm1(x); }, "alpha", 1.0f),
    function("Erf", Unary::kErf, [](auto x, auto, auto) { return std::erf(x); }),
    function("Exp", Unary::kExp, [](auto x, auto, auto) { return std::exp(x); }),
    function("Floor", Unary::kFloor, [](auto x, auto, auto) { return std::floor(x); }),
    function(
        "HardSigmoid", Unary::kHardSigmoid, [](auto x, auto alpha, auto beta) { return clamp01(alpha * x + beta); },
        "alpha", 0.2f, "beta", 0.5f),
    function("HardSwish", Unary::kHardSwish, [](auto x, auto, auto) { return x * clamp01(x / 6 + 0.5); }),
    function(
        "LeakyRelu", Unary::kLeakyRelu, [](auto x, auto alpha, auto) { return x < 0 ? alpha * x : x; }, "alpha", 0.01f),
    function("Log", Unary::kLog, [](auto x, auto, auto) { return std::log(x); }),
    function("Mish", Unary::kMish, [](auto x, auto, auto) { return x * std::tanh(softplus(x)); }),
    function("Reciprocal", Unary::kReciprocal, [](auto x, auto, auto) { return 1 / x; }),
    function("Round", Unary::kRound, [](auto x, auto, auto) { return std::nearbyint(x); }),
    function(
        "Selu", Unary::kSelu,
        [](auto x, auto alpha, auto gamma) { return gamma * (x > 0 ? x : alpha * std::expm1(x)); }, "alpha",
        1.67326319217681884765625f, "gamma", 1.05070102214813232421875f),
    function("Sigmoid", Unary::kSigmoid, [](auto x, auto, auto) { return sigmoid(x); }),
    function("Sin", Rare::kSin, [](auto x, auto, auto) { return std::sin(x); }),
    function("Sinh", Rare::kSinh, [](auto x, auto, auto) { return std::sinh(x); }),
    function("Softplus", Unary::kSoftplus, [](auto x, auto, auto) { return softplus(x); }),
    function("Softsign", Unary::kSoftsign, [](auto x, auto, auto) { return x / (1 + std::abs(x)); }),
    function("Sqrt", Unary::kSqrt, [](auto x, auto, auto) { return std::sqrt(x); }),
    function(
        "Swish", Unary::kSwish, [](auto x, auto alpha, auto) { return x * sigmoid(alpha * x); }, "alpha", 1.0f),
    function("Tan", Rare::kTan, [](auto x, auto, auto) { return std::tan(x); }),
    function("Tanh", Unary::kTanh, [](auto x, auto, auto) { return std::tanh(x); }),
    function(
        "ThresholdedRelu", Unary::kThresholdedRelu,
        [](auto x, auto alpha, auto) { return x > alpha || x != x ? x : 0 * alpha; }, "alpha", 1.0f),
};

constexpr FloatFunction kGeluErf = function(
    "Gelu", Unary::kGeluErf, [](auto x, auto, auto) { return x * (1 + std::erf(x * 0.70710678118654752440)) / 2; });
constexpr FloatFunction kGeluTanh = function("Gelu", Unary::kGeluTanh, [](auto x, auto, auto) {
  return x * (1 + std::tanh(0.79788456080286535588 * (x + 0.044715 * x * x * x))) / 2;
});

constexpr FloatFunction kQuickGelu = function(
    "QuickGelu", Unary::kSwish, [](auto x, auto alpha, auto) { return x * sigmoid(alpha * x); }, "alpha", 1.702f);

const FloatFunction& function_of(const NodeDesc& node) {
  if (node.op_type == "Gelu") {
    const std::string approximate = node.attributes->get_string("approximate", "none");
    if (approximate != "none" && approximate != "tanh") {
      fail(ErrorCode::kInvalidModel, "Gelu's approximate must be none or tanh, found '{}'", approximate);
    }
    return approximate == "tanh" ? kGeluTanh : kGeluErf;
  }
  if (node.op_type == "QuickGelu") return kQuickGelu;
  const auto* row =
      std::find_if(std::begin(kFunctions), std::end(kFunctions), [&](const auto& f) { return f.name == node.op_type; });
  if (row == std::end(kFunctions)) fail(ErrorCode::kInternal, "{} is not a unary float function", node.op_type);
  return *row;
}

class UnaryKernel final : public Kernel {
 public:
  explicit UnaryKernel(const NodeDesc& node) : function_(function_of(node)) {
    if (function_.alpha) params_.alpha = node.attributes->get_float(function_.alpha, function_.alpha_default);
    if (function_.beta) params_.beta = node.attributes->get_float(function_.beta, function_.beta_default);
    if (function_.f32 != Unary::kCount) f32_ = kernels::unary_function(function_.f32);
  }

  void run(RunContext& context) const override {
    const TensorView &x = context.input(0), &y = context.output(0);
    dispatch(FloatTypes{}, x.type, function_.name, [&]<typename T>() {
      const T* in = x.data<T>();
      T* out = y.mutable_data<T>();
      context.parallel.parallel_for(static_cast<std::size_t>(x.num_elements()), kElementChunk,
                                    [&](std::size_t begin, std::size_t end) {
                                      if constexpr (std::is_same_v<T, float>) {
                                        run_float(in + begin, out + begin, end - begin);
                                      } else if constexpr (std::is_same_v<T, double>) {
                                        function_.f64(in + begin, out + begin, end - begin, params_);
                                      } else {
                                        run_narrow(in + begin, out + begin, end - begin);
                                      }
                                    });
    });
  }

 private:
  void run_float(const float* x, float* y, std::size_t n) const {
    if (f32_)
      f32_(x, y, n, params_.alpha, params_.beta);
    else
      kernels::rare(function_.rare, x, y, n);
  }

  /// 16-bit floats, widened block by block.
  template <typename T>
  void run_narrow(const T* x, T* y, std::size_t n) const {
    constexpr std::size_t kBlock = 512;
    alignas(64) float block[kBlock];
    for (std::size_t begin = 0; begin < n; begin += kBlock) {
      const std::size_t count = std::min(kBlock, n - begin);
      kernels::convert(x + begin, count, block);
      run_float(block, block, count);
      kernels::convert(block, count, y + begin);
    }
  }

  const FloatFunction& function_;
  UnaryParams params_;
  kernels::UnaryFunction f32_ = nullptr;
};

Support supports_unary(const NodeDesc& node) {
  return is_one_of(FloatTypes{}, node.input_type(0)) ? Support::accept() : decline_type(node, 0);
}

}  // namespace

void add_unary_kernels(KernelTable& table) {
  for (const FloatFunction& fn : kFunctions) table.push_back({"", fn.name, supports_unary, make<UnaryKernel>});
  table.push_back({"", "Gelu", supports_unary, make<UnaryKernel>});
  table.push_back({"com.microsoft", "Gelu", supports_unary, make<UnaryKernel>});
  table.push_back({"com.microsoft", "QuickGelu", supports_unary, make<UnaryKernel>});
}

}  // namespace sardonyx::provider::cpu
