#include "provider/cpu/ops/gather.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "graph/attribute.h"
#include "provider/cpu/ops/element_mover.h"
#include "provider/cpu/ops/strided_copy.h"

namespace sardonyx::provider::cpu {
namespace {

/// Copies `count` blocks of `block` elements; source(i) says where block i starts.
template <typename T, typename Source>
void copy_blocks(const T* in, T* out, std::int64_t count, std::int64_t block, const Parallel& parallel,
                 Source&& source) {
  const auto chunk =
      std::max<std::size_t>(1, kElementChunk / static_cast<std::size_t>(std::max<std::int64_t>(1, block)));
  parallel.parallel_for(static_cast<std::size_t>(count), chunk, [&](std::size_t begin, std::size_t end) {
    for (auto i = static_cast<std::int64_t>(begin); i < static_cast<std::int64_t>(end); ++i) {
      const T* from = in + source(i);
      T* to = out + i * block;
      if constexpr (std::is_trivially_copyable_v<T>) {
        if (block == 1) {
          *to = *from;
        } else {
          std::memcpy(to, from, static_cast<std::size_t>(block) * sizeof(T));
        }
      } else {
        std::copy(from, from + block, to);
      }
    }
  });
}

/// Whole slices of the data along one axis.
class GatherKernel final : public ElementMover {
 public:
  explicit GatherKernel(const NodeDesc& node) : axis_(node.attributes->get_int("axis", 0)) {}
  void move(RunContext& context) const override {
    const TensorView &data = context.input(0), &indices = context.input(1), &out = context.output(0);
    const std::size_t axis = normalized_axis(axis_, data.shape.rank());
    const std::int64_t size = data.shape[axis], count = indices.num_elements();
    const std::int64_t block = data.shape.product(axis + 1, data.shape.rank());
    const std::int64_t outer = data.shape.product(0, axis);
    dispatch(IndexTypes{}, indices.type, "Gather", [&]<typename Index>() {
      const Index* index = indices.data<Index>();
      if (block == 0 || outer == 0) return check(index, count, size);
      dispatch_width(data.type, "Gather", [&]<typename T>() {
        copy_blocks(static_cast<const T*>(data.data_ptr), static_cast<T*>(out.data_ptr), outer * count, block,
                    context.parallel,
                    [&](std::int64_t i) { return (i / count * size + checked_index(index[i % count], size)) * block; });
      });
    });
  }

 private:
  template <typename Index>
  static void check(const Index* index, std::int64_t count, std::int64_t size) {
    for (std::int64_t i = 0; i < count; ++i) checked_index(index[i], size);
  }
  std::int64_t axis_;
};

/// One element for each index, at the index's own place on the other axes.
class GatherElementsKernel final : public ElementMover {
 public:
  explicit GatherElementsKernel(const NodeDesc& node) : axis_(node.attributes->get_int("axis", 0)) {}
  void move(RunContext& context) const override {
    const TensorView &data = context.input(0), &indices = context.input(1), &out = context.output(0);
    const std::size_t rank = data.shape.rank(), axis = normalized_axis(axis_, rank);
    const Shape &shape = indices.shape, strides = dense_strides(data.shape);
    if (shape.num_elements() == 0) return;
    for (std::size_t i = 0; i < rank; ++i) {
      if (i != axis && shape[i] > data.shape[i]) {
        fail(ErrorCode::kInvalidArgument, "indices of shape {} reach outside data of shape {}", shape.to_string(),
             data.shape.to_string());
      }
    }
    const std::int64_t width = shape[rank - 1], size = data.shape[axis];
    const std::int64_t column_step = axis == rank - 1 ? 0 : 1;
    const auto chunk = std::max<std::size_t>(1, kElementChunk / static_cast<std::size_t>(width));
    dispatch(IndexTypes{}, indices.type, "GatherElements", [&]<typename Index>() {
      dispatch_width(data.type, "GatherElements", [&]<typename T>() {
        const T* in = static_cast<const T*>(data.data_ptr);
        T* to = static_cast<T*>(out.data_ptr);
        const Index* index = indices.data<Index>();
        context.parallel.parallel_for(
            static_cast<std::size_t>(shape.product(0, rank - 1)), chunk, [&](std::size_t begin, std::size_t end) {
              for (auto row = static_cast<std::int64_t>(begin); row < static_cast<std::int64_t>(end); ++row) {
                std::int64_t base = 0, rest = row;
                for (std::size_t i = rank - 1; i-- > 0; rest /= shape[i])
                  base += i == axis ? 0 : rest % shape[i] * strides[i];
                for (std::int64_t c = 0; c < width; ++c) {
                  const std::int64_t at = row * width + c;
                  to[at] = in[base + c * column_step + checked_index(index[at], size) * strides[axis]];
                }
              }
            });
      });
    });
  }

 private:
  std::int64_t axis_;
};

/// Slices named by tuples of indices.
class GatherNDKernel final : public ElementMover {
 public:
  explicit GatherNDKernel(const NodeDesc& node)
      : batch_dims_(static_cast<std::size_t>(node.attributes->get_int("batch_dims", 0))) {}
  void move(RunContext& context) const override {
    const TensorView &data = context.input(0), &indices = context.input(1), &out = context.output(0);
    const auto depth = static_cast<std::size_t>(indices.shape[indices.shape.rank() - 1]);
    const std::size_t rank = data.shape.rank();
    const Shape strides = dense_strides(data.shape);
    const std::int64_t block = data.shape.product(batch_dims_ + depth, rank);
    const std::int64_t tuples = indices.shape.product(0, indices.shape.rank() - 1);
    const std::int64_t batches = indices.shape.product(0, batch_dims_);
    if (tuples == 0 || batches == 0) return;
    const std::int64_t per_batch = tuples / batches, batch_step = data.shape.product(batch_dims_, rank);
    dispatch(IndexTypes{}, indices.type, "GatherND", [&]<typename Index>() {
      const Index* index = indices.data<Index>();
      dispatch_width(data.type, "GatherND", [&]<typename T>() {
        copy_blocks(static_cast<const T*>(data.data_ptr), static_cast<T*>(out.data_ptr), tuples, block,
                    context.parallel, [&](std::int64_t i) {
                      std::int64_t at = i / per_batch * batch_step;
                      const Index* tuple = index + i * static_cast<std::int64_t>(depth);
                      for (std::size_t d = 0; d < depth; ++d)
                        at += checked_index(tuple[d], data.shape[batch_dims_ + d]) * strides[batch_dims_ + d];
                      return at;
                    });
      });
    });
  }

 private:
  std::size_t batch_dims_;
};

}  // namespace

void add_gather_kernels(KernelTable& table) {
  table.push_back({"", "Gather", always, make<GatherKernel>});
  table.push_back({"", "GatherElements", always, make<GatherElementsKernel>});
  table.push_back({"", "GatherND", always, make<GatherNDKernel>});
  add_scatter_kernels(table);
  add_select_kernels(table);
  add_unique_kernels(table);
}

}  // namespace sardonyx::provider::cpu
