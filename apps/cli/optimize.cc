#include <CLI/CLI.hpp>
#include <filesystem>
#include <fmt/core.h>
#include <memory>

#include "apps/cli/commands.h"
#include "apps/cli/session_options.h"
#include "apps/cli/terminal.h"
#include "base/fail.h"

namespace sardonyx::cli {
namespace {

struct OptimizeCommand {
  std::string input, output;
  SessionOptions session;
  bool fused = false, list_passes = false;
};

std::int64_t count_nodes(const ModelSummary& summary) {
  std::int64_t nodes = 0;
  for (const auto& [op, count] : summary.operators) nodes += count;
  return nodes;
}

void optimize(const OptimizeCommand& command) {
  if (command.list_passes) {
    for (const auto& [name, what] : optimization_passes()) fmt::print("{:<32} {}\n", output_style().bold(name), what);
    return;
  }
  if (command.input.empty() || command.output.empty()) {
    fail(ErrorCode::kInvalidArgument,
         "expected the model to read and the file to write: sardonyx optimize model.onnx out.onnx");
  }
  if (std::filesystem::exists(command.output) && std::filesystem::equivalent(command.input, command.output)) {
    fail(ErrorCode::kInvalidArgument, "'{}' would replace the model that is being read; write to another file",
         command.output);
  }
  optimize_model(command.input, command.output, command.session, command.fused);
  const std::int64_t before = count_nodes(summarize_model(command.input)),
                     after = count_nodes(summarize_model(command.output));
  fmt::print("{}: {} nodes, from {}\n", command.output, format_count(after), format_count(before));
}

}  // namespace

void add_optimize(CLI::App& app, Outcome&) {
  auto command = std::make_shared<OptimizeCommand>();
  CLI::App* sub = app.add_subcommand("optimize", "Write an optimised form of a model");
  sub->footer(
      "The result is portable ONNX. With --fused it is the form after fusions and whole-graph rewriting, stamped with "
      "what it\n"
      "depends on; other versions of sardonyx may refuse it.\n\n"
      "Examples:\n"
      "  sardonyx optimize model.onnx small.onnx\n"
      "  sardonyx optimize model.onnx small.onnx --disable-pass common-subexpressions\n"
      "  sardonyx optimize --list-passes\n");
  sub->add_option("model", command->input, "ONNX file to read")->type_name("MODEL");
  sub->add_option("output,--output", command->output, "ONNX file to write")->type_name("OUTPUT");
  sub->add_flag("--fused", command->fused, "Save the form after fusions and rewriting");
  sub->add_flag("--list-passes", command->list_passes, "Name the optimiser's passes in their order");
  add_session_options(*sub, command->session);
  sub->callback([command] { optimize(*command); });
}

}  // namespace sardonyx::cli
