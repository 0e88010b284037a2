#include "kernels/conv/bordered_copy.h"
#include "kernels/conv/pool_table.h"
#include "kernels/simd/vec.h"

namespace sardonyx::kernels::SARDONYX_VARIANT {
namespace {

constexpr float kLowest = -__builtin_inff();

/// The larger; NaN where either is, and `a` where they compare equal.
SARDONYX_INLINE F32x16 larger(F32x16 a, F32x16 b) { return select(is_nan(b), b, max(b, a)); }

/// The largest value of each column among the rows that a row of windows sees, or false where it sees none.
SARDONYX_INLINE bool max_of_rows(const MaxPoolPlane& p, size_t window) {
  bool any = false;
  for (size_t ky = 0; ky < p.kernel_height; ++ky) {
    const size_t y = window * p.stride_y + ky * p.dilation_y;
    if (y < p.pad_top || y - p.pad_top >= p.in_height) continue;
    const float* row = p.x + (y - p.pad_top) * p.in_width;
    for (size_t x = 0; x < p.in_width; x += kLanes) {
      const size_t lanes = p.in_width - x < kLanes ? p.in_width - x : kLanes;
      const F32x16 value = load_some(row + x, lanes);
      store_some(p.tall + x, lanes, any ? larger(load_some(p.tall + x, lanes), value) : value);
    }
    any = true;
  }
  return any;
}

void max_pool(const MaxPoolPlane& p) {
  for (size_t i = 0; i < p.stride_x * p.phase_width; ++i) p.line[i] = kLowest;  // the borders stay so for every row
  const BorderedCopy copy = {p.tall, 1, p.in_width, p.pad_left, p.stride_x, p.phase_width, p.line, 0};
  for (size_t oy = 0; oy < p.out_height; ++oy) {
    float* out = p.y + oy * p.out_width;
    const bool any = max_of_rows(p, oy);
    if (any) copy_bordered(copy);
    for (size_t ox = 0; ox < p.out_width; ox += kLanes) {
      F32x16 most = set1(kLowest);
      for (size_t kx = 0; any && kx < p.kernel_width; ++kx) {
        most = larger(most, load(p.line + p.tap_offset[kx] + ox));
      }
      store_some(out + ox, p.out_width - ox < kLanes ? p.out_width - ox : kLanes, most);
    }
  }
}

}  // namespace

extern const PoolTable kPoolTable;
constexpr PoolTable kPoolTable = {max_pool};

}  // namespace sardonyx::kernels::SARDONYX_VARIANT
