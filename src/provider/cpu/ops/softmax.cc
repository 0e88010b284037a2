#include <cmath>
#include <limits>
#include <type_traits>

#include "kernels/reduce/reduce.h"
#include "provider/cpu/ops/axis_view.h"
#include "provider/cpu/ops/norm.h"
#include "provider/cpu/ops/wide_io.h"

namespace sardonyx::provider::cpu {
namespace {

/// Elements of the inner axes that are worked on together, so that their running values stay in registers or on the
/// stack.
constexpr std::size_t kInnerBlock = 64;

template <typename T>
struct Column {
  const T* in;
  T* out;
  std::size_t length, stride, width;  ///< width ≤ kInnerBlock
};

template <typename T>
void column_max(const Column<T>& column, T* greatest) {
  std::fill_n(greatest, column.width, -std::numeric_limits<T>::infinity());
  for (std::size_t i = 0; i < column.length; ++i) {
    const T* row = column.in + i * column.stride;
    for (std::size_t j = 0; j < column.width; ++j) greatest[j] = row[j] > greatest[j] ? row[j] : greatest[j];
  }
}

/// exp(x - max) / sum, by columns: the maximum ignores NaN, which then reaches the sum through exp.
template <typename T>
void softmax(const Column<T>& column) {
  T greatest[kInnerBlock], sum[kInnerBlock] = {};
  column_max(column, greatest);
  for (std::size_t i = 0; i < column.length; ++i) {
    const T* in = column.in + i * column.stride;
    T* out = column.out + i * column.stride;
    for (std::size_t j = 0; j < column.width; ++j) sum[j] += out[j] = std::exp(in[j] - greatest[j]);
  }
  for (std::size_t i = 0; i < column.length; ++i) {
    T* out = column.out + i * column.stride;
    for (std::size_t j = 0; j < column.width; ++j) out[j] /= sum[j];
  }
}

/// (x - max) - log(sum of exp(x - max)).
template <typename T>
void log_softmax(const Column<T>& column) {
  T greatest[kInnerBlock], sum[kInnerBlock] = {};
  column_max(column, greatest);
  for (std::size_t i = 0; i < column.length; ++i) {
    const T* in = column.in + i * column.stride;
    for (std::size_t j = 0; j < column.width; ++j) sum[j] += std::exp(in[j] - greatest[j]);
  }
  for (std::size_t j = 0; j < column.width; ++j) sum[j] = std::log(sum[j]);
  for (std::size_t i = 0; i < column.length; ++i) {
    const T* in = column.in + i * column.stride;
    T* out = column.out + i * column.stride;
    for (std::size_t j = 0; j < column.width; ++j) out[j] = (in[j] - greatest[j]) - sum[j];
  }
}

/// 1 at the first greatest element, else 0; a NaN counts as the greatest, as NumPy's argmax has it.
template <typename T>
void hardmax(const Column<T>& column) {
  for (std::size_t j = 0; j < column.width; ++j) {
    std::size_t best = 0;
    T greatest = column.length ? column.in[j] : T(0);
    for (std::size_t i = 1; i < column.length && !std::isnan(greatest); ++i) {
      const T x = column.in[i * column.stride + j];
      if (x > greatest || std::isnan(x)) {
        greatest = x;
        best = i;
      }
    }
    for (std::size_t i = 0; i < column.length; ++i) column.out[i * column.stride + j] = i == best ? T(1) : T(0);
  }
}

enum class Form { kSoftmax, kLogSoftmax, kHardmax };

template <Form form, typename T>
void run_column(const Column<T>& column) {
  if constexpr (form == Form::kSoftmax) softmax(column);
  if constexpr (form == Form::kLogSoftmax) log_softmax(column);
  if constexpr (form == Form::kHardmax) hardmax(column);
}

template <Form form>
class SoftmaxKernel final : public Kernel {
 public:
  explicit SoftmaxKernel(const NodeDesc& node) : axis_(node.attributes->get_int("axis", -1)) {}

  Binding bind(const BindContext& context) const override { return {WideIo::workspace_bytes(context), {}}; }

  void run(RunContext& context) const override {
    const TensorView& x = context.input(0);
    if (x.num_elements() == 0) return;
    const AxisView view = AxisView::around(x.shape, axis_);
    WideIo io(context, context.workspace());
    dispatch_wide(x.type, "Softmax", [&]<typename T>() {
      const T* in = io.input<T>(0);
      T* out = io.output<T>(0);
      if constexpr (std::is_same_v<T, float> && form == Form::kSoftmax) {
        return kernels::softmax(in, view.outer, view.length, view.inner, out, context.parallel);
      }
      if constexpr (std::is_same_v<T, float> && form == Form::kLogSoftmax) {
        return kernels::log_softmax(in, view.outer, view.length, view.inner, out, context.parallel);
      }
      const std::size_t blocks = (view.inner + kInnerBlock - 1) / kInnerBlock;
      const std::size_t cost = view.length * std::min(view.inner, kInnerBlock) * 8;
      context.parallel.parallel_for(view.outer * blocks, chunk_of(cost), [&](std::size_t begin, std::size_t end) {
        for (std::size_t item = begin; item < end; ++item) {
          const std::size_t first = item % blocks * kInnerBlock;
          const std::size_t offset = item / blocks * view.length * view.inner + first;
          run_column<form, T>(
              {in + offset, out + offset, view.length, view.inner, std::min(kInnerBlock, view.inner - first)});
        }
      });
    });
    io.store();
  }

 private:
  std::int64_t axis_;
};

}  // namespace

void add_softmax_kernels(KernelTable& table) {
  table.push_back({"", "Softmax", supports_float, make<SoftmaxKernel<Form::kSoftmax>>});
  table.push_back({"", "LogSoftmax", supports_float, make<SoftmaxKernel<Form::kLogSoftmax>>});
  table.push_back({"", "Hardmax", supports_float, make<SoftmaxKernel<Form::kHardmax>>});
}

}  // namespace sardonyx::provider::cpu
