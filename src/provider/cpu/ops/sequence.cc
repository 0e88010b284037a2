#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/fail.h"
#include "graph/attribute.h"
#include "provider/cpu/dispatch.h"
#include "provider/cpu/kernel_list.h"
#include "provider/cpu/ops/element_mover.h"
#include "provider/cpu/ops/strided_copy.h"

namespace sardonyx::provider::cpu {
namespace {

/// A position in [-count, count), or up to `count` itself where something is to be inserted there.
std::size_t position(const TensorView& tensor, std::size_t count, bool may_be_end) {
  const std::int64_t given = read_int(tensor), n = static_cast<std::int64_t>(count);
  if (given < -n || given > n || (given == n && !may_be_end)) {
    fail(ErrorCode::kInvalidArgument, "position {} is outside a sequence of {} elements", given, n);
  }
  return static_cast<std::size_t>(given < 0 ? given + n : given);
}

class SequenceConstructKernel final : public Kernel {
 public:
  explicit SequenceConstructKernel(const NodeDesc&) {}
  void run(RunContext& context) const override {
    Sequence sequence{context.input(0).type, {}};
    for (std::size_t i = 0; i < context.num_inputs(); ++i) sequence.items.push_back(context.input_value(i));
    context.set_output(0, std::move(sequence));
  }
};

class SequenceEmptyKernel final : public Kernel {
 public:
  explicit SequenceEmptyKernel(const NodeDesc& node)
      : type_(static_cast<ElementType>(node.attributes->get_int("dtype", 1))) {}
  void run(RunContext& context) const override { context.set_output(0, Sequence{type_, {}}); }

 private:
  ElementType type_;
};

class SequenceAtKernel final : public Kernel {
 public:
  explicit SequenceAtKernel(const NodeDesc&) {}
  void run(RunContext& context) const override {
    const Value sequence = context.input_value(0);
    const std::vector<Value>& items = sequence.sequence().items;
    context.set_output(0, items[position(context.input(1), items.size(), false)]);
  }
};

class SequenceInsertKernel final : public Kernel {
 public:
  explicit SequenceInsertKernel(const NodeDesc&) {}
  void run(RunContext& context) const override {
    Sequence sequence = context.input_value(0).sequence();
    const ElementType type = context.input(1).type;
    if (sequence.element_type == ElementType::kUndefined) sequence.element_type = type;
    if (sequence.element_type != type) {
      fail(ErrorCode::kInvalidArgument, "a sequence of {} can't take a tensor of {}", name(sequence.element_type),
           name(type));
    }
    const std::size_t at =
        context.has_input(2) ? position(context.input(2), sequence.items.size(), true) : sequence.items.size();
    sequence.items.insert(sequence.items.begin() + static_cast<std::ptrdiff_t>(at), context.input_value(1));
    context.set_output(0, std::move(sequence));
  }
};

class SequenceEraseKernel final : public Kernel {
 public:
  explicit SequenceEraseKernel(const NodeDesc&) {}
  void run(RunContext& context) const override {
    Sequence sequence = context.input_value(0).sequence();
    if (sequence.items.empty()) fail(ErrorCode::kInvalidArgument, "an empty sequence has nothing to erase");
    const std::size_t at =
        context.has_input(1) ? position(context.input(1), sequence.items.size(), false) : sequence.items.size() - 1;
    sequence.items.erase(sequence.items.begin() + static_cast<std::ptrdiff_t>(at));
    context.set_output(0, std::move(sequence));
  }
};

class SequenceLengthKernel final : public Kernel {
 public:
  explicit SequenceLengthKernel(const NodeDesc&) {}
  void run(RunContext& context) const override {
    *context.output(0).mutable_data<std::int64_t>() =
        static_cast<std::int64_t>(context.input_value(0).sequence().items.size());
  }
};

class SplitToSequenceKernel final : public Kernel {
 public:
  explicit SplitToSequenceKernel(const NodeDesc& node)
      : axis_(node.attributes->get_int("axis", 0)), keep_dims_(node.attributes->get_int("keepdims", 1) != 0) {}

  void run(RunContext& context) const override {
    const TensorView& in = context.input(0);
    const std::size_t axis = normalized_axis(axis_, in.shape.rank());
    const std::int64_t total = in.shape[axis], outer = in.shape.product(0, axis);
    const std::int64_t inner = in.shape.product(axis + 1, in.shape.rank());
    Sequence sequence{in.type, {}};
    std::int64_t start = 0;
    for (const std::int64_t size : sizes(context, total)) {
      Shape shape = in.shape;
      shape[axis] = size;
      Tensor part(in.type, shape);
      strided_copy({{outer, size * inner}, {total * inner, 1}, {size * inner, 1}, start * inner, 0}, in.type,
                   in.data_ptr, part.view().data_ptr, context.parallel);
      start += size;
      sequence.items.emplace_back(context.has_input(1) || keep_dims_ ? part : part.reshaped(without(shape, axis)));
    }
    context.set_output(0, std::move(sequence));
  }

 private:
  static Shape without(const Shape& shape, std::size_t axis) {
    Shape out;
    for (std::size_t i = 0; i < shape.rank(); ++i) {
      if (i != axis) out.push_back(shape[i]);
    }
    return out;
  }

  static std::vector<std::int64_t> sizes(const RunContext& context, std::int64_t total) {
    if (!context.has_input(1)) return std::vector<std::int64_t>(static_cast<std::size_t>(total), 1);
    const TensorView& split = context.input(1);
    std::vector<std::int64_t> out;
    if (split.shape.rank() == 0) {
      const std::int64_t size = read_int(split);
      if (size < 1) fail(ErrorCode::kInvalidArgument, "parts of {} elements", size);
      for (std::int64_t start = 0; start < total; start += std::min(size, total - start))
        out.push_back(std::min(size, total - start));
      return out;
    }
    std::int64_t left = total;
    for (const std::int64_t size : read_ints(split)) {
      if (size < 0 || size > left)
        fail(ErrorCode::kInvalidArgument, "split doesn't add up to the dimension, {}", total);
      left -= size;
      out.push_back(size);
    }
    if (left != 0) fail(ErrorCode::kInvalidArgument, "split leaves {} of {} elements over", left, total);
    return out;
  }

  std::int64_t axis_;
  bool keep_dims_;
};

class ConcatFromSequenceKernel final : public Kernel {
 public:
  explicit ConcatFromSequenceKernel(const NodeDesc& node)
      : axis_(node.attributes->get_int("axis")), new_axis_(node.attributes->get_int("new_axis", 0) != 0) {}

  void run(RunContext& context) const override {
    const Value value = context.input_value(0);
    const Sequence& sequence = value.sequence();
    if (sequence.items.empty()) fail(ErrorCode::kInvalidArgument, "an empty sequence can't be concatenated");
    const Tensor& first = sequence.items[0].tensor();
    const std::size_t rank = first.shape().rank() + (new_axis_ ? 1 : 0), axis = normalized_axis(axis_, rank);
    Shape shape;
    for (std::size_t i = 0; i < rank; ++i)
      shape.push_back(i == axis ? 0 : first.shape()[new_axis_ && i > axis ? i - 1 : i]);
    for (const Value& item : sequence.items) shape[axis] += length_along(item.tensor(), first, axis);
    if (!context.wants_output(0)) return;
    const TensorView& out = context.allocate_output(0, first.type(), shape);
    const std::int64_t outer = shape.product(0, axis), row = shape.product(axis, rank),
                       inner = shape.product(axis + 1, rank);
    std::int64_t offset = 0;
    for (const Value& item : sequence.items) {
      const std::int64_t length = length_along(item.tensor(), first, axis) * inner;
      strided_copy({{outer, length}, {length, 1}, {row, 1}, 0, offset}, out.type, item.tensor().view().data_ptr,
                   out.data_ptr, context.parallel);
      offset += length;
    }
  }

 private:
  /// What a tensor adds along the axis; it must otherwise have the first one's shape.
  std::int64_t length_along(const Tensor& tensor, const Tensor& first, std::size_t axis) const {
    Shape shape = tensor.shape();
    std::int64_t length = 1;
    if (!new_axis_ && shape.rank() == first.shape().rank()) {
      length = shape[axis];
      shape[axis] = first.shape()[axis];
    }
    if (!(shape == first.shape()) || tensor.type() != first.type()) {
      fail(ErrorCode::kInvalidArgument, "tensors of shapes {} and {} can't be concatenated", first.shape().to_string(),
           tensor.shape().to_string());
    }
    return length;
  }

  std::int64_t axis_;
  bool new_axis_;
};

/// An optional that holds something is that thing, so wrapping and unwrapping both pass it on.
class OptionalKernel final : public Kernel {
 public:
  explicit OptionalKernel(const NodeDesc& node) : needs_element_(node.op_type == "OptionalGetElement") {}
  void run(RunContext& context) const override {
    if (context.has_input(0)) return context.set_output(0, context.input_value(0));
    if (needs_element_) fail(ErrorCode::kInvalidArgument, "the optional holds nothing");
    context.set_output(0, Value());
  }

 private:
  bool needs_element_;
};

class OptionalHasElementKernel final : public Kernel {
 public:
  explicit OptionalHasElementKernel(const NodeDesc&) {}
  void run(RunContext& context) const override { *context.output(0).mutable_data<bool>() = context.has_input(0); }
};

}  // namespace

void add_sequence_kernels(KernelTable& table) {
  table.push_back({"", "SequenceConstruct", always, make<SequenceConstructKernel>});
  table.push_back({"", "SequenceEmpty", always, make<SequenceEmptyKernel>});
  table.push_back({"", "SequenceAt", always, make<SequenceAtKernel>});
  table.push_back({"", "SequenceInsert", always, make<SequenceInsertKernel>});
  table.push_back({"", "SequenceErase", always, make<SequenceEraseKernel>});
  table.push_back({"", "SequenceLength", always, make<SequenceLengthKernel>});
  table.push_back({"", "SplitToSequence", always, make<SplitToSequenceKernel>});
  table.push_back({"", "ConcatFromSequence", always, make<ConcatFromSequenceKernel>});
  table.push_back({"", "Optional", always, make<OptionalKernel>});
  table.push_back({"", "OptionalGetElement", always, make<OptionalKernel>});
  table.push_back({"", "OptionalHasElement", always, make<OptionalHasElementKernel>});
}

}  // namespace sardonyx::provider::cpu
