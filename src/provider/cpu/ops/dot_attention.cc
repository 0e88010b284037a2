#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>
#include <utility>

#include "kernels/attention/attention.h"
#include "provider/cpu/ops/attention.h"
#include "provider/cpu/ops/axis_view.h"
#include "provider/cpu/ops/wide_io.h"

namespace sardonyx::provider::cpu {
namespace {

constexpr std::int64_t kRows = 8;    ///< queries whose scores are computed together
constexpr std::int64_t kSlots = 64;  ///< parallel chunks at most, each with a strip of scores of its own

using MaskTypes = Types<float, double, Half, BFloat16, std::int8_t, std::int16_t, std::int32_t, std::int64_t,
                        std::uint8_t, std::uint16_t, std::uint32_t, std::uint64_t, bool>;

/// How [batch, head, row] of query, key, value or output is found, whether heads come before or after the rows.
struct HeadStrides {
  std::int64_t batch = 0, head = 0, row = 0;

  static HeadStrides of(bool packed, std::int64_t heads, std::int64_t rows, std::int64_t size) {
    if (packed) return {rows * heads * size, size, heads * size};
    return {heads * rows * size, rows * size, size};
  }
  std::int64_t offset(std::int64_t b, std::int64_t h) const { return b * batch + h * head; }
};

/// Sizes of one call, and where things lie in the workspace, in elements of the computing type.
struct AttentionShape {
  bool packed = false;  ///< [batch, sequence, heads · size] inputs
  std::int64_t batch = 0, q_heads = 0, kv_heads = 0, queries = 0, new_keys = 0, past = 0, size = 0, value_size = 0;
  std::int64_t mask_strides[3] = {};  ///< batch, head, query, of a mask that covers every key; 0 where it repeats
  std::int64_t mask_rows = 0;
  std::size_t mask_offset = 0, keys_offset = 0, values_offset = 0, lengths_offset = 0, scores_offset = 0, elements = 0;
  int max_threads = 0;  ///< that the fused kernel's workspace is for; 0: the fused kernel is not used

  std::int64_t total() const { return past + new_keys; }
  std::int64_t blocks() const { return (queries + kRows - 1) / kRows; }
};

template <typename T>
T dot(const T* a, const T* b, std::int64_t n) {
  T lanes[16] = {};
  std::int64_t i = 0;
  for (; i + 16 <= n; i += 16) {
    for (std::int64_t l = 0; l < 16; ++l) lanes[l] += a[i + l] * b[i + l];
  }
  for (std::int64_t l = 0; i < n; ++i, ++l) lanes[l] += a[i] * b[i];
  for (std::int64_t step : {8, 4, 2, 1}) {
    for (std::int64_t l = 0; l < step; ++l) lanes[l] += lanes[l + step];
  }
  return lanes[0];
}

/// As the operator is defined: a row that is masked as a whole gives NaN.
template <typename T>
void softmax_row(T* x, std::int64_t n) {
  T greatest = -std::numeric_limits<T>::infinity(), sum = 0;
  for (std::int64_t i = 0; i < n; ++i) greatest = x[i] > greatest ? x[i] : greatest;
  for (std::int64_t i = 0; i < n; ++i) sum += x[i] = std::exp(x[i] - greatest);
  for (std::int64_t i = 0; i < n; ++i) x[i] /= sum;
}

enum class ScoresOutput : std::uint8_t { kRaw, kCapped, kBiased, kSoftmax };

struct AttentionOptions {
  bool causal = false, zero_masked_rows = false;
  float scale = 0, softcap = 0;  ///< scale 0: from the head size
  ScoresOutput scores_output = ScoresOutput::kRaw;
};

template <typename T>
struct AttentionCall {
  const AttentionOptions& options;
  const AttentionShape& shape;
  const T *query, *key, *value, *mask;  ///< key and value: all of them, past included
  HeadStrides query_strides, key_strides, value_strides, output_strides;
  const std::int64_t* lengths;  ///< real keys per batch item, or null
  T *output, *scores_output;

  /// One block of queries of one head; `strip` holds kRows · total() scores.
  void run_block(std::int64_t b, std::int64_t h, std::int64_t block, T* strip) const {
    const std::int64_t kv_head = h / (shape.q_heads / shape.kv_heads), total = shape.total();
    const T* k = key + key_strides.offset(b, kv_head);
    const T* v = value + value_strides.offset(b, kv_head);
    const std::int64_t first = block * kRows, count = std::min(kRows, shape.queries - first);
    const T scale = options.scale != 0 ? static_cast<T>(options.scale) : T(1) / std::sqrt(static_cast<T>(shape.size));
    for (std::int64_t i = 0; i < count; ++i) {
      const T* q = query + query_strides.offset(b, h) + (first + i) * query_strides.row;
      T* scores = strip + i * total;
      for (std::int64_t j = 0; j < total; ++j) scores[j] = dot(q, k + j * key_strides.row, shape.size) * scale;
      finish_scores(b, h, first + i, scores);
    }
    for (std::int64_t i = 0; output && i < count; ++i) {
      T* out = output + output_strides.offset(b, h) + (first + i) * output_strides.row;
      std::fill_n(out, shape.value_size, T(0));
      for (std::int64_t j = 0; j < total; ++j) {
        const T weight = strip[i * total + j];
        const T* line = v + j * value_strides.row;
        for (std::int64_t d = 0; d < shape.value_size; ++d) out[d] += weight * line[d];
      }
    }
  }

 private:
  void finish_scores(std::int64_t b, std::int64_t h, std::int64_t row, T* scores) const {
    const std::int64_t total = shape.total();
    emit(ScoresOutput::kRaw, b, h, row, scores);
    if (options.softcap > 0) {
      const T cap = static_cast<T>(options.softcap);
      for (std::int64_t j = 0; j < total; ++j) scores[j] = std::tanh(scores[j] / cap) * cap;
    }
    emit(ScoresOutput::kCapped, b, h, row, scores);
    add_bias(b, h, row, scores);
    emit(ScoresOutput::kBiased, b, h, row, scores);
    softmax_row(scores, total);
    emit(ScoresOutput::kSoftmax, b, h, row, scores);
  }

  void add_bias(std::int64_t b, std::int64_t h, std::int64_t row, T* scores) const {
    const std::int64_t total = shape.total();
    std::int64_t visible = total;  // keys from here on are masked
    if (mask) {
      const T* line = mask + b * shape.mask_strides[0] + h * shape.mask_strides[1] + row * shape.mask_strides[2];
      for (std::int64_t j = 0; j < total; ++j) scores[j] += line[j];
    }
    if (options.causal) visible = std::min(visible, shape.past + row + 1);
    if (lengths) visible = std::min(visible, lengths[b]);
    std::fill(scores + visible, scores + total, -std::numeric_limits<T>::infinity());
  }

  void emit(ScoresOutput stage, std::int64_t b, std::int64_t h, std::int64_t row, const T* scores) const {
    if (!scores_output || stage != options.scores_output) return;
    std::copy_n(scores, shape.total(), scores_output + ((b * shape.q_heads + h) * shape.queries + row) * shape.total());
  }
};

/// Past and new rows one after the other, [batch, heads, past + new, size].
template <typename T>
void concatenate(const AttentionShape& shape, const T* past, const T* fresh, std::int64_t size, T* to) {
  const HeadStrides strides = HeadStrides::of(shape.packed, shape.kv_heads, shape.new_keys, size);
  for (std::int64_t b = 0; b < shape.batch; ++b) {
    for (std::int64_t h = 0; h < shape.kv_heads; ++h) {
      to = std::copy_n(past + (past ? (b * shape.kv_heads + h) * shape.past * size : 0), past ? shape.past * size : 0,
                       to);
      for (std::int64_t t = 0; t < shape.new_keys; ++t)
        to = std::copy_n(fresh + strides.offset(b, h) + t * strides.row, size, to);
    }
  }
}

class AttentionKernel final : public Kernel {
 public:
  explicit AttentionKernel(const NodeDesc& node)
      : q_heads_(node.attributes->get_int("q_num_heads", 0)), kv_heads_(node.attributes->get_int("kv_num_heads", 0)) {
    options_.causal = node.attributes->get_int("is_causal", 0) != 0;
    options_.scale = node.attributes->get_float("scale", 0);
    options_.zero_masked_rows = node.attributes->get_int("zero_masked_rows", 0) != 0;
    options_.softcap = node.attributes->get_float("softcap", 0);
    options_.scores_output = static_cast<ScoresOutput>(node.attributes->get_int("qk_matmul_output_mode", 0));
  }

  Binding bind(const BindContext& context) const override {
    auto shape = std::make_shared<AttentionShape>(measure(context));
    const auto given = [](std::span<const TensorView* const> list, std::size_t i) {
      return i < list.size() && list[i];
    };
    std::size_t next = 0;
    const auto take = [&](std::int64_t count) {
      return std::exchange(next, next + align_workspace(static_cast<std::size_t>(count)));
    };
    if (given(context.inputs, 3)) shape->mask_offset = take(shape->mask_rows * shape->total());
    if (given(context.inputs, 6)) shape->lengths_offset = take(shape->batch * 2);
    const bool has_past = given(context.inputs, 4);
    const std::int64_t rows = shape->batch * shape->kv_heads * shape->total();
    if (has_past && !given(context.outputs, 1)) shape->keys_offset = take(rows * shape->size);
    if (has_past && !given(context.outputs, 2)) shape->values_offset = take(rows * shape->value_size);
    if (context.inputs[0]->type != ElementType::kFloat64 && given(context.outputs, 0) && !given(context.outputs, 3)) {
      shape->max_threads = ThreadPool::global().threads();
      shape->scores_offset =
          take(static_cast<std::int64_t>(kernels::attention_workspace_size(fused_sizes(*shape), shape->max_threads)));
    } else {
      const std::int64_t items = shape->batch * shape->q_heads * shape->blocks();
      shape->scores_offset = take(std::min(items, kSlots) * kRows * shape->total());
    }
    shape->elements = next;
    const std::size_t element = context.inputs[0]->type == ElementType::kFloat64 ? sizeof(double) : sizeof(float);
    return {next * element + WideIo::workspace_bytes(context), std::move(shape)};
  }

  void run(RunContext& context) const override {
    dispatch_wide(context.input(0).type, "Attention", [&]<typename T>() { attend<T>(context); });
  }

 private:
  AttentionShape measure(const BindContext& context) const {
    const Shape &q = context.inputs[0]->shape, &k = context.inputs[1]->shape, &v = context.inputs[2]->shape;
    AttentionShape shape;
    shape.packed = q.rank() == 3;
    shape.batch = q[0];
    shape.q_heads = shape.packed ? q_heads_ : q[1];
    shape.kv_heads = shape.packed ? kv_heads_ : k[1];
    shape.queries = q[shape.packed ? 1 : 2];
    shape.new_keys = k[shape.packed ? 1 : 2];
    shape.size = shape.packed ? q[2] / q_heads_ : q[3];
    shape.value_size = shape.packed ? v[2] / kv_heads_ : v[3];
    if (context.inputs.size() > 4 && context.inputs[4]) shape.past = context.inputs[4]->shape[2];
    if (context.inputs.size() > 3 && context.inputs[3]) measure_mask(context.inputs[3]->shape, shape);
    return shape;
  }

  static void measure_mask(const Shape& mask, AttentionShape& shape) {
    shape.mask_rows = mask.product(0, mask.rank() - 1);
    std::int64_t stride = shape.total();
    for (std::size_t i = mask.rank() - 1; i-- > 0;) {
      const std::size_t axis = i + 4 - mask.rank();  // 0 batch, 1 head, 2 query
      shape.mask_strides[axis] = mask[i] == 1 ? 0 : stride;
      stride *= mask[i];
    }
  }

  /// The mask as what is added to scores, for every key: false is -infinity, and so are keys that it does not reach.
  template <typename T>
  static const T* read_mask(const TensorView& mask, const AttentionShape& shape, T* memory) {
    const std::int64_t total = shape.total(), width = mask.shape[mask.shape.rank() - 1];
    if (mask.type == element_type_of<T> && width == total) return static_cast<const T*>(mask.data_ptr);
    dispatch(MaskTypes{}, mask.type, "Attention", [&]<typename M>() {
      const auto value = [&](std::int64_t i) {
        if constexpr (std::is_same_v<M, bool>)
          return mask.data<M>()[i] ? T(0) : -std::numeric_limits<T>::infinity();
        else
          return static_cast<T>(static_cast<compute_type<M>>(mask.data<M>()[i]));
      };
      for (std::int64_t row = 0; row < shape.mask_rows; ++row) {
        T* line = memory + row * total;
        if (width == 1) {
          std::fill_n(line, total, value(row));
          continue;
        }
        for (std::int64_t j = 0; j < width; ++j) line[j] = value(row * width + j);
        std::fill(line + width, line + total, -std::numeric_limits<T>::infinity());
      }
    });
    return memory;
  }

  /// How many keys each batch item has, kept inside [0, total].
  static const std::int64_t* read_lengths(const TensorView& lengths, const AttentionShape& shape, void* memory) {
    auto* clamped = static_cast<std::int64_t*>(memory);
    for (std::int64_t b = 0; b < shape.batch; ++b)
      clamped[b] = std::clamp<std::int64_t>(lengths.data<std::int64_t>()[b], 0, shape.total());
    return clamped;
  }

  template <typename T>
  void attend(RunContext& context) const {
    const auto& shape = context.params<AttentionShape>();
    T* memory = reinterpret_cast<T*>(context.workspace());
    WideIo io(context, context.workspace() + shape.elements * sizeof(T));
    AttentionCall<T> call{options_, shape, io.input<T>(0), io.input<T>(1), io.input<T>(2), nullptr, {}, {},
                          {},       {},    nullptr,        nullptr,        nullptr};
    if (context.has_input(3)) call.mask = read_mask(context.input(3), shape, memory + shape.mask_offset);
    if (context.has_input(6)) call.lengths = read_lengths(context.input(6), shape, memory + shape.lengths_offset);
    call.query_strides = HeadStrides::of(shape.packed, shape.q_heads, shape.queries, shape.size);
    call.output_strides = HeadStrides::of(shape.packed, shape.q_heads, shape.queries, shape.value_size);
    call.output = io.output<T>(0);
    prepare_cache(io, call, memory);
    call.scores_output = io.output<T>(3);
    bool fused = false;
    if constexpr (std::is_same_v<T, float>) {
      fused = shape.max_threads > 0;
      if (fused) run_fused(call, context.parallel, memory + shape.scores_offset);
    }
    if (!fused) run_plain(call, context.parallel, memory + shape.scores_offset);
    io.store();
  }

  template <typename T>
  static void run_plain(const AttentionCall<T>& call, const Parallel& parallel, T* strips) {
    const AttentionShape& shape = call.shape;
    const std::int64_t blocks = shape.blocks(), items = shape.batch * shape.q_heads * blocks;
    if (items == 0) return;
    const std::int64_t chunk = (items + kSlots - 1) / kSlots;
    parallel.parallel_for(static_cast<std::size_t>(items), static_cast<std::size_t>(chunk),
                          [&](std::size_t begin, std::size_t end) {
                            T* strip = strips + static_cast<std::int64_t>(begin) / chunk * kRows * shape.total();
                            for (auto i = static_cast<std::int64_t>(begin); i < static_cast<std::int64_t>(end); ++i) {
                              call.run_block(i / blocks / shape.q_heads, i / blocks % shape.q_heads, i % blocks, strip);
                            }
                          });
  }

  static kernels::AttentionArguments fused_sizes(const AttentionShape& shape) {
    const auto size = [](std::int64_t n) { return static_cast<std::size_t>(n); };
    kernels::AttentionArguments arguments;
    arguments.batch = size(shape.batch);
    arguments.heads = size(shape.q_heads);
    arguments.key_heads = size(shape.kv_heads);
    arguments.queries = size(shape.queries);
    arguments.keys = size(shape.total());
    arguments.head_dim = size(shape.size);
    arguments.value_dim = size(shape.value_size);
    return arguments;
  }

  void run_fused(const AttentionCall<float>& call, Parallel parallel, float* workspace) const {
    const AttentionShape& shape = call.shape;
    const auto strides = [](const HeadStrides& s) { return kernels::AttentionStrides{s.batch, s.head, s.row}; };
    kernels::AttentionArguments arguments = fused_sizes(shape);
    arguments.scale = options_.scale != 0 ? options_.scale : 1 / std::sqrt(static_cast<float>(shape.size));
    arguments.softcap = std::max(0.0f, options_.softcap);
    arguments.q = call.query;
    arguments.k = call.key;
    arguments.v = call.value;
    arguments.out = call.output;
    arguments.q_strides = strides(call.query_strides);
    arguments.k_strides = strides(call.key_strides);
    arguments.v_strides = strides(call.value_strides);
    arguments.out_strides = strides(call.output_strides);
    arguments.additive_mask = call.mask;
    arguments.mask_strides = {shape.mask_strides[0], shape.mask_strides[1], shape.mask_strides[2]};
    arguments.key_lengths = call.lengths;
    arguments.causal = options_.causal;
    arguments.causal_offset = shape.past;
    arguments.zero_masked_rows = options_.zero_masked_rows;
    parallel.max_threads = std::min(parallel.max_threads, shape.max_threads);
    kernels::attention(arguments, workspace, parallel);
  }

  /// Points keys and values at what attention reads: the inputs, or past and inputs joined in the present outputs.
  template <typename T>
  static void prepare_cache(WideIo& io, AttentionCall<T>& call, T* memory) {
    const auto& shape = call.shape;
    const T *past_key = io.input<T>(4), *past_value = io.input<T>(5);
    T *present_key = io.output<T>(1), *present_value = io.output<T>(2);
    call.key_strides = HeadStrides::of(shape.packed, shape.kv_heads, shape.new_keys, shape.size);
    call.value_strides = HeadStrides::of(shape.packed, shape.kv_heads, shape.new_keys, shape.value_size);
    if (past_key && !present_key) present_key = memory + shape.keys_offset;
    if (past_value && !present_value) present_value = memory + shape.values_offset;
    if (present_key) concatenate(shape, past_key, call.key, shape.size, present_key);
    if (present_value) concatenate(shape, past_value, call.value, shape.value_size, present_value);
    if (!past_key) return;
    call.key = present_key;
    call.value = present_value;
    call.key_strides = HeadStrides::of(false, shape.kv_heads, shape.total(), shape.size);
    call.value_strides = HeadStrides::of(false, shape.kv_heads, shape.total(), shape.value_size);
  }

  AttentionOptions options_;
  std::int64_t q_heads_, kv_heads_;
};

/// Made by a fusion, of floats only: what the fused kernel computes.
Support supports_fused_attention(const NodeDesc& node) {
  return node.input_type(0) == ElementType::kFloat32 ? Support::accept() : decline_type(node, 0);
}

}  // namespace

void add_dot_attention_kernels(KernelTable& table) {
  table.push_back({"", "Attention", supports_float, make<AttentionKernel>});
  table.push_back({"ai.sardonyx", "FusedAttention", supports_fused_attention, make<AttentionKernel>});
}

}  // namespace sardonyx::provider::cpu
