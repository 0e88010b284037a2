#include "provider/cpu/dispatch.h"
#include "provider/cpu/kernel_list.h"

namespace sardonyx::provider::cpu {
namespace {

/// max(x, 0), NaN stays.
class ReluKernel final : public Kernel {
 public:
  explicit ReluKernel(const NodeDesc&) {}
  void run(RunContext& context) const override {
    const TensorView &x = context.input(0), &y = context.output(0);
    dispatch(NumberTypes{}, x.type, "Relu", [&]<typename T>() {
      const T* in = x.data<T>();
      T* out = y.mutable_data<T>();
      context.parallel.parallel_for(static_cast<std::size_t>(x.num_elements()), kElementChunk, [&](std::size_t begin, std::size_t end) {
        using C = compute_type<T>;
        for (std::size_t i = begin; i < end; ++i) out[i] = static_cast<C>(in[i]) < C(0) ? T(C(0)) : in[i];
      });
    });
  }
};

Support supports_relu(const NodeDesc& node) {
  return is_one_of(NumberTypes{}, node.input_type(0)) ? Support::accept() : decline_type(node, 0);
}

}  // namespace

void add_elementwise_kernels(KernelTable& table) { table.push_back({"", "Relu", supports_relu, make<ReluKernel>}); }

}  // namespace sardonyx::provider::cpu
