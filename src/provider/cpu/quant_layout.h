#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "base/fail.h"
#include "provider/cpu/dispatch.h"
#include "provider/cpu/ops/axis_view.h"
#include "provider/kernel.h"

namespace sardonyx::provider::cpu {

/// How scales (and zero points) lie over a quantised tensor: one for all, one along an axis, or one a block along an
/// axis.
class QuantLayout {
 public:
  /// Throws kInvalidArgument where the scale's shape fits none of the three.
  QuantLayout(const Shape& x, const Shape& scale, std::int64_t axis, std::int64_t block_size) {
    total_ = static_cast<std::size_t>(x.num_elements());
    if (scale.num_elements() == 1) return;
    view_ = AxisView::around(x, axis);
    block_ = block_size == 0 ? 1 : static_cast<std::size_t>(block_size);
    blocks_ = (view_.length + block_ - 1) / block_;
    mode_ = block_size == 0 ? Mode::kAxis : Mode::kBlock;
    const std::size_t expected = mode_ == Mode::kAxis ? view_.length : view_.outer * blocks_ * view_.inner;
    if (static_cast<std::size_t>(scale.num_elements()) != expected) {
      fail(ErrorCode::kInvalidArgument, "a scale of shape {} does not fit x of shape {} (axis {}, block_size {})",
           scale.to_string(), x.to_string(), axis, block_size);
    }
  }

  static constexpr std::size_t kMaxRun = 256;

  /// Calls fn(begin, count, scale_offset, scale_step) for runs that cover the tensor; element begin + i has the scale
  /// scale_offset + i * scale_step (step 0 or 1). No two threads write one byte of a packed type.
  template <typename Fn>
  void for_each_run(const Parallel& parallel, Fn&& fn) const {
    parallel.parallel_for(total_, kElementChunk, [&](std::size_t begin, std::size_t end) {
      while (begin < end) begin += run_at(begin, end, fn);
    });
  }

  /// Cuts a run into pieces of at most kMaxRun elements: fn(begin, count, scale_offset, scale_step).
  template <typename Fn>
  static void cut(std::size_t begin, std::size_t count, std::size_t offset, std::size_t step, Fn&& fn) {
    for (std::size_t i = 0; i < count; i += kMaxRun)
      fn(begin + i, std::min(kMaxRun, count - i), offset + i * step, step);
  }

 private:
  enum class Mode { kTensor, kAxis, kBlock };

  /// The run at `begin`; returns its length.
  template <typename Fn>
  std::size_t run_at(std::size_t begin, std::size_t end, Fn& fn) const {
    std::size_t count = end - begin;
    if (mode_ == Mode::kTensor) {
      fn(begin, count, std::size_t{0}, std::size_t{0});
      return count;
    }
    const std::size_t in = begin % view_.inner, line = begin / view_.inner;
    const std::size_t at = line % view_.length, outer = line / view_.length;
    if (view_.inner > 1) {
      count = std::min(count, view_.inner - in);
      if (mode_ == Mode::kAxis)
        fn(begin, count, at, std::size_t{0});
      else
        fn(begin, count, (outer * blocks_ + at / block_) * view_.inner + in, std::size_t{1});
      return count;
    }
    if (mode_ == Mode::kAxis) {
      count = std::min(count, view_.length - at);
      fn(begin, count, at, std::size_t{1});
    } else {
      count = std::min({count, block_ - at % block_, view_.length - at});
      fn(begin, count, outer * blocks_ + at / block_, std::size_t{0});
    }
    return count;
  }

  std::size_t total_ = 0, block_ = 1, blocks_ = 1;
  AxisView view_;
  Mode mode_ = Mode::kTensor;
};

}  // namespace sardonyx::provider::cpu
