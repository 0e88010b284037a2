#include "provider/cpu/ops/attention.h"
#include "provider/cpu/ops/axis_view.h"
#include "provider/cpu/ops/wide_io.h"

namespace sardonyx::provider::cpu {
namespace {

/// Turns pairs of elements of each head by angles that depend on the position.
class RotaryEmbeddingKernel final : public Kernel {
 public:
  explicit RotaryEmbeddingKernel(const NodeDesc& node)
      : interleaved_(node.attributes->get_int("interleaved", 0) != 0),
        rotary_(node.attributes->get_int("rotary_embedding_dim", 0)),
        heads_(node.attributes->get_int("num_heads", 0)) {}

  Binding bind(const BindContext& context) const override { return {WideIo::workspace_bytes(context), {}}; }

  void run(RunContext& context) const override {
    const TensorView& x = context.input(0);
    if (x.num_elements() == 0) return;
    const Layout layout(x.shape, heads_, rotary_);
    const TensorView* positions = context.has_input(3) ? &context.input(3) : nullptr;
    const std::int64_t cached = context.input(1).shape[0];
    WideIo io(context, context.workspace());
    dispatch_wide(x.type, "RotaryEmbedding", [&]<typename T>() {
      const T *in = io.input<T>(0), *cosines = io.input<T>(1), *sines = io.input<T>(2);
      T* out = io.output<T>(0);
      const auto items = static_cast<std::size_t>(layout.batch * layout.sequence * layout.heads);
      context.parallel.parallel_for(
          items, chunk_of(static_cast<std::size_t>(layout.size)), [&](std::size_t begin, std::size_t end) {
            for (auto item = static_cast<std::int64_t>(begin); item < static_cast<std::int64_t>(end); ++item) {
              const std::int64_t token = layout.token(item);
              const std::int64_t row = positions ? position(positions->data<std::int64_t>()[token], cached) : token;
              turn(in + item * layout.size, cosines + row * layout.half(), sines + row * layout.half(),
                   out + item * layout.size, layout);
            }
          });
    });
    io.store();
  }

 private:
  struct Layout {
    std::int64_t batch, heads, sequence, size, rotary;
    bool heads_last;  ///< [batch, sequence, heads, size], else [batch, heads, sequence, size]

    Layout(const Shape& shape, std::int64_t heads_attribute, std::int64_t rotary_attribute)
        : heads_last(shape.rank() == 3) {
      batch = shape[0];
      heads = heads_last ? heads_attribute : shape[1];
      sequence = heads_last ? shape[1] : shape[2];
      size = heads_last ? shape[2] / heads : shape[3];
      rotary = rotary_attribute > 0 ? rotary_attribute : size;
    }
    std::int64_t half() const { return rotary / 2; }
    /// Which [batch, sequence] a head's vector belongs to, given its number in memory.
    std::int64_t token(std::int64_t item) const {
      return heads_last ? item / heads : item / (heads * sequence) * sequence + item % sequence;
    }
  };

  static std::int64_t position(std::int64_t id, std::int64_t cached) {
    if (id < 0 || id >= cached)
      fail(ErrorCode::kInvalidArgument, "position {} is outside the {} rows of cos_cache", id, cached);
    return id;
  }

  template <typename T>
  void turn(const T* x, const T* cosines, const T* sines, T* y, const Layout& layout) const {
    const std::int64_t half = layout.half(), step = interleaved_ ? 2 : 1, second = interleaved_ ? 1 : half;
    for (std::int64_t i = 0; i < half; ++i) {
      const T a = x[i * step], b = x[i * step + second];
      y[i * step] = cosines[i] * a - sines[i] * b;
      y[i * step + second] = sines[i] * a + cosines[i] * b;
    }
    std::copy(x + layout.rotary, x + layout.size, y + layout.rotary);
  }

  bool interleaved_;
  std::int64_t rotary_, heads_;
};

}  // namespace

void add_rotary_embedding_kernels(KernelTable& table) {
  table.push_back({"", "RotaryEmbedding", supports_float, make<RotaryEmbeddingKernel>});
}

}  // namespace sardonyx::provider::cpu
