#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/fail.h"
#include "ops/families.h"
#include "ops/infer_context.h"

namespace sardonyx::ops {
namespace {

/// Inputs a, a_scale, a_zero_point, b, b_scale, b_zero_point, c_scale, c_zero_point; zero points may be left out.
void infer_qlinear_binary(InferContext& context) {
  const ValueType &a = context.tensor(0), &b = context.tensor(3);
  if (a.element != b.element)
    fail(ErrorCode::kInvalidModel, "both operands must have one element type, found {} and {}", a.to_string(),
         b.to_string());
  if (!a.has_rank || !b.has_rank) return context.set_unranked(0, a.element);
  context.set_tensor(0, a.element, context.broadcast(a.dims, b.dims));
}

void infer_qlinear_unary(InferContext& context) { context.set_like(0, 0); }

/// The bias or scale of a product's columns.
void check_columns(InferContext& context, std::size_t input, const char* what) {
  if (!context.has_input(input) || !context.has_rank(input)) return;
  if (context.rank(input) > 1)
    fail(ErrorCode::kInvalidModel, "{} must be one value or one a column, found {}", what,
         context.input(input).to_string());
}

void infer_mat_mul_integer_to_float(InferContext& context) {
  check_columns(context, 3, "b_scale");
  check_columns(context, 6, "bias");
  set_mat_mul(context, 0, 1, context.tensor(2).element);
}

void infer_dynamic_quantize_mat_mul(InferContext& context) {
  check_columns(context, 2, "b_scale");
  check_columns(context, 4, "bias");
  set_mat_mul(context, 0, 1, context.tensor(0).element);
}

/// A [.., K] and B's packed weights [N, blocks, bytes] give [.., N].
void infer_mat_mul_n_bits(InferContext& context) {
  const ValueType& a = context.tensor(0);
  context.tensor(1);
  context.tensor(2);
  const std::int64_t k = context.attributes().get_int("K"), n = context.attributes().get_int("N");
  const std::int64_t bits = context.attributes().get_int("bits", 4), block = context.attributes().get_int("block_size");
  if (k <= 0 || n <= 0) fail(ErrorCode::kInvalidModel, "K and N must be positive, found {} and {}", k, n);
  if (bits != 2 && bits != 4 && bits != 8)
    fail(ErrorCode::kUnsupported, "weights of {} bits; 2, 4 and 8 are known", bits);
  if (block < 16 || (block & (block - 1)) != 0)
    fail(ErrorCode::kInvalidModel, "block_size must be a power of two of at least 16, found {}", block);
  if (!a.has_rank) return context.set_unranked(0, a.element);
  context.require(a.rank() >= 1, "A must have at least one dimension");
  std::vector<Dim> dims = a.dims;
  context.same(dims.back(), k, "A's last dimension and K");
  dims.back() = n;
  context.set_tensor(0, a.element, std::move(dims));
}

}  // namespace

void add_microsoft_quantize_ops(OpTable& table) {
  constexpr const char* kDomain = "com.microsoft";
  table.push_back({kDomain, "QLinearAdd", infer_qlinear_binary, {}});
  table.push_back({kDomain, "QLinearMul", infer_qlinear_binary, {}});
  table.push_back({kDomain, "QLinearSigmoid", infer_qlinear_unary, {.in_place = mask({0})}});
  table.push_back({kDomain, "QLinearLeakyRelu", infer_qlinear_unary, {.in_place = mask({0})}});
  table.push_back({kDomain, "MatMulNBits", infer_mat_mul_n_bits, {}});
  table.push_back({kDomain, "MatMulIntegerToFloat", infer_mat_mul_integer_to_float, {}});
  table.push_back({kDomain, "DynamicQuantizeMatMul", infer_dynamic_quantize_mat_mul, {.mixes_batch = true}});
}

}  // namespace sardonyx::ops
