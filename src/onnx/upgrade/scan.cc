#include <memory>

#include "base/fail.h"
#include "onnx/upgrade/upgrade_list.h"

namespace sardonyx::onnx {
namespace {

using graph::Graph;
using graph::kNoValue;

/// How a Scan of opset 8 is laid out: inputs are [sequence_lens, states, scan inputs, captures], outputs [states, scan
/// outputs].
struct OldScan {
  std::size_t states, scans, captures, outputs;
};

OldScan measure(const Node& node, const Graph& body) {
  const std::int64_t scans = node.attributes.get_int("num_scan_inputs");
  const auto captures = static_cast<std::size_t>(node.captures);
  const std::size_t formal = body.inputs.size() - captures;
  if (scans < 1 || static_cast<std::size_t>(scans) > formal || node.inputs.size() != 1 + formal + captures) {
    fail(ErrorCode::kInvalidModel, "Scan has {} scan inputs, {} inputs and a body of {} inputs", scans,
         node.inputs.size() - captures, formal);
  }
  const std::size_t states = formal - static_cast<std::size_t>(scans);
  if (body.outputs.size() < states || node.outputs.size() > body.outputs.size()) {
    fail(ErrorCode::kInvalidModel, "Scan has {} states and {} outputs, but its body has {} outputs", states,
         node.outputs.size(), body.outputs.size());
  }
  return {states, static_cast<std::size_t>(scans), captures, body.outputs.size()};
}

/// x without what follows its first `length` (int64 [1]) rows.
ValueId take_rows(Upgrader& upgrader, ValueId x, ValueId length) {
  return upgrader.add("Slice", {x, upgrader.ints({0}), length, upgrader.ints({0})});
}

/// The body of the scan over the batch: a Scan of today over one sequence. With lengths, it runs over the sequence's
/// own part only, and its scan outputs are filled up with zeros.
std::shared_ptr<Graph> make_batch_body(Upgrader& outer, const Node& node, const OldScan& scan,
                                       const std::shared_ptr<Graph>& inner_body) {
  auto body = std::make_shared<Graph>();
  body->name = inner_body->name + "/batch";
  Upgrader upgrader(outer.model(), *body, outer.version(), node.name + "/batch");
  std::vector<ValueId> inputs;
  for (std::size_t i = 0; i < scan.states + scan.scans; ++i) {
    inputs.push_back(body->add_input(inner_body->input_names[i] + "/batch", {}));
  }
  const bool has_lengths = node.has_input(0);
  ValueId length = kNoValue, missing = kNoValue;
  if (has_lengths) {
    length = upgrader.add("Reshape", {body->add_input(node.name + "/sequence_length", {}), upgrader.ints({1})});
    const ValueId rows = upgrader.add("Shape", {inputs[scan.states]},
                                      attributes_of({{"start", std::int64_t{0}}, {"end", std::int64_t{1}}}));
    const ValueId pad = upgrader.add("Sub", {rows, length});
    missing = upgrader.add("Concat", {upgrader.ints({0}), pad}, attributes_of({{"axis", std::int64_t{0}}}));
    for (std::size_t i = scan.states; i < inputs.size(); ++i) inputs[i] = take_rows(upgrader, inputs[i], length);
  }
  for (std::size_t i = inner_body->inputs.size() - scan.captures; i < inner_body->inputs.size(); ++i) {
    inputs.push_back(body->add_input(inner_body->input_names[i], inner_body->value(inner_body->inputs[i]).type));
  }
  Node inner;
  inner.op_type = "Scan";
  inner.name = node.name + "/sequence";
  inner.inputs = std::move(inputs);
  inner.captures = node.captures;
  inner.attributes = attributes_of({{"body", inner_body}, {"num_scan_inputs", static_cast<std::int64_t>(scan.scans)}});
  if (const auto* directions = node.attributes.ints("directions"))
    inner.attributes.set("scan_input_directions", *directions);
  for (std::size_t i = 0; i < scan.outputs; ++i)
    inner.outputs.push_back(body->add_value(inner_body->output_names[i] + "/batch"));
  std::vector<ValueId> outputs = inner.outputs;
  upgrader.emit(std::move(inner));
  for (std::size_t i = 0; i < scan.outputs; ++i) {
    if (has_lengths && i >= scan.states)
      outputs[i] = upgrader.add("Pad", {outputs[i], missing, kNoValue, upgrader.ints({0})});
    body->add_output(outputs[i], body->value(outputs[i]).name);
  }
  return body;
}

}  // namespace

/// In opset 8 Scan ran over axis 1 of batches, each sequence by itself and only as long as `sequence_lens` says. That
/// is a Scan over the batch whose body is a Scan over the sequence.
void upgrade_scan(Upgrader& upgrader, Node node) {
  const std::shared_ptr<Graph> inner_body = node.attributes.graph("body");
  const OldScan scan = measure(node, *inner_body);
  const std::shared_ptr<Graph> body = make_batch_body(upgrader, node, scan, inner_body);
  std::vector<ValueId> inputs(node.inputs.begin() + 1, node.inputs.end() - node.captures);
  if (node.has_input(0)) inputs.push_back(node.inputs[0]);
  const auto num_scan_inputs = static_cast<std::int64_t>(inputs.size());
  inputs.insert(inputs.end(), node.inputs.end() - node.captures, node.inputs.end());
  Node outer;
  outer.op_type = "Scan";
  outer.name = node.name;
  outer.inputs = std::move(inputs);
  outer.outputs = node.outputs;
  outer.captures = node.captures;
  outer.attributes = attributes_of({{"body", body}, {"num_scan_inputs", num_scan_inputs}});
  upgrader.emit(std::move(outer));
}

}  // namespace sardonyx::onnx
