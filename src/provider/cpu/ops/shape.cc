#include <algorithm>
#include <string>
#include <variant>
#include <vector>

#include "base/fail.h"
#include "graph/attribute.h"
#include "provider/cpu/dispatch.h"
#include "provider/cpu/kernel_list.h"
#include "provider/cpu/ops/element_mover.h"
#include "provider/cpu/ops/strided_copy.h"

namespace sardonyx::provider::cpu {
namespace {

/// Dimensions [start, end) of the input.
class ShapeKernel final : public Kernel {
 public:
  explicit ShapeKernel(const NodeDesc& node) : start_(node.attributes->get_int("start", 0)) {}
  void run(RunContext& context) const override {
    const Shape& shape = context.input(0).shape;
    const auto rank = static_cast<std::int64_t>(shape.rank());
    const TensorView& out = context.output(0);
    const std::int64_t first = std::clamp<std::int64_t>(start_ < 0 ? start_ + rank : start_, 0, rank);
    std::copy_n(shape.begin() + first, out.num_elements(), out.mutable_data<std::int64_t>());
  }

 private:
  std::int64_t start_;
};

class SizeKernel final : public Kernel {
 public:
  explicit SizeKernel(const NodeDesc&) {}
  void run(RunContext& context) const override {
    *context.output(0).mutable_data<std::int64_t>() = context.input(0).num_elements();
  }
};

/// Reshape and its kind: the same bytes under another shape. Also carries sequences, maps and empty optionals
/// (Identity).
class ViewKernel final : public Kernel {
 public:
  explicit ViewKernel(const NodeDesc&) {}
  void run(RunContext& context) const override {
    if (!context.has_input(0)) return context.set_output(0, Value());
    if (!context.inputs[0]->is_tensor) return context.set_output(0, context.input_value(0));
    if (!context.outputs[0]->is_tensor) context.allocate_output(0, context.input(0).type, context.input(0).shape);
    copy_elements(context.input(0), context.output(0), context.parallel);
  }
};

/// Strides that read `from` as if it had the (broadcast) shape `to`.
Shape broadcast_strides(const Shape& from, const Shape& to) {
  const Shape dense = dense_strides(from);
  Shape strides;
  strides.resize(to.rank(), 0);
  const std::size_t offset = to.rank() - from.rank();
  for (std::size_t i = 0; i < from.rank(); ++i) strides[offset + i] = from[i] == 1 ? 0 : dense[i];
  return strides;
}

class ExpandKernel final : public ElementMover {
 public:
  explicit ExpandKernel(const NodeDesc&) {}
  void move(RunContext& context) const override {
    const TensorView &in = context.input(0), &out = context.output(0);
    strided_copy({out.shape, broadcast_strides(in.shape, out.shape), dense_strides(out.shape)}, in.type, in.data_ptr,
                 out.data_ptr, context.parallel);
  }
};

class RangeKernel final : public Kernel {
 public:
  explicit RangeKernel(const NodeDesc&) {}
  void run(RunContext& context) const override {
    const TensorView& out = context.output(0);
    dispatch(NumberTypes{}, out.type, "Range", [&]<typename T>() {
      fill(*context.input(0).data<T>(), *context.input(2).data<T>(), out.mutable_data<T>(), out.num_elements(),
           context.parallel);
    });
  }

 private:
  template <typename T>
  static void fill(T start, T delta, T* out, std::int64_t n, const Parallel& parallel) {
    parallel.parallel_for(static_cast<std::size_t>(n), kElementChunk, [&](std::size_t begin, std::size_t end) {
      if constexpr (std::is_integral_v<T>) {  // modulo 2^64: every element itself lies between start and limit
        const auto first = static_cast<std::uint64_t>(start), step = static_cast<std::uint64_t>(delta);
        for (std::size_t i = begin; i < end; ++i) out[i] = static_cast<T>(first + i * step);
      } else {
        using C = compute_type<T>;
        const C first = static_cast<C>(start), step = static_cast<C>(delta);
        for (std::size_t i = begin; i < end; ++i) out[i] = T(first + static_cast<C>(i) * step);
      }
    });
  }
};

class ConstantOfShapeKernel final : public Kernel {
 public:
  explicit ConstantOfShapeKernel(const NodeDesc& node) {
    if (const Tensor* value = node.attributes->tensor("value")) {
      value_ = *value;
    } else {
      value_ = Tensor::scalar<float>(0);
    }
  }
  void run(RunContext& context) const override {
    const TensorView& out = context.output(0);
    if (is_sub_byte(value_.type())) return fill_packed(out);
    dispatch_width(value_.type(), "ConstantOfShape", [&]<typename T>() {
      const T value = *static_cast<const T*>(value_.view().data_ptr);
      T* data = static_cast<T*>(out.data_ptr);
      context.parallel.parallel_for(
          static_cast<std::size_t>(out.num_elements()), 4 * kElementChunk,
          [&](std::size_t begin, std::size_t end) { std::fill(data + begin, data + end, value); });
    });
  }

 private:
  void fill_packed(const TensorView& out) const {
    const int bits = bit_width(value_.type());
    unsigned byte = std::to_integer<unsigned>(*value_.view().bytes()) & ((1u << bits) - 1);
    for (int filled = bits; filled < 8; filled *= 2) byte |= byte << filled;
    std::fill_n(out.mutable_bytes(), out.num_bytes(), static_cast<std::byte>(byte));
  }

  Tensor value_;
};

class EyeLikeKernel final : public Kernel {
 public:
  explicit EyeLikeKernel(const NodeDesc& node) : k_(node.attributes->get_int("k", 0)) {}
  void run(RunContext& context) const override {
    const TensorView& out = context.output(0);
    const std::int64_t rows = out.shape[0], columns = out.shape[1];
    dispatch(AllTypes{}, out.type, "EyeLike", [&]<typename T>() {
      T* data = out.mutable_data<T>();
      std::fill(data, data + rows * columns, T(0));
      if (k_ >= columns || k_ <= -rows) return;
      for (std::int64_t r = std::max<std::int64_t>(0, -k_); r < rows && r + k_ < columns; ++r)
        data[r * columns + r + k_] = T(1);
    });
  }
  static Support supports(const NodeDesc& node) {
    const bool known = is_one_of(AllTypes{}, node.output_type(0));
    return known ? Support::accept()
                 : Support::decline("EyeLike has no kernel for " + std::string(name(node.output_type(0))));
  }

 private:
  using AllTypes = Types<float, double, Half, BFloat16, std::int8_t, std::int16_t, std::int32_t, std::int64_t,
                         std::uint8_t, std::uint16_t, std::uint32_t, std::uint64_t, bool>;
  std::int64_t k_;
};

/// The dense form of a COO tensor. Throws where an index lies outside.
Tensor densified(const graph::SparseTensor& sparse) {
  Tensor dense(sparse.values.type(), sparse.shape);
  if (dense.type() != ElementType::kString)
    std::fill_n(dense.mutable_data<std::byte>(), dense.num_bytes(), std::byte{0});
  const std::int64_t count = sparse.values.num_elements(), total = dense.num_elements();
  const bool linear = sparse.indices.shape().rank() == 1;
  const Shape strides = dense_strides(sparse.shape);
  const auto width = static_cast<std::int64_t>(linear ? 1 : strides.rank());
  if (sparse.indices.num_elements() != count * width)
    fail(ErrorCode::kInvalidModel, "a sparse tensor's indices don't match its values");
  const std::int64_t* index = sparse.indices.data<std::int64_t>();
  dispatch_width(dense.type(), "a sparse constant", [&]<typename T>() {
    const T* values = static_cast<const T*>(sparse.values.view().data_ptr);
    T* out = static_cast<T*>(dense.view().data_ptr);
    for (std::int64_t i = 0; i < count; ++i) {
      std::int64_t at = linear ? index[i] : 0;
      for (std::int64_t d = 0; !linear && d < width; ++d) {
        const std::int64_t coordinate = index[i * width + d];
        if (coordinate < 0 || coordinate >= sparse.shape[static_cast<std::size_t>(d)]) at = -1;
        if (at >= 0) at += coordinate * strides[static_cast<std::size_t>(d)];
      }
      if (at < 0 || at >= total)
        fail(ErrorCode::kInvalidModel, "a sparse tensor's index lies outside its shape {}", sparse.shape.to_string());
      out[at] = values[i];
    }
  });
  return dense;
}

Tensor constant_value(const graph::Attributes& attributes) {
  if (const Tensor* value = attributes.tensor("value")) return *value;
  if (attributes.has("value_int")) return Tensor::scalar<std::int64_t>(attributes.get_int("value_int"));
  if (attributes.has("value_float")) return Tensor::scalar<float>(attributes.get_float("value_float"));
  if (attributes.has("value_string")) return Tensor::scalar<std::string>(attributes.get_string("value_string"));
  const auto vector = [](const auto& list) {
    using T = typename std::decay_t<decltype(list)>::value_type;
    return Tensor::from<T>({static_cast<std::int64_t>(list.size())}, list);
  };
  if (const auto* ints = attributes.ints("value_ints")) return vector(*ints);
  if (const auto* floats = attributes.floats("value_floats")) return vector(*floats);
  if (const auto* strings = attributes.strings("value_strings")) return vector(*strings);
  return densified(std::get<graph::SparseTensor>(*attributes.find("sparse_value")));
}

class ConstantKernel final : public Kernel {
 public:
  explicit ConstantKernel(const NodeDesc& node) : value_(constant_value(*node.attributes)) {}
  void run(RunContext& context) const override { copy_elements(value_.view(), context.output(0), context.parallel); }

 private:
  Tensor value_;
};

Support supports_range(const NodeDesc& node) {
  return is_one_of(NumberTypes{}, node.input_type(0)) ? Support::accept() : decline_type(node, 0);
}

}  // namespace

void add_shape_kernels(KernelTable& table) {
  table.push_back({"", "Shape", always, make<ShapeKernel>});
  table.push_back({"", "Size", always, make<SizeKernel>});
  for (const char* view : {"Reshape", "Flatten", "Squeeze", "Unsqueeze", "Identity"})
    table.push_back({"", view, always, make<ViewKernel>});
  table.push_back({"", "Expand", always, make<ExpandKernel>});
  table.push_back({"", "Range", supports_range, make<RangeKernel>});
  table.push_back({"", "ConstantOfShape", always, make<ConstantOfShapeKernel>});
  table.push_back({"", "EyeLike", EyeLikeKernel::supports, make<EyeLikeKernel>});
  table.push_back({"", "Constant", always, make<ConstantKernel>});
}

}  // namespace sardonyx::provider::cpu
