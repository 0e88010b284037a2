// The sardonyx program.
#include <CLI/CLI.hpp>
#include <fmt/core.h>

#include "sardonyx/error.h"

#include "apps/cli/commands.h"
#include "apps/cli/exit_status.h"
#include "apps/cli/terminal.h"

namespace sardonyx::cli {
namespace {

int report(const std::string& command, const Error& error) {
  fmt::print(stderr, "sardonyx{}: {} {}\n", command, error_style().red(fmt::format("error ({}):", name(error.code()))),
             error.what());
  return exit_status(error.code());
}

std::string chosen_command(const CLI::App& app) {
  const auto chosen = app.get_subcommands();
  return chosen.empty() ? "" : " " + chosen.front()->get_name();
}

bool has_command(const CLI::App& app, const std::string& name) {
  const auto named = [&](const CLI::App* sub) { return sub->get_name() == name; };
  return !app.get_subcommands(named).empty();
}

int run(int argc, char** argv) {
  CLI::App app("Runs ONNX models on CPUs, and serves text classifiers built on them.", "sardonyx");
  app.set_version_flag("--version", std::string(SARDONYX_VERSION));
  app.require_subcommand(1);
  app.get_formatter()->column_width(34);
  app.failure_message(CLI::FailureMessage::simple);
  app.footer(
      "sardonyx COMMAND --help says more about a command.\n"
      "Exit status: 0 success, 1 outputs differ, 2 wrong command line, 10-19 errors (docs/command-line.md).");
  Outcome outcome;
  add_bench(app, outcome);
  add_classify(app, outcome);
  add_explain(app, outcome);
  add_inspect(app, outcome);
  add_optimize(app, outcome);
  add_run(app, outcome);
  add_serve(app, outcome);
  add_tokenize(app, outcome);
  if (argc > 1 && argv[1][0] != '-' && !has_command(app, argv[1])) {
    fmt::print(stderr, "sardonyx: there is no command '{}'; sardonyx --help lists those that exist\n", argv[1]);
    return kUsage;
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? kSuccess : kUsage;
  } catch (const Error& error) {
    return report(chosen_command(app), error);
  } catch (const std::bad_alloc&) {
    return report(chosen_command(app), Error(ErrorCode::kResourceExhausted, "out of memory"));
  } catch (const std::exception& error) {
    return report(chosen_command(app), Error(ErrorCode::kInternal, error.what()));
  }
  return outcome.status;
}

}  // namespace
}  // namespace sardonyx::cli

int main(int argc, char** argv) { return sardonyx::cli::run(argc, argv); }
