#include <CLI/CLI.hpp>
#include <algorithm>
#include <fmt/core.h>
#include <memory>
#include <nlohmann/json.hpp>

#include "apps/cli/commands.h"
#include "apps/cli/describe_value.h"
#include "apps/cli/exit_status.h"
#include "apps/cli/model_inputs.h"
#include "apps/cli/session_options.h"
#include "apps/cli/terminal.h"
#include "apps/values/compare.h"
#include "apps/values/json_value.h"
#include "apps/values/value_file.h"
#include "base/fail.h"
#include "base/file_mapping.h"

namespace sardonyx::cli {
namespace {

struct RunCommand {
  std::string model, profile;
  SessionOptions session;
  InputOptions inputs;
  std::vector<std::string> outputs, expected, names;
  values::Tolerance tolerance{1e-4, 1e-5};
  bool json = false;
};

NamedValues run_model(const Session& session, const RunCommand& command) {
  const NamedValues inputs = gather_inputs(command.inputs, session.inputs());
  std::vector<Value> values = session.run(inputs, command.names);
  NamedValues outputs;
  for (std::size_t i = 0; i < values.size(); ++i) {
    outputs.emplace_back(command.names.empty() ? session.outputs()[i].name : command.names[i], std::move(values[i]));
  }
  return outputs;
}

void write_outputs(const Session& session, const NamedValues& outputs, const RunCommand& command) {
  for (const std::string& text : command.outputs) {
    const auto [name, file] = split_named_file(text, session.outputs());
    if (name.empty()) {
      values::write_values(file, outputs);
      continue;
    }
    const auto found =
        std::find_if(outputs.begin(), outputs.end(), [&, &n = name](const auto& named) { return named.first == n; });
    if (found == outputs.end())
      fail(ErrorCode::kInvalidArgument, "--output: output '{}' isn't among those asked for", name);
    values::write_values(file, {*found});
  }
}

/// Prints each difference to standard error; whether there was none.
bool matches(const Session& session, const NamedValues& outputs, const RunCommand& command) {
  NamedValues expected;
  for (const std::string& text : command.expected) {
    const auto [name, file] = split_named_file(text, session.outputs());
    for (auto& named : values::read_values(file, name, session.outputs(), expected))
      expected.push_back(std::move(named));
  }
  bool same = true;
  for (const auto& [name, value] : expected) {
    const auto found =
        std::find_if(outputs.begin(), outputs.end(), [&, &n = name](const auto& named) { return named.first == n; });
    if (found == outputs.end())
      fail(ErrorCode::kInvalidArgument, "--expect: output '{}' isn't among those asked for", name);
    const std::string why = values::difference(value, found->second, command.tolerance);
    if (why.empty()) continue;
    same = false;
    fmt::print(stderr, "{} output '{}': {}\n", error_style().red("differs:"), name, why);
  }
  if (same && !command.json)
    fmt::print("{}\n", output_style().green(fmt::format("{} outputs are as expected", expected.size())));
  return same;
}

void print_outputs(const NamedValues& outputs, bool as_json) {
  if (as_json) {
    nlohmann::json root = nlohmann::json::object();
    for (const auto& [name, value] : outputs) root[name] = values::to_json(value);
    fmt::print("{}\n", root.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
    return;
  }
  for (const auto& [name, value] : outputs) {
    fmt::print("{} {}\n  {}\n", output_style().bold(name), describe_type(value), describe_content(value));
  }
}

int run(RunCommand& command) {
  command.session.profile = !command.profile.empty();
  const Session session = Session::load(command.model, command.session);
  const NamedValues outputs = run_model(session, command);
  write_outputs(session, outputs, command);
  if (command.session.profile) write_file(command.profile, session.profile_json());
  if (command.json || (command.outputs.empty() && command.expected.empty())) print_outputs(outputs, command.json);
  if (command.expected.empty()) return kSuccess;
  return matches(session, outputs, command) ? kSuccess : kDifferent;
}

}  // namespace

void add_run(CLI::App& app, Outcome& outcome) {
  auto command = std::make_shared<RunCommand>();
  CLI::App* sub = app.add_subcommand("run", "Run an ONNX model on files or made-up inputs");
  sub->footer(
      "Examples:\n"
      "  sardonyx run model.onnx --shape input_ids:1x30\n"
      "  sardonyx run model.onnx --input in.npz --output out.npz\n"
      "  sardonyx run model.onnx --input x=image.npy --output probabilities=p.npy\n"
      "  sardonyx run model.onnx --input in.npz --expect out.npz --rtol 1e-3\n");
  sub->add_option("model", command->model, "ONNX file")->required()->type_name("MODEL");
  add_input_options(*sub, command->inputs);
  sub->add_option("-o,--output", command->outputs, "Where to write outputs: .npz or .json for all; .npy or .pb for one")
      ->type_name("[NAME=]FILE")
      ->group("Outputs")
      ->allow_extra_args(false);
  sub->add_option("--output-names", command->names, "Outputs to compute; all without it")
      ->delimiter(',')
      ->group("Outputs")
      ->allow_extra_args(false);
  sub->add_option("--expect", command->expected, "Compare outputs with this file; exit status 1 where they differ")
      ->type_name("[NAME=]FILE")
      ->group("Outputs")
      ->allow_extra_args(false);
  sub->add_option("--rtol", command->tolerance.rtol, "Relative tolerance of --expect")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str()
      ->group("Outputs");
  sub->add_option("--atol", command->tolerance.atol, "Absolute tolerance of --expect")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str()
      ->group("Outputs");
  sub->add_flag("--json", command->json, "Print the outputs as JSON")->group("Outputs");
  sub->add_option("--profile", command->profile, "Write every node's times as a Chrome trace (open in ui.perfetto.dev)")
      ->type_name("FILE")
      ->group("Outputs");
  add_session_options(*sub, command->session);
  sub->callback([command, &outcome] { outcome.status = run(*command); });
}

}  // namespace sardonyx::cli
