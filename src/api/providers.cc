#include "api/providers.h"

#include <algorithm>
#include <functional>

#include "base/fail.h"
#include "provider/cpu/cpu_provider.h"
#include "provider/sim/sim_provider.h"

namespace sardonyx {
namespace {

using MakeProvider = std::shared_ptr<const provider::Provider> (*)(const SessionOptions& options);

struct ProviderRow {
  std::string_view name;
  MakeProvider make;
};

std::shared_ptr<const provider::Provider> make_cpu(const SessionOptions&) {
  static const auto cpu = std::make_shared<const provider::cpu::CpuProvider>();
  return cpu;
}

std::shared_ptr<const provider::Provider> make_sim(const SessionOptions& options) {
  return std::make_shared<const provider::sim::SimProvider>(provider::sim::SimOptions::parse(options.config));
}

// In the order to prefer. The only place that names concrete providers.
constexpr ProviderRow kProviders[] = {
    {"cpu", make_cpu},
    {"sim", make_sim},
};

}  // namespace

std::vector<std::string> available_providers() {
  std::vector<std::string> names;
  for (const ProviderRow& row : kProviders) names.emplace_back(row.name);
  return names;
}

namespace api {
namespace {

/// Every option names a provider of the session: a misspelt one must not be lost in silence.
void check_config(const SessionOptions& options) {
  for (const auto& [key, value] : options.config) {
    const std::string owner = key.substr(0, key.find('.'));
    const bool named = std::find(options.providers.begin(), options.providers.end(), owner) != options.providers.end();
    if (!named) fail(ErrorCode::kInvalidArgument, "option '{}' belongs to no provider of this session; write it as PROVIDER.NAME", key);
  }
}

}  // namespace

ChosenProviders choose_providers(const SessionOptions& options) {
  ChosenProviders chosen;
  chosen.placement.allow_fallback = options.allow_fallback;
  chosen.list.push_back(make_cpu(options));
  check_config(options);
  if (options.providers.empty()) fail(ErrorCode::kInvalidArgument, "no provider is named; 'cpu' is the usual one");
  for (const std::string& name : options.providers) {
    const auto row = std::find_if(std::begin(kProviders), std::end(kProviders), [&](const ProviderRow& r) { return r.name == name; });
    if (row == std::end(kProviders)) {
      std::string known;
      for (const std::string& one : available_providers()) known += (known.empty() ? "" : ", ") + one;
      fail(ErrorCode::kInvalidArgument, "there is no provider '{}' in this build; there are: {}", name, known);
    }
    if (name == "cpu") {
      chosen.placement.order.push_back(0);
      continue;
    }
    try {
      chosen.list.push_back(row->make(options));
      chosen.placement.order.push_back(chosen.list.size() - 1);
    } catch (const Error& error) {
      if (!options.allow_fallback) throw;
      chosen.notes.push_back("provider '" + name + "' was left out: " + error.message());
    }
  }
  return chosen;
}

}  // namespace api
}  // namespace sardonyx
