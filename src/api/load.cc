#include "api/load.h"

#include <cstring>
#include <utility>

#include "api/fused_form.h"
#include "api/providers.h"
#include "onnx/reader.h"
#include "optimizer/fusion.h"
#include "optimizer/pipeline.h"
#include "optimizer/rewrite.h"
#include "provider/cpu/cpu_provider.h"
#include "provider/evaluate.h"

namespace sardonyx::api {
namespace {

/// Folding computes on the CPU, as running would. A node it can't run stays for placement to report.
std::optional<std::vector<Value>> evaluate_on_cpu(const graph::Node& node, std::span<const Value> inputs) {
  static const provider::cpu::CpuProvider cpu;
  try {
    return provider::evaluate_node(cpu, node.domain, node.op_type, node.attributes, inputs, node.outputs.size());
  } catch (const Error&) {
    return std::nullopt;  // running the node will say what is wrong, with its place
  }
}

LoadedModel finish(graph::Model read, const SessionOptions& options) {
  LoadedModel loaded;
  loaded.options = options;
  loaded.model = std::make_unique<graph::Model>(std::move(read));
  try {
    check_stamp(*loaded.model, options.providers);
    ChosenProviders chosen = choose_providers(options);
    loaded.providers = std::make_unique<runtime::ProviderList>(std::move(chosen.list));
    loaded.constraints = std::make_unique<std::vector<ops::Constraint>>(optimize(*loaded.model, options));
    fuse_and_rewrite(*loaded.model, *loaded.constraints, *loaded.providers, chosen.placement, options);
    loaded.placement = runtime::place(*loaded.model, *loaded.providers, chosen.placement);
    loaded.placement.notes.insert(loaded.placement.notes.begin(), chosen.notes.begin(), chosen.notes.end());
    graph::verify(*loaded.model);
    runtime::Plan::Options plan_options{loaded.model.get(), loaded.providers.get(), loaded.constraints.get()};
    loaded.plan = runtime::Plan::build(plan_options, loaded.model->graph);
  } catch (Error& error) {
    if (!loaded.model->path.empty()) error.add_context("model '" + loaded.model->path + "'");
    throw;
  }
  return loaded;
}

}  // namespace

std::vector<ops::Constraint> optimize(graph::Model& model, const SessionOptions& options) {
  return optimizer::optimize(model, {options.optimization_level, options.disabled_passes, evaluate_on_cpu});
}

void fuse_and_rewrite(graph::Model& model, std::vector<ops::Constraint>& constraints, const runtime::ProviderList& providers,
                      const runtime::PlacementOptions& placement, const SessionOptions& options) {
  const auto accept = [&](const graph::NodeDesc& fused, std::span<const graph::NodeId> replaced, const graph::Graph& graph) {
    return runtime::accepts_fusion(model, providers, placement, fused, replaced, graph);
  };
  const bool fuses = options.optimization_level >= OptimizationLevel::kExtended;
  const bool rewrites = options.optimization_level >= OptimizationLevel::kAll;
  if (fuses && optimizer::fuse(model, options.disabled_passes, accept)) constraints = ops::infer(model);
  if (rewrites && optimizer::rewrite(model, options.disabled_passes)) constraints = ops::infer(model);
}

LoadedModel load(const std::filesystem::path& path, const SessionOptions& options) {
  return finish(onnx::read_model(path), options);
}

LoadedModel load(std::span<const std::byte> bytes, const SessionOptions& options) {
  auto copy = std::make_shared<std::vector<std::byte>>(bytes.begin(), bytes.end());
  const std::span<const std::byte> view(*copy);
  onnx::ReadOptions read_options;
  read_options.owner = std::move(copy);
  return finish(onnx::read_model(view, read_options), options);
}

}  // namespace sardonyx::api
