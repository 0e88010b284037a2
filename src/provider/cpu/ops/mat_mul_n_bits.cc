#include <algorithm>
#include <memory>
#include <utility>

#include "kernels/gemm/gemm.h"
#include "provider/cpu/convert.h"
#include "provider/cpu/families.h"
#include "provider/cpu/ops/wide_io.h"

namespace sardonyx::provider::cpu {
namespace {

constexpr std::size_t kTileColumns = 32, kMaxLanes = 16;

struct BoundNBits {
  std::size_t m = 0;
  std::size_t wide = 0, weights = 0, packed = 0, gemm = 0;  ///< bytes; the last three for each lane
  std::size_t tiles = 0, lanes = 0;
  std::size_t lane_bytes() const { return weights + packed + gemm; }
};

/// com.microsoft MatMulNBits: A [.., K] times the transpose of B [N, K], whose weights of 2, 4 or 8 bits have a scale
/// and a zero point a block along K. Weights stay packed; a tile of columns is widened at a time, each to (code - zero)
/// * scale.
class MatMulNBitsKernel final : public Kernel {
 public:
  explicit MatMulNBitsKernel(const NodeDesc& node)
      : k_(static_cast<std::size_t>(node.attributes->get_int("K"))),
        n_(static_cast<std::size_t>(node.attributes->get_int("N"))),
        bits_(static_cast<std::size_t>(node.attributes->get_int("bits", 4))),
        block_(static_cast<std::size_t>(node.attributes->get_int("block_size"))),
        blocks_((k_ + block_ - 1) / block_) {}

  Binding bind(const BindContext& shapes) const override {
    auto bound = std::make_shared<BoundNBits>();
    bound->m = static_cast<std::size_t>(shapes.inputs[0]->num_elements()) / k_;
    bound->wide = align_workspace(WideIo::workspace_bytes(shapes));
    bound->tiles = (n_ + kTileColumns - 1) / kTileColumns;
    bound->lanes = std::min(bound->tiles, kMaxLanes);
    bound->weights = align_workspace(kTileColumns * k_ * sizeof(float));
    bound->packed = align_workspace(kernels::packed_b_size(k_, kTileColumns) * sizeof(float));
    bound->gemm = align_workspace(kernels::gemm_workspace_size(bound->m, kTileColumns, k_) * sizeof(float));
    const std::size_t bytes = bound->wide + bound->lanes * bound->lane_bytes();
    return {bytes, std::move(bound)};
  }

  void run(RunContext& context) const override {
    const auto& bound = context.params<BoundNBits>();
    if (context.output(0).num_elements() == 0) return;
    check_sizes(context);
    WideIo io(context, context.workspace());
    const float* a = io.input<float>(0);
    const float* bias = io.input<float>(5);
    float* out = io.output<float>(0);
    context.parallel.parallel_for(bound.lanes, 1, [&](std::size_t lane, std::size_t) {
      std::byte* memory = context.workspace() + bound.wide + lane * bound.lane_bytes();
      for (std::size_t tile = lane; tile < bound.tiles; tile += bound.lanes)
        run_tile(context, bound, tile * kTileColumns, a, bias, out, memory);
    });
    io.store();
  }

 private:
  void check_sizes(const RunContext& context) const {
    const auto expect = [&](std::size_t input, std::size_t count, const char* what) {
      if (context.input(input).num_elements() == static_cast<std::int64_t>(count)) return;
      fail(ErrorCode::kInvalidArgument, "{} must hold {} values for K={}, N={}, bits={}, block_size={}; found shape {}",
           what, count, k_, n_, bits_, block_, context.input(input).shape.to_string());
    };
    expect(1, n_ * blocks_ * blob_bytes(), "B");
    expect(2, n_ * blocks_, "scales");
    if (context.has_input(3)) expect(3, packed_zeros(context) ? n_ * zero_bytes() : n_ * blocks_, "zero_points");
    if (context.has_input(5)) expect(5, n_, "bias");
  }

  std::size_t blob_bytes() const { return block_ * bits_ / 8; }
  std::size_t zero_bytes() const { return (blocks_ * bits_ + 7) / 8; }
  static bool packed_zeros(const RunContext& context) { return context.input(3).type == ElementType::kUInt8; }

  /// Code i of packed bytes, low bits first.
  unsigned code(const std::uint8_t* bytes, std::size_t i) const {
    const std::size_t bit = i * bits_;
    return bytes[bit / 8] >> (bit % 8) & ((1u << bits_) - 1);
  }

  float zero_point(const RunContext& context, std::size_t column, std::size_t block) const {
    if (!context.has_input(3)) return static_cast<float>(1u << (bits_ - 1));
    const TensorView& zeros = context.input(3);
    if (packed_zeros(context))
      return static_cast<float>(code(zeros.data<std::uint8_t>() + column * zero_bytes(), block));
    return value_at(zeros, column * blocks_ + block);
  }

  static float value_at(const TensorView& tensor, std::size_t i) {
    if (tensor.type == ElementType::kFloat32) return tensor.data<float>()[i];
    float value = 0;
    load_elements(tensor, i, 1, &value);
    return value;
  }

  /// One column's weights, K of them.
  void widen_column(const RunContext& context, std::size_t column, float* out) const {
    const std::uint8_t* codes = context.input(1).data<std::uint8_t>() + column * blocks_ * blob_bytes();
    for (std::size_t block = 0; block < blocks_; ++block) {
      const float scale = value_at(context.input(2), column * blocks_ + block);
      const float zero = zero_point(context, column, block);
      const std::uint8_t* blob = codes + block * blob_bytes();
      const std::size_t count = std::min(block_, k_ - block * block_);
      float* to = out + block * block_;
      if (bits_ == 4) {
        for (std::size_t i = 0; i < count; ++i)
          to[i] = (static_cast<float>(blob[i / 2] >> (i % 2 * 4) & 15) - zero) * scale;
      } else {
        for (std::size_t i = 0; i < count; ++i) to[i] = (static_cast<float>(code(blob, i)) - zero) * scale;
      }
    }
  }

  void run_tile(const RunContext& context, const BoundNBits& bound, std::size_t first, const float* a,
                const float* bias, float* out, std::byte* memory) const {
    const std::size_t columns = std::min(kTileColumns, n_ - first);
    auto* weights = reinterpret_cast<float*>(memory);
    auto* packed = reinterpret_cast<float*>(memory + bound.weights);
    auto* workspace = reinterpret_cast<float*>(memory + bound.weights + bound.packed);
    for (std::size_t j = 0; j < columns; ++j) widen_column(context, first + j, weights + j * k_);
    const kernels::PackedB right = kernels::pack_b(weights, 1, static_cast<std::ptrdiff_t>(k_), k_, columns, packed);
    kernels::GemmEpilogue epilogue;
    if (bias) epilogue.bias = bias + first;
    kernels::gemm(bound.m, {a, static_cast<std::ptrdiff_t>(k_)}, right, out + first, n_, epilogue, workspace);
  }

  std::size_t k_, n_, bits_, block_, blocks_;
};

Support supports_n_bits(const NodeDesc& node) {
  if (!type_in(node.input_type(0), {ElementType::kFloat32, ElementType::kFloat16, ElementType::kBFloat16}))
    return decline_type(node, 0);
  if (node.has_input(4)) return Support::decline("MatMulNBits with g_idx (reordered rows) has no kernel");
  return node.input_type(1) == ElementType::kUInt8 ? Support::accept() : decline_type(node, 1);
}

}  // namespace

void add_mat_mul_n_bits_kernels(KernelTable& table) {
  table.push_back({"com.microsoft", "MatMulNBits", supports_n_bits, make<MatMulNBitsKernel>});
}

}  // namespace sardonyx::provider::cpu
