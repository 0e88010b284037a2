#include <algorithm>
#include <array>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>

#include "provider/cpu/ops/axis_view.h"
#include "provider/cpu/ops/recurrent_cells.h"
#include "provider/cpu/ops/wide_io.h"

namespace sardonyx::provider::cpu {
namespace {

/// Sizes of one layer, and where things lie in its workspace, in elements.
struct LayerShape {
  std::size_t sequence = 0, batch = 0, input = 0, hidden = 0, gates = 0, directions = 1;
  bool batch_first = false;
  std::size_t w_offset = 0, r_offset = 0, bias_offset = 0, projected_offset = 0, state_offset = 0, product_offset = 0,
              elements = 0;
  std::size_t product_elements = 0;  ///< workspace of one product

  std::size_t width() const { return gates * hidden; }
  /// Row of [sequence, batch] (or [batch, sequence]) for one time and batch item.
  std::size_t row(std::size_t time, std::size_t item) const {
    return batch_first ? item * sequence + time : time * batch + item;
  }
  /// Offset of a state [directions, batch, hidden] (or [batch, directions, hidden]).
  std::size_t state(std::size_t direction, std::size_t item) const {
    return (batch_first ? item * directions + direction : direction * batch + item) * hidden;
  }
  /// Offset in Y, [sequence, directions, batch, hidden] or [batch, sequence, directions, hidden].
  std::size_t output(std::size_t time, std::size_t direction, std::size_t item) const {
    return (batch_first ? (item * sequence + time) * directions + direction
                        : (time * directions + direction) * batch + item) *
           hidden;
  }
};

/// Prepares the weights [directions, n, k] of every direction, cut into spans of rows, one after the other.
template <typename T>
void prepare_weights(const T* weights, std::size_t directions, std::size_t k, std::span<const std::size_t> spans,
                     T* memory, Parallel parallel = {}) {
  for (std::size_t d = 0; d < directions; ++d) {
    for (std::size_t n : spans) {
      RightMatrix<T>::prepare(weights, k, n, memory, parallel);
      weights += n * k;
      memory += RightMatrix<T>::elements(k, n);
    }
  }
}

template <typename T>
std::size_t prepared_elements(std::size_t k, std::span<const std::size_t> spans) {
  std::size_t total = 0;
  for (std::size_t n : spans) total += RightMatrix<T>::elements(k, n);
  return total;
}

constexpr std::size_t kBatchBlock = 16;  ///< batch items whose steps are computed together by one thread

template <typename Cell>
class RecurrentKernel final : public Kernel {
 public:
  explicit RecurrentKernel(const NodeDesc& node) : layer_(node) {
    for (std::size_t input : {std::size_t{1}, std::size_t{2}}) add_request(node.constant(input), input);
  }

  std::vector<PackRequest> pack_requests() const override { return requests_; }

  Binding bind(const BindContext& context) const override {
    auto shape = std::make_shared<LayerShape>();
    const Shape &x = context.inputs[0]->shape, &r = context.inputs[2]->shape;
    shape->batch_first = layer_.batch_first;
    shape->sequence = static_cast<std::size_t>(x[layer_.batch_first ? 1 : 0]);
    shape->batch = static_cast<std::size_t>(x[layer_.batch_first ? 0 : 1]);
    shape->input = static_cast<std::size_t>(x[2]);
    shape->hidden = static_cast<std::size_t>(r[2]);
    shape->gates = Cell::kGates;
    shape->directions = static_cast<std::size_t>(r[0]);
    if (context.inputs[0]->type == ElementType::kFloat64) return bind_as<double>(context, std::move(shape));
    return bind_as<float>(context, std::move(shape));
  }

  void run(RunContext& context) const override {
    const auto& shape = context.params<LayerShape>();
    dispatch_wide(context.input(0).type, "recurrent operators", [&]<typename T>() {
      WideIo io(context, context.workspace() + shape.elements * sizeof(T));
      Run<T> run{*this, context, shape};
      run.read(io);
      run.project();
      run.steps();
      io.store();
    });
  }

 private:
  template <typename T>
  Binding bind_as(const BindContext& context, std::shared_ptr<LayerShape> shape) const {
    const std::size_t rows = shape->sequence * shape->batch, blocks = (shape->batch + kBatchBlock - 1) / kBatchBlock;
    std::size_t next = 0;
    const auto take = [&](std::size_t count) { return std::exchange(next, next + align_workspace(count)); };
    shape->w_offset =
        take(packed_[0] < 0 ? shape->directions * prepared_elements<T>(shape->input, row_spans(1, shape->hidden)) : 0);
    shape->r_offset =
        take(packed_[1] < 0 ? shape->directions * prepared_elements<T>(shape->hidden, row_spans(2, shape->hidden)) : 0);
    shape->bias_offset = take(shape->width());
    shape->projected_offset = take(shape->directions * rows * shape->width());
    shape->state_offset =
        take(shape->directions * shape->batch * (Cell::kStates + Cell::kScratch + Cell::kGates) * shape->hidden);
    shape->product_elements = std::max(RightMatrix<T>::workspace_elements(rows, shape->input, shape->width()),
                                       RightMatrix<T>::workspace_elements(kBatchBlock, shape->hidden, shape->width()));
    shape->product_offset = take(std::max<std::size_t>(1, shape->directions * blocks) * shape->product_elements);
    shape->elements = next;
    return {next * sizeof(T) + WideIo::workspace_bytes(context), std::move(shape)};
  }

  struct Spans {
    std::array<std::size_t, kMaxSpans> rows{};
    std::size_t count = 0;
    operator std::span<const std::size_t>() const {
      return {rows.data(), count};
    }  // NOLINT(google-explicit-constructor)
  };

  /// How the rows of W (input 1: all together) or R (input 2: as the cell multiplies them) are cut.
  static Spans row_spans(std::size_t input, std::size_t hidden) {
    if (input == 1) return {{Cell::kGates * hidden}, 1};
    Spans spans;
    for (std::size_t gates : Cell::kSpans) spans.rows[spans.count++] = gates * hidden;
    return spans;
  }

  /// Constant weights are prepared once.
  void add_request(const Tensor* constant, std::size_t input) {
    packed_[input - 1] = -1;
    if (!constant || constant->shape().rank() != 3 || !is_one_of(FloatTypes{}, constant->type())) return;
    const auto dim = [&](std::size_t i) { return static_cast<std::size_t>(constant->shape()[i]); };
    const Spans spans = row_spans(input, dim(1) / Cell::kGates);
    const bool is_double = constant->type() == ElementType::kFloat64;
    const std::size_t bytes = dim(0) * (is_double ? prepared_elements<double>(dim(2), spans) * sizeof(double)
                                                  : prepared_elements<float>(dim(2), spans) * sizeof(float));
    packed_[input - 1] = static_cast<int>(requests_.size());
    const std::string packing = std::string(Cell::kPacking) + (input == 1 ? "/w/" : "/r/") + kernels::packed_b_format();
    requests_.push_back({input, packing, bytes,
                         [input](const TensorView& weights, std::byte* packed) { pack(weights, input, packed); }});
  }

  static void pack(const TensorView& weights, std::size_t input, std::byte* packed) {
    const auto dim = [&](std::size_t i) { return static_cast<std::size_t>(weights.shape[i]); };
    const Spans spans = row_spans(input, dim(1) / Cell::kGates);
    dispatch(FloatTypes{}, weights.type, "recurrent operators", [&]<typename T>() {
      using W = compute_type<T>;
      if constexpr (std::is_same_v<T, W>) {
        prepare_weights<W>(weights.data<T>(), dim(0), dim(2), spans, reinterpret_cast<W*>(packed));
      } else {
        const std::vector<W> wide = [&] {
          std::vector<W> values(static_cast<std::size_t>(weights.num_elements()));
          for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<W>(weights.data<T>()[i]);
          return values;
        }();
        prepare_weights<W>(wide.data(), dim(0), dim(2), spans, reinterpret_cast<W*>(packed));
      }
    });
  }

  /// One call in one element type.
  template <typename T>
  struct Run {
    const RecurrentKernel& kernel;
    RunContext& context;
    const LayerShape& shape;
    const T *x = nullptr, *w = nullptr, *r = nullptr, *bias = nullptr, *initial_h = nullptr, *initial_c = nullptr,
            *peepholes = nullptr;
    T *y = nullptr, *last_h = nullptr, *last_c = nullptr;
    const std::int32_t* lengths = nullptr;

    T* memory(std::size_t offset) const { return reinterpret_cast<T*>(context.workspace()) + offset; }

    void read(WideIo& io) {
      x = io.input<T>(0);
      w = weights(io, 1, shape.w_offset, shape.input);
      r = weights(io, 2, shape.r_offset, shape.hidden);
      bias = io.input<T>(3);
      if (context.has_input(4)) lengths = checked_lengths(context.input(4));
      initial_h = io.input<T>(5);
      if constexpr (Cell::kStates == 2) {
        initial_c = io.input<T>(6);
        peepholes = io.input<T>(7);
        last_c = io.output<T>(2);
      }
      y = io.output<T>(0);
      last_h = io.output<T>(1);
    }

    const std::int32_t* checked_lengths(const TensorView& tensor) const {
      const auto* data = tensor.data<std::int32_t>();
      for (std::size_t i = 0; i < shape.batch; ++i) {
        if (data[i] < 0 || static_cast<std::size_t>(data[i]) > shape.sequence) {
          fail(ErrorCode::kInvalidArgument, "sequence_lens has the element {}, but sequences have {} steps", data[i],
               shape.sequence);
        }
      }
      return data;
    }

    const T* weights(WideIo& io, std::size_t input, std::size_t offset, std::size_t columns) const {
      const int request = kernel.packed_[input - 1];
      if (request >= 0) return reinterpret_cast<const T*>(context.packed(static_cast<std::size_t>(request)));
      const T* from = io.input<T>(input);
      prepare_weights<T>(from, shape.directions, columns, row_spans(input, shape.hidden), memory(offset),
                         context.parallel);
      return memory(offset);
    }

    /// X·Wᵀ and the biases that are simply added, for all times at once.
    void project() const {
      const std::size_t rows = shape.sequence * shape.batch, width = shape.width();
      for (std::size_t direction = 0; direction < shape.directions; ++direction) {
        const RightMatrix<T> matrix{w + direction * RightMatrix<T>::elements(shape.input, width), shape.input, width};
        const T* b = bias ? bias + direction * 2 * width : nullptr;
        T* sum = memory(shape.bias_offset);
        for (std::size_t j = 0; b && j < width; ++j)
          sum[j] = kernel.layer_.separate_bias(j, shape.hidden) ? b[j] : b[j] + b[width + j];
        matrix.multiply(rows, x, shape.input, memory(shape.projected_offset) + direction * rows * width, width,
                        b ? sum : nullptr, false, memory(shape.product_offset), context.parallel);
      }
    }

    void steps() const {
      const std::size_t blocks = (shape.batch + kBatchBlock - 1) / kBatchBlock;
      context.parallel.parallel_for(shape.directions * blocks, 1, [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) {
          const std::size_t first = i % blocks * kBatchBlock;
          run_block(i / blocks, first, std::min(kBatchBlock, shape.batch - first),
                    memory(shape.product_offset) + i * shape.product_elements);
        }
      });
    }

    std::size_t length(std::size_t item) const {
      return lengths ? static_cast<std::size_t>(lengths[item]) : shape.sequence;
    }

    void run_block(std::size_t direction, std::size_t first, std::size_t count, T* workspace) const {
      const std::size_t hidden = shape.hidden, width = shape.width();
      const bool reverse = direction == 1 || kernel.layer_.reverse;
      T* h = memory(shape.state_offset) +
             (direction * shape.batch + first) * (Cell::kStates + Cell::kScratch + Cell::kGates) * hidden;
      T* c = h + count * hidden;  // also the start of scratch for cells without a second state
      std::array<RightMatrix<T>, kMaxSpans> matrices;
      const Spans spans = row_spans(2, hidden);
      const T* next = r + direction * prepared_elements<T>(hidden, spans);
      for (std::size_t i = 0; i < spans.count; ++i) {
        matrices[i] = {next, hidden, spans.rows[i]};
        next += RightMatrix<T>::elements(hidden, spans.rows[i]);
      }
      const CellBlock<T> block{kernel.layer_,
                               direction,
                               count,
                               hidden,
                               h,
                               Cell::kStates == 2 ? c : nullptr,
                               c + (Cell::kStates - 1) * count * hidden,
                               c + (Cell::kStates - 1 + Cell::kScratch) * count * hidden,
                               matrices.data(),
                               workspace,
                               bias ? bias + direction * 2 * width : nullptr,
                               peepholes ? peepholes + direction * 3 * hidden : nullptr};
      load_state(initial_h, direction, first, count, h);
      if constexpr (Cell::kStates == 2) load_state(initial_c, direction, first, count, c);
      const T* projected = memory(shape.projected_offset) + direction * shape.sequence * shape.batch * width;
      std::size_t longest = 0;
      for (std::size_t i = 0; i < count; ++i) longest = std::max(longest, length(first + i));
      for (std::size_t step = 0; step < longest; ++step) {
        context.check_cancelled();
        StepRows<T> rows{};
        for (std::size_t i = 0; i < count; ++i) {
          const std::size_t steps = length(first + i);
          if (step >= steps) continue;  // stays inactive: its state is kept
          const std::size_t time = reverse ? steps - 1 - step : step;
          rows.projected[i] = projected + shape.row(time, first + i) * width;
          rows.output[i] = y ? y + shape.output(time, direction, first + i) : nullptr;
        }
        Cell::step(block, rows);
      }
      clear_padding(direction, first, count);
      store_state(h, direction, first, count, last_h);
      if constexpr (Cell::kStates == 2) store_state(c, direction, first, count, last_c);
    }

    void load_state(const T* from, std::size_t direction, std::size_t first, std::size_t count, T* to) const {
      for (std::size_t i = 0; i < count; ++i, to += shape.hidden) {
        if (from)
          std::copy_n(from + shape.state(direction, first + i), shape.hidden, to);
        else
          std::fill_n(to, shape.hidden, T(0));
      }
    }

    void store_state(const T* from, std::size_t direction, std::size_t first, std::size_t count, T* to) const {
      for (std::size_t i = 0; to && i < count; ++i)
        std::copy_n(from + i * shape.hidden, shape.hidden, to + shape.state(direction, first + i));
    }

    /// Outputs behind the end of a sequence are 0.
    void clear_padding(std::size_t direction, std::size_t first, std::size_t count) const {
      for (std::size_t i = 0; y && i < count; ++i) {
        for (std::size_t t = length(first + i); t < shape.sequence; ++t)
          std::fill_n(y + shape.output(t, direction, first + i), shape.hidden, T(0));
      }
    }
  };

  RecurrentLayer<Cell> layer_;
  std::vector<PackRequest> requests_;
  int packed_[2] = {-1, -1};  ///< requests of W and R, or -1

  static_assert(kBatchBlock <= kMaxBlock);
};

}  // namespace

void add_recurrent_kernels(KernelTable& table) {
  table.push_back({"", "LSTM", supports_float, make<RecurrentKernel<LstmCell>>});
  table.push_back({"", "GRU", supports_float, make<RecurrentKernel<GruCell>>});
  table.push_back({"", "RNN", supports_float, make<RecurrentKernel<RnnCell>>});
}

}  // namespace sardonyx::provider::cpu
