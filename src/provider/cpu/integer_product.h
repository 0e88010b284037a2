#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "kernels/gemm/integer_gemm.h"
#include "provider/cpu/matmul_plan.h"
#include "provider/kernel.h"

namespace sardonyx::provider::cpu {

/// A scale or zero point of one matrix in a stack: one value, or one a row (of A) or column (of B).
struct PerLine {
  std::size_t offset = 0;  ///< where this matrix's values begin
  std::size_t step = 0;
};

/// `lines`: rows of A, columns of B, or the like. `values` may be null (one value, the default). Throws
/// kInvalidArgument naming `what` where the number of values fits neither one nor `lines`.
PerLine per_line(const TensorView* values, std::size_t lines, std::size_t matrix, std::size_t matrices,
                 const char* what);

/// Zero points of int8 or uint8 as the int32 that kernels take: one, or `lines` of them, into `out`.
kernels::IntegerParameter widen_zero_points(const TensorView* zero, PerLine line, std::size_t lines, std::int32_t* out);

/// A constant right-hand matrix of bytes, packed once.
struct PackedIntegerRight {
  std::size_t input = 1;
  std::size_t k = 0, n = 0;
  bool is_signed = false;

  /// One, where input `input` of the node is a constant that holds a single matrix or a vector of bytes.
  static std::optional<PackedIntegerRight> find(const graph::NodeDesc& node, std::size_t input);

  PackRequest request() const;
  kernels::PackedIntegerB view(const std::byte* packed) const {
    return kernels::view_packed_integer_b(packed, is_signed, k, n);
  }
};

/// Shapes of a product of bytes, and what it needs of the workspace, in this order, each part aligned.
struct BoundProduct {
  MatMulPlan plan;
  std::size_t row_zeros = 0, column_zeros = 0, packed = 0, gemm = 0;  ///< bytes
  std::size_t bytes() const { return row_zeros + column_zeros + packed + gemm; }
};

/// The operands of one run; null zero points are zero.
struct ByteOperands {
  const TensorView* a;
  const TensorView* a_zero;
  const TensorView* b;
  const TensorView* b_zero;
};

/// Stacks of byte matrices times stacks of byte matrices: what MatMulInteger and its relatives share.
class IntegerProduct {
 public:
  /// `b_input`: which input of the node is the right-hand side.
  IntegerProduct(const graph::NodeDesc& node, std::size_t b_input) : right_(PackedIntegerRight::find(node, b_input)) {}

  std::vector<PackRequest> pack_requests() const;
  void bind(const Shape& a, const Shape& b, BoundProduct& bound) const;
  /// Matrix `i` of the stack into rows of plan.n elements. `memory`: bound.bytes(), aligned.
  void run(const RunContext& context, const BoundProduct& bound, std::size_t i, const ByteOperands& operands,
           std::byte* memory, kernels::IntegerOutput output, void* out, const kernels::IntegerEpilogue& epilogue) const;

 private:
  std::optional<PackedIntegerRight> right_;
};

/// A node of inputs A and B, then whatever else, that is one IntegerProduct; params<BoundProduct>() when it runs.
class IntegerProductKernel : public Kernel {
 public:
  explicit IntegerProductKernel(const graph::NodeDesc& node) : product_(node, 1) {}
  std::vector<PackRequest> pack_requests() const override { return product_.pack_requests(); }
  Binding bind(const BindContext& shapes) const override;

 protected:
  const IntegerProduct& product() const { return product_; }

 private:
  IntegerProduct product_;
};

inline bool is_byte(ElementType type) { return type == ElementType::kInt8 || type == ElementType::kUInt8; }

inline const TensorView* optional_input(const RunContext& context, std::size_t i) {
  return context.has_input(i) ? &context.input(i) : nullptr;
}

}  // namespace sardonyx::provider::cpu
