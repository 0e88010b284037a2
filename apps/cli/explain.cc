#include <CLI/CLI.hpp>
#include <fmt/core.h>
#include <memory>

#include "apps/cli/commands.h"
#include "apps/cli/session_options.h"

namespace sardonyx::cli {
namespace {

struct ExplainCommand {
  std::string model;
  SessionOptions session;
  bool json = false;
};

}  // namespace

void add_explain(CLI::App& app, Outcome&) {
  auto command = std::make_shared<ExplainCommand>();
  CLI::App* sub = app.add_subcommand("explain", "Say where each node of a model runs, and why");
  sub->footer(
      "Examples:\n"
      "  sardonyx explain model.onnx\n"
      "  sardonyx explain model.onnx --providers sim,cpu --json\n");
  sub->add_option("model", command->model, "ONNX file")->required()->type_name("MODEL");
  sub->add_flag("--json", command->json, "Print JSON");
  add_session_options(*sub, command->session);
  sub->callback([command] {
    const Session session = Session::load(command->model, command->session);
    fmt::print("{}\n", command->json ? session.explain_json() : session.explain());
  });
}

}  // namespace sardonyx::cli
