#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "provider/cpu/kernel_list.h"
#include "provider/cpu/ops/gate_activation.h"
#include "provider/cpu/ops/right_matrix.h"

namespace sardonyx::provider::cpu {

/// Attributes of a recurrent layer, common to all cells.
struct LayerAttributes {
  bool reverse = false, batch_first = false;
  bool input_forget = false;                ///< LSTM: the forget gate is 1 - input gate
  bool linear_before_reset = false;         ///< GRU
  float clip = 0;                           ///< 0: none
  std::vector<GateActivation> activations;  ///< per direction, the cell's functions in order

  LayerAttributes(const graph::NodeDesc& node, const std::vector<std::string>& defaults);

  /// Bounds what goes into an activation.
  template <typename T>
  void clip_values(T* x, std::size_t n) const;
};

inline constexpr std::size_t kMaxBlock = 16;

/// The batch items that one thread steps through time together. Matrices are [count, …], dense.
template <typename T>
struct CellBlock {
  const LayerAttributes& layer;
  std::size_t direction, count, hidden;
  T* h;                     ///< [count, hidden]
  T* c;                     ///< [count, hidden], or null
  T* scratch;               ///< [count, kScratch · hidden]
  T* gates;                 ///< [count, kGates · hidden]
  const RightMatrix<T>* r;  ///< recurrent weights of the cell's kSpans groups of gates
  T* workspace;             ///< of the products with r
  const T* bias;            ///< [2 · kGates · hidden] or null
  const T* peepholes;       ///< [3 · hidden] or null

  const GateActivation& activation(std::size_t i, std::size_t per_direction) const {
    return layer.activations[direction * per_direction + i];
  }
};

/// One step's inputs and outputs per batch item; a null projected row means that the item's sequence has ended.
template <typename T>
struct StepRows {
  std::array<const T*, kMaxBlock> projected;  ///< X·Wᵀ + biases, [kGates · hidden]
  std::array<T*, kMaxBlock> output;           ///< [hidden], null when not wanted
};

inline constexpr std::size_t kMaxSpans = 2;

// The cells. kStates: h, and c for LSTM; kScratch: hidden-sized rows of scratch; gates in the standard's order, kSpans
// how many of them share one product with the state.
struct LstmCell {
  static constexpr std::size_t kGates = 4, kStates = 2, kScratch = 0, kFunctions = 3;
  static constexpr std::size_t kSpans[] = {4};
  static constexpr const char* kPacking = "recurrent_lstm/1";
  static const std::vector<std::string>& default_activations();
  template <typename T>
  static void step(const CellBlock<T>& block, const StepRows<T>& rows);
};
struct GruCell {
  static constexpr std::size_t kGates = 3, kStates = 1, kScratch = 1, kFunctions = 2;
  static constexpr std::size_t kSpans[] = {2, 1};
  static constexpr const char* kPacking = "recurrent_gru/1";
  static const std::vector<std::string>& default_activations();
  template <typename T>
  static void step(const CellBlock<T>& block, const StepRows<T>& rows);
};
struct RnnCell {
  static constexpr std::size_t kGates = 1, kStates = 1, kScratch = 0, kFunctions = 1;
  static constexpr std::size_t kSpans[] = {1};
  static constexpr const char* kPacking = "recurrent_rnn/1";
  static const std::vector<std::string>& default_activations();
  template <typename T>
  static void step(const CellBlock<T>& block, const StepRows<T>& rows);
};

template <typename Cell>
struct RecurrentLayer : LayerAttributes {
  explicit RecurrentLayer(const graph::NodeDesc& node) : LayerAttributes(node, Cell::default_activations()) {}
  /// Whether the recurrent bias of gate element j stays apart from the projection (GRU's hidden gate, linear before
  /// reset).
  bool separate_bias(std::size_t j, std::size_t hidden) const {
    return std::is_same_v<Cell, GruCell> && linear_before_reset && j >= 2 * hidden;
  }
};

}  // namespace sardonyx::provider::cpu
