#pragma once

#include <filesystem>
#include <memory>
#include <span>

#include "graph/model.h"
#include "runtime/placement.h"
#include "runtime/plan.h"
#include "sardonyx/session.h"

namespace sardonyx::api {

/// A model with everything that running it needs. Members refer to each other; moving keeps them valid.
struct LoadedModel {
  SessionOptions options;
  std::unique_ptr<graph::Model> model;
  std::unique_ptr<runtime::ProviderList> providers;
  std::unique_ptr<std::vector<ops::Constraint>> constraints;
  runtime::Placement placement;
  std::unique_ptr<runtime::Plan> plan;
};

LoadedModel load(const std::filesystem::path& path, const SessionOptions& options);
LoadedModel load(std::span<const std::byte> bytes, const SessionOptions& options);

/// Runs the passes of `options` on a model just read. Returns what inference assumed.
std::vector<ops::Constraint> optimize(graph::Model& model, const SessionOptions& options);

/// The fusions that a provider takes, then the whole-graph forms, as far as the level of `options` asks for them.
void fuse_and_rewrite(graph::Model& model, std::vector<ops::Constraint>& constraints, const runtime::ProviderList& providers,
                      const runtime::PlacementOptions& placement, const SessionOptions& options);

}  // namespace sardonyx::api
