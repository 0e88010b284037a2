#include <cmath>
#include <limits>
#include <memory>
#include <string>

#include "provider/cpu/convert.h"
#include "provider/cpu/families.h"
#include "provider/cpu/integer_product.h"
#include "provider/cpu/matmul_plan.h"
#include "provider/cpu/ops/wide_io.h"
#include "provider/cpu/plain_gemm.h"

namespace sardonyx::provider::cpu {
namespace {

bool is_byte(ElementType type) { return type == ElementType::kInt8 || type == ElementType::kUInt8; }

/// A scale or zero point: one value, or one a row (of A) or column (of B), perhaps with dimensions of the stack before it.
/// Returns where the values of matrix `i` of the stack begin, and the step from row to row.
struct PerLine {
  std::size_t offset = 0, step = 0;
};
PerLine per_line(const TensorView* values, std::size_t lines, std::size_t matrix, std::size_t matrices, const char* what) {
  const std::size_t count = values ? static_cast<std::size_t>(values->num_elements()) : 1;
  if (count == 1) return {};
  if (count == lines) return {0, 1};
  if (count == lines * matrices) return {matrix * lines, 1};
  fail(ErrorCode::kInvalidArgument, "{} must hold 1 value or {} (one a row or column), found shape {}", what, lines, values->shape.to_string());
}

const TensorView* optional_input(const RunContext& context, std::size_t i) { return context.has_input(i) ? &context.input(i) : nullptr; }

ByteMatrix byte_matrix(const TensorView& x, std::size_t offset, const TensorView* zero, PerLine line) {
  ByteMatrix matrix{x.bytes() + offset, x.type == ElementType::kInt8, {}};
  if (zero) matrix.zero = {zero->bytes() + line.offset, line.step};
  return matrix;
}

class MatMulIntegerKernel final : public Kernel {
 public:
  explicit MatMulIntegerKernel(const NodeDesc&) {}
  Binding bind(const BindContext& shapes) const override {
    return {0, std::make_shared<MatMulPlan>(MatMulPlan::make(shapes.inputs[0]->shape, shapes.inputs[1]->shape))};
  }
  void run(RunContext& context) const override {
    if (context.output(0).num_elements() == 0) return;
    const auto& plan = context.params<MatMulPlan>();
    std::int32_t* out = context.output(0).mutable_data<std::int32_t>();
    const TensorView *a_zero = optional_input(context, 2), *b_zero = optional_input(context, 3);
    for (std::size_t i = 0; i < plan.batch; ++i) {
      const PerLine rows = per_line(a_zero, plan.m, i, plan.batch, "a_zero_point");
      const PerLine columns = per_line(b_zero, plan.n, i, plan.batch, "b_zero_point");
      integer_product(context.parallel, plan.m, plan.n, plan.k, byte_matrix(context.input(0), plan.a_offsets[i], a_zero, rows),
                      byte_matrix(context.input(1), plan.b_offsets[i], b_zero, columns), out + plan.c_offset(i));
    }
  }
};

Support supports_mat_mul_integer(const NodeDesc& node) {
  for (std::size_t i = 0; i < 2; ++i) {
    if (!is_byte(node.input_type(i))) return decline_type(node, i);
  }
  return Support::accept();
}

/// Inputs a, a_scale, a_zero_point, b, b_scale, b_zero_point, y_scale, y_zero_point. Bytes are multiplied as integers,
/// float8 values as floats.
class QLinearMatMulKernel final : public Kernel {
 public:
  explicit QLinearMatMulKernel(const NodeDesc&) {}

  Binding bind(const BindContext& shapes) const override {
    auto plan = std::make_shared<MatMulPlan>(MatMulPlan::make(shapes.inputs[0]->shape, shapes.inputs[3]->shape));
    std::size_t bytes = align_workspace(plan->m * plan->n * sizeof(std::int32_t));
    if (!is_byte(shapes.inputs[0]->type) || !is_byte(shapes.inputs[3]->type)) {
      bytes += align_workspace(plan->m * plan->k * sizeof(float)) + plan->k * plan->n * sizeof(float);
    }
    return {bytes, std::move(plan)};
  }

  void run(RunContext& context) const override {
    if (context.output(0).num_elements() == 0) return;
    const auto& plan = context.params<MatMulPlan>();
    const bool integers = is_byte(context.input(0).type) && is_byte(context.input(3).type);
    for (std::size_t i = 0; i < plan.batch; ++i) {
      if (integers) {
        auto* sums = reinterpret_cast<std::int32_t*>(context.workspace());
        const PerLine rows = per_line(&context.input(2), plan.m, i, plan.batch, "a_zero_point");
        const PerLine columns = per_line(&context.input(5), plan.n, i, plan.batch, "b_zero_point");
        integer_product(context.parallel, plan.m, plan.n, plan.k, byte_matrix(context.input(0), plan.a_offsets[i], &context.input(2), rows),
                        byte_matrix(context.input(3), plan.b_offsets[i], &context.input(5), columns), sums);
        requantize(context, plan, i, sums);
      } else {
        requantize(context, plan, i, float_product(context, plan, i));
      }
    }
  }

 private:
  static const float* float_product(const RunContext& context, const MatMulPlan& plan, std::size_t i) {
    auto* sums = reinterpret_cast<float*>(context.workspace());
    auto* a = sums + align_workspace(plan.m * plan.n * sizeof(float)) / sizeof(float);
    auto* b = a + align_workspace(plan.m * plan.k * sizeof(float)) / sizeof(float);
    load_centred(context.input(0), plan.a_offsets[i], context.input(2), per_line(&context.input(2), plan.m, i, plan.batch, "a_zero_point"), plan.k,
                 plan.m * plan.k, a, true);
    load_centred(context.input(3), plan.b_offsets[i], context.input(5), per_line(&context.input(5), plan.n, i, plan.batch, "b_zero_point"), plan.n,
                 plan.k * plan.n, b, false);
    plain_gemm<float>(context.parallel, plan.m, plan.n, plan.k, {a, plan.k, 1}, {b, plan.n, 1}, sums);
    return sums;
  }

  /// Values minus their zero points: by row of `width` elements, or by column.
  static void load_centred(const TensorView& x, std::size_t offset, const TensorView& zero, PerLine line, std::size_t width, std::size_t count,
                           float* out, bool by_row) {
    load_elements(x, offset, count, out);
    for (std::size_t i = 0; i < count; ++i) {
      float value = 0;
      load_elements(zero, line.offset + line.step * (by_row ? i / width : i % width), 1, &value);
      out[i] -= value;
    }
  }

  /// y = saturate(round(sum * (a_scale * b_scale / y_scale)) + y_zero_point).
  template <typename Sum>
  static void requantize(const RunContext& context, const MatMulPlan& plan, std::size_t i, const Sum* sums) {
    const TensorView &y = context.output(0), &a_scale = context.input(1), &b_scale = context.input(4), &y_scale = context.input(6);
    const PerLine a = per_line(&a_scale, plan.m, i, plan.batch, "a_scale"), b = per_line(&b_scale, plan.n, i, plan.batch, "b_scale");
    const PerLine out = per_line(&y_scale, plan.m, i, plan.batch, "y_scale");
    const PerLine zero = per_line(&context.input(7), plan.m, i, plan.batch, "y_zero_point");
    dispatch(Types<std::int8_t, std::uint8_t, Float8E4M3FN, Float8E4M3FNUZ, Float8E5M2, Float8E5M2FNUZ>{}, y.type, "QLinearMatMul", [&]<typename T>() {
      T* to = y.mutable_data<T>() + plan.c_offset(i);
      for (std::size_t row = 0; row < plan.m; ++row) {
        const float left = at(a_scale, a, row), over = at(y_scale, out, row), shift = at(context.input(7), zero, row);
        for (std::size_t j = 0; j < plan.n; ++j) {
          const float factor = left * at(b_scale, b, j) / over;
          to[row * plan.n + j] = quantized<T>(static_cast<float>(sums[row * plan.n + j]) * factor, shift);
        }
      }
    });
  }

  static float at(const TensorView& values, PerLine line, std::size_t i) {
    float value = 0;
    load_elements(values, line.offset + line.step * i, 1, &value);
    return value;
  }

  template <typename T>
  static T quantized(float value, float shift) {
    if constexpr (std::is_integral_v<T>) {
      const float rounded = std::nearbyint(value) + shift;
      if (!(rounded > static_cast<float>(std::numeric_limits<T>::min()))) return std::numeric_limits<T>::min();
      return rounded < static_cast<float>(std::numeric_limits<T>::max()) ? static_cast<T>(rounded) : std::numeric_limits<T>::max();
    } else {
      return T::from_float(value + shift, true);
    }
  }
};

Support supports_qlinear_mat_mul(const NodeDesc& node) {
  for (std::size_t i : {std::size_t{0}, std::size_t{3}}) {
    const ElementType type = node.input_type(i);
    if (!is_byte(type) && !(is_floating_point(type) && bit_width(type) == 8)) return decline_type(node, i);
  }
  return Support::accept();
}

}  // namespace

void add_integer_mat_mul_kernels(KernelTable& table) {
  table.push_back({"", "MatMulInteger", supports_mat_mul_integer, make<MatMulIntegerKernel>});
  table.push_back({"", "QLinearMatMul", supports_qlinear_mat_mul, make<QLinearMatMulKernel>});
}

}  // namespace sardonyx::provider::cpu
