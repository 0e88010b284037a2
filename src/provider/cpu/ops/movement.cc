#include "provider/cpu/ops/movement.h"

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "base/fail.h"
#include "graph/attribute.h"
#include "provider/cpu/dispatch.h"
#include "provider/cpu/kernel_list.h"
#include "provider/cpu/ops/element_mover.h"
#include "provider/cpu/ops/strided_copy.h"

namespace sardonyx::provider::cpu {
namespace {

class TransposeKernel final : public ElementMover {
 public:
  explicit TransposeKernel(const NodeDesc& node) : perm_(node.attributes->get_ints("perm", {})) {}
  void move(RunContext& context) const override {
    const TensorView &in = context.input(0), &out = context.output(0);
    const std::size_t rank = in.shape.rank();
    const Shape from = dense_strides(in.shape);
    Shape strides;
    strides.resize(rank);
    for (std::size_t i = 0; i < rank; ++i)
      strides[i] = from[perm_.empty() ? rank - 1 - i : normalized_axis(perm_[i], rank)];
    strided_copy({out.shape, strides, dense_strides(out.shape)}, in.type, in.data_ptr, out.data_ptr, context.parallel);
  }

 private:
  std::vector<std::int64_t> perm_;
};

class ConcatKernel final : public ElementMover {
 public:
  explicit ConcatKernel(const NodeDesc& node) : axis_(node.attributes->get_int("axis")) {}
  void move(RunContext& context) const override {
    const TensorView& out = context.output(0);
    const std::size_t axis = normalized_axis(axis_, out.shape.rank());
    const std::int64_t outer = out.shape.product(0, axis), row = out.shape.product(axis, out.shape.rank());
    std::int64_t offset = 0;
    for (std::size_t i = 0; i < context.num_inputs(); ++i) {
      const TensorView& in = context.input(i);
      const std::int64_t length = in.shape.product(axis, in.shape.rank());
      strided_copy({{outer, length}, {length, 1}, {row, 1}, 0, offset}, in.type, in.data_ptr, out.data_ptr,
                   context.parallel);
      offset += length;
    }
  }

 private:
  std::int64_t axis_;
};

class SplitKernel final : public ElementMover {
 public:
  explicit SplitKernel(const NodeDesc& node) : axis_(node.attributes->get_int("axis", 0)) {}
  void move(RunContext& context) const override {
    const TensorView& in = context.input(0);
    const std::size_t axis = normalized_axis(axis_, in.shape.rank());
    const std::int64_t outer = in.shape.product(0, axis), inner = in.shape.product(axis + 1, in.shape.rank());
    const std::int64_t total = in.shape[axis], row = total * inner;
    const Shape sizes = context.has_input(1) ? read_ints(context.input(1)) : equal_parts(total, context.num_outputs());
    std::int64_t start = 0;
    for (std::size_t i = 0; i < context.num_outputs(); ++i) {
      const std::int64_t size = i < sizes.rank() ? sizes[i] : -1;
      if (size < 0 || size > total - start)
        fail(ErrorCode::kInvalidArgument, "Split's sizes don't add up to the dimension, {}", total);
      if (context.wants_output(i))
        copy_part(context, i, {{outer, size * inner}, {row, 1}, {size * inner, 1}, start * inner, 0});
      start += size;
    }
  }

 private:
  static Shape equal_parts(std::int64_t total, std::size_t count) {
    const auto n = static_cast<std::int64_t>(count);
    const std::int64_t chunk = (total + n - 1) / n;
    Shape sizes;
    sizes.resize(count);
    for (std::int64_t i = 0; i < n; ++i)
      sizes[static_cast<std::size_t>(i)] = std::clamp<std::int64_t>(total - i * chunk, 0, chunk);
    return sizes;
  }
  static void copy_part(const RunContext& context, std::size_t output, const StridedCopy& copy) {
    const TensorView& out = context.output(output);
    if (out.num_elements() != copy.shape.num_elements())
      fail(ErrorCode::kInvalidArgument, "Split's sizes are not those planned for");
    strided_copy(copy, out.type, context.input(0).data_ptr, out.data_ptr, context.parallel);
  }

  std::int64_t axis_;
};

class SliceKernel final : public ElementMover {
 public:
  explicit SliceKernel(const NodeDesc&) {}
  void move(RunContext& context) const override {
    const TensorView &in = context.input(0), &out = context.output(0);
    const Shape starts = read_ints(context.input(1)), ends = read_ints(context.input(2));
    const Shape axes = context.has_input(3) ? read_ints(context.input(3)) : Shape();
    const Shape steps = context.has_input(4) ? read_ints(context.input(4)) : Shape();
    const Shape dense = dense_strides(in.shape);
    StridedCopy copy{out.shape, dense, dense_strides(out.shape)};
    Shape lengths = in.shape;
    for (std::size_t i = 0; i < starts.rank(); ++i) {
      const std::size_t axis = context.has_input(3) ? normalized_axis(axes[i], in.shape.rank()) : i;
      const AxisRange range = slice_range(in.shape[axis], starts[i], ends[i], context.has_input(4) ? steps[i] : 1);
      lengths[axis] = range.length;
      copy.in_offset += range.start * dense[axis];
      if (range.length > 1)
        copy.in_strides[axis] = dense[axis] * range.step;  // else never taken, and a huge step would overflow
    }
    if (!(lengths == out.shape)) {
      fail(ErrorCode::kInvalidArgument, "Slice gives shape {}, but {} was planned for", lengths.to_string(),
           out.shape.to_string());
    }
    strided_copy(copy, in.type, in.data_ptr, out.data_ptr, context.parallel);
  }
};

class TileKernel final : public ElementMover {
 public:
  explicit TileKernel(const NodeDesc&) {}
  void move(RunContext& context) const override {
    const TensorView &in = context.input(0), &out = context.output(0);
    const Shape from = dense_strides(in.shape), to = dense_strides(out.shape);
    StridedCopy copy;
    const auto loop = [&](std::int64_t size, std::int64_t in_stride, std::int64_t out_stride) {
      copy.shape.push_back(size);
      copy.in_strides.push_back(in_stride);
      copy.out_strides.push_back(out_stride);
    };
    if (out.num_elements() == 0) return;
    for (std::size_t i = 0; i < in.shape.rank(); ++i) {
      if (out.shape[i] != in.shape[i]) loop(out.shape[i] / in.shape[i], 0, to[i] * in.shape[i]);
      loop(in.shape[i], from[i], to[i]);
    }
    strided_copy(copy, in.type, in.data_ptr, out.data_ptr, context.parallel);
  }
};

/// Keeps the upper or lower triangle of each matrix and sets the rest to zero.
class TriluKernel final : public ElementMover {
 public:
  explicit TriluKernel(const NodeDesc& node) : upper_(node.attributes->get_int("upper", 1) != 0) {}
  void move(RunContext& context) const override {
    const TensorView &in = context.input(0), &out = context.output(0);
    const std::size_t rank = in.shape.rank();
    const std::int64_t rows = in.shape[rank - 2], columns = in.shape[rank - 1];
    if (in.num_elements() == 0) return;
    const std::int64_t k = std::clamp(context.has_input(1) ? read_int(context.input(1)) : 0, -rows - 1, columns + 1);
    dispatch_width(in.type, "Trilu", [&]<typename T>() {
      const T* from = static_cast<const T*>(in.data_ptr);
      T* to = static_cast<T*>(out.data_ptr);
      const auto chunk = std::max<std::size_t>(1, kElementChunk / static_cast<std::size_t>(columns));
      context.parallel.parallel_for(
          static_cast<std::size_t>(in.shape.product(0, rank - 1)), chunk, [&](std::size_t begin, std::size_t end) {
            for (auto r = static_cast<std::int64_t>(begin); r < static_cast<std::int64_t>(end); ++r) {
              // Columns before `edge` belong to the lower part.
              const std::int64_t edge = std::clamp<std::int64_t>(r % rows + k + (upper_ ? 0 : 1), 0, columns);
              const T* row = from + r * columns;
              T* result = to + r * columns;
              const std::int64_t keep_begin = upper_ ? edge : 0, keep_end = upper_ ? columns : edge;
              if (row != result) std::copy(row + keep_begin, row + keep_end, result + keep_begin);
              std::fill(result, result + keep_begin, T());
              std::fill(result + keep_end, result + columns, T());
            }
          });
    });
  }

 private:
  bool upper_;
};

/// DepthToSpace and SpaceToDepth: a transposition of the tensor seen with blocks as dimensions of their own.
class BlockMoveKernel final : public ElementMover {
 public:
  explicit BlockMoveKernel(const NodeDesc& node)
      : to_space_(node.op_type == "DepthToSpace"),
        columns_first_(node.attributes->get_string("mode", "DCR") == "CRD"),
        block_(node.attributes->get_int("blocksize")) {}
  void move(RunContext& context) const override {
    const TensorView &in = context.input(0), &out = context.output(0);
    const Shape& small = to_space_ ? out.shape : in.shape;  // the side with few channels and a wide plane
    const std::int64_t batch = small[0], channels = small[1], height = small[2] / block_, width = small[3] / block_;
    const std::int64_t plane = height * width;
    // Loops over batch, channel, row, row in block, column, column in block; strides on the side with many channels.
    const std::int64_t channel_step = columns_first_ ? plane * block_ * block_ : plane;
    const std::int64_t block_column = columns_first_ ? plane : plane * channels;
    const Shape loops{batch, channels, height, block_, width, block_};
    const Shape deep{plane * channels * block_ * block_, channel_step, width, block_column * block_, 1, block_column};
    const Shape wide = dense_strides(loops);
    strided_copy(to_space_ ? StridedCopy{loops, deep, wide} : StridedCopy{loops, wide, deep}, in.type, in.data_ptr,
                 out.data_ptr, context.parallel);
  }

 private:
  bool to_space_, columns_first_;
  std::int64_t block_;
};

class ReverseSequenceKernel final : public ElementMover {
 public:
  explicit ReverseSequenceKernel(const NodeDesc& node) : time_first_(node.attributes->get_int("time_axis", 0) == 0) {}
  void move(RunContext& context) const override {
    const TensorView &in = context.input(0), &out = context.output(0);
    const std::int64_t time = in.shape[time_first_ ? 0 : 1], batch = in.shape[time_first_ ? 1 : 0];
    const std::int64_t inner = in.shape.product(2, in.shape.rank());
    const std::int64_t time_step = time_first_ ? batch * inner : inner, batch_step = time_first_ ? inner : time * inner;
    const std::int64_t* lengths = context.input(1).data<std::int64_t>();
    for (std::int64_t b = 0; b < batch; ++b) {
      const std::int64_t length = lengths[b];
      if (length < 0 || length > time)
        fail(ErrorCode::kInvalidArgument, "sequence_lens has {}, but there are {} steps", length, time);
      const auto copy = [&](std::int64_t steps, std::int64_t from, std::int64_t step, std::int64_t to) {
        strided_copy({{steps, inner},
                      {step, 1},
                      {time_step, 1},
                      b * batch_step + from * time_step,
                      b * batch_step + to * time_step},
                     in.type, in.data_ptr, out.data_ptr, context.parallel);
      };
      if (length > 0) copy(length, length - 1, -time_step, 0);
      if (length < time) copy(time - length, length, time_step, length);
    }
  }

 private:
  bool time_first_;
};

}  // namespace

AxisRange slice_range(std::int64_t size, std::int64_t start, std::int64_t end, std::int64_t step) {
  if (step == 0) fail(ErrorCode::kInvalidArgument, "a step of 0 in Slice");
  if (size == 0) return {0, 0, step};
  step = std::max(step, -std::numeric_limits<std::int64_t>::max());
  const auto place = [&](std::int64_t bound, std::int64_t low, std::int64_t high) {
    return std::clamp(bound < 0 ? bound + size : bound, low, high);
  };
  if (step > 0) {
    const std::int64_t from = place(start, 0, size), to = place(end, 0, size);
    return {from, to > from ? (to - from - 1) / step + 1 : 0, step};
  }
  const std::int64_t from = place(start, 0, size - 1), to = place(end, -1, size - 1);
  return {from, from > to ? (from - to - 1) / -step + 1 : 0, step};
}

void add_movement_kernels(KernelTable& table) {
  table.push_back({"", "Transpose", always, make<TransposeKernel>});
  table.push_back({"", "Concat", always, make<ConcatKernel>});
  table.push_back({"", "Split", always, make<SplitKernel>});
  table.push_back({"", "Slice", always, make<SliceKernel>});
  table.push_back({"", "Tile", always, make<TileKernel>});
  table.push_back({"", "Trilu", always, make<TriluKernel>});
  table.push_back({"", "DepthToSpace", always, make<BlockMoveKernel>});
  table.push_back({"", "SpaceToDepth", always, make<BlockMoveKernel>});
  table.push_back({"", "ReverseSequence", always, make<ReverseSequenceKernel>});
  add_pad_kernels(table);
}

}  // namespace sardonyx::provider::cpu
