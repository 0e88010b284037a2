#include "apps/cli/session_options.h"

#include <CLI/CLI.hpp>

#include "base/fail.h"

namespace sardonyx::cli {
namespace {

const std::map<std::string, OptimizationLevel> kLevels = {{"disable", OptimizationLevel::kDisable},
                                                          {"basic", OptimizationLevel::kBasic},
                                                          {"extended", OptimizationLevel::kExtended},
                                                          {"all", OptimizationLevel::kAll}};

}  // namespace

void add_session_options(CLI::App& command, SessionOptions& options) {
  const std::string group = "How the model runs";
  command.add_option("--threads", options.threads, "Threads of one run; 0: what affinity and the cgroup's quota allow")
      ->check(CLI::Range(0, 4096))
      ->group(group);
  command.add_option("--providers", options.providers, "Providers in the order to ask, such as sim,cpu")
      ->delimiter(',')
      ->group(group)
      ->allow_extra_args(false);
  command.add_flag("--allow-fallback", options.allow_fallback, "Let the CPU run what no named provider takes")
      ->group(group);
  command.add_option("--opt-level", options.optimization_level, "disable, basic, extended or all (the default)")
      ->transform(CLI::CheckedTransformer(kLevels).description(""))
      ->type_name("LEVEL")
      ->group(group);
  command
      .add_option("--disable-pass", options.disabled_passes,
                  "Optimiser pass to leave out (optimize --list-passes names them)")
      ->delimiter(',')
      ->group(group)
      ->allow_extra_args(false);
  command
      .add_option_function<std::vector<std::string>>(
          "--config",
          [&options](const std::vector<std::string>& entries) {
            for (const std::string& entry : entries) {
              const std::size_t at = entry.find('=');
              if (at == std::string::npos)
                throw CLI::ValidationError("--config", "expected KEY=VALUE, found '" + entry + "'");
              options.config[entry.substr(0, at)] = entry.substr(at + 1);
            }
          },
          "KEY=VALUE for a provider, such as sim.decline=Softmax")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false)
      ->group(group);
}

}  // namespace sardonyx::cli
