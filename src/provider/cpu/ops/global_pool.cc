#include <cmath>
#include <limits>
#include <type_traits>

#include "kernels/reduce/reduce.h"
#include "provider/cpu/ops/axis_view.h"
#include "provider/cpu/ops/pool.h"
#include "provider/cpu/ops/wide_io.h"

namespace sardonyx::provider::cpu {
namespace {

enum class Pooling { kAverage, kMax, kLp };

/// One value for each channel of each batch item. Sums are kept in 16 lanes (element i in lane i mod 16), folded at the
/// end.
template <Pooling pooling>
class GlobalPoolKernel final : public Kernel {
 public:
  explicit GlobalPoolKernel(const NodeDesc& node)
      : p_(pooling == Pooling::kLp ? node.attributes->get_int("p", 2) : 0) {}

  Binding bind(const BindContext& context) const override { return {WideIo::workspace_bytes(context), {}}; }

  void run(RunContext& context) const override {
    const TensorView& x = context.input(0);
    const auto planes = static_cast<std::size_t>(x.shape.product(0, 2));
    const auto size = static_cast<std::size_t>(x.shape.product(2, x.shape.rank()));
    WideIo io(context, context.workspace());
    dispatch_wide(x.type, "GlobalAveragePool", [&]<typename T>() {
      const T* in = io.input<T>(0);
      T* out = io.output<T>(0);
      if constexpr (std::is_same_v<T, float> && pooling == Pooling::kAverage)
        return kernels::reduce(kernels::Reduction::kMean, in, planes, size, 1, out, context.parallel);
      if constexpr (std::is_same_v<T, float> && pooling == Pooling::kMax)
        return kernels::reduce(kernels::Reduction::kMax, in, planes, size, 1, out, context.parallel);
      context.parallel.parallel_for(planes, chunk_of(size), [&](std::size_t begin, std::size_t end) {
        for (std::size_t plane = begin; plane < end; ++plane) out[plane] = reduce(in + plane * size, size);
      });
    });
    io.store();
  }

 private:
  static constexpr std::size_t kLanes = 16;

  template <typename T>
  void add(T& total, T value) const {
    if constexpr (pooling == Pooling::kAverage) total += value;
    if constexpr (pooling == Pooling::kMax) total = value > total || value != value ? value : total;
    if constexpr (pooling == Pooling::kLp) {
      const T magnitude = std::abs(value);
      total += p_ == 1 ? magnitude : p_ == 2 ? magnitude * magnitude : std::pow(magnitude, static_cast<T>(p_));
    }
  }

  template <typename T>
  T reduce(const T* x, std::size_t n) const {
    T lanes[kLanes];
    std::fill_n(lanes, kLanes, pooling == Pooling::kMax ? -std::numeric_limits<T>::infinity() : T(0));
    std::size_t i = 0;
    for (; i + kLanes <= n; i += kLanes) {
      for (std::size_t l = 0; l < kLanes; ++l) add(lanes[l], x[i + l]);
    }
    for (std::size_t l = 0; i < n; ++i, ++l) add(lanes[l], x[i]);
    for (std::size_t step = kLanes / 2; step > 0; step /= 2) {
      for (std::size_t l = 0; l < step; ++l) fold(lanes[l], lanes[l + step]);
    }
    if constexpr (pooling == Pooling::kAverage) return lanes[0] / static_cast<T>(n);
    if constexpr (pooling == Pooling::kMax) return lanes[0];
    return p_ == 1 ? lanes[0] : p_ == 2 ? std::sqrt(lanes[0]) : std::pow(lanes[0], T(1) / static_cast<T>(p_));
  }

  template <typename T>
  void fold(T& into, T from) const {
    if constexpr (pooling == Pooling::kMax)
      add(into, from);
    else
      into += from;
  }

  std::int64_t p_;
};

}  // namespace

void add_global_pool_kernels(KernelTable& table) {
  table.push_back({"", "GlobalAveragePool", supports_float, make<GlobalPoolKernel<Pooling::kAverage>>});
  table.push_back({"", "GlobalMaxPool", supports_float, make<GlobalPoolKernel<Pooling::kMax>>});
  table.push_back({"", "GlobalLpPool", supports_float, make<GlobalPoolKernel<Pooling::kLp>>});
}

}  // namespace sardonyx::provider::cpu
