#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <span>

#include "provider/cpu/dispatch.h"
#include "provider/kernel.h"

namespace sardonyx::provider::cpu {

/// How a reduction walks a tensor: kept and reduced dimensions, neighbours of one kind joined, dimensions of 1 dropped.
class ReduceLayout {
 public:
  static constexpr std::size_t kMaxRank = 64;

  /// Dimensions of one kind, innermost first.
  struct Group {
    std::size_t rank = 0;
    std::array<std::int64_t, kMaxRank> dims, strides;
    std::int64_t total = 1;

    void add(std::int64_t dim, std::int64_t stride, bool joins) {
      total *= dim;
      if (joins) {
        dims[rank - 1] *= dim;
        return;
      }
      dims[rank] = dim;
      strides[rank++] = stride;
    }
    /// Offset of the i-th position, row-major.
    std::int64_t offset(std::int64_t i) const { return offset_from(0, i); }
    /// The same over dimensions from `first` on only.
    std::int64_t offset_from(std::size_t first, std::int64_t i) const {
      std::int64_t offset = 0;
      for (std::size_t d = first; d < rank; ++d) {
        offset += i % dims[d] * strides[d];
        i /= dims[d];
      }
      return offset;
    }
  };

  /// `reduced` has one flag a dimension.
  ReduceLayout(const Shape& shape, std::span<const bool> reduced);

  Group kept, reduced;
  bool rows = false;  ///< the innermost dimension is reduced

  /// The tensor seen as [outer, n, inner] reduced over n, where it can be.
  struct Simple {
    std::int64_t outer = 1, n = 1, inner = 1;
  };
  std::optional<Simple> simple() const;
};

/// The flags for ReduceLayout from an operator's optional `axes` tensor (int64), as ONNX's Reduce operators define
/// them. `flags` has room for kMaxRank. Throws kInvalidArgument for axes outside the rank.
std::span<const bool> reduce_flags(const Shape& shape, const TensorView* axes, bool noop_with_empty_axes,
                                   std::span<bool> flags);

/// Elements after which a running result is set aside and a new one begun; part of the definition of every float sum.
inline constexpr std::int64_t kReduceBlock = 4096;

/// Folds n contiguous elements: element i in lane i mod 16, lanes folded 8, 4, 2, 1, blocks in order.
template <typename R>
typename R::Acc fold_row(const typename R::In* x, std::int64_t n, typename R::Compute bias) {
  using Acc = typename R::Acc;
  using Compute = typename R::Compute;
  constexpr std::int64_t kLanes = 16;
  Acc total = R::identity();
  for (std::int64_t begin = 0; begin < n; begin += kReduceBlock) {
    const std::int64_t count = std::min(kReduceBlock, n - begin);
    const typename R::In* block = x + begin;
    Acc lanes[kLanes];
    std::fill_n(lanes, kLanes, R::identity());
    std::int64_t i = 0;
    for (; i + kLanes <= count; i += kLanes) {
      for (std::int64_t l = 0; l < kLanes; ++l)
        lanes[l] = R::combine(lanes[l], R::map(static_cast<Compute>(block[i + l]), bias));
    }
    for (std::int64_t l = 0; i + l < count; ++l)
      lanes[l] = R::combine(lanes[l], R::map(static_cast<Compute>(block[i + l]), bias));
    for (std::int64_t half = kLanes / 2; half > 0; half /= 2) {
      for (std::int64_t l = 0; l < half; ++l) lanes[l] = R::combine(lanes[l], lanes[l + half]);
    }
    total = begin == 0 ? lanes[0] : R::combine(total, lanes[0]);
  }
  return total;
}

/// Folds `layout.reduced.total` rows into `columns` results that lie side by side, one ascending chain each.
template <typename R>
void fold_columns(const typename R::In* x, const ReduceLayout& layout, std::int64_t columns,
                  const typename R::Compute* bias, typename R::Acc* totals) {
  using Acc = typename R::Acc;
  using Compute = typename R::Compute;
  constexpr std::int64_t kColumns = 256;
  Acc block[kColumns];
  std::fill_n(totals, columns, R::identity());
  for (std::int64_t begin = 0; begin < layout.reduced.total; begin += kReduceBlock) {
    std::fill_n(block, columns, R::identity());
    const std::int64_t end = std::min(begin + kReduceBlock, layout.reduced.total);
    for (std::int64_t r = begin; r < end; ++r) {
      const typename R::In* row = x + layout.reduced.offset(r);
      for (std::int64_t j = 0; j < columns; ++j) {
        block[j] = R::combine(block[j], R::map(static_cast<Compute>(row[j]), bias ? bias[j] : Compute(0)));
      }
    }
    for (std::int64_t j = 0; j < columns; ++j) totals[j] = begin == 0 ? block[j] : R::combine(totals[j], block[j]);
  }
}

/// out[o] = finish(fold of input elements that belong to output o); `out` is a pointer or anything that is indexed like
/// one. `bias`: null or one per output.
template <typename R, typename Out, typename Finish>
void reduce(const Parallel& parallel, const typename R::In* x, const ReduceLayout& layout,
            const typename R::Compute* bias, Out out, Finish finish) {
  using Compute = typename R::Compute;
  if (layout.kept.total == 0) return;
  const std::int64_t work = std::max<std::int64_t>(1, layout.reduced.total);
  if (layout.rows || layout.reduced.total == 0) {
    const std::int64_t n = layout.reduced.rank > 0 ? layout.reduced.dims[0] : 0;
    const std::int64_t outer = n > 0 ? layout.reduced.total / n : 0;
    const auto chunk =
        static_cast<std::size_t>(std::max<std::int64_t>(1, static_cast<std::int64_t>(kElementChunk) / work));
    parallel.parallel_for(static_cast<std::size_t>(layout.kept.total), chunk, [&](std::size_t begin, std::size_t end) {
      for (std::size_t o = begin; o < end; ++o) {
        const typename R::In* base = x + layout.kept.offset(static_cast<std::int64_t>(o));
        const Compute b = bias ? bias[o] : Compute(0);
        typename R::Acc total = R::identity();
        for (std::int64_t r = 0; r < outer; ++r) {
          const auto part = fold_row<R>(base + layout.reduced.offset_from(1, r), n, b);
          total = r == 0 ? part : R::combine(total, part);
        }
        out[o] = finish(total);
      }
    });
    return;
  }
  constexpr std::int64_t kColumns = 256;
  const std::int64_t columns = layout.kept.rank > 0 ? layout.kept.dims[0] : 1;
  const std::int64_t blocks = (columns + kColumns - 1) / kColumns;
  const std::int64_t units = layout.kept.total / columns * blocks;
  const auto chunk = static_cast<std::size_t>(
      std::max<std::int64_t>(1, static_cast<std::int64_t>(kElementChunk) / (work * std::min(columns, kColumns))));
  parallel.parallel_for(static_cast<std::size_t>(units), chunk, [&](std::size_t begin, std::size_t end) {
    typename R::Acc totals[kColumns];
    for (auto u = static_cast<std::int64_t>(begin); u < static_cast<std::int64_t>(end); ++u) {
      const std::int64_t first = u % blocks * kColumns, count = std::min(kColumns, columns - first);
      const std::int64_t o = u / blocks * columns + first;
      const typename R::In* base = x + layout.kept.offset_from(1, u / blocks) + first;
      fold_columns<R>(base, layout, count, bias ? bias + o : nullptr, totals);
      for (std::int64_t j = 0; j < count; ++j) out[o + j] = finish(totals[j]);
    }
  });
}

}  // namespace sardonyx::provider::cpu
