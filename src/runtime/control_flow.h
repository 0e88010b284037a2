#pragma once

#include <vector>

#include "runtime/frame.h"

namespace sardonyx::runtime {

/// Runs If, Loop, Scan and SequenceMap: their bodies are plans with frames of their own that hang off the parent's.
class ControlFlow {
 public:
  ControlFlow(Frame& frame, std::size_t step, const RunSettings& settings);
  void run();

 private:
  void run_if();
  void run_loop();
  void run_scan();
  void run_sequence_map();

  std::vector<Value> run_body(std::size_t body, const std::vector<const Slot*>& inputs);
  void set_output(std::size_t index, Value value);
  const Slot* input(std::size_t index) const { return state_.inputs[index]; }
  const graph::Node& node() const { return frame_.plan_.graph().node(step_.node); }
  std::size_t captures() const { return static_cast<std::size_t>(node().captures); }
  /// Appends the captured outer values, which every body takes last.
  void add_captures(std::vector<const Slot*>& inputs) const;

  Frame& frame_;
  const Step& step_;
  Frame::StepState& state_;
  const RunSettings& settings_;
};

}  // namespace sardonyx::runtime
