#include "kernels/math/elementwise.h"
#include "provider/cpu/dispatch.h"
#include "provider/cpu/kernel_list.h"

namespace sardonyx::provider::cpu {
namespace {

/// Gelu(data + bias), the exact one with erf. The sum is rounded before the function.
class BiasGeluKernel final : public Kernel {
 public:
  explicit BiasGeluKernel(const NodeDesc&) {}
  void run(RunContext& context) const override {
    const TensorView &data = context.input(0), &bias = context.input(1), &out = context.output(0);
    const auto width = static_cast<std::size_t>(bias.num_elements());
    if (data.num_elements() == 0) return;
    const std::size_t rows = static_cast<std::size_t>(data.num_elements()) / width;
    const std::size_t chunk = kElementChunk / width + 1;
    context.parallel.parallel_for(rows, chunk, [&](std::size_t begin, std::size_t end) {
      for (std::size_t row = begin; row < end; ++row) {
        const float* x = data.data<float>() + row * width;
        float* y = out.mutable_data<float>() + row * width;
        kernels::binary(kernels::Binary::kAdd, kernels::Operands::kArrays, x, bias.data<float>(), y, width);
        kernels::unary(kernels::Unary::kGeluErf, y, y, width);
      }
    });
  }
};

Support supports_bias_gelu(const NodeDesc& node) {
  return node.input_type(0) == ElementType::kFloat32 ? Support::accept() : decline_type(node, 0);
}

}  // namespace

void add_microsoft_kernels(KernelTable& table) {
  table.push_back({"com.microsoft", "BiasGelu", supports_bias_gelu, make<BiasGeluKernel>});
}

}  // namespace sardonyx::provider::cpu
