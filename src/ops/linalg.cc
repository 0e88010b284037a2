#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "base/fail.h"
#include "ops/families.h"
#include "ops/infer_context.h"
#include "ops/op_list.h"

namespace sardonyx::ops {
namespace {

void require_same_element(InferContext& context, std::size_t a, std::size_t b) {
  if (context.tensor(a).element == context.tensor(b).element) return;
  fail(ErrorCode::kInvalidModel, "inputs {} and {} must have one element type, found {} and {}", a, b,
       context.input(a).to_string(), context.input(b).to_string());
}

void infer_mat_mul(InferContext& context) {
  require_same_element(context, 0, 1);
  set_mat_mul(context, 0, 1, context.element(0));
}

/// com.microsoft: operands may be transposed, the product is scaled.
void infer_fused_mat_mul(InferContext& context) {
  require_same_element(context, 0, 1);
  const auto flag = [&](const char* name) { return context.attributes().get_int(name, 0) != 0; };
  if (flag("transBatchA") || flag("transBatchB"))
    fail(ErrorCode::kUnsupported, "FusedMatMul with transposed batch dimensions");
  set_mat_mul(context, 0, 1, context.element(0), flag("transA"), flag("transB"));
}

/// com.microsoft: the inverses of a stack of matrices.
void infer_inverse(InferContext& context) {
  const ValueType& x = context.tensor(0);
  if (x.has_rank && x.rank() < 2) fail(ErrorCode::kInvalidModel, "Inverse needs matrices, found {}", x.to_string());
  if (x.has_rank) context.same(x.dims[x.rank() - 1], x.dims[x.rank() - 2], "the sides of a matrix");
  context.set_like(0, 0);
}

void infer_mat_mul_integer(InferContext& context) { set_mat_mul(context, 0, 1, ElementType::kInt32); }

void infer_qlinear_mat_mul(InferContext& context) {
  if (context.num_inputs() < 8)
    fail(ErrorCode::kInvalidModel, "QLinearMatMul takes 8 inputs, found {}", context.num_inputs());
  set_mat_mul(context, 0, 3, context.tensor(7).element);
}

void infer_gemm(InferContext& context) {
  require_same_element(context, 0, 1);
  for (std::size_t i = 0; i < 2; ++i) context.require_rank(i, 2);
  if (context.has_input(2)) require_same_element(context, 0, 2);
  const bool transpose_a = context.attributes().get_int("transA", 0) != 0,
             transpose_b = context.attributes().get_int("transB", 0) != 0;
  const bool a = context.has_rank(0), b = context.has_rank(1);
  if (a && b)
    context.same(context.dim(0, transpose_a ? 0 : 1), context.dim(1, transpose_b ? 1 : 0),
                 "the inner dimensions of A and B");
  std::vector<Dim> dims{a ? context.dim(0, transpose_a ? 1 : 0) : context.fresh("m"),
                        b ? context.dim(1, transpose_b ? 0 : 1) : context.fresh("n")};
  if (context.has_input(2) && context.has_rank(2)) {
    if (context.rank(2) > 2)
      fail(ErrorCode::kInvalidModel, "C must broadcast to [M, N], but it is {}", context.input(2).to_string());
    for (std::size_t i = 0; i < context.rank(2); ++i) {
      context.require_broadcasts_to(context.dim(2, context.rank(2) - 1 - i), dims[1 - i], "dimensions of C and [M, N]");
    }
  }
  context.set_tensor(0, context.element(0), std::move(dims));
}

void infer_det(InferContext& context) {
  const ValueType& x = context.tensor(0);
  if (!x.has_rank) return context.set_unranked(0, x.element);
  if (x.rank() < 2) fail(ErrorCode::kInvalidModel, "Det needs matrices, found {}", x.to_string());
  std::vector<Dim> dims = x.dims;
  context.same(dims[dims.size() - 1], dims[dims.size() - 2], "the sides of a matrix");
  dims.resize(dims.size() - 2);
  context.set_tensor(0, x.element, std::move(dims));
}

}  // namespace

void set_mat_mul(InferContext& context, std::size_t a_input, std::size_t b_input, ElementType element, bool transpose_a,
                 bool transpose_b) {
  ValueType a = context.tensor(a_input), b = context.tensor(b_input);
  if (transpose_a && a.rank() > 1) std::swap(a.dims[a.rank() - 1], a.dims[a.rank() - 2]);
  if (transpose_b && b.rank() > 1) std::swap(b.dims[b.rank() - 1], b.dims[b.rank() - 2]);
  if (!a.has_rank || !b.has_rank) return context.set_unranked(0, element);
  if (a.rank() == 0 || b.rank() == 0) {
    fail(ErrorCode::kInvalidModel, "a matrix product needs operands of rank 1 or more, found {} and {}", a.to_string(),
         b.to_string());
  }
  const Dim& a_inner = a.dims.back();
  const Dim& b_inner = b.rank() == 1 ? b.dims[0] : b.dims[b.rank() - 2];
  context.same(a_inner, b_inner, "the inner dimensions of " + a.to_string() + " and " + b.to_string());
  const std::vector<Dim> a_batch(a.dims.begin(),
                                 a.dims.end() - std::min<std::ptrdiff_t>(2, static_cast<std::ptrdiff_t>(a.rank())));
  const std::vector<Dim> b_batch(b.dims.begin(),
                                 b.dims.end() - std::min<std::ptrdiff_t>(2, static_cast<std::ptrdiff_t>(b.rank())));
  std::vector<Dim> dims = context.broadcast(a_batch, b_batch);
  if (a.rank() > 1) dims.push_back(a.dims[a.rank() - 2]);
  if (b.rank() > 1) dims.push_back(b.dims.back());
  context.set_tensor(0, element, std::move(dims));
}

void add_linalg_ops(OpTable& table) {
  table.push_back({"", "MatMul", infer_mat_mul, {}});
  table.push_back({"", "MatMulInteger", infer_mat_mul_integer, {}});
  table.push_back({"", "QLinearMatMul", infer_qlinear_mat_mul, {}});
  table.push_back({"", "Gemm", infer_gemm, {}});
  table.push_back({"", "Det", infer_det, {}});
  table.push_back({"com.microsoft", "FusedMatMul", infer_fused_mat_mul, {}});
  table.push_back({"com.microsoft", "Inverse", infer_inverse, {}});
  add_einsum_op(table);
}

}  // namespace sardonyx::ops
