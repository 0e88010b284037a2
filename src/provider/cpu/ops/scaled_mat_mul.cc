#include <memory>
#include <utility>
#include <vector>

#include "kernels/quant/quant.h"
#include "provider/cpu/families.h"
#include "provider/cpu/integer_product.h"
#include "provider/cpu/ops/wide_io.h"

namespace sardonyx::provider::cpu {
namespace {

/// One scale, or one a column.
kernels::FloatParameter column_scale(const TensorView& scale, std::size_t columns) {
  return {scale.data<float>(), per_line(&scale, columns, 0, 1, "b_scale").step};
}

const float* bias_of(const TensorView* bias, std::size_t columns) {
  if (!bias) return nullptr;
  if (static_cast<std::size_t>(bias->num_elements()) != columns) {
    fail(ErrorCode::kInvalidArgument, "bias must hold {} values, one a column, found shape {}", columns,
         bias->shape.to_string());
  }
  return bias->data<float>();
}

/// Inputs A, B, a_scale, b_scale, a_zero_point, b_zero_point, bias: (A - za)(B - zb) * (a_scale * b_scale) + bias.
class MatMulIntegerToFloatKernel final : public IntegerProductKernel {
 public:
  using IntegerProductKernel::IntegerProductKernel;

  void run(RunContext& context) const override {
    if (context.output(0).num_elements() == 0) return;
    const auto& bound = context.params<BoundProduct>();
    const TensorView& a_scale = context.input(2);
    float* out = context.output(0).mutable_data<float>();
    kernels::IntegerEpilogue epilogue;
    epilogue.row_scale = {a_scale.data<float>(), per_line(&a_scale, bound.plan.m, 0, 1, "a_scale").step};
    epilogue.column_scale = column_scale(context.input(3), bound.plan.n);
    epilogue.bias = bias_of(optional_input(context, 6), bound.plan.n);
    const ByteOperands operands{&context.input(0), optional_input(context, 4), &context.input(1),
                                optional_input(context, 5)};
    for (std::size_t i = 0; i < bound.plan.batch; ++i) {
      product().run(context, bound, i, operands, context.workspace(), kernels::IntegerOutput::kFloat,
                    out + bound.plan.c_offset(i), epilogue);
    }
  }
};

struct BoundDynamic {
  BoundProduct product;
  std::size_t quantized = 0;  ///< bytes of A quantised, at the front of the workspace
};

/// Inputs A, B, b_scale, b_zero_point, bias: A is quantised as DynamicQuantizeLinear does, then as above.
class DynamicQuantizeMatMulKernel final : public Kernel {
 public:
  explicit DynamicQuantizeMatMulKernel(const NodeDesc& node) : product_(node, 1) {}
  std::vector<PackRequest> pack_requests() const override { return product_.pack_requests(); }

  Binding bind(const BindContext& shapes) const override {
    auto bound = std::make_shared<BoundDynamic>();
    product_.bind(shapes.inputs[0]->shape, shapes.inputs[1]->shape, bound->product);
    bound->quantized = align_workspace(static_cast<std::size_t>(shapes.inputs[0]->num_elements()));
    const std::size_t bytes = bound->quantized + bound->product.bytes();
    return {bytes, std::move(bound)};
  }

  void run(RunContext& context) const override {
    if (context.output(0).num_elements() == 0) return;
    const auto& bound = context.params<BoundDynamic>();
    const TensorView& a = context.input(0);
    TensorView quantized{ElementType::kUInt8, {}, a.shape, context.workspace()};
    const auto found = kernels::dynamic_quantize(a.data<float>(), static_cast<std::size_t>(a.num_elements()),
                                                 quantized.mutable_data<std::uint8_t>(), context.parallel);
    auto zero_point = static_cast<std::uint8_t>(found.zero_point);
    const TensorView a_zero{ElementType::kUInt8, {}, {}, &zero_point};
    const MatMulPlan& plan = bound.product.plan;
    float* out = context.output(0).mutable_data<float>();
    kernels::IntegerEpilogue epilogue;
    epilogue.row_scale = {&found.scale, 0};
    epilogue.column_scale = column_scale(context.input(2), plan.n);
    epilogue.bias = bias_of(optional_input(context, 4), plan.n);
    const ByteOperands operands{&quantized, &a_zero, &context.input(1), optional_input(context, 3)};
    for (std::size_t i = 0; i < plan.batch; ++i) {
      product_.run(context, bound.product, i, operands, context.workspace() + bound.quantized,
                   kernels::IntegerOutput::kFloat, out + plan.c_offset(i), epilogue);
    }
  }

 private:
  IntegerProduct product_;
};

Support supports_to_float(const NodeDesc& node) {
  if (!is_byte(node.input_type(0))) return decline_type(node, 0);
  if (!is_byte(node.input_type(1))) return decline_type(node, 1);
  return node.input_type(2) == ElementType::kFloat32 ? Support::accept() : decline_type(node, 2);
}

Support supports_dynamic(const NodeDesc& node) {
  if (node.input_type(0) != ElementType::kFloat32) return decline_type(node, 0);
  return is_byte(node.input_type(1)) ? Support::accept() : decline_type(node, 1);
}

}  // namespace

void add_scaled_mat_mul_kernels(KernelTable& table) {
  table.push_back({"com.microsoft", "MatMulIntegerToFloat", supports_to_float, make<MatMulIntegerToFloatKernel>});
  table.push_back({"com.microsoft", "DynamicQuantizeMatMul", supports_dynamic, make<DynamicQuantizeMatMulKernel>});
}

}  // namespace sardonyx::provider::cpu
