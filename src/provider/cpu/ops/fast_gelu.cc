#include "kernels/math/elementwise.h"
#include "provider/cpu/families.h"
#include "provider/cpu/ops/axis_view.h"
#include "provider/cpu/ops/wide_io.h"

namespace sardonyx::provider::cpu {
namespace {

/// GELU by its tanh form of x + bias; the bias lies along the last dimension.
class FastGeluKernel final : public Kernel {
 public:
  explicit FastGeluKernel(const NodeDesc&) {}

  Binding bind(const BindContext& shapes) const override {
    return {.workspace_bytes = WideIo::workspace_bytes(shapes)};
  }

  void run(RunContext& context) const override {
    WideIo io(context, context.workspace());
    const float* x = io.input<float>(0);
    const float* bias = io.input<float>(1);
    float* y = io.output<float>(0);
    const auto count = static_cast<std::size_t>(context.input(0).num_elements());
    const auto gelu = kernels::unary_function(kernels::Unary::kGeluTanh);
    if (!bias) {
      kernels::unary(kernels::Unary::kGeluTanh, x, y, count, {}, context.parallel);
    } else if (count > 0) {
      const auto width = static_cast<std::size_t>(context.input(1).num_elements());
      context.parallel.parallel_for(count / width, chunk_of(width), [&](std::size_t begin, std::size_t end) {
        for (std::size_t row = begin; row < end; ++row) {
          float* out = y + row * width;
          kernels::binary(kernels::Binary::kAdd, kernels::Operands::kArrays, x + row * width, bias, out, width);
          gelu(out, out, width, 0, 0);
        }
      });
    }
    io.store();
  }
};

Support supports_fast_gelu(const NodeDesc& node) {
  return type_in(node.input_type(0), {ElementType::kFloat32, ElementType::kFloat16, ElementType::kBFloat16})
             ? Support::accept()
             : decline_type(node, 0);
}

}  // namespace

void add_fast_gelu_kernels(KernelTable& table) {
  table.push_back({"com.microsoft", "FastGelu", supports_fast_gelu, make<FastGeluKernel>});
}

}  // namespace sardonyx::provider::cpu
