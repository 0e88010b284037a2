#include <algorithm>
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
      context.parallel.parallel_for(static_cast<std::size_t>(y.num_elements()), chunk_of(n * n * n),
                                    [&](std::size_t begin, std::size_t end) {
                                      for (std::size_t i = begin; i < end; ++i) {
                                        for (std::size_t j = i * n * n; j < (i + 1) * n * n; ++j)
                                          copies[j] = static_cast<double>(in[j]);
                                        out[i] = T(determinant(copies + i * n * n, n));
                                      }
                                    });
    });
  }
};

/// out = a^-1 for an n x n matrix a, which is overwritten; false where a pivot is zero.
bool invert(double* a, double* out, std::size_t n) {
  std::fill_n(out, n * n, 0.0);
  for (std::size_t i = 0; i < n; ++i) out[i * n + i] = 1;
  for (std::size_t column = 0; column < n; ++column) {
    std::size_t pivot = column;
    for (std::size_t row = column + 1; row < n; ++row) {
      if (std::abs(a[row * n + column]) > std::abs(a[pivot * n + column])) pivot = row;
    }
    const double head = a[pivot * n + column];
    if (head == 0) return false;
    for (std::size_t j = 0; j < n; ++j) {
      std::swap(a[pivot * n + j], a[column * n + j]);
      std::swap(out[pivot * n + j], out[column * n + j]);
      a[column * n + j] /= head;
      out[column * n + j] /= head;
    }
    for (std::size_t row = 0; row < n; ++row) {
      const double factor = a[row * n + column];
      if (row == column || factor == 0) continue;
      for (std::size_t j = 0; j < n; ++j) {
        a[row * n + j] -= factor * a[column * n + j];
        out[row * n + j] -= factor * out[column * n + j];
      }
    }
  }
  return true;
}

class InverseKernel final : public Kernel {
 public:
  explicit InverseKernel(const NodeDesc&) {}

  Binding bind(const BindContext& shapes) const override {
    return {.workspace_bytes = 2 * static_cast<std::size_t>(shapes.inputs[0]->num_elements()) * sizeof(double)};
  }

  void run(RunContext& context) const override {
    const TensorView &x = context.input(0), &y = context.output(0);
    const auto total = static_cast<std::size_t>(x.num_elements());
    if (total == 0) return;
    const auto n = static_cast<std::size_t>(x.shape[x.shape.rank() - 1]), size = n * n;
    auto* copies = reinterpret_cast<double*>(context.workspace());
    double* inverses = copies + total;
    dispatch(FloatTypes{}, x.type, "Inverse", [&]<typename T>() {
      const T* in = x.data<T>();
      T* out = y.mutable_data<T>();
      context.parallel.parallel_for(total / size, chunk_of(n * size), [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin * size; i < end * size; ++i) copies[i] = static_cast<double>(in[i]);
        for (std::size_t i = begin; i < end; ++i) {
          if (!invert(copies + i * size, inverses + i * size, n))
            fail(ErrorCode::kInvalidArgument, "Inverse: matrix {} is singular", i);
        }
        for (std::size_t i = begin * size; i < end * size; ++i) out[i] = T(inverses[i]);
      });
    });
  }
};

}  // namespace

void add_det_kernels(KernelTable& table) {
  table.push_back({"", "Det", supports_float, make<DetKernel>});
  table.push_back({"com.microsoft", "Inverse", supports_float, make<InverseKernel>});
}

}  // namespace sardonyx::provider::cpu
