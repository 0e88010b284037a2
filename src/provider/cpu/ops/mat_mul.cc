#include <algorithm>
#include <memory>
#include <optional>

#include "kernels/gemm/gemm.h"
#include "provider/cpu/families.h"
#include "provider/cpu/matmul_plan.h"
#include "provider/cpu/ops/wide_io.h"
#include "provider/cpu/packed_right.h"
#include "provider/cpu/plain_gemm.h"

namespace sardonyx::provider::cpu {
namespace {

using MatMulTypes = Types<float, double, Half, BFloat16, std::int32_t, std::int64_t, std::uint32_t, std::uint64_t>;

/// What is decided once per shapes.
struct BoundMatMul {
  MatMulPlan plan;
  std::size_t wide_bytes = 0;   ///< float copies of 16-bit tensors, at the front of the workspace
  std::size_t gemm_floats = 0;  ///< workspace of one product, a multiple of 16 floats
  std::size_t lanes = 1;        ///< products that may run side by side
};

class MatMulKernel final : public Kernel {
 public:
  explicit MatMulKernel(const NodeDesc& node) {
    if (node.domain == "com.microsoft") {  // FusedMatMul
      alpha_ = node.attributes->get_float("alpha", 1.0f);
      transpose_a_ = node.attributes->get_int("transA", 0) != 0;
      transpose_b_ = node.attributes->get_int("transB", 0) != 0;
    }
    right_ = PackedRight::find(node, 1, transpose_b_);
  }

  std::vector<PackRequest> pack_requests() const override {
    if (!right_) return {};
    return {right_->request()};
  }

  Binding bind(const BindContext& shapes) const override {
    auto bound = std::make_shared<BoundMatMul>();
    bound->plan = MatMulPlan::make(shapes.inputs[0]->shape, shapes.inputs[1]->shape, transpose_a_, transpose_b_);
    const ElementType type = shapes.inputs[0]->type;
    if (!is_floating_point(type) || type == ElementType::kFloat64) return {0, std::move(bound)};
    const MatMulPlan& plan = bound->plan;
    bound->wide_bytes = align_workspace(WideIo::workspace_bytes(shapes));
    const std::size_t floats = right_ ? kernels::gemm_workspace_size(plan.m, plan.n, plan.k)
                                      : kernels::gemm_unpacked_workspace_size(plan.m, plan.n, plan.k);
    bound->gemm_floats = align_workspace(floats * sizeof(float)) / sizeof(float);
    // Many small products run side by side, a few large ones each on all threads. Decided by shapes alone.
    constexpr std::size_t kMaxLanes = 16, kSmallProduct = std::size_t{1} << 24;
    const bool side_by_side = plan.batch >= 4 && (plan.batch >= kMaxLanes || plan.m * plan.n * plan.k < kSmallProduct);
    bound->lanes = side_by_side ? std::min(plan.batch, kMaxLanes) : 1;
    const std::size_t bytes = bound->wide_bytes + bound->lanes * bound->gemm_floats * sizeof(float);
    return {bytes, std::move(bound)};
  }

  void run(RunContext& context) const override {
    if (context.output(0).num_elements() == 0) return;
    const auto& bound = context.params<BoundMatMul>();
    const ElementType type = context.input(0).type;
    if (is_floating_point(type) && type != ElementType::kFloat64) return run_float(context, bound);
    dispatch(MatMulTypes{}, type, "MatMul", [&]<typename T>() { run_plain<T>(context, bound.plan); });
  }

 private:
  void run_float(const RunContext& context, const BoundMatMul& bound) const {
    const MatMulPlan& plan = bound.plan;
    WideIo io(context, context.workspace());
    const float* a = io.input<float>(0);
    const float* b = right_ ? nullptr : io.input<float>(1);
    float* c = io.output<float>(0);
    auto* memory = reinterpret_cast<float*>(context.workspace() + bound.wide_bytes);
    const auto product = [&](std::size_t i, float* workspace, const Parallel& parallel) {
      const auto m = static_cast<std::ptrdiff_t>(plan.m), n = static_cast<std::ptrdiff_t>(plan.n),
                 k = static_cast<std::ptrdiff_t>(plan.k);
      const kernels::GemmA left{a + plan.a_offsets[i], transpose_a_ ? 1 : k, transpose_a_ ? m : 1};
      const kernels::GemmEpilogue epilogue{.scale = alpha_};
      float* out = c + plan.c_offset(i);
      if (right_)
        return kernels::gemm(plan.m, left, right_->view(context.packed(0)), out, plan.n, epilogue, workspace, parallel);
      kernels::gemm_unpacked(plan.m, plan.n, plan.k, left, b + plan.b_offsets[i], transpose_b_ ? 1 : n,
                             transpose_b_ ? k : 1, out, plan.n, epilogue, workspace, parallel);
    };
    if (bound.lanes == 1) {
      for (std::size_t i = 0; i < plan.batch; ++i) product(i, memory, context.parallel);
    } else {
      context.parallel.parallel_for(bound.lanes, 1, [&](std::size_t lane, std::size_t) {
        for (std::size_t i = lane; i < plan.batch; i += bound.lanes) product(i, memory + lane * bound.gemm_floats, {});
      });
    }
    io.store();
  }

  template <typename T>
  static void run_plain(const RunContext& context, const MatMulPlan& plan) {
    if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>) {
      fail(ErrorCode::kInternal, "16-bit floats are multiplied as floats");
    } else {
      for (std::size_t i = 0; i < plan.batch; ++i) {
        plain_gemm<T>(context.parallel, plan.m, plan.n, plan.k,
                      {context.input(0).data<T>() + plan.a_offsets[i], plan.k, 1},
                      {context.input(1).data<T>() + plan.b_offsets[i], plan.n, 1},
                      context.output(0).mutable_data<T>() + plan.c_offset(i));
      }
    }
  }

  float alpha_ = 1.0f;
  bool transpose_a_ = false, transpose_b_ = false;
  std::optional<PackedRight> right_;
};

/// FusedMatMul: single precision and narrower.
Support supports_fused_mat_mul(const NodeDesc& node) {
  return type_in(node.input_type(0), {ElementType::kFloat32, ElementType::kFloat16, ElementType::kBFloat16})
             ? Support::accept()
             : decline_type(node, 0);
}

Support supports_mat_mul(const NodeDesc& node) {
  return is_one_of(MatMulTypes{}, node.input_type(0)) ? Support::accept() : decline_type(node, 0);
}

}  // namespace

void add_mat_mul_kernels(KernelTable& table) {
  table.push_back({"", "MatMul", supports_mat_mul, make<MatMulKernel>});
  table.push_back({"com.microsoft", "FusedMatMul", supports_fused_mat_mul, make<MatMulKernel>});
}

}  // namespace sardonyx::provider::cpu
