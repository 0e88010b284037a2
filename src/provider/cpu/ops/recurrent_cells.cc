#include "provider/cpu/ops/recurrent_cells.h"

#include <algorithm>

#include "base/fail.h"

namespace sardonyx::provider::cpu {

LayerAttributes::LayerAttributes(const graph::NodeDesc& node, const std::vector<std::string>& defaults) {
  const graph::Attributes& attributes = *node.attributes;
  const std::string direction = attributes.get_string("direction", "forward");
  reverse = direction == "reverse";
  batch_first = attributes.get_int("layout", 0) == 1;
  input_forget = attributes.get_int("input_forget", 0) != 0;
  linear_before_reset = attributes.get_int("linear_before_reset", 0) != 0;
  clip = attributes.get_float("clip", 0);
  activations = parse_activations(attributes, defaults, direction == "bidirectional" ? 2 : 1);
}

template <typename T>
void LayerAttributes::clip_values(T* x, std::size_t n) const {
  if (!(clip > 0)) return;
  const T bound = static_cast<T>(clip);
  for (std::size_t i = 0; i < n; ++i) x[i] = x[i] > bound ? bound : x[i] < -bound ? -bound : x[i];
}

namespace {

/// gates = projected rows; rows of ended sequences become 0 and are computed for nothing.
template <typename T>
void load_projected(const CellBlock<T>& block, const StepRows<T>& rows, std::size_t width) {
  for (std::size_t i = 0; i < block.count; ++i) {
    T* gates = block.gates + i * width;
    if (rows.projected[i])
      std::copy_n(rows.projected[i], width, gates);
    else
      std::fill_n(gates, width, T(0));
  }
}

template <typename T>
void emit(const CellBlock<T>& block, const StepRows<T>& rows, std::size_t i) {
  if (rows.output[i]) std::copy_n(block.h + i * block.hidden, block.hidden, rows.output[i]);
}

template <typename T>
void activate(const CellBlock<T>& block, const GateActivation& activation, T* x, std::size_t n) {
  block.layer.clip_values(x, n);
  activation.apply(x, n);
}

}  // namespace

const std::vector<std::string>& LstmCell::default_activations() {
  static const std::vector<std::string> names = {"Sigmoid", "Tanh", "Tanh"};
  return names;
}

template <typename T>
void LstmCell::step(const CellBlock<T>& block, const StepRows<T>& rows) {
  const std::size_t hidden = block.hidden, width = kGates * hidden;
  const GateActivation &f = block.activation(0, kFunctions), &g = block.activation(1, kFunctions),
                       &h = block.activation(2, kFunctions);
  load_projected(block, rows, width);
  block.r[0].multiply(block.count, block.h, hidden, block.gates, width, nullptr, true, block.workspace);
  for (std::size_t i = 0; i < block.count; ++i) {
    if (!rows.projected[i]) continue;
    T *input = block.gates + i * width, *output = input + hidden, *forget = output + hidden, *cell = forget + hidden;
    T *c = block.c + i * hidden, *state = block.h + i * hidden;
    const T* p = block.peepholes;  // input, output, forget
    for (std::size_t j = 0; p && j < hidden; ++j) {
      input[j] += p[j] * c[j];
      forget[j] += p[2 * hidden + j] * c[j];
    }
    activate(block, f, input, hidden);
    if (block.layer.input_forget) {
      for (std::size_t j = 0; j < hidden; ++j) forget[j] = T(1) - input[j];
    } else {
      activate(block, f, forget, hidden);
    }
    activate(block, g, cell, hidden);
    for (std::size_t j = 0; j < hidden; ++j) c[j] = forget[j] * c[j] + input[j] * cell[j];
    for (std::size_t j = 0; p && j < hidden; ++j) output[j] += p[hidden + j] * c[j];
    activate(block, f, output, hidden);
    std::copy_n(c, hidden, state);
    h.apply(state, hidden);
    for (std::size_t j = 0; j < hidden; ++j) state[j] *= output[j];
    emit(block, rows, i);
  }
}

const std::vector<std::string>& GruCell::default_activations() {
  static const std::vector<std::string> names = {"Sigmoid", "Tanh"};
  return names;
}

template <typename T>
void GruCell::step(const CellBlock<T>& block, const StepRows<T>& rows) {
  const std::size_t hidden = block.hidden, width = kGates * hidden, count = block.count;
  const GateActivation &f = block.activation(0, kFunctions), &g = block.activation(1, kFunctions);
  load_projected(block, rows, width);
  block.r[0].multiply(count, block.h, hidden, block.gates, width, nullptr, true, block.workspace);
  for (std::size_t i = 0; i < count; ++i) activate(block, f, block.gates + i * width, 2 * hidden);
  // What goes through the hidden gate's recurrent weights: h, or h already scaled by the reset gate.
  T* through = block.scratch;
  const bool linear_first = block.layer.linear_before_reset;
  for (std::size_t i = 0; !linear_first && i < count; ++i) {
    std::copy_n(block.h + i * hidden, hidden, through + i * hidden);
    for (std::size_t j = 0; j < hidden; ++j) through[i * hidden + j] *= block.gates[i * width + hidden + j];
  }
  if (!linear_first) {
    block.r[1].multiply(count, through, hidden, block.gates + 2 * hidden, width, nullptr, true, block.workspace);
  } else {
    block.r[1].multiply(count, block.h, hidden, through, hidden, block.bias ? block.bias + width + 2 * hidden : nullptr,
                        false, block.workspace);
    for (std::size_t i = 0; i < count; ++i) {
      T* gates = block.gates + i * width;
      for (std::size_t j = 0; j < hidden; ++j) {
        gates[2 * hidden + j] += gates[hidden + j] * through[i * hidden + j];
      }
    }
  }
  for (std::size_t i = 0; i < count; ++i) {
    if (!rows.projected[i]) continue;
    T *update = block.gates + i * width, *candidate = update + 2 * hidden, *state = block.h + i * hidden;
    activate(block, g, candidate, hidden);
    for (std::size_t j = 0; j < hidden; ++j) state[j] = (T(1) - update[j]) * candidate[j] + update[j] * state[j];
    emit(block, rows, i);
  }
}

const std::vector<std::string>& RnnCell::default_activations() {
  static const std::vector<std::string> names = {"Tanh"};
  return names;
}

template <typename T>
void RnnCell::step(const CellBlock<T>& block, const StepRows<T>& rows) {
  const std::size_t hidden = block.hidden;
  load_projected(block, rows, hidden);
  block.r[0].multiply(block.count, block.h, hidden, block.gates, hidden, nullptr, true, block.workspace);
  for (std::size_t i = 0; i < block.count; ++i) {
    if (!rows.projected[i]) continue;
    T* state = block.h + i * hidden;
    std::copy_n(block.gates + i * hidden, hidden, state);
    activate(block, block.activation(0, kFunctions), state, hidden);
    emit(block, rows, i);
  }
}

template void LstmCell::step<float>(const CellBlock<float>&, const StepRows<float>&);
template void LstmCell::step<double>(const CellBlock<double>&, const StepRows<double>&);
template void GruCell::step<float>(const CellBlock<float>&, const StepRows<float>&);
template void GruCell::step<double>(const CellBlock<double>&, const StepRows<double>&);
template void RnnCell::step<float>(const CellBlock<float>&, const StepRows<float>&);
template void RnnCell::step<double>(const CellBlock<double>&, const StepRows<double>&);

}  // namespace sardonyx::provider::cpu
