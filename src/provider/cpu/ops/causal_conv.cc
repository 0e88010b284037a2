#include <cmath>

#include "provider/cpu/ops/axis_view.h"
#include "provider/cpu/ops/conv.h"
#include "provider/cpu/ops/wide_io.h"

namespace sardonyx::provider::cpu {
namespace {

/// One channel of one batch item: the state (kernel - 1 values, null for zeros) continues into the input.
template <typename T>
struct CausalLine {
  const T *past, *input, *taps;
  std::int64_t length, kernel;

  T at(std::int64_t i) const {  ///< i counts from the state's first value
    if (i >= kernel - 1) return input[i - (kernel - 1)];
    return past ? past[i] : T(0);
  }
};

/// A depthwise causal convolution that carries the last kernel - 1 values from call to call.
class CausalConvKernel final : public Kernel {
 public:
  explicit CausalConvKernel(const NodeDesc& node)
      : silu_(node.attributes->get_string("activation", "none") != "none") {}

  Binding bind(const BindContext& context) const override { return {WideIo::workspace_bytes(context), {}}; }

  void run(RunContext& context) const override {
    const Shape &x = context.input(0).shape, &w = context.input(1).shape;
    const std::int64_t channels = x[1], length = x[2], kernel = w[2];
    WideIo io(context, context.workspace());
    dispatch_wide(context.input(0).type, "CausalConvWithState", [&]<typename T>() {
      const T *input = io.input<T>(0), *taps = io.input<T>(1), *bias = io.input<T>(2), *past = io.input<T>(3);
      T *output = io.output<T>(0), *present = io.output<T>(1);
      const auto cost = static_cast<std::size_t>((length + 1) * kernel);
      context.parallel.parallel_for(
          static_cast<std::size_t>(x[0] * channels), chunk_of(cost), [&](std::size_t begin, std::size_t end) {
            for (auto item = static_cast<std::int64_t>(begin); item < static_cast<std::int64_t>(end); ++item) {
              const std::int64_t channel = item % channels;
              const CausalLine<T> line{past ? past + item * (kernel - 1) : nullptr, input + item * length,
                                       taps + channel * kernel, length, kernel};
              if (output) convolve(line, bias ? bias[channel] : T(0), output + item * length);
              for (std::int64_t i = 0; present && i < kernel - 1; ++i)
                present[item * (kernel - 1) + i] = line.at(length + i);
            }
          });
    });
    io.store();
  }

 private:
  template <typename T>
  void convolve(const CausalLine<T>& line, T bias, T* out) const {
    for (std::int64_t i = 0; i < line.length; ++i) {
      T total = 0;
      for (std::int64_t tap = 0; tap < line.kernel; ++tap) total += line.at(i + tap) * line.taps[tap];
      total += bias;
      out[i] = silu_ ? total / (T(1) + std::exp(-total)) : total;
    }
  }

  bool silu_;
};

}  // namespace

void add_causal_conv_kernels(KernelTable& table) {
  table.push_back({"", "CausalConvWithState", supports_float, make<CausalConvKernel>});
}

}  // namespace sardonyx::provider::cpu
