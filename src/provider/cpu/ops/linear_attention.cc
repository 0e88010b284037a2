#include <cmath>

#include "provider/cpu/ops/attention.h"
#include "provider/cpu/ops/axis_view.h"
#include "provider/cpu/ops/wide_io.h"

namespace sardonyx::provider::cpu {
namespace {

/// The sizes of one call.
struct LinearShape {
  std::int64_t batch, sequence, q_heads, kv_heads, key_size, value_size;
  std::int64_t decay_width = 0;  ///< last dimension of decay, 0 without
  std::int64_t beta_width = 0;

  std::int64_t state_size() const { return key_size * value_size; }
};

/// One key head of one batch item, walked through time: its state is [key_size, value_size].
template <typename T>
struct LinearHead {
  const LinearShape& shape;
  const T *query, *key, *value, *decay, *beta;
  T *output, *state, *correction;  ///< correction: [value_size] of scratch
  T scale;

  void run(std::int64_t batch, std::int64_t head) const {
    for (std::int64_t t = 0; t < shape.sequence; ++t) step(batch * shape.sequence + t, head);
  }

 private:
  void step(std::int64_t token, std::int64_t head) const {
    const std::int64_t keys = shape.key_size, values = shape.value_size;
    const T* k = key + (token * shape.kv_heads + head) * keys;
    const T* v = value + (token * shape.kv_heads + head) * values;
    if (decay) fade(token, head);
    const T* written = v;
    if (beta) {  // beta · (v - stateᵀ k)
      std::fill_n(correction, values, T(0));
      for (std::int64_t d = 0; d < keys; ++d) {
        for (std::int64_t m = 0; m < values; ++m) correction[m] += state[d * values + m] * k[d];
      }
      const T rate = beta[token * shape.beta_width + (shape.beta_width == 1 ? 0 : head)];
      for (std::int64_t m = 0; m < values; ++m) correction[m] = rate * (v[m] - correction[m]);
      written = correction;
    }
    for (std::int64_t d = 0; d < keys; ++d) {
      for (std::int64_t m = 0; m < values; ++m) state[d * values + m] += k[d] * written[m];
    }
    if (output) read(token, head);
  }

  void fade(std::int64_t token, std::int64_t head) const {
    const bool per_head = shape.decay_width == shape.kv_heads;
    const T* gates = decay + token * shape.decay_width + (per_head ? head : head * shape.key_size);
    for (std::int64_t d = 0; d < shape.key_size; ++d) {
      const T factor = std::exp(gates[per_head ? 0 : d]);
      for (std::int64_t m = 0; m < shape.value_size; ++m) state[d * shape.value_size + m] *= factor;
    }
  }

  /// The outputs of the query heads that share this key head.
  void read(std::int64_t token, std::int64_t head) const {
    const std::int64_t group = shape.q_heads / shape.kv_heads;
    for (std::int64_t q_head = head * group; q_head < (head + 1) * group; ++q_head) {
      const T* q = query + (token * shape.q_heads + q_head) * shape.key_size;
      T* out = output + (token * shape.q_heads + q_head) * shape.value_size;
      std::fill_n(out, shape.value_size, T(0));
      for (std::int64_t d = 0; d < shape.key_size; ++d) {
        for (std::int64_t m = 0; m < shape.value_size; ++m) out[m] += q[d] * state[d * shape.value_size + m];
      }
      for (std::int64_t m = 0; m < shape.value_size; ++m) out[m] *= scale;
    }
  }
};

class LinearAttentionKernel final : public Kernel {
 public:
  explicit LinearAttentionKernel(const NodeDesc& node)
      : q_heads_(node.attributes->get_int("q_num_heads")),
        kv_heads_(node.attributes->get_int("kv_num_heads")),
        scale_(node.attributes->get_float("scale", 0)) {}

  Binding bind(const BindContext& context) const override {
    auto shape = std::make_shared<LinearShape>();
    const Shape& q = context.inputs[0]->shape;
    *shape = {q[0], q[1], q_heads_, kv_heads_, q[2] / q_heads_, context.inputs[2]->shape[2] / kv_heads_};
    const auto width = [&](std::size_t i) {
      return i < context.inputs.size() && context.inputs[i] ? context.inputs[i]->shape[2] : 0;
    };
    shape->decay_width = width(4);
    shape->beta_width = width(5);
    return {scratch_bytes(*shape) + WideIo::workspace_bytes(context), std::move(shape)};
  }

  void run(RunContext& context) const override {
    const auto& shape = context.params<LinearShape>();
    WideIo io(context, context.workspace() + scratch_bytes(shape));
    const auto *query = io.input<float>(0), *key = io.input<float>(1), *value = io.input<float>(2),
               *past = io.input<float>(3);
    const auto *decay = io.input<float>(4), *beta = io.input<float>(5);
    auto *output = io.output<float>(0), *present = io.output<float>(1);
    const std::int64_t heads = shape.batch * shape.kv_heads, stride = shape.state_size() + shape.value_size;
    const float scale = scale_ != 0 ? scale_ : 1 / std::sqrt(static_cast<float>(shape.key_size));
    context.parallel.parallel_for(static_cast<std::size_t>(heads), 1, [&](std::size_t begin, std::size_t end) {
      for (auto item = static_cast<std::int64_t>(begin); item < static_cast<std::int64_t>(end); ++item) {
        float* state = reinterpret_cast<float*>(context.workspace()) + item * stride;
        if (past)
          std::copy_n(past + item * shape.state_size(), shape.state_size(), state);
        else
          std::fill_n(state, shape.state_size(), 0.0f);
        const LinearHead<float> head{shape, query, key, value, decay, beta, output, state, state + shape.state_size(),
                                     scale};
        head.run(item / shape.kv_heads, item % shape.kv_heads);
        if (present) std::copy_n(state, shape.state_size(), present + item * shape.state_size());
      }
    });
    io.store();
  }

 private:
  /// Each head's state and correction.
  static std::size_t scratch_bytes(const LinearShape& shape) {
    return align_workspace(
        static_cast<std::size_t>(shape.batch * shape.kv_heads * (shape.state_size() + shape.value_size)) *
        sizeof(float));
  }

  std::int64_t q_heads_, kv_heads_;
  float scale_;
};

Support supports_linear_attention(const NodeDesc& node) {
  const auto type = node.input_type(0);
  return type_in(type, {ElementType::kFloat32, ElementType::kFloat16, ElementType::kBFloat16}) ? Support::accept()
                                                                                               : decline_type(node, 0);
}

}  // namespace

void add_linear_attention_kernels(KernelTable& table) {
  table.push_back({"", "LinearAttention", supports_linear_attention, make<LinearAttentionKernel>});
}

}  // namespace sardonyx::provider::cpu
