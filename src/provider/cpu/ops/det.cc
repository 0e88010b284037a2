#include <cmath>
#include <utility>
#include <vector>

#include "provider/cpu/families.h"
#include "provider/cpu/ops/axis_view.h"
#include "provider/cpu/ops/wide_io.h"

namespace sardonyx::provider::cpu {
namespace {

/// The determinant of an n x n matrix, which is overwritten: elimination with the largest pivot of each column.
double determinant(double* a, std::size_t n) {
  double result = 1;
  for (std::size_t column = 0; column < n; ++column) {
    std::size_t pivot = column;
    for (std::size_t row = column + 1; row < n; ++row) {
      if (std::abs(a[row * n + column]) > std::abs(a[pivot * n + column])) pivot = row;
    }
    const double head = a[pivot * n + column];
    if (head == 0) return 0;
    if (pivot != column) {
      for (std::size_t j = column; j < n; ++j) std::swap(a[pivot * n + j], a[column * n + j]);
      result = -result;
    }
    result *= head;
    for (std::size_t row = column + 1; row < n; ++row) {
      const double factor = a[row * n + column] / head;
      for (std::size_t j = column + 1; j < n; ++j) a[row * n + j] -= factor * a[column * n + j];
    }
  }
  return result;
}

class DetKernel final : public Kernel {
 public:
  explicit DetKernel(const NodeDesc&) {}

  Binding bind(const BindContext& shapes) const override {
    return {.workspace_bytes = static_cast<std::size_t>(shapes.inputs[0]->num_elements()) * sizeof(double)};
  }

  void run(RunContext& context) const override {
    const TensorView &x = context.input(0), &y = context.output(0);
    const auto n = static_cast<std::size_t>(x.shape[x.shape.rank() - 1]);
    auto* copies = reinterpret_cast<double*>(context.workspace());
    dispatch(FloatTypes{}, x.type, "Det", [&]<typename T>() {
      const T* in = x.data<T>();
      T* out = y.mutable_data<T>();
      context.parallel.parallel_for(static_cast<std::size_t>(y.num_elements()), chunk_of(n * n * n), [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) {
          for (std::size_t j = i * n * n; j < (i + 1) * n * n; ++j) copies[j] = static_cast<double>(in[j]);
          out[i] = T(determinant(copies + i * n * n, n));
        }
      });
    });
  }
};

}  // namespace

void add_det_kernels(KernelTable& table) { table.push_back({"", "Det", supports_float, make<DetKernel>}); }

}  // namespace sardonyx::provider::cpu
