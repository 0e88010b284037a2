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
  /// Together its tensors may take `most_extra_bytes` of memory and 16 times `file_bytes` and the external files'
  /// sizes: more than the plainest encoding needs, so only files that say the same bytes many times, or zeros that they
  /// do not hold, do.
  TensorDecoder(std::shared_ptr<const void> owner, ExternalFiles files, std::size_t file_bytes,
                std::size_t most_extra_bytes)
      : owner_(std::move(owner)),
        files_(std::move(files)),
        file_bytes_(file_bytes),
        most_extra_bytes_(most_extra_bytes) {}

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
  /// Counts memory that something else made of the file takes. Throws kResourceExhausted beyond the limit.
  void take(std::size_t bytes);

 private:
  Tensor decode_raw(ElementType type, Shape shape, std::string_view raw, const std::shared_ptr<const void>& owner);
  Tensor decode_typed(const TensorProto& proto, ElementType type, Shape shape);
  Tensor make(ElementType type, Shape shape);

  std::shared_ptr<const void> owner_;
  ExternalFiles files_;
  std::size_t file_bytes_, most_extra_bytes_;
  std::size_t taken_ = 0;
};

/// The ElementType of a number in a file; throws kInvalidModel for a number that is none.
ElementType to_element_type(std::int64_t number);

}  // namespace sardonyx::onnx
