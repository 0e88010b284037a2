#include <cstring>
#include <memory>
#include <utility>

#include "base/aligned_tensor.h"
#include "kernels/gemm/gemm.h"
#include "provider/cpu/dispatch.h"
#include "provider/cpu/families.h"

namespace sardonyx::provider::cpu {
namespace {

// Inputs of ai.sardonyx.FusedMatMul.
enum Input : std::size_t { kX, kWeights, kScale, kZeroPoint, kBias, kResidual };

struct ActivationRow {
  std::string_view name;
  kernels::Unary function;
};
constexpr ActivationRow kActivations[] = {
    {"", kernels::Unary::kIdentity}, {"Gelu", kernels::Unary::kGeluErf},  {"Relu", kernels::Unary::kRelu},
    {"Tanh", kernels::Unary::kTanh}, {"Sigmoid", kernels::Unary::kSigmoid},
};

const ActivationRow* find_activation(const NodeDesc& node) {
  const std::string name = node.attributes->get_string("activation", "");
  for (const ActivationRow& row : kActivations) {
    if (row.name == name) return &row;
  }
  return nullptr;
}

/// (w − zero point) · scale, per tensor or per column, as DequantizeLinear computes it.
template <typename T>
std::vector<float> dequantize(const TensorView& weights, const Tensor& scale, const Tensor* zero_point) {
  const std::int64_t k = weights.shape[0], n = weights.shape[1];
  const bool per_column = scale.num_elements() != 1 || scale.shape().rank() == 1;
  std::vector<float> out(static_cast<std::size_t>(k * n));
  for (std::int64_t row = 0; row < k; ++row) {
    for (std::int64_t column = 0; column < n; ++column) {
      const std::int64_t at = per_column ? column : 0;
      const int zero = zero_point ? zero_point->data<T>()[at] : 0;
      const int value = weights.data<T>()[row * n + column] - zero;
      out[static_cast<std::size_t>(row * n + column)] = static_cast<float>(value) * scale.data<float>()[at];
    }
  }
  return out;
}

std::string bytes_of(const Tensor& tensor) { return {reinterpret_cast<const char*>(tensor.view().data_ptr), tensor.num_bytes()}; }

class FusedMatMulKernel final : public Kernel {
 public:
  explicit FusedMatMulKernel(const NodeDesc& node)
      : activation_(find_activation(node)->function),
        k_(static_cast<std::size_t>(node.constant(kWeights)->shape()[0])),
        n_(static_cast<std::size_t>(node.constant(kWeights)->shape()[1])) {
    if (const Tensor* scale = node.constant(kScale)) scale_ = aligned(*scale);
    if (const Tensor* zero_point = node.constant(kZeroPoint)) zero_point_ = aligned(*zero_point);
  }

  std::vector<PackRequest> pack_requests() const override {
    PackRequest request;
    request.input = kWeights;
    request.bytes = kernels::packed_b_size(k_, n_) * sizeof(float);
    request.packing = kernels::packed_b_format();
    if (scale_.defined()) {
      // The scales are part of what is packed, so the store must tell them apart.
      request.packing += "/dequantized/" + bytes_of(scale_) + "/" + (zero_point_.defined() ? bytes_of(zero_point_) : "");
    }
    request.pack = [this](const TensorView& weights, std::byte* packed) { pack(weights, reinterpret_cast<float*>(packed)); };
    return {std::move(request)};
  }

  Binding bind(const BindContext& shapes) const override {
    const std::size_t rows = k_ == 0 ? 0 : static_cast<std::size_t>(shapes.inputs[kX]->num_elements()) / k_;
    return {kernels::gemm_workspace_size(rows, n_, k_) * sizeof(float), nullptr};
  }

  void run(RunContext& context) const override {
    const TensorView& y = context.output(0);
    const std::size_t rows = n_ == 0 ? 0 : static_cast<std::size_t>(y.num_elements()) / n_;
    if (rows == 0) return;
    kernels::GemmEpilogue epilogue;
    epilogue.activation = activation_;
    if (context.has_input(kBias)) epilogue.bias = context.input(kBias).data<float>();
    if (context.has_input(kResidual)) {
      epilogue.residual = context.input(kResidual).data<float>();
      epilogue.residual_stride = n_;
      epilogue.residual_after_activation = true;
    }
    const kernels::PackedB weights{reinterpret_cast<const float*>(context.packed(0)), k_, n_};
    kernels::gemm(rows, {context.input(kX).data<float>(), static_cast<std::ptrdiff_t>(k_)}, weights, y.mutable_data<float>(), n_, epilogue,
                  reinterpret_cast<float*>(context.workspace()), context.parallel);
  }

 private:
  void pack(const TensorView& weights, float* packed) const {
    const auto row = static_cast<std::ptrdiff_t>(n_);
    if (!scale_.defined()) {
      kernels::pack_b(weights.data<float>(), row, 1, k_, n_, packed);
      return;
    }
    const Tensor* zero_point = zero_point_.defined() ? &zero_point_ : nullptr;
    const std::vector<float> floats = weights.type == ElementType::kInt8 ? dequantize<std::int8_t>(weights, scale_, zero_point)
                                                                        : dequantize<std::uint8_t>(weights, scale_, zero_point);
    kernels::pack_b(floats.data(), row, 1, k_, n_, packed);
  }

  kernels::Unary activation_;
  std::size_t k_, n_;
  Tensor scale_, zero_point_;
};

Support supports_fused_mat_mul(const NodeDesc& node) {
  if (node.input_type(kX) != ElementType::kFloat32) return decline_type(node, kX);
  const Tensor* weights = node.constant(kWeights);
  if (!weights || weights->shape().rank() != 2) return Support::decline("FusedMatMul needs a constant weight matrix");
  if (!type_in(weights->type(), {ElementType::kFloat32, ElementType::kInt8, ElementType::kUInt8})) return decline_type(node, kWeights);
  if ((weights->type() == ElementType::kFloat32) == node.has_input(kScale)) return Support::decline("FusedMatMul's weights have a scale where they are integers, and only there");
  if (node.has_input(kScale) && !node.constant(kScale)) return Support::decline("FusedMatMul needs a constant scale");
  if (!find_activation(node)) return Support::decline("FusedMatMul knows no activation '" + node.attributes->get_string("activation", "") + "'");
  return Support::accept();
}

}  // namespace

void add_fused_mat_mul_kernels(KernelTable& table) {
  table.push_back({"ai.sardonyx", "FusedMatMul", supports_fused_mat_mul, make<FusedMatMulKernel>});
}

}  // namespace sardonyx::provider::cpu
