#include <algorithm>
#include <memory>
#include <utility>

#include "base/aligned_tensor.h"
#include "kernels/gemm/weight_gemm.h"
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
    {"", kernels::Unary::kIdentity},         {"Gelu", kernels::Unary::kGeluErf}, {"Relu", kernels::Unary::kRelu},
    {"GeluTanh", kernels::Unary::kGeluTanh}, {"Tanh", kernels::Unary::kTanh},    {"Sigmoid", kernels::Unary::kSigmoid},
};

const ActivationRow* find_activation(const NodeDesc& node) {
  const std::string name = node.attributes->get_string("activation", "");
  for (const ActivationRow& row : kActivations) {
    if (row.name == name) return &row;
  }
  return nullptr;
}

std::string bytes_of(const Tensor& tensor) {
  return {reinterpret_cast<const char*>(tensor.view().data_ptr), tensor.num_bytes()};
}

class FusedMatMulKernel final : public Kernel {
 public:
  explicit FusedMatMulKernel(const NodeDesc& node)
      : activation_(find_activation(node)->function),
        k_(static_cast<std::size_t>(node.constant(kWeights)->shape()[0])),
        n_(static_cast<std::size_t>(node.constant(kWeights)->shape()[1])) {
    if (const Tensor* scale = node.constant(kScale)) scale_ = aligned(*scale);
    if (const Tensor* zero_point = node.constant(kZeroPoint)) zero_point_ = aligned(*zero_point);
    quantized_ = scale_.defined();
  }

  std::vector<PackRequest> pack_requests() const override {
    PackRequest request;
    request.input = kWeights;
    if (quantized_) {
      request.bytes = kernels::packed_weights_size(k_, n_, 0);
      // The scales are part of what is packed, so the store must tell them apart.
      request.packing = std::string(kernels::packed_weights_format()) + "/" + bytes_of(scale_) + "/" +
                        (zero_point_.defined() ? bytes_of(zero_point_) : "");
      request.pack = [this](const TensorView& weights, std::byte* packed) { pack_bytes(weights, packed); };
    } else {
      request.bytes = kernels::packed_b_size(k_, n_) * sizeof(float);
      request.packing = kernels::packed_b_format();
      request.pack = [this](const TensorView& weights, std::byte* packed) {
        kernels::pack_b(weights.data<float>(), static_cast<std::ptrdiff_t>(n_), 1, k_, n_,
                        reinterpret_cast<float*>(packed));
      };
    }
    return {std::move(request)};
  }

  Binding bind(const BindContext& shapes) const override {
    const std::size_t rows = k_ == 0 ? 0 : static_cast<std::size_t>(shapes.inputs[kX]->num_elements()) / k_;
    if (!quantized_) return {kernels::gemm_workspace_size(rows, n_, k_) * sizeof(float), nullptr};
    auto threads = std::make_shared<int>(ThreadPool::global().threads());
    const std::size_t floats = kernels::weight_gemm_workspace_size(rows, k_, *threads);
    return {floats * sizeof(float), std::move(threads)};
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
    const kernels::GemmA x{context.input(kX).data<float>(), static_cast<std::ptrdiff_t>(k_)};
    auto* workspace = reinterpret_cast<float*>(context.workspace());
    if (!quantized_) {
      const kernels::PackedB weights{reinterpret_cast<const float*>(context.packed(0)), k_, n_};
      kernels::gemm(rows, x, weights, y.mutable_data<float>(), n_, epilogue, workspace, context.parallel);
      return;
    }
    Parallel parallel = context.parallel;
    parallel.max_threads = std::min(parallel.max_threads, context.params<int>());
    const kernels::PackedWeights weights = kernels::view_packed_weights(context.packed(0), k_, n_, 0);
    kernels::weight_gemm(rows, x, weights, y.mutable_data<float>(), n_, epilogue, workspace, parallel);
  }

 private:
  /// One scale and zero point for all, or one a column.
  void pack_bytes(const TensorView& weights, std::byte* packed) const {
    kernels::WeightSource source;
    source.data = weights.bytes();
    source.is_signed = weights.type == ElementType::kInt8;
    source.k_stride = static_cast<std::ptrdiff_t>(n_);
    source.k = k_;
    source.n = n_;
    source.scale = scale_.data<float>();
    source.column_stride = scale_.shape().rank() == 0 ? 0 : 1;
    std::vector<std::int32_t> zero;
    if (zero_point_.defined()) {
      zero = source.is_signed ? widen(zero_point_, zero_point_.data<std::int8_t>())
                              : widen(zero_point_, zero_point_.data<std::uint8_t>());
      source.zero_point = zero.data();
    }
    kernels::pack_weights(source, packed);
  }

  template <typename T>
  static std::vector<std::int32_t> widen(const Tensor& tensor, const T* values) {
    return {values, values + tensor.num_elements()};
  }

  kernels::Unary activation_;
  std::size_t k_, n_;
  bool quantized_ = false;
  Tensor scale_, zero_point_;
};

Support supports_fused_mat_mul(const NodeDesc& node) {
  if (node.input_type(kX) != ElementType::kFloat32) return decline_type(node, kX);
  const Tensor* weights = node.constant(kWeights);
  if (!weights || weights->shape().rank() != 2) return Support::decline("FusedMatMul needs a constant weight matrix");
  if (!type_in(weights->type(), {ElementType::kFloat32, ElementType::kInt8, ElementType::kUInt8}))
    return decline_type(node, kWeights);
  if ((weights->type() == ElementType::kFloat32) == node.has_input(kScale))
    return Support::decline("FusedMatMul's weights have a scale where they are integers, and only there");
  if (node.has_input(kScale) && !node.constant(kScale)) return Support::decline("FusedMatMul needs a constant scale");
  if (!find_activation(node))
    return Support::decline("FusedMatMul knows no activation '" + node.attributes->get_string("activation", "") + "'");
  return Support::accept();
}

}  // namespace

void add_fused_mat_mul_kernels(KernelTable& table) {
  table.push_back({"ai.sardonyx", "FusedMatMul", supports_fused_mat_mul, make<FusedMatMulKernel>});
}

}  // namespace sardonyx::provider::cpu
