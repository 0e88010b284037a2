#include "provider/cpu/ops/conv.h"
#include "provider/cpu/ops/direct_conv.h"
#include "provider/cpu/ops/wide_io.h"

namespace sardonyx::provider::cpu {
namespace {

class ConvKernel final : public Kernel {
 public:
  explicit ConvKernel(const NodeDesc& node) : attributes_(*node.attributes), groups_(node.attributes->get_int("group", 1)) {}

  Binding bind(const BindContext& context) const override {
    const Shape &x = context.inputs[0]->shape, &w = context.inputs[1]->shape;
    const auto window = ops::WindowAttributes::parse(attributes_, x.rank() - 2);
    return {WideIo::workspace_bytes(context),
            std::make_shared<ConvGeometry>(ConvGeometry::make(window, x, context.outputs[0]->shape, kernel_of(w), groups_))};
  }

  void run(RunContext& context) const override {
    const auto& geometry = context.params<ConvGeometry>();
    WideIo io(context, context.workspace());
    dispatch_wide(context.input(0).type, "Conv", [&]<typename T>() {
      const DirectConv<T, T, T> conv{geometry, io.input<T>(0), io.input<T>(1)};
      const T* bias = io.input<T>(2);
      T* y = io.output<T>(0);
      conv.run(context.parallel, [&](std::int64_t channel, std::int64_t offset, const T* sums, std::int64_t count) {
        const T shift = bias ? bias[channel] : T(0);
        for (std::int64_t i = 0; i < count; ++i) y[offset + i] = sums[i] + shift;
      });
    });
    io.store();
  }

 private:
  graph::Attributes attributes_;
  std::int64_t groups_;
};

}  // namespace

void add_float_conv_kernels(KernelTable& table) { table.push_back({"", "Conv", supports_float, make<ConvKernel>}); }

}  // namespace sardonyx::provider::cpu
