#pragma once

#include <cstdint>

#include "provider/kernel.h"

namespace sardonyx::provider::cpu {

/// Base of kernels that only move elements, whatever they are. Such a kernel is written for elements of whole bytes;
/// for packed types (int4, uint2, float4e2m1, …) this class gives it byte-per-element copies and packs what it wrote.
class ElementMover : public Kernel {
 public:
  Binding bind(const BindContext& context) const final;
  void run(RunContext& context) const final;

 protected:
  /// Kernel::run; a packed tensor appears as kUInt8 with one element a byte.
  virtual void move(RunContext& context) const = 0;
};

/// One element a byte, in order, from a packed tensor, and back.
void unpack_elements(const TensorView& packed, std::uint8_t* bytes);
void pack_elements(const std::uint8_t* bytes, const TensorView& packed);

/// A small integer tensor's elements (axes, sizes, repeats), as a list that needs no memory up to Shape::kInline
/// elements. Throws for other element types.
Shape read_ints(const TensorView& tensor);
/// The single element of such a tensor.
std::int64_t read_int(const TensorView& tensor);

/// value in [-rank, rank) as an axis. Throws.
std::size_t normalized_axis(std::int64_t value, std::size_t rank);

}  // namespace sardonyx::provider::cpu
