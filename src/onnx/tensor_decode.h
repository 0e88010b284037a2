#pragma once

#include <cstddef>
#include <memory>
#include <string_view>

#include "sardonyx/tensor.h"

#include "onnx/external_data.h"
#include "onnx/proto.h"

namespace sardonyx::onnx {

/// Turns serialized tensors into Tensors. Elements in raw_data or in an external file are not copied where the file's
/// memory has an owner and either aligns them or holds many (the Tensor is then no better aligned than the file made
/// it); all others are. Nothing is allocated before the file is known to hold that many elements.
class TensorDecoder {
 public:
  /// `owner` keeps the messages' bytes alive; null: they may go away, so elements are always copied.
  /// `most_dense_bytes` limits what all sparse tensors together may take once dense.
  TensorDecoder(std::shared_ptr<const void> owner, ExternalFiles files, std::size_t most_dense_bytes)
      : owner_(std::move(owner)), files_(std::move(files)), dense_bytes_left_(most_dense_bytes) {}

  /// Throws kInvalidModel when type, dims and elements do not fit together.
  Tensor decode(const TensorProto& proto);
  /// Values and indices as they stand, checked to lie inside the shape and to be sorted without duplicates.
  struct Sparse {
    Tensor values, indices;
    Shape shape;
  };
  Sparse decode_sparse(const SparseTensorProto& proto);
  /// The dense form; elements that are not given are 0 (strings: empty).
  Tensor densify(const Sparse& sparse);

 private:
  Tensor decode_raw(ElementType type, Shape shape, std::string_view raw,
                    const std::shared_ptr<const void>& owner) const;

  std::shared_ptr<const void> owner_;
  ExternalFiles files_;
  std::size_t dense_bytes_left_;
};

/// The ElementType of a number in a file; throws kInvalidModel for a number that is none.
ElementType to_element_type(std::int64_t number);

}  // namespace sardonyx::onnx
