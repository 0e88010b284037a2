#include "provider/cpu/ops/strided_copy.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <type_traits>

#include "provider/cpu/dispatch.h"

namespace sardonyx::provider::cpu {
namespace {

/// The loops without dimensions of 1, and with neighbours merged where both sides walk on evenly.
StridedCopy simplified(const StridedCopy& copy) {
  StridedCopy out;
  out.in_offset = copy.in_offset;
  out.out_offset = copy.out_offset;
  for (std::size_t i = 0; i < copy.shape.rank(); ++i) {
    if (copy.shape[i] == 1) continue;
    const std::size_t last = out.shape.rank() - 1;
    const bool merges = out.shape.rank() > 0 && out.in_strides[last] == copy.in_strides[i] * copy.shape[i] &&
                        out.out_strides[last] == copy.out_strides[i] * copy.shape[i];
    if (merges) {
      out.shape[last] *= copy.shape[i];
      out.in_strides[last] = copy.in_strides[i];
      out.out_strides[last] = copy.out_strides[i];
    } else {
      out.shape.push_back(copy.shape[i]);
      out.in_strides.push_back(copy.in_strides[i]);
      out.out_strides.push_back(copy.out_strides[i]);
    }
  }
  return out;
}

/// Swaps loop `axis` with the last but one.
void move_beside_last(StridedCopy& copy, std::size_t axis) {
  const std::size_t target = copy.shape.rank() - 2;
  for (std::size_t i = axis; i < target; ++i) {
    std::swap(copy.shape[i], copy.shape[i + 1]);
    std::swap(copy.in_strides[i], copy.in_strides[i + 1]);
    std::swap(copy.out_strides[i], copy.out_strides[i + 1]);
  }
}

/// Where loops [0, depth) stand.
class Position {
 public:
  Position(const StridedCopy& copy, std::size_t depth, std::int64_t index)
      : copy_(copy), counters_(copy.shape), depth_(depth) {
    in_ = copy.in_offset;
    out_ = copy.out_offset;
    for (std::size_t i = depth; i-- > 0;) {
      counters_[i] = index % copy.shape[i];
      index /= copy.shape[i];
      in_ += counters_[i] * copy.in_strides[i];
      out_ += counters_[i] * copy.out_strides[i];
    }
  }
  std::int64_t in() const { return in_; }
  std::int64_t out() const { return out_; }
  void next() {
    for (std::size_t i = depth_; i-- > 0;) {
      in_ += copy_.in_strides[i];
      out_ += copy_.out_strides[i];
      if (++counters_[i] < copy_.shape[i]) return;
      in_ -= copy_.in_strides[i] * copy_.shape[i];
      out_ -= copy_.out_strides[i] * copy_.shape[i];
      counters_[i] = 0;
    }
  }

 private:
  const StridedCopy& copy_;
  Shape counters_;
  std::size_t depth_;
  std::int64_t in_ = 0, out_ = 0;
};

template <typename T>
void copy_row(const T* in, std::int64_t in_stride, T* out, std::int64_t out_stride, std::int64_t n) {
  if (out_stride == 1 && in_stride == 1) {
    if constexpr (std::is_trivially_copyable_v<T>) {
      std::memcpy(out, in, static_cast<std::size_t>(n) * sizeof(T));
    } else {
      std::copy(in, in + n, out);
    }
  } else if (out_stride == 1 && in_stride == 0) {
    std::fill(out, out + n, *in);
  } else {
    for (std::int64_t i = 0; i < n; ++i) out[i * out_stride] = in[i * in_stride];
  }
}

/// Elements of a side of the tiles that planes are transposed in: a cache line or so.
template <typename T>
constexpr std::int64_t kTile = sizeof(T) >= 8 ? 8 : sizeof(T) == 1 ? 32 : 16;

/// One whole tile, through a copy of constant size that the compiler unrolls.
template <typename T>
void copy_tile(const T* in, std::int64_t in_column, T* out, std::int64_t out_row) {
  T block[kTile<T>][kTile<T>];
  for (std::int64_t c = 0; c < kTile<T>; ++c) std::memcpy(block[c], in + c * in_column, sizeof block[c]);
  for (std::int64_t r = 0; r < kTile<T>; ++r) {
    for (std::int64_t c = 0; c < kTile<T>; ++c) out[r * out_row + c] = block[c][r];
  }
}

/// A transposed plane: `in` is dense along rows, `out` along columns. Done tile by tile so that both stay in the first cache.
template <typename T>
void copy_plane(const T* in, std::int64_t in_column, T* out, std::int64_t out_row, std::int64_t rows, std::int64_t columns) {
  for (std::int64_t c0 = 0; c0 < columns; c0 += kTile<T>) {
    const std::int64_t c1 = std::min(columns, c0 + kTile<T>);
    for (std::int64_t r0 = 0; r0 < rows; r0 += kTile<T>) {
      const std::int64_t r1 = std::min(rows, r0 + kTile<T>);
      if constexpr (std::is_same_v<T, std::uint8_t> || std::is_same_v<T, std::uint16_t> || std::is_same_v<T, std::uint32_t> ||
                    std::is_same_v<T, std::uint64_t>) {
        if (r1 - r0 == kTile<T> && c1 - c0 == kTile<T>) {
          copy_tile(in + c0 * in_column + r0, in_column, out + r0 * out_row + c0, out_row);
          continue;
        }
      }
      for (std::int64_t r = r0; r < r1; ++r) {
        for (std::int64_t c = c0; c < c1; ++c) out[r * out_row + c] = in[c * in_column + r];
      }
    }
  }
}

template <typename T>
void run_planes(StridedCopy copy, std::size_t dense_axis, const T* in, T* out, const Parallel& parallel) {
  move_beside_last(copy, dense_axis);
  const std::size_t rank = copy.shape.rank();
  const std::int64_t rows = copy.shape[rank - 2], columns = copy.shape[rank - 1];
  // Bands of rows are the unit of work, so that one large plane is shared among threads too.
  const std::int64_t band =
      std::max<std::int64_t>(kTile<T>, static_cast<std::int64_t>(kElementChunk) / columns / kTile<T> * kTile<T>);
  const std::int64_t bands = (rows + band - 1) / band;
  const std::int64_t planes = copy.shape.product(0, rank - 2);
  const auto chunk = std::max<std::size_t>(1, kElementChunk / static_cast<std::size_t>(std::min(rows, band) * columns));
  parallel.parallel_for(static_cast<std::size_t>(planes * bands), chunk, [&](std::size_t begin, std::size_t end) {
    for (auto i = static_cast<std::int64_t>(begin); i < static_cast<std::int64_t>(end); ++i) {
      const Position at(copy, rank - 2, i / bands);
      const std::int64_t first = i % bands * band;
      copy_plane(in + at.in() + first * copy.in_strides[rank - 2], copy.in_strides[rank - 1],
                 out + at.out() + first * copy.out_strides[rank - 2], copy.out_strides[rank - 2],
                 std::min(band, rows - first), columns);
    }
  });
}

template <typename T>
void run_rows(const StridedCopy& copy, const T* in, T* out, const Parallel& parallel) {
  const std::size_t depth = copy.shape.rank() - 1;
  const std::int64_t length = copy.shape[depth], in_stride = copy.in_strides[depth],
                     out_stride = copy.out_strides[depth];
  if (depth == 0) {
    return parallel.parallel_for(
        static_cast<std::size_t>(length), kElementChunk, [&](std::size_t begin, std::size_t end) {
          const auto from = static_cast<std::int64_t>(begin);
          copy_row(in + copy.in_offset + from * in_stride, in_stride, out + copy.out_offset + from * out_stride,
                   out_stride, static_cast<std::int64_t>(end) - from);
        });
  }
  const auto chunk = std::max<std::size_t>(1, kElementChunk / static_cast<std::size_t>(length));
  parallel.parallel_for(static_cast<std::size_t>(copy.shape.product(0, depth)), chunk,
                        [&](std::size_t begin, std::size_t end) {
                          Position at(copy, depth, static_cast<std::int64_t>(begin));
                          for (std::size_t i = begin; i < end; ++i, at.next())
                            copy_row(in + at.in(), in_stride, out + at.out(), out_stride, length);
                        });
}

template <typename T>
void run(const StridedCopy& copy, const T* in, T* out, const Parallel& parallel) {
  const std::size_t rank = copy.shape.rank();
  if (rank == 0) {
    out[copy.out_offset] = in[copy.in_offset];
    return;
  }
  if (rank >= 2 && copy.out_strides[rank - 1] == 1 && copy.in_strides[rank - 1] != 1 &&
      copy.in_strides[rank - 1] != 0) {
    for (std::size_t axis = 0; axis + 1 < rank; ++axis) {
      if (copy.in_strides[axis] == 1 && copy.shape[axis] >= 4) return run_planes(copy, axis, in, out, parallel);
    }
  }
  run_rows(copy, in, out, parallel);
}

}  // namespace

Shape dense_strides(const Shape& shape) {
  Shape strides;
  strides.resize(shape.rank());
  std::int64_t step = 1;
  for (std::size_t i = shape.rank(); i-- > 0;) {
    strides[i] = step;
    step *= shape[i];
  }
  return strides;
}

void strided_copy(const StridedCopy& copy, ElementType type, const void* in, void* out, const Parallel& parallel) {
  if (copy.shape.num_elements() == 0) return;
  const StridedCopy loops = simplified(copy);
  dispatch_width(type, "copying",
                 [&]<typename T>() { run(loops, static_cast<const T*>(in), static_cast<T*>(out), parallel); });
}

void copy_elements(const TensorView& in, const TensorView& out, const Parallel& parallel) {
  if (in.data_ptr == out.data_ptr || in.num_elements() == 0) return;
  if (in.type == ElementType::kString) {
    std::copy(in.data<std::string>(), in.data<std::string>() + in.num_elements(), out.mutable_data<std::string>());
    return;
  }
  parallel.parallel_for(in.num_bytes(), 4 * kElementChunk, [&](std::size_t begin, std::size_t end) {
    std::memcpy(out.mutable_bytes() + begin, in.bytes() + begin, end - begin);
  });
}

}  // namespace sardonyx::provider::cpu
