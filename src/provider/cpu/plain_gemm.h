#pragma once

#include <algorithm>
#include <cstddef>
#include <type_traits>

#include "base/thread_pool.h"
#include "provider/cpu/ops/axis_view.h"

namespace sardonyx::provider::cpu {

/// One operand of a plain product: element (i, j) is data[i * row_stride + j * column_stride].
template <typename T>
struct MatrixView {
  const T* data;
  std::size_t row_stride, column_stride;
};

/// C [m, n] = A B for element types without a kernel of their own (double and integers), k ascending. Integers wrap.
template <typename T>
void plain_gemm(const Parallel& parallel, std::size_t m, std::size_t n, std::size_t k, MatrixView<T> a, MatrixView<T> b,
                T* c) {
  using Acc = typename std::conditional_t<std::is_integral_v<T>, std::make_unsigned<T>, std::type_identity<T>>::type;
  constexpr std::size_t kColumns = 256;
  const std::size_t blocks = (n + kColumns - 1) / kColumns;
  parallel.parallel_for(m * blocks, chunk_of(k * std::min(n, kColumns)), [&](std::size_t begin, std::size_t end) {
    Acc sums[kColumns];
    for (std::size_t u = begin; u < end; ++u) {
      const std::size_t row = u / blocks, first = u % blocks * kColumns, count = std::min(kColumns, n - first);
      std::fill_n(sums, count, Acc(0));
      for (std::size_t p = 0; p < k; ++p) {
        const auto left = static_cast<Acc>(a.data[row * a.row_stride + p * a.column_stride]);
        const T* right = b.data + p * b.row_stride + first * b.column_stride;
        if (b.column_stride == 1) {
          for (std::size_t j = 0; j < count; ++j) sums[j] += left * static_cast<Acc>(right[j]);
        } else {
          for (std::size_t j = 0; j < count; ++j) sums[j] += left * static_cast<Acc>(right[j * b.column_stride]);
        }
      }
      for (std::size_t j = 0; j < count; ++j) c[row * n + first + j] = static_cast<T>(sums[j]);
    }
  });
}

}  // namespace sardonyx::provider::cpu
