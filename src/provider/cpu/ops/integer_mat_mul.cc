#include <algorithm>
#include <memory>
#include <optional>
#include <vector>

#include "provider/cpu/convert.h"
#include "provider/cpu/families.h"
#include "provider/cpu/integer_product.h"
#include "provider/cpu/ops/saturate.h"
#include "provider/cpu/ops/wide_io.h"
#include "provider/cpu/plain_gemm.h"

namespace sardonyx::provider::cpu {
namespace {

class MatMulIntegerKernel final : public IntegerProductKernel {
 public:
  using IntegerProductKernel::IntegerProductKernel;

  void run(RunContext& context) const override {
    if (context.output(0).num_elements() == 0) return;
    const auto& bound = context.params<BoundProduct>();
    std::int32_t* out = context.output(0).mutable_data<std::int32_t>();
    for (std::size_t i = 0; i < bound.plan.batch; ++i) {
      product().run(context, bound, i,
                    {&context.input(0), optional_input(context, 2), &context.input(1), optional_input(context, 3)},
                    context.workspace(), kernels::IntegerOutput::kInt32, out + bound.plan.c_offset(i), {});
    }
  }
};

Support supports_mat_mul_integer(const NodeDesc& node) {
  for (std::size_t i = 0; i < 2; ++i) {
    if (!is_byte(node.input_type(i))) return decline_type(node, i);
  }
  return Support::accept();
}

struct BoundQLinear {
  BoundProduct product;
  std::size_t sums = 0, left = 0, right = 0;  ///< bytes
};

/// Inputs a, a_scale, a_zero_point, b, b_scale, b_zero_point, y_scale, y_zero_point. Bytes are multiplied as integers,
/// float8 values as floats.
class QLinearMatMulKernel final : public Kernel {
 public:
  explicit QLinearMatMulKernel(const NodeDesc& node)
      : product_(node, 3), integers_(is_byte(node.input_type(0)) && is_byte(node.input_type(3))) {}
  std::vector<PackRequest> pack_requests() const override {
    return integers_ ? product_.pack_requests() : std::vector<PackRequest>{};
  }

  Binding bind(const BindContext& shapes) const override {
    auto bound = std::make_shared<BoundQLinear>();
    product_.bind(shapes.inputs[0]->shape, shapes.inputs[3]->shape, bound->product);
    const MatMulPlan& plan = bound->product.plan;
    bound->sums = align_workspace(plan.m * plan.n * sizeof(std::int32_t));
    if (!integers_) {
      bound->left = align_workspace(plan.m * plan.k * sizeof(float));
      bound->right = align_workspace(plan.k * plan.n * sizeof(float));
    }
    const std::size_t bytes = bound->sums + bound->left + bound->right + bound->product.bytes();
    return {bytes, std::move(bound)};
  }

  void run(RunContext& context) const override {
    if (context.output(0).num_elements() == 0) return;
    const auto& bound = context.params<BoundQLinear>();
    for (std::size_t i = 0; i < bound.product.plan.batch; ++i) {
      if (integers_) {
        auto* sums = reinterpret_cast<std::int32_t*>(context.workspace());
        product_.run(context, bound.product, i,
                     {&context.input(0), &context.input(2), &context.input(3), &context.input(5)},
                     context.workspace() + bound.sums, kernels::IntegerOutput::kInt32, sums, {});
        requantize(context, bound.product.plan, i, sums);
      } else {
        requantize(context, bound.product.plan, i, float_product(context, bound, i));
      }
    }
  }

 private:
  static const float* float_product(const RunContext& context, const BoundQLinear& bound, std::size_t i) {
    const MatMulPlan& plan = bound.product.plan;
    auto* sums = reinterpret_cast<float*>(context.workspace());
    auto* a = reinterpret_cast<float*>(context.workspace() + bound.sums);
    auto* b = reinterpret_cast<float*>(context.workspace() + bound.sums + bound.left);
    const TensorView &a_zero = context.input(2), &b_zero = context.input(5);
    const PerLine rows = per_line(&a_zero, plan.m, i, plan.batch, "a_zero_point"),
                  columns = per_line(&b_zero, plan.n, i, plan.batch, "b_zero_point");
    load_elements(context.input(0), plan.a_offsets[i], plan.m * plan.k, a);
    load_elements(context.input(3), plan.b_offsets[i], plan.k * plan.n, b);
    for (std::size_t j = 0; j < plan.m * plan.k; ++j) a[j] -= at(a_zero, rows, j / plan.k);
    for (std::size_t j = 0; j < plan.k * plan.n; ++j) b[j] -= at(b_zero, columns, j % plan.n);
    plain_gemm<float>(context.parallel, plan.m, plan.n, plan.k, {a, plan.k, 1}, {b, plan.n, 1}, sums);
    return sums;
  }

  /// y = saturate(round(sum * (a_scale * b_scale / y_scale)) + y_zero_point).
  template <typename Sum>
  static void requantize(const RunContext& context, const MatMulPlan& plan, std::size_t i, const Sum* sums) {
    const TensorView &y = context.output(0), &a_scale = context.input(1), &b_scale = context.input(4),
                     &y_scale = context.input(6);
    const PerLine a = per_line(&a_scale, plan.m, i, plan.batch, "a_scale"),
                  b = per_line(&b_scale, plan.n, i, plan.batch, "b_scale");
    const PerLine over = per_line(&y_scale, plan.m, i, plan.batch, "y_scale");
    const PerLine zero = per_line(&context.input(7), plan.m, i, plan.batch, "y_zero_point");
    dispatch(Types<std::int8_t, std::uint8_t, Float8E4M3FN, Float8E4M3FNUZ, Float8E5M2, Float8E5M2FNUZ>{}, y.type,
             "QLinearMatMul", [&]<typename T>() {
               T* to = y.mutable_data<T>() + plan.c_offset(i);
               context.parallel.parallel_for(plan.m, chunk_of(plan.n), [&](std::size_t begin, std::size_t end) {
                 for (std::size_t row = begin; row < end; ++row) {
                   const float left = at(a_scale, a, row), divisor = at(y_scale, over, row),
                               shift = at(context.input(7), zero, row);
                   float factor = left * at(b_scale, b, 0) / divisor;
                   for (std::size_t j = 0; j < plan.n; ++j) {
                     if (b.step != 0) factor = left * at(b_scale, b, j) / divisor;
                     to[row * plan.n + j] = quantized<T>(static_cast<float>(sums[row * plan.n + j]) * factor, shift);
                   }
                 }
               });
             });
  }

  static float at(const TensorView& values, PerLine line, std::size_t i) {
    const std::size_t index = line.offset + line.step * i;
    if (values.type == ElementType::kFloat32) return values.data<float>()[index];
    float value = 0;
    load_elements(values, index, 1, &value);
    return value;
  }

  template <typename T>
  static T quantized(float value, float shift) {
    if constexpr (std::is_integral_v<T>) {
      // Far beyond every byte, so that rounding by addition stays exact.
      const float clamped = value > -4096.0f ? (value < 4096.0f ? value : 4096.0f) : -4096.0f;
      return saturate_round<T>((clamped + 0x1.8p23f) - 0x1.8p23f + shift);
    } else {
      return T::from_float(value + shift, true);
    }
  }

  IntegerProduct product_;
  bool integers_;
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
