#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "sardonyx/shape.h"

#include "base/fail.h"
#include "base/thread_pool.h"
#include "kernels/math/elementwise_table.h"
#include "provider/cpu/dispatch.h"

namespace sardonyx::provider::cpu {

/// How N operands are walked to fill one output by NumPy's broadcasting rules, after joining all dimensions that lie
/// alike in every operand: elementwise work of one shape becomes one row, bias additions become rows over a repeated
/// operand.
///
/// The output is rows of `row_length` elements; within a row each operand advances by 1 or stands still (inner_stride
/// 0). Made per call on the stack; allocates nothing.
template <std::size_t N>
class Broadcast {
 public:
  using Offsets = std::array<std::int64_t, N>;

  /// `inputs` must be broadcastable to `output` (inference has checked it; a mismatch throws kInvalidArgument).
  Broadcast(const Shape& output, const std::array<const Shape*, N>& inputs) {
    if (output.rank() > kMaxRank)
      fail(ErrorCode::kUnsupported, "broadcasting is limited to {} dimensions, found {}", kMaxRank, output.rank());
    total_ = output.num_elements();
    Offsets running;
    running.fill(1);
    for (std::size_t i = output.rank(); i-- > 0;) {
      Offsets stride;
      for (std::size_t k = 0; k < N; ++k) stride[k] = operand_stride(*inputs[k], output, i, running[k]);
      if (output[i] != 1) add_outer(output[i], stride);
    }
    if (rank_ == 0) {
      Offsets ones;
      ones.fill(1);
      add_outer(1, ones);
    }
  }

  std::int64_t row_length() const { return dims_[0]; }
  const Offsets& inner_strides() const { return strides_[0]; }
  std::int64_t total() const { return total_; }
  /// All operands have the output's shape.
  bool contiguous() const {
    return rank_ == 1 && std::all_of(strides_[0].begin(), strides_[0].end(), [](auto s) { return s == 1; });
  }

  /// Calls fn(out_offset, operand_offsets, count) for runs that together cover the output once, in parallel. A run lies
  /// within one row.
  template <typename Fn>
  void for_each_run(const Parallel& parallel, Fn&& fn, std::size_t chunk = kElementChunk) const {
    if (total_ == 0) return;
    parallel.parallel_for(static_cast<std::size_t>(total_), chunk,
                          [&](std::size_t begin, std::size_t end) { walk(begin, end, fn); });
  }

 private:
  static constexpr std::size_t kMaxRank = 64;

  static std::int64_t operand_stride(const Shape& shape, const Shape& output, std::size_t axis, std::int64_t& running) {
    const std::size_t missing = output.rank() - std::min(output.rank(), shape.rank());
    const std::int64_t dim = axis < missing ? 1 : shape[axis - missing];
    if (shape.rank() > output.rank() || (dim != 1 && dim != output[axis])) {
      fail(ErrorCode::kInvalidArgument, "a tensor of shape {} can't be broadcast to {}", shape.to_string(),
           output.to_string());
    }
    const std::int64_t stride = dim == 1 ? 0 : running;
    running *= dim;
    return stride;
  }

  /// Adds the next dimension outwards (dimension 0 is the innermost), joined with the previous one where every operand
  /// allows it.
  void add_outer(std::int64_t dim, const Offsets& stride) {
    if (rank_ > 0) {
      bool joins = true;
      for (std::size_t k = 0; k < N; ++k) joins = joins && stride[k] == strides_[rank_ - 1][k] * dims_[rank_ - 1];
      if (joins) {
        dims_[rank_ - 1] *= dim;
        return;
      }
    }
    dims_[rank_] = dim;
    strides_[rank_++] = stride;
  }

  template <typename Fn>
  void walk(std::size_t begin, std::size_t end, Fn& fn) const {
    std::array<std::int64_t, kMaxRank> index;
    Offsets base{};  // of the current row's start
    auto rest = static_cast<std::int64_t>(begin);
    std::int64_t column = rest % dims_[0];
    rest /= dims_[0];
    for (std::size_t d = 1; d < rank_; ++d) {
      index[d] = rest % dims_[d];
      rest /= dims_[d];
      for (std::size_t k = 0; k < N; ++k) base[k] += index[d] * strides_[d][k];
    }
    auto at = static_cast<std::int64_t>(begin);
    const auto stop = static_cast<std::int64_t>(end);
    while (true) {
      const std::int64_t count = std::min(dims_[0] - column, stop - at);
      Offsets offsets = base;
      for (std::size_t k = 0; k < N; ++k) offsets[k] += column * strides_[0][k];
      fn(at, offsets, count);
      at += count;
      if (at >= stop) return;
      column = 0;
      for (std::size_t d = 1; d < rank_; ++d) {
        for (std::size_t k = 0; k < N; ++k) base[k] += strides_[d][k];
        if (++index[d] < dims_[d]) break;
        for (std::size_t k = 0; k < N; ++k) base[k] -= strides_[d][k] * dims_[d];
        index[d] = 0;
      }
    }
  }

  std::int64_t total_ = 0;
  std::size_t rank_ = 0;
  std::array<std::int64_t, kMaxRank> dims_;  // innermost first
  std::array<Offsets, kMaxRank> strides_;
};

/// Fills `out` with op(a, b) over broadcast operands. Loops are specialised for an operand that
/// stands still, so that they vectorise.
template <typename A, typename B, typename R, typename Op>
void broadcast_binary(const Parallel& parallel, const TensorView& a, const TensorView& b, const TensorView& out,
                      Op op) {
  const Broadcast<2> walk(out.shape, {&a.shape, &b.shape});
  const A* pa = a.data<A>();
  const B* pb = b.data<B>();
  R* po = out.mutable_data<R>();
  const auto [step_a, step_b] = walk.inner_strides();
  walk.for_each_run(parallel, [&](std::int64_t at, const auto& offset, std::int64_t count) {
    const A* x = pa + offset[0];
    const B* y = pb + offset[1];
    R* z = po + at;
    if (step_a == 1 && step_b == 1) {
      for (std::int64_t i = 0; i < count; ++i) z[i] = op(x[i], y[i]);
    } else if (step_a == 1) {
      const B right = *y;
      for (std::int64_t i = 0; i < count; ++i) z[i] = op(x[i], right);
    } else if (step_b == 1) {
      const A left = *x;
      for (std::int64_t i = 0; i < count; ++i) z[i] = op(left, y[i]);
    } else {
      std::fill_n(z, count, op(*x, *y));
    }
  });
}

/// The same for float tensors and an operation of the kernels layer.
void broadcast_float(const Parallel& parallel, kernels::Binary operation, const TensorView& a, const TensorView& b,
                     const TensorView& out);

}  // namespace sardonyx::provider::cpu
