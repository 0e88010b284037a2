#include "provider/cpu/integer_product.h"

#include <algorithm>

#include "provider/cpu/ops/axis_view.h"

namespace sardonyx::provider::cpu {
namespace {

constexpr std::size_t kColumns = 256;

std::int32_t zero_at(const ByteMatrix& matrix, std::size_t i) {
  if (!matrix.zero.data) return 0;
  const std::size_t at = i * matrix.zero.step;
  return matrix.is_signed ? static_cast<const std::int8_t*>(matrix.zero.data)[at] : static_cast<const std::uint8_t*>(matrix.zero.data)[at];
}

/// sums[j] += left * right[j]. Both factors fit 16 bits, which lets the compiler use 16-bit multiplies.
template <typename B>
void accumulate(std::int16_t left, const B* right, std::size_t count, std::uint32_t* sums) {
  for (std::size_t j = 0; j < count; ++j) {
    sums[j] += static_cast<std::uint32_t>(static_cast<std::int32_t>(left) * static_cast<std::int32_t>(static_cast<std::int16_t>(right[j])));
  }
}

template <typename A, typename B>
void product_block(const ByteMatrix& a, const ByteMatrix& b, std::size_t row, std::size_t first, std::size_t count, std::size_t n, std::size_t k,
                   std::int32_t* c) {
  std::uint32_t sums[kColumns] = {};
  std::uint32_t total = 0;  // of the row of A, for B's zero points
  const A* left = static_cast<const A*>(a.data) + row * k;
  const B* right = static_cast<const B*>(b.data) + first;
  const std::int32_t zero = zero_at(a, row);
  for (std::size_t p = 0; p < k; ++p) {
    const auto value = static_cast<std::int16_t>(left[p] - zero);
    total += static_cast<std::uint32_t>(static_cast<std::int32_t>(value));
    if (value != 0) accumulate(value, right + p * n, count, sums);
  }
  for (std::size_t j = 0; j < count; ++j) {
    const auto correction = static_cast<std::uint32_t>(zero_at(b, first + j)) * total;
    c[row * n + first + j] = static_cast<std::int32_t>(sums[j] - correction);
  }
}

template <typename A, typename B>
void product(const Parallel& parallel, std::size_t m, std::size_t n, std::size_t k, const ByteMatrix& a, const ByteMatrix& b, std::int32_t* c) {
  const std::size_t blocks = (n + kColumns - 1) / kColumns;
  parallel.parallel_for(m * blocks, chunk_of(k * std::min(n, kColumns)), [&](std::size_t begin, std::size_t end) {
    for (std::size_t u = begin; u < end; ++u) {
      const std::size_t first = u % blocks * kColumns;
      product_block<A, B>(a, b, u / blocks, first, std::min(kColumns, n - first), n, k, c);
    }
  });
}

}  // namespace

void integer_product(const Parallel& parallel, std::size_t m, std::size_t n, std::size_t k, const ByteMatrix& a, const ByteMatrix& b,
                     std::int32_t* c) {
  if (a.is_signed && b.is_signed) return product<std::int8_t, std::int8_t>(parallel, m, n, k, a, b, c);
  if (a.is_signed) return product<std::int8_t, std::uint8_t>(parallel, m, n, k, a, b, c);
  if (b.is_signed) return product<std::uint8_t, std::int8_t>(parallel, m, n, k, a, b, c);
  product<std::uint8_t, std::uint8_t>(parallel, m, n, k, a, b, c);
}

}  // namespace sardonyx::provider::cpu
