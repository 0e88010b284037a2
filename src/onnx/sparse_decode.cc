#include <cstring>
#include <utility>

#include "base/fail.h"
#include "onnx/context.h"
#include "onnx/tensor_decode.h"

namespace sardonyx::onnx {
namespace {

/// The position of entry `i` in the dense tensor's row-major order.
std::int64_t linear_index(const TensorDecoder::Sparse& sparse, std::int64_t i) {
  const std::int64_t* indices = sparse.indices.data<std::int64_t>();
  if (sparse.indices.shape().rank() == 1) return indices[i];
  const auto rank = static_cast<std::int64_t>(sparse.shape.rank());
  std::int64_t position = 0;
  for (std::int64_t axis = 0; axis < rank; ++axis) {
    const std::int64_t dim = sparse.shape[static_cast<std::size_t>(axis)];
    const std::int64_t index = indices[i * rank + axis];
    if (index < 0 || index >= dim) {
      fail(ErrorCode::kInvalidModel, "entry {} of a sparse tensor has index {} on axis {}, outside of {}", i, index,
           axis, dim);
    }
    position = position * dim + index;
  }
  return position;
}

void check_indices(const TensorDecoder::Sparse& sparse) {
  const std::int64_t nnz = sparse.values.num_elements();
  const std::int64_t count = sparse.shape.num_elements();
  const Shape& shape = sparse.indices.shape();
  const bool is_linear = shape == Shape{nnz};
  const bool is_coo = shape == Shape{nnz, static_cast<std::int64_t>(sparse.shape.rank())};
  if (sparse.values.shape().rank() != 1 || sparse.indices.type() != ElementType::kInt64 || !(is_linear || is_coo)) {
    fail(ErrorCode::kInvalidModel,
         "a sparse tensor of shape {} needs values [n] and int64 indices [n] or [n,{}], but has {} and {}",
         sparse.shape.to_string(), sparse.shape.rank(), sparse.values.shape().to_string(), shape.to_string());
  }
  std::int64_t last = -1;
  for (std::int64_t i = 0; i < nnz; ++i) {
    const std::int64_t position = linear_index(sparse, i);
    if (position <= last || position >= count) {
      fail(ErrorCode::kInvalidModel, "indices of a sparse tensor must ascend inside its {} elements, but {} follows {}",
           count, position, last);
    }
    last = position;
  }
}

void scatter(const TensorDecoder::Sparse& sparse, Tensor& dense) {
  const int bits = bit_width(sparse.values.type());
  const std::byte* from = sparse.values.view().bytes();
  std::byte* to = dense.view().mutable_bytes();
  std::memset(to, 0, dense.num_bytes());
  for (std::int64_t i = 0; i < sparse.values.num_elements(); ++i) {
    const auto source = static_cast<std::size_t>(i) * static_cast<std::size_t>(bits);
    const auto target = static_cast<std::size_t>(linear_index(sparse, i)) * static_cast<std::size_t>(bits);
    if (bits >= 8) {
      std::memcpy(to + target / 8, from + source / 8, static_cast<std::size_t>(bits) / 8);
      continue;
    }
    const unsigned mask = (1u << bits) - 1;
    const unsigned element = (std::to_integer<unsigned>(from[source / 8]) >> (source % 8)) & mask;
    to[target / 8] |= static_cast<std::byte>(element << (target % 8));
  }
}

}  // namespace

TensorDecoder::Sparse TensorDecoder::decode_sparse(const SparseTensorProto& proto) {
  if (!proto.values || !proto.indices) fail(ErrorCode::kInvalidModel, "a sparse tensor lacks its values or indices");
  const TensorProto values = parse_tensor(*proto.values);
  return in_context([&] { return "sparse tensor '" + std::string(values.name) + "'"; },
                    [&] {
                      Sparse sparse{decode(values), decode(parse_tensor(*proto.indices)), {}};
                      for (std::int64_t dim : proto.dims) {
                        if (dim < 0) fail(ErrorCode::kInvalidModel, "a sparse tensor's dimension is negative: {}", dim);
                        sparse.shape.push_back(dim);
                      }
                      check_indices(sparse);
                      return sparse;
                    });
}

Tensor TensorDecoder::densify(const Sparse& sparse) {
  const ElementType type = sparse.values.type();
  Tensor dense = make(type, sparse.shape);
  if (type == ElementType::kString) {
    for (std::int64_t i = 0; i < sparse.values.num_elements(); ++i) {
      dense.mutable_data<std::string>()[linear_index(sparse, i)] = sparse.values.data<std::string>()[i];
    }
  } else {
    scatter(sparse, dense);
  }
  return dense;
}

}  // namespace sardonyx::onnx
