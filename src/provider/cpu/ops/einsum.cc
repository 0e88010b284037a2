#include "ops/einsum.h"

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kernels/gemm/gemm.h"
#include "provider/cpu/families.h"
#include "provider/cpu/ops/axis_view.h"
#include "provider/cpu/ops/strided_copy.h"
#include "provider/cpu/ops/wide_io.h"

namespace sardonyx::provider::cpu {
namespace {

using ops::EinsumEquation;
using EinsumTypes = Types<float, double, Half, std::int8_t, std::int16_t, std::int32_t, std::int64_t, std::uint8_t,
                          std::uint16_t, std::uint32_t, std::uint64_t>;

/// Einsum as nested loops: over the output's labels, then over the summed ones.
struct Loops {
  Shape kept, summed;
  std::vector<Shape> kept_strides, summed_strides;  ///< per input; 0 where the input lacks the label or stretches
};

/// A product of two operands as [batch, m, k] times [batch, k, n].
struct MatrixForm {
  std::size_t batch = 1, m = 1, n = 1, k = 1;
  StridedCopy a, b, c;  ///< operands into that form, and the product into the output
  std::size_t gemm_floats = 0;
};

struct BoundEinsum {
  Loops loops;
  std::optional<MatrixForm> matrices;
  std::size_t wide_bytes = 0;
};

Loops make_loops(const EinsumEquation& equation, const BindContext& shapes) {
  const auto labels = static_cast<std::size_t>(equation.num_labels);
  std::vector<std::int64_t> sizes(labels, -1);
  std::vector<std::vector<std::int64_t>> strides(equation.inputs.size(), std::vector<std::int64_t>(labels, 0));
  std::vector<int> summed;
  for (std::size_t i = 0; i < equation.inputs.size(); ++i) {
    const Shape& shape = shapes.inputs[i]->shape;
    const Shape dense = dense_strides(shape);
    for (std::size_t d = 0; d < shape.rank(); ++d) {
      const int label = equation.inputs[i][d];
      const auto at = static_cast<std::size_t>(label);
      if (sizes[at] < 0 && std::find(equation.output.begin(), equation.output.end(), label) == equation.output.end())
        summed.push_back(label);
      sizes[at] = sizes[at] < 0 || sizes[at] == 1 ? shape[d] : sizes[at];
      if (shape[d] != 1) strides[i][at] += dense[d];
    }
  }
  Loops loops;
  for (int label : equation.output) loops.kept.push_back(sizes[static_cast<std::size_t>(label)]);
  for (int label : summed) loops.summed.push_back(sizes[static_cast<std::size_t>(label)]);
  for (const auto& stride : strides) {
    Shape kept, sums;
    for (int label : equation.output) kept.push_back(stride[static_cast<std::size_t>(label)]);
    for (int label : summed) sums.push_back(stride[static_cast<std::size_t>(label)]);
    loops.kept_strides.push_back(kept);
    loops.summed_strides.push_back(sums);
  }
  return loops;
}

/// Two operands whose every summed label lies in both (a label only one has is summed alone: left to the loops).
std::optional<MatrixForm> make_matrices(const Loops& loops) {
  if (loops.kept_strides.size() != 2) return std::nullopt;
  const Shape &a_kept = loops.kept_strides[0], &b_kept = loops.kept_strides[1], &a_sum = loops.summed_strides[0],
              &b_sum = loops.summed_strides[1];
  for (std::size_t d = 0; d < loops.summed.rank(); ++d) {
    if (loops.summed[d] != 1 && (a_sum[d] == 0 || b_sum[d] == 0)) return std::nullopt;
  }
  MatrixForm form;
  std::array<std::vector<std::size_t>, 3> kinds;  // positions in the output of batch, m and n labels
  for (std::size_t d = 0; d < loops.kept.rank(); ++d) {
    if (loops.kept[d] == 1) continue;
    const bool in_a = a_kept[d] != 0, in_b = b_kept[d] != 0;
    const std::size_t kind = in_a && in_b ? 0 : (in_a ? 1 : 2);
    kinds[kind].push_back(d);
    std::size_t& size = kind == 0 ? form.batch : (kind == 1 ? form.m : form.n);
    size *= static_cast<std::size_t>(loops.kept[d]);
  }
  form.k = static_cast<std::size_t>(loops.summed.num_elements());
  const Shape out_strides = dense_strides(loops.kept);
  const auto add_kept = [&](StridedCopy& copy, std::size_t kind, const Shape& strides) {
    for (std::size_t d : kinds[kind]) {
      copy.shape.push_back(loops.kept[d]);
      copy.in_strides.push_back(strides[d]);
    }
  };
  const auto add_summed = [&](StridedCopy& copy, const Shape& strides) {
    for (std::size_t d = 0; d < loops.summed.rank(); ++d) {
      copy.shape.push_back(loops.summed[d]);
      copy.in_strides.push_back(strides[d]);
    }
  };
  add_kept(form.a, 0, a_kept);
  add_kept(form.a, 1, a_kept);
  add_summed(form.a, a_sum);
  add_kept(form.b, 0, b_kept);
  add_summed(form.b, b_sum);
  add_kept(form.b, 2, b_kept);
  for (std::size_t kind : {0, 1, 2}) add_kept(form.c, kind, out_strides);
  form.a.out_strides = dense_strides(form.a.shape);
  form.b.out_strides = dense_strides(form.b.shape);
  form.c.out_strides = form.c.in_strides;
  form.c.in_strides = dense_strides(form.c.shape);
  form.gemm_floats =
      align_workspace(kernels::gemm_unpacked_workspace_size(form.m, form.n, form.k) * sizeof(float)) / sizeof(float);
  return form;
}

std::size_t padded_floats(std::size_t count) { return align_workspace(count * sizeof(float)) / sizeof(float); }

/// Steps an odometer over `shape`; offsets follow by `strides`. False after the last position.
bool step(const Shape& shape, std::int64_t* index, const std::vector<Shape>& strides, std::int64_t* offsets) {
  for (std::size_t d = shape.rank(); d-- > 0;) {
    for (std::size_t i = 0; i < strides.size(); ++i) offsets[i] += strides[i][d];
    if (++index[d] < shape[d]) return true;
    for (std::size_t i = 0; i < strides.size(); ++i) offsets[i] -= strides[i][d] * shape[d];
    index[d] = 0;
  }
  return false;
}

constexpr std::size_t kMaxInputs = 32, kMaxLoops = 128;

template <typename T>
void run_loops(const Parallel& parallel, const Loops& loops, const T* const* inputs, T* out) {
  using Acc = typename std::conditional_t<std::is_integral_v<T>, std::make_unsigned<T>, std::type_identity<T>>::type;
  const std::size_t count = loops.kept_strides.size();
  const bool empty_sum = loops.summed.num_elements() == 0;
  const std::size_t cost = static_cast<std::size_t>(std::max<std::int64_t>(1, loops.summed.num_elements())) * count;
  parallel.parallel_for(static_cast<std::size_t>(loops.kept.num_elements()), chunk_of(cost),
                        [&](std::size_t begin, std::size_t end) {
                          std::int64_t index[kMaxLoops];
                          for (std::size_t o = begin; o < end; ++o) {
                            std::int64_t offsets[kMaxInputs] = {};
                            auto rest = static_cast<std::int64_t>(o);
                            for (std::size_t d = loops.kept.rank(); d-- > 0;) {
                              for (std::size_t i = 0; i < count; ++i)
                                offsets[i] += rest % loops.kept[d] * loops.kept_strides[i][d];
                              rest /= loops.kept[d];
                            }
                            std::fill_n(index, loops.summed.rank(), 0);
                            Acc total = 0;
                            do {
                              if (empty_sum) break;
                              Acc product = static_cast<Acc>(inputs[0][offsets[0]]);
                              for (std::size_t i = 1; i < count; ++i)
                                product *= static_cast<Acc>(inputs[i][offsets[i]]);
                              total += product;
                            } while (step(loops.summed, index, loops.summed_strides, offsets));
                            out[o] = static_cast<T>(total);
                          }
                        });
}

class EinsumKernel final : public Kernel {
 public:
  explicit EinsumKernel(const NodeDesc& node) : equation_(node.attributes->get_string("equation")) {
    if (node.inputs.size() > kMaxInputs)
      fail(ErrorCode::kUnsupported, "Einsum is limited to {} inputs, found {}", kMaxInputs, node.inputs.size());
  }

  Binding bind(const BindContext& shapes) const override {
    std::vector<std::size_t> ranks;
    for (const TensorView* input : shapes.inputs) ranks.push_back(input->shape.rank());
    auto bound = std::make_shared<BoundEinsum>();
    bound->loops = make_loops(ops::parse_einsum(equation_, ranks), shapes);
    if (bound->loops.summed.rank() > kMaxLoops)
      fail(ErrorCode::kUnsupported, "Einsum is limited to {} summed labels", kMaxLoops);
    const ElementType type = shapes.inputs[0]->type;
    if (!is_floating_point(type) || type == ElementType::kFloat64) return {0, std::move(bound)};
    bound->wide_bytes = align_workspace(WideIo::workspace_bytes(shapes));
    bound->matrices = make_matrices(bound->loops);
    std::size_t floats = 0;
    if (bound->matrices) {
      const MatrixForm& form = *bound->matrices;
      floats = padded_floats(form.batch * form.m * form.k) + padded_floats(form.batch * form.k * form.n) +
               padded_floats(form.batch * form.m * form.n) + form.gemm_floats;
    }
    const std::size_t bytes = bound->wide_bytes + floats * sizeof(float);
    return {bytes, std::move(bound)};
  }

  void run(RunContext& context) const override {
    const TensorView& y = context.output(0);
    if (y.num_elements() == 0) return;
    const auto& bound = context.params<BoundEinsum>();
    if (y.type == ElementType::kFloat32 || y.type == ElementType::kFloat16) return run_float(context, bound);
    dispatch(EinsumTypes{}, y.type, "Einsum", [&]<typename T>() {
      if constexpr (std::is_same_v<compute_type<T>, T>) {
        const T* inputs[kMaxInputs];
        for (std::size_t i = 0; i < context.num_inputs(); ++i) inputs[i] = context.input(i).data<T>();
        run_loops(context.parallel, bound.loops, inputs, y.mutable_data<T>());
      }
    });
  }

 private:
  static void run_float(const RunContext& context, const BoundEinsum& bound) {
    WideIo io(context, context.workspace());
    const float* inputs[kMaxInputs];
    for (std::size_t i = 0; i < context.num_inputs(); ++i) inputs[i] = io.input<float>(i);
    float* out = io.output<float>(0);
    if (bound.matrices) {
      run_matrices(context.parallel, *bound.matrices, inputs, out,
                   reinterpret_cast<float*>(context.workspace() + bound.wide_bytes));
    } else {
      run_loops(context.parallel, bound.loops, inputs, out);
    }
    io.store();
  }

  static void run_matrices(const Parallel& parallel, const MatrixForm& form, const float* const* inputs, float* out,
                           float* memory) {
    float* a = memory;
    float* b = a + padded_floats(form.batch * form.m * form.k);
    float* c = b + padded_floats(form.batch * form.k * form.n);
    float* workspace = c + padded_floats(form.batch * form.m * form.n);
    strided_copy(form.a, ElementType::kFloat32, inputs[0], a, parallel);
    strided_copy(form.b, ElementType::kFloat32, inputs[1], b, parallel);
    for (std::size_t i = 0; i < form.batch; ++i) {
      kernels::gemm_unpacked(form.m, form.n, form.k, {a + i * form.m * form.k, static_cast<std::ptrdiff_t>(form.k)},
                             b + i * form.k * form.n, static_cast<std::ptrdiff_t>(form.n), 1, c + i * form.m * form.n,
                             form.n, {}, workspace, parallel);
    }
    strided_copy(form.c, ElementType::kFloat32, c, out, parallel);
  }

  std::string equation_;
};

Support supports_einsum(const NodeDesc& node) {
  return is_one_of(EinsumTypes{}, node.input_type(0)) ? Support::accept() : decline_type(node, 0);
}

}  // namespace

void add_einsum_kernels(KernelTable& table) { table.push_back({"", "Einsum", supports_einsum, make<EinsumKernel>}); }

}  // namespace sardonyx::provider::cpu
