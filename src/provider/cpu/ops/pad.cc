#include <algorithm>
#include <string>
#include <vector>

#include "base/fail.h"
#include "graph/attribute.h"
#include "provider/cpu/dispatch.h"
#include "provider/cpu/ops/element_mover.h"
#include "provider/cpu/ops/movement.h"
#include "provider/cpu/ops/strided_copy.h"

namespace sardonyx::provider::cpu {
namespace {

enum class PadMode { kConstant, kReflect, kEdge, kWrap };

PadMode pad_mode(const std::string& mode) {
  if (mode == "constant") return PadMode::kConstant;
  if (mode == "reflect") return PadMode::kReflect;
  if (mode == "edge") return PadMode::kEdge;
  if (mode == "wrap") return PadMode::kWrap;
  fail(ErrorCode::kInvalidModel, "attribute 'mode' must be constant, reflect, edge or wrap, found {}", mode);
}

/// Copies `in` into `out` shifted by `before` elements on each axis (negative: cropped), and sets what is not covered
/// to `value` (null: zero, or the empty string).
void place(const TensorView& in, const TensorView& out, const Shape& before, const void* value,
           const Parallel& parallel) {
  const Shape from = dense_strides(in.shape), to = dense_strides(out.shape);
  StridedCopy copy{out.shape, from, to};
  bool covered = true;
  for (std::size_t i = 0; i < in.shape.rank(); ++i) {
    const std::int64_t first = std::clamp<std::int64_t>(before[i], 0, out.shape[i]);
    const std::int64_t skipped = std::clamp<std::int64_t>(-before[i], 0, in.shape[i]);
    copy.shape[i] = std::min(in.shape[i] - skipped, out.shape[i] - first);
    covered = covered && copy.shape[i] == out.shape[i];
    copy.in_offset += skipped * from[i];
    copy.out_offset += first * to[i];
  }
  if (!covered) {
    dispatch_width(out.type, "Pad", [&]<typename T>() {
      const T fill = value ? *static_cast<const T*>(value) : T();
      T* data = static_cast<T*>(out.data_ptr);
      parallel.parallel_for(static_cast<std::size_t>(out.num_elements()), 4 * kElementChunk,
                            [&](std::size_t begin, std::size_t end) { std::fill(data + begin, data + end, fill); });
    });
  }
  strided_copy(copy, out.type, in.data_ptr, out.data_ptr, parallel);
}

/// Which element of `size` stands at position i, which may lie outside.
std::int64_t source_index(PadMode mode, std::int64_t i, std::int64_t size) {
  if (mode == PadMode::kEdge || size == 1) return std::clamp<std::int64_t>(i, 0, size - 1);
  const std::int64_t period = mode == PadMode::kWrap ? size : 2 * (size - 1);
  const std::int64_t at = (i % period + period) % period;
  return at < size ? at : period - at;
}

/// The modes that repeat elements: per axis a table of source offsets.
void repeat(PadMode mode, const TensorView& in, const TensorView& out, const Shape& before, const Parallel& parallel) {
  const std::size_t rank = in.shape.rank();
  const Shape strides = dense_strides(in.shape);
  std::vector<std::vector<std::int64_t>> offsets(rank);
  for (std::size_t i = 0; i < rank; ++i) {
    for (std::int64_t c = 0; c < out.shape[i]; ++c)
      offsets[i].push_back(source_index(mode, c - before[i], in.shape[i]) * strides[i]);
  }
  const std::int64_t width = out.shape[rank - 1];
  const std::int64_t* last = offsets[rank - 1].data();
  const auto chunk = std::max<std::size_t>(1, kElementChunk / static_cast<std::size_t>(width));
  dispatch_width(in.type, "Pad", [&]<typename T>() {
    const T* from = static_cast<const T*>(in.data_ptr);
    T* to = static_cast<T*>(out.data_ptr);
    parallel.parallel_for(
        static_cast<std::size_t>(out.shape.product(0, rank - 1)), chunk, [&](std::size_t begin, std::size_t end) {
          for (auto row = static_cast<std::int64_t>(begin); row < static_cast<std::int64_t>(end); ++row) {
            std::int64_t base = 0, rest = row;
            for (std::size_t i = rank - 1; i-- > 0; rest /= out.shape[i])
              base += offsets[i][static_cast<std::size_t>(rest % out.shape[i])];
            for (std::int64_t c = 0; c < width; ++c) to[row * width + c] = from[base + last[c]];
          }
        });
  });
}

class PadKernel final : public ElementMover {
 public:
  explicit PadKernel(const NodeDesc& node) : mode_(pad_mode(node.attributes->get_string("mode", "constant"))) {}
  void move(RunContext& context) const override {
    const TensorView &in = context.input(0), &out = context.output(0);
    if (out.num_elements() == 0) return;
    const Shape pads = read_ints(context.input(1));
    const std::size_t rank = in.shape.rank();
    const Shape axes = context.has_input(3) ? read_ints(context.input(3)) : Shape();
    const std::size_t count = context.has_input(3) ? axes.rank() : rank;
    if (pads.rank() != 2 * count)
      fail(ErrorCode::kInvalidArgument, "pads must have {} numbers, found {}", 2 * count, pads.rank());
    Shape before;
    before.resize(rank, 0);
    for (std::size_t i = 0; i < count; ++i) before[context.has_input(3) ? normalized_axis(axes[i], rank) : i] = pads[i];
    if (mode_ == PadMode::kConstant) {
      const void* value =
          context.has_input(2) && context.input(2).num_elements() > 0 ? context.input(2).data_ptr : nullptr;
      return place(in, out, before, value, context.parallel);
    }
    if (in.num_elements() == 0)
      fail(ErrorCode::kInvalidArgument, "there is nothing to repeat in data of shape {}", in.shape.to_string());
    if (rank == 0) return copy_elements(in, out, context.parallel);
    repeat(mode_, in, out, before, context.parallel);
  }

 private:
  PadMode mode_;
};

class CenterCropPadKernel final : public ElementMover {
 public:
  explicit CenterCropPadKernel(const NodeDesc&) {}
  void move(RunContext& context) const override {
    const TensorView &in = context.input(0), &out = context.output(0);
    Shape before = in.shape;
    for (std::size_t i = 0; i < in.shape.rank(); ++i) {
      const std::int64_t more = out.shape[i] - in.shape[i];
      before[i] = more >= 0 ? more / 2 : -(-more / 2);
    }
    place(in, out, before, nullptr, context.parallel);
  }
};

}  // namespace

void add_pad_kernels(KernelTable& table) {
  table.push_back({"", "Pad", always, make<PadKernel>});
  table.push_back({"", "CenterCropPad", always, make<CenterCropPadKernel>});
}

}  // namespace sardonyx::provider::cpu
