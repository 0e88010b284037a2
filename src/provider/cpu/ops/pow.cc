#include <cmath>
#include <limits>

#include "kernels/math/elementwise.h"
#include "provider/cpu/broadcast.h"
#include "provider/cpu/convert.h"
#include "provider/cpu/families.h"

namespace sardonyx::provider::cpu {
namespace {

using BaseTypes = Types<float, double, Half, BFloat16, std::int32_t, std::int64_t>;

/// base^exponent modulo 2^64. A negative exponent gives the quotient 1 / base^|exponent| rounded to zero.
std::int64_t integer_pow(std::int64_t base, std::int64_t exponent) {
  if (exponent < 0) {
    if (base == 0) fail(ErrorCode::kInvalidArgument, "Pow: integer 0 can't be raised to {}", exponent);
    if (base == 1) return 1;
    return base == -1 ? (exponent % 2 == 0 ? 1 : -1) : 0;
  }
  std::uint64_t result = 1, factor = static_cast<std::uint64_t>(base);
  for (auto bits = static_cast<std::uint64_t>(exponent); bits != 0; bits >>= 1) {
    if (bits & 1) result *= factor;
    factor *= factor;
  }
  return static_cast<std::int64_t>(result);
}

/// One element; E is the exponent's wide type.
template <typename T, typename E>
T pow_element(T base, E exponent) {
  if constexpr (std::is_integral_v<T> && std::is_same_v<E, std::int64_t>) {
    return static_cast<T>(integer_pow(base, exponent));
  } else {
    const double result = std::pow(static_cast<double>(base), static_cast<double>(exponent));
    if constexpr (std::is_integral_v<T>)
      return float_to_integer<T>(result);
    else
      return T(result);
  }
}

constexpr std::int64_t kBlock = 256;

/// Float exponents that stand for the given ones exactly; false where one has none.
template <typename E>
bool as_floats(const E* exponents, std::int64_t n, float* out) {
  for (std::int64_t i = 0; i < n; ++i) {
    out[i] = static_cast<float>(exponents[i]);
    if (std::is_integral_v<E> && std::abs(static_cast<double>(exponents[i])) > 0x1p24) return false;
  }
  return !std::is_same_v<E, double>;
}

/// Up to kBlock elements. One of the operands may be a single value.
template <typename T, typename E>
void pow_block(const T* x, std::int64_t step_x, const E* exponents, std::int64_t step_y, T* z, std::int64_t n) {
  if constexpr (std::is_same_v<compute_type<T>, float>) {
    alignas(64) float e[kBlock], base[kBlock], result[kBlock];
    if (as_floats(exponents, step_y == 0 ? 1 : n, e)) {
      for (std::int64_t i = 0; i < (step_x == 0 ? 1 : n); ++i) base[i] = static_cast<float>(x[i]);
      const auto operands = step_y == 0 && step_x == 1 ? kernels::Operands::kScalarB
                            : step_x == 0              ? kernels::Operands::kScalarA
                                                       : kernels::Operands::kArrays;
      kernels::power(operands, base, e, result, static_cast<std::size_t>(n));
      for (std::int64_t i = 0; i < n; ++i) z[i] = T(result[i]);
      return;
    }
  }
  for (std::int64_t i = 0; i < n; ++i) z[i] = pow_element(x[i * step_x], exponents[i * step_y]);
}

template <typename T, typename E>
void pow_tensors(const RunContext& context) {
  const TensorView &x = context.input(0), &y = context.input(1), &out = context.output(0);
  const Broadcast<2> walk(out.shape, {&x.shape, &y.shape});
  const T* bases = x.data<T>();
  T* results = out.mutable_data<T>();
  const std::int64_t step_x = walk.inner_strides()[0], step_y = walk.inner_strides()[1];
  walk.for_each_run(context.parallel, [&](std::int64_t at, const auto& offset, std::int64_t count) {
    if constexpr (std::is_same_v<T, float> && std::is_same_v<E, float>) {
      if (y.type == ElementType::kFloat32) {
        const auto operands = step_x == 0   ? kernels::Operands::kScalarA
                              : step_y == 0 ? kernels::Operands::kScalarB
                                            : kernels::Operands::kArrays;
        return kernels::power(operands, bases + offset[0], y.data<float>() + offset[1], results + at,
                              static_cast<std::size_t>(count));
      }
    }
    E exponents[kBlock];
    for (std::int64_t begin = 0; begin < count; begin += kBlock) {
      const std::int64_t n = std::min(kBlock, count - begin);
      load_elements(y, static_cast<std::size_t>(offset[1] + begin * step_y),
                    static_cast<std::size_t>(step_y == 0 ? 1 : n), exponents);
      pow_block(bases + offset[0] + begin * step_x, step_x, exponents, step_y, results + at + begin, n);
    }
  });
}

class PowKernel final : public Kernel {
 public:
  explicit PowKernel(const NodeDesc&) {}
  void run(RunContext& context) const override {
    dispatch(BaseTypes{}, context.input(0).type, "Pow", [&]<typename T>() {
      const ElementType exponent = context.input(1).type;
      if (exponent == ElementType::kFloat64 || exponent == ElementType::kUInt64) return pow_tensors<T, double>(context);
      if (is_floating_point(exponent)) return pow_tensors<T, float>(context);
      pow_tensors<T, std::int64_t>(context);
    });
  }
};

Support supports_pow(const NodeDesc& node) {
  if (!is_one_of(BaseTypes{}, node.input_type(0))) return decline_type(node, 0);
  return is_one_of(NumberTypes{}, node.input_type(1)) ? Support::accept() : decline_type(node, 1);
}

}  // namespace

void add_pow_kernels(KernelTable& table) { table.push_back({"", "Pow", supports_pow, make<PowKernel>}); }

}  // namespace sardonyx::provider::cpu
