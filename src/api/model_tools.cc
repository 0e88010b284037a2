#include <functional>

#include "api/fused_form.h"
#include "api/load.h"
#include "api/ports.h"
#include "api/providers.h"
#include "base/fail.h"
#include "base/file_mapping.h"
#include "onnx/reader.h"
#include "onnx/tensor_io.h"
#include "onnx/writer.h"
#include "optimizer/fusion.h"
#include "optimizer/pipeline.h"
#include "optimizer/rewrite.h"
#include "sardonyx/session.h"

namespace sardonyx {

ModelSummary summarize_model(const std::filesystem::path& path) {
  const graph::Model model = onnx::read_model(path);
  ModelSummary summary;
  summary.inputs = api::input_ports(model);
  summary.outputs = api::output_ports(model);
  summary.ir_version = model.ir_version;
  summary.opsets = model.opsets;
  summary.metadata = api::metadata_of(model);
  const std::function<void(const graph::Graph&)> count = [&](const graph::Graph& graph) {
    for (graph::NodeId id : graph.order()) {
      const graph::Node& node = graph.node(id);
      ++summary.operators[(node.domain.empty() ? "" : node.domain + ".") + node.op_type];
      graph::for_each_subgraph(node, [&](graph::Graph& body) { count(body); });
    }
  };
  count(model.graph);
  for (const Tensor& constant : model.constants) {
    summary.parameters += constant.num_elements();
    summary.parameter_bytes += static_cast<std::int64_t>(constant.num_bytes());
  }
  return summary;
}

void optimize_model(const std::filesystem::path& input, const std::filesystem::path& output, const SessionOptions& options, bool fused) {
  graph::Model model = onnx::read_model(input);
  try {
    api::check_stamp(model, options.providers);
    std::vector<ops::Constraint> constraints = api::optimize(model, options);
    if (fused) {
      const api::ChosenProviders chosen = api::choose_providers(options);
      api::fuse_and_rewrite(model, constraints, chosen.list, chosen.placement, options);
      api::stamp_fused(model, options.providers);
    }
    onnx::write_model(model, output);
  } catch (Error& error) {
    error.add_context("model '" + input.string() + "'");
    throw;
  }
}

Value read_value_file(const std::filesystem::path& path, std::string_view kind) {
  if (kind == "tensor") return onnx::read_value(path);
  if (kind == "sequence") return onnx::read_value(path, graph::ValueType::sequence(graph::ValueType{}));
  if (kind == "optional") return onnx::read_value(path, graph::ValueType::optional(graph::ValueType{}));
  if (kind == "map") return onnx::read_value(path, graph::ValueType::map(ElementType::kUndefined, graph::ValueType{}));
  fail(ErrorCode::kInvalidArgument, "a value is a tensor, sequence, optional or map, not a '{}'", kind);
}

void write_value_file(const std::filesystem::path& path, const Value& value) {
  const std::string message = onnx::write_value(value, "");
  write_file(path, std::as_bytes(std::span(message)));
}

std::vector<std::pair<std::string, std::string>> optimization_passes() {
  std::vector<std::pair<std::string, std::string>> passes;
  for (const optimizer::Pass& pass : optimizer::basic_passes()) passes.emplace_back(pass.name, pass.description);
  for (const optimizer::Fusion& fusion : optimizer::fusions()) passes.emplace_back(fusion.name, fusion.description);
  for (const optimizer::Rewrite& rewrite : optimizer::rewrites()) passes.emplace_back(rewrite.name, rewrite.description);
  return passes;
}

}  // namespace sardonyx
