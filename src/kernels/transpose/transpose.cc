#include "kernels/transpose/transpose.h"

#include <algorithm>
#include <cstring>

namespace sardonyx::kernels {
namespace {

/// One axis of the output: its length and how far apart neighbours are in x and in y, in elements.
struct Axis {
  std::size_t length;
  std::size_t x_stride;
  std::size_t y_stride;
};

/// A short list of axes on the stack. Each is at least 2 long and all fit in memory, so 64 are enough for any rank.
struct Axes {
  static constexpr std::size_t kMax = 64;
  Axis axes[kMax];
  std::size_t count = 0;

  Axis& back() { return axes[count - 1]; }
  const Axis& back() const { return axes[count - 1]; }
  void erase(std::size_t at) {
    std::copy(axes + at + 1, axes + count, axes + at);
    --count;
  }
};

/// Output axes, outermost first, without axes of length 1 and with neighbours merged that are neighbours in x too.
Axes merge_axes(const std::int64_t* dims, const int* permutation, std::size_t rank) {
  Axes merged;
  for (std::size_t i = 0; i < rank; ++i) {
    const auto axis = static_cast<std::size_t>(permutation[i]);
    const auto length = static_cast<std::size_t>(dims[axis]);
    if (length == 1) continue;
    std::size_t x_stride = 1;
    for (std::size_t inner = axis + 1; inner < rank; ++inner) x_stride *= static_cast<std::size_t>(dims[inner]);
    if (merged.count > 0 && merged.back().x_stride == x_stride * length) {
      merged.back() = {merged.back().length * length, x_stride, 0};
    } else {
      merged.axes[merged.count++] = {length, x_stride, 0};
    }
  }
  std::size_t y_stride = 1;
  for (std::size_t i = merged.count; i-- > 0;) {
    merged.axes[i].y_stride = y_stride;
    y_stride *= merged.axes[i].length;
  }
  return merged;
}

struct Element16 {
  std::uint64_t halves[2];
};

/// y[j * y_stride + i] = x[i * x_stride + j] for i < rows, j < columns: a plane in blocks of cache lines.
template <typename T>
void transpose_plane(const void* x, std::size_t x_stride, void* y, std::size_t y_stride, std::size_t rows, std::size_t columns) {
  constexpr std::size_t kBlock = sizeof(T) >= 8 ? 8 : sizeof(T) == 1 ? 32 : 16;
  const T* in = static_cast<const T*>(x);
  T* out = static_cast<T*>(y);
  for (std::size_t i = 0; i < rows; i += kBlock) {
    const std::size_t i_end = std::min(rows, i + kBlock);
    for (std::size_t j = 0; j < columns; j += kBlock) {
      const std::size_t j_end = std::min(columns, j + kBlock);
      if (i_end - i == kBlock && j_end - j == kBlock) {  // constant bounds let the compiler unroll
        T block[kBlock][kBlock];
        for (std::size_t r = 0; r < kBlock; ++r) std::memcpy(block[r], in + (i + r) * x_stride + j, sizeof block[r]);
        for (std::size_t c = 0; c < kBlock; ++c) {
          T* line = out + (j + c) * y_stride + i;
          for (std::size_t r = 0; r < kBlock; ++r) line[r] = block[r][c];
        }
        continue;
      }
      for (std::size_t c = j; c < j_end; ++c) {
        for (std::size_t r = i; r < i_end; ++r) out[c * y_stride + r] = in[r * x_stride + c];
      }
    }
  }
}

using PlaneFunction = void (*)(const void*, std::size_t, void*, std::size_t, std::size_t, std::size_t);

PlaneFunction plane_function(std::size_t element_size) {
  switch (element_size) {
    case 1: return transpose_plane<std::uint8_t>;
    case 2: return transpose_plane<std::uint16_t>;
    case 4: return transpose_plane<std::uint32_t>;
    case 8: return transpose_plane<std::uint64_t>;
    case 16: return transpose_plane<Element16>;
    default: return nullptr;
  }
}

struct Offsets {
  std::size_t x = 0;
  std::size_t y = 0;
};

/// Offsets of position `index` among the outer axes.
Offsets offsets_of(const Axes& outer, std::size_t index) {
  Offsets offsets;
  for (std::size_t i = outer.count; i-- > 0;) {
    const Axis& axis = outer.axes[i];
    const std::size_t at = index % axis.length;
    index /= axis.length;
    offsets.x += at * axis.x_stride;
    offsets.y += at * axis.y_stride;
  }
  return offsets;
}

std::size_t product(const Axes& axes) {
  std::size_t total = 1;
  for (std::size_t i = 0; i < axes.count; ++i) total *= axes.axes[i].length;
  return total;
}

/// The last axis is contiguous on both sides: rows are copied.
void copy_rows(const std::byte* x, std::byte* y, const Axes& outer, std::size_t row_bytes, std::size_t element_size,
               Parallel parallel) {
  const std::size_t chunk = std::max<std::size_t>(1, (std::size_t{1} << 16) / std::max<std::size_t>(row_bytes, 1));
  parallel.parallel_for(product(outer), chunk, [&](std::size_t begin, std::size_t end) {
    const Axis& inner = outer.back();
    for (std::size_t i = begin; i < end;) {
      const Offsets offsets = offsets_of(outer, i);
      const std::size_t run = std::min(end - i, inner.length - i % inner.length);
      for (std::size_t r = 0; r < run; ++r) {
        std::memcpy(y + (offsets.y + r * inner.y_stride) * element_size, x + (offsets.x + r * inner.x_stride) * element_size, row_bytes);
      }
      i += run;
    }
  });
}

/// The axis contiguous in y (`last`) and the one contiguous in x (`first`) span planes, cut into strips for the threads.
void transpose_planes(const std::byte* x, std::byte* y, const Axes& outer, const Axis& first, const Axis& last,
                      std::size_t element_size, Parallel parallel) {
  const PlaneFunction plane = plane_function(element_size);
  constexpr std::size_t kStrip = 64;  // columns of x in a strip
  const std::size_t strips = (first.length + kStrip - 1) / kStrip;
  const std::size_t strip_bytes = std::min(kStrip, first.length) * last.length * element_size;
  const std::size_t chunk = std::max<std::size_t>(1, (std::size_t{1} << 16) / std::max<std::size_t>(strip_bytes, 1));
  parallel.parallel_for(product(outer) * strips, chunk, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      const Offsets offsets = offsets_of(outer, i / strips);
      const std::size_t column = i % strips * kStrip;
      plane(x + (offsets.x + column) * element_size, last.x_stride, y + (offsets.y + column * first.y_stride) * element_size,
            first.y_stride, last.length, std::min(kStrip, first.length - column));
    }
  });
}

}  // namespace

void transpose(const void* x, const std::int64_t* dims, const int* permutation, std::size_t rank, std::size_t element_size, void* y,
               Parallel parallel) {
  std::size_t count = 1;
  for (std::size_t i = 0; i < rank; ++i) count *= static_cast<std::size_t>(dims[i]);
  if (count == 0) return;
  const auto* in = static_cast<const std::byte*>(x);
  auto* out = static_cast<std::byte*>(y);
  Axes axes = merge_axes(dims, permutation, rank);
  if (axes.count <= 1) {
    std::memcpy(out, in, count * element_size);
    return;
  }
  const Axis last = axes.back();
  if (last.x_stride != 1 && plane_function(element_size) == nullptr) {  // an odd element is a row of its own
    return copy_rows(in, out, axes, element_size, element_size, parallel);
  }
  --axes.count;
  if (last.x_stride == 1) return copy_rows(in, out, axes, last.length * element_size, element_size, parallel);
  std::size_t contiguous = 0;
  while (axes.axes[contiguous].x_stride != 1) ++contiguous;
  const Axis first = axes.axes[contiguous];
  axes.erase(contiguous);
  transpose_planes(in, out, axes, first, last, element_size, parallel);
}

}  // namespace sardonyx::kernels
