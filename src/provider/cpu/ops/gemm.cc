#include "kernels/gemm/gemm.h"

#include <algorithm>
#include <memory>
#include <optional>

#include "provider/cpu/broadcast.h"
#include "provider/cpu/convert.h"
#include "provider/cpu/families.h"
#include "provider/cpu/ops/wide_io.h"
#include "provider/cpu/packed_right.h"
#include "provider/cpu/plain_gemm.h"

namespace sardonyx::provider::cpu {
namespace {

using GemmTypes = Types<float, double, Half, BFloat16, std::int32_t, std::int64_t, std::uint32_t, std::uint64_t>;

struct BoundGemm {
  std::size_t m = 0, n = 0, k = 0;
  std::size_t wide_bytes = 0;     ///< float copies of 16-bit tensors
  std::size_t addend_floats = 0;  ///< C times beta, or C spread over a row
};

/// How C [.., ..] lies over [m, n].
enum class Addend { kNone, kValue, kRow, kColumn, kMatrix };

Addend addend_of(const TensorView* c, std::size_t m, std::size_t n) {
  if (!c) return Addend::kNone;
  const Shape& shape = c->shape;
  const std::int64_t columns = shape.rank() > 0 ? shape[shape.rank() - 1] : 1;
  const std::int64_t rows = shape.rank() > 1 ? shape[0] : 1;
  if (rows == 1) return columns == 1 && n != 1 ? Addend::kValue : Addend::kRow;
  if (columns == 1 && n != 1) return Addend::kColumn;
  return m == static_cast<std::size_t>(rows) ? Addend::kMatrix : Addend::kNone;
}

class GemmKernel final : public Kernel {
 public:
  explicit GemmKernel(const NodeDesc& node)
      : alpha_(node.attributes->get_float("alpha", 1.0f)),
        beta_(node.attributes->get_float("beta", 1.0f)),
        transpose_a_(node.attributes->get_int("transA", 0) != 0),
        transpose_b_(node.attributes->get_int("transB", 0) != 0),
        right_(PackedRight::find(node, 1, transpose_b_)) {}

  std::vector<PackRequest> pack_requests() const override {
    if (!right_) return {};
    return {right_->request()};
  }

  Binding bind(const BindContext& shapes) const override {
    auto bound = std::make_shared<BoundGemm>();
    const Shape &a = shapes.inputs[0]->shape, &out = shapes.outputs[0]->shape;
    bound->m = static_cast<std::size_t>(out[0]);
    bound->n = static_cast<std::size_t>(out[1]);
    bound->k = static_cast<std::size_t>(a[transpose_a_ ? 0 : 1]);
    const ElementType type = shapes.inputs[0]->type;
    if (!is_floating_point(type) || type == ElementType::kFloat64) return {0, std::move(bound)};
    bound->wide_bytes = align_workspace(WideIo::workspace_bytes(shapes));
    const TensorView* c = shapes.inputs.size() > 2 ? shapes.inputs[2] : nullptr;
    const Addend addend = addend_of(c, bound->m, bound->n);
    if (addend == Addend::kValue)
      bound->addend_floats = bound->n;
    else if (addend != Addend::kNone && beta_ != 1.0f)
      bound->addend_floats = static_cast<std::size_t>(c->num_elements());
    bound->addend_floats = align_workspace(bound->addend_floats * sizeof(float)) / sizeof(float);
    const std::size_t floats = right_ ? kernels::gemm_workspace_size(bound->m, bound->n, bound->k)
                                      : kernels::gemm_unpacked_workspace_size(bound->m, bound->n, bound->k);
    return {bound->wide_bytes + (bound->addend_floats + floats) * sizeof(float), std::move(bound)};
  }

  void run(RunContext& context) const override {
    if (context.output(0).num_elements() == 0) return;
    const auto& bound = context.params<BoundGemm>();
    const ElementType type = context.input(0).type;
    if (is_floating_point(type) && type != ElementType::kFloat64) return run_float(context, bound);
    dispatch(GemmTypes{}, type, "Gemm", [&]<typename T>() {
      if constexpr (std::is_same_v<compute_type<T>, T>) run_plain<T>(context, bound);
    });
  }

 private:
  void run_float(const RunContext& context, const BoundGemm& bound) const {
    WideIo io(context, context.workspace());
    const float* a = io.input<float>(0);
    const float* b = right_ ? nullptr : io.input<float>(1);
    const float* c = io.input<float>(2);
    float* out = io.output<float>(0);
    auto* memory = reinterpret_cast<float*>(context.workspace() + bound.wide_bytes);
    const kernels::GemmEpilogue epilogue = make_epilogue(context, bound, c, memory);
    float* workspace = memory + bound.addend_floats;
    const auto k = static_cast<std::ptrdiff_t>(bound.k), m = static_cast<std::ptrdiff_t>(bound.m),
               n = static_cast<std::ptrdiff_t>(bound.n);
    const kernels::GemmA left{a, transpose_a_ ? 1 : k, transpose_a_ ? m : 1};
    if (right_) {
      kernels::gemm(bound.m, left, right_->view(context.packed(0)), out, bound.n, epilogue, workspace,
                    context.parallel);
    } else {
      kernels::gemm_unpacked(bound.m, bound.n, bound.k, left, b, transpose_b_ ? 1 : n, transpose_b_ ? k : 1, out,
                             bound.n, epilogue, workspace, context.parallel);
    }
    io.store();
  }

  kernels::GemmEpilogue make_epilogue(const RunContext& context, const BoundGemm& bound, const float* c,
                                      float* memory) const {
    kernels::GemmEpilogue epilogue{.scale = alpha_};
    if (!c) return epilogue;
    const Addend addend = addend_of(&context.input(2), bound.m, bound.n);
    const float* terms = c;
    if (addend == Addend::kValue) {
      std::fill_n(memory, bound.n, beta_ == 1.0f ? *c : beta_ * *c);
      terms = memory;
    } else if (beta_ != 1.0f) {
      const auto count = static_cast<std::size_t>(context.input(2).num_elements());
      for (std::size_t i = 0; i < count; ++i) memory[i] = beta_ * c[i];
      terms = memory;
    }
    switch (addend) {
      case Addend::kNone: break;
      case Addend::kValue:
      case Addend::kRow: epilogue.bias = terms; break;
      case Addend::kColumn: epilogue.row_bias = terms; break;
      case Addend::kMatrix:
        epilogue.residual = terms;
        epilogue.residual_stride = bound.n;
        break;
    }
    return epilogue;
  }

  template <typename T>
  void run_plain(const RunContext& context, const BoundGemm& bound) const {
    const TensorView& y = context.output(0);
    T* out = y.mutable_data<T>();
    const MatrixView<T> a{context.input(0).data<T>(), transpose_a_ ? 1 : bound.k, transpose_a_ ? bound.m : 1};
    const MatrixView<T> b{context.input(1).data<T>(), transpose_b_ ? 1 : bound.n, transpose_b_ ? bound.k : 1};
    plain_gemm<T>(context.parallel, bound.m, bound.n, bound.k, a, b, out);
    const float alpha = alpha_, beta = beta_;
    if (alpha != 1.0f) {
      for (std::size_t i = 0; i < bound.m * bound.n; ++i) out[i] = scaled(out[i], alpha);
    }
    if (!context.has_input(2)) return;
    broadcast_binary<T, T, T>(context.parallel, y, context.input(2), y, [=](T product, T c) {
      const T term = beta == 1.0f ? c : scaled(c, beta);
      if constexpr (std::is_integral_v<T>)
        return static_cast<T>(static_cast<std::make_unsigned_t<T>>(product) +
                              static_cast<std::make_unsigned_t<T>>(term));
      else
        return product + term;
    });
  }

  template <typename T>
  static T scaled(T value, float factor) {
    const double product = static_cast<double>(value) * static_cast<double>(factor);
    if constexpr (std::is_integral_v<T>)
      return float_to_integer<T>(product);
    else
      return product;
  }

  float alpha_, beta_;
  bool transpose_a_, transpose_b_;
  std::optional<PackedRight> right_;
};

Support supports_gemm(const NodeDesc& node) {
  return is_one_of(GemmTypes{}, node.input_type(0)) ? Support::accept() : decline_type(node, 0);
}

}  // namespace

void add_gemm_kernels(KernelTable& table) { table.push_back({"", "Gemm", supports_gemm, make<GemmKernel>}); }

}  // namespace sardonyx::provider::cpu
