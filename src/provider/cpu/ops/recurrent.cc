#include <algorithm>
#include <cstring>

#include "provider/cpu/ops/axis_view.h"
#include "provider/cpu/ops/recurrent_cells.h"
#include "provider/cpu/ops/wide_io.h"

namespace sardonyx::provider::cpu {
namespace {

/// Sizes of one layer, and where things lie in its workspace, in elements.
struct LayerShape {
  std::size_t sequence = 0, batch = 0, input = 0, hidden = 0, gates = 0, directions = 1;
  bool batch_first = false;
  std::size_t w_offset = 0, r_offset = 0, projected_offset = 0, state_offset = 0, elements = 0;

  std::size_t width() const { return gates * hidden; }
  /// Row of [sequence, batch] (or [batch, sequence]) for one time and batch item.
  std::size_t row(std::size_t time, std::size_t item) const { return batch_first ? item * sequence + time : time * batch + item; }
  /// Offset of a state [directions, batch, hidden] (or [batch, directions, hidden]).
  std::size_t state(std::size_t direction, std::size_t item) const {
    return (batch_first ? item * directions + direction : direction * batch + item) * hidden;
  }
  /// Offset in Y, [sequence, directions, batch, hidden] or [batch, sequence, directions, hidden].
  std::size_t output(std::size_t time, std::size_t direction, std::size_t item) const {
    return (batch_first ? (item * sequence + time) * directions + direction : (time * directions + direction) * batch + item) * hidden;
  }
};

/// [directions, rows, columns] → [directions, columns, rows].
template <typename T>
void transpose_weights(const T* from, T* to, std::size_t directions, std::size_t rows, std::size_t columns) {
  for (std::size_t d = 0; d < directions; ++d, from += rows * columns, to += rows * columns) {
    for (std::size_t r = 0; r < rows; ++r) {
      for (std::size_t c = 0; c < columns; ++c) to[c * rows + r] = from[r * columns + c];
    }
  }
}

constexpr std::size_t kBatchBlock = 16;  ///< batch items whose steps are computed together by one thread

template <typename Cell>
class RecurrentKernel final : public Kernel {
 public:
  explicit RecurrentKernel(const NodeDesc& node) : layer_(node) {
    // Weights of the type that is computed in are transposed once, when they are constants.
    for (std::size_t input : {std::size_t{1}, std::size_t{2}}) {
      const Tensor* constant = node.constant(input);
      const bool wide = constant && type_in(constant->type(), {ElementType::kFloat32, ElementType::kFloat64});
      packed_[input - 1] = wide && constant->shape().rank() == 3 ? static_cast<int>(requests_.size()) : -1;
      if (packed_[input - 1] >= 0) requests_.push_back({input, "recurrent_transposed/1", constant->num_bytes(), pack});
    }
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
    std::size_t next = 0;
    const auto take = [&](std::size_t count) { return std::exchange(next, next + align_workspace(count)); };
    shape->w_offset = take(packed_[0] < 0 ? shape->directions * shape->width() * shape->input : 0);
    shape->r_offset = take(packed_[1] < 0 ? shape->directions * shape->width() * shape->hidden : 0);
    shape->projected_offset = take(shape->directions * shape->sequence * shape->batch * shape->width());
    shape->state_offset = take(shape->directions * shape->batch * (Cell::kStates + Cell::kScratch + Cell::kGates) * shape->hidden);
    shape->elements = next;
    const std::size_t element = context.inputs[0]->type == ElementType::kFloat64 ? sizeof(double) : sizeof(float);
    return {next * element + WideIo::workspace_bytes(context), std::move(shape)};
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
  static void pack(const TensorView& constant, std::byte* packed) {
    const auto dim = [&](std::size_t i) { return static_cast<std::size_t>(constant.shape[i]); };
    if (constant.type == ElementType::kFloat64) {
      transpose_weights(constant.data<double>(), reinterpret_cast<double*>(packed), dim(0), dim(1), dim(2));
    } else {
      transpose_weights(constant.data<float>(), reinterpret_cast<float*>(packed), dim(0), dim(1), dim(2));
    }
  }

  /// One call in one element type.
  template <typename T>
  struct Run {
    const RecurrentKernel& kernel;
    RunContext& context;
    const LayerShape& shape;
    const T *x = nullptr, *w = nullptr, *r = nullptr, *bias = nullptr, *initial_h = nullptr, *initial_c = nullptr, *peepholes = nullptr;
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
          fail(ErrorCode::kInvalidArgument, "sequence_lens has the element {}, but sequences have {} steps", data[i], shape.sequence);
        }
      }
      return data;
    }

    const T* weights(WideIo& io, std::size_t input, std::size_t offset, std::size_t columns) const {
      const int request = kernel.packed_[input - 1];
      if (request >= 0) return reinterpret_cast<const T*>(context.packed(static_cast<std::size_t>(request)));
      const T* from = io.input<T>(input);
      transpose_weights(from, memory(offset), shape.directions, shape.width(), columns);
      return memory(offset);
    }

    /// X·Wᵀ and the biases that are simply added, for all times at once.
    void project() const {
      const std::size_t rows = shape.sequence * shape.batch, width = shape.width();
      constexpr std::size_t kRows = 16;
      const std::size_t blocks = (rows + kRows - 1) / kRows;
      context.parallel.parallel_for(shape.directions * blocks, 1, [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) {
          const std::size_t direction = i / blocks, first = i % blocks * kRows, count = std::min(kRows, rows - first);
          T* out = memory(shape.projected_offset) + (direction * rows + first) * width;
          const T* b = bias ? bias + direction * 2 * width : nullptr;
          for (std::size_t row = 0; row < count; ++row) std::fill_n(out + row * width, width, T(0));
          multiply_add<T>({count, width, shape.input}, x + first * shape.input, shape.input, w + direction * shape.input * width, width, out, width);
          for (std::size_t row = 0; b && row < count; ++row) {
            for (std::size_t j = 0; j < width; ++j) out[row * width + j] += kernel.layer_.separate_bias(j, shape.hidden) ? b[j] : b[j] + b[width + j];
          }
        }
      });
    }

    void steps() const {
      const std::size_t blocks = (shape.batch + kBatchBlock - 1) / kBatchBlock;
      context.parallel.parallel_for(shape.directions * blocks, 1, [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) {
          const std::size_t first = i % blocks * kBatchBlock;
          run_block(i / blocks, first, std::min(kBatchBlock, shape.batch - first));
        }
      });
    }

    std::size_t length(std::size_t item) const { return lengths ? static_cast<std::size_t>(lengths[item]) : shape.sequence; }

    void run_block(std::size_t direction, std::size_t first, std::size_t count) const {
      const std::size_t hidden = shape.hidden, width = shape.width();
      const bool reverse = direction == 1 || kernel.layer_.reverse;
      T* h = memory(shape.state_offset) + (direction * shape.batch + first) * (Cell::kStates + Cell::kScratch + Cell::kGates) * hidden;
      T* c = h + count * hidden;  // also the start of scratch for cells without a second state
      const CellBlock<T> block{kernel.layer_, direction, count, hidden, h, Cell::kStates == 2 ? c : nullptr,
                               c + (Cell::kStates - 1) * count * hidden, c + (Cell::kStates - 1 + Cell::kScratch) * count * hidden,
                               r + direction * hidden * width, bias ? bias + direction * 2 * width : nullptr,
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
        if (from) std::copy_n(from + shape.state(direction, first + i), shape.hidden, to);
        else std::fill_n(to, shape.hidden, T(0));
      }
    }

    void store_state(const T* from, std::size_t direction, std::size_t first, std::size_t count, T* to) const {
      for (std::size_t i = 0; to && i < count; ++i) std::copy_n(from + i * shape.hidden, shape.hidden, to + shape.state(direction, first + i));
    }

    /// Outputs behind the end of a sequence are 0.
    void clear_padding(std::size_t direction, std::size_t first, std::size_t count) const {
      for (std::size_t i = 0; y && i < count; ++i) {
        for (std::size_t t = length(first + i); t < shape.sequence; ++t) std::fill_n(y + shape.output(t, direction, first + i), shape.hidden, T(0));
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
