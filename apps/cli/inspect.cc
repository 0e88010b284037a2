#include <CLI/CLI.hpp>
#include <algorithm>
#include <fmt/core.h>
#include <memory>
#include <nlohmann/json.hpp>

#include "apps/cli/commands.h"
#include "apps/cli/model_inputs.h"
#include "apps/cli/session_options.h"
#include "apps/cli/terminal.h"

namespace sardonyx::cli {
namespace {

using nlohmann::json;

struct InspectCommand {
  std::string model;
  SessionOptions session;
  InputOptions inputs;
  bool json = false, memory = false;
};

std::vector<std::pair<std::string, std::int64_t>> by_count(const std::map<std::string, std::int64_t>& operators) {
  std::vector<std::pair<std::string, std::int64_t>> sorted(operators.begin(), operators.end());
  std::stable_sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  return sorted;
}

json ports_json(const std::vector<PortInfo>& ports) {
  json list = json::array();
  for (const PortInfo& port : ports) {
    json item = {
        {"name", port.name}, {"kind", port.kind}, {"element_type", name(port.element_type)}, {"type", port.type}};
    if (port.has_rank) item["shape"] = port.dims;
    if (port.has_default) item["has_default"] = true;
    list.push_back(std::move(item));
  }
  return list;
}

void print_json(const ModelSummary& summary, const std::string& memory) {
  json root = {{"ir_version", summary.ir_version},     {"opsets", summary.opsets},
               {"metadata", summary.metadata},         {"operators", summary.operators},
               {"parameters", summary.parameters},     {"parameter_bytes", summary.parameter_bytes},
               {"inputs", ports_json(summary.inputs)}, {"outputs", ports_json(summary.outputs)}};
  if (!memory.empty()) root["memory_plan"] = memory;
  fmt::print("{}\n", root.dump(2, ' ', false, json::error_handler_t::replace));
}

void print_ports(const char* title, const std::vector<PortInfo>& ports) {
  fmt::print("{}\n", output_style().bold(title));
  for (const PortInfo& port : ports)
    fmt::print("  {:<28} {}{}\n", port.name, port.type, port.has_default ? "  (may be left out)" : "");
}

void print_text(const ModelSummary& summary, const std::string& memory) {
  print_ports("inputs", summary.inputs);
  print_ports("outputs", summary.outputs);
  std::string opsets;
  for (const auto& [domain, version] : summary.opsets) {
    opsets += fmt::format("{}{} {}", opsets.empty() ? "" : ", ", domain.empty() ? "ai.onnx" : domain, version);
  }
  const Style& style = output_style();
  fmt::print("{} {}   {} {}\n", style.bold("opsets"), opsets, style.bold("IR"), summary.ir_version);
  fmt::print("{} {} in {}\n", style.bold("parameters"), format_count(summary.parameters),
             format_bytes(static_cast<double>(summary.parameter_bytes)));
  bool titled = false;
  for (const auto& [key, value] : summary.metadata) {
    if (value.empty()) continue;
    if (!titled) fmt::print("{}\n", style.bold("metadata"));
    titled = true;
    fmt::print("  {:<28} {}\n", key, value);
  }
  fmt::print("{}\n", style.bold("operators"));
  for (const auto& [op, count] : by_count(summary.operators)) fmt::print("  {:<28} {:>6}\n", op, format_count(count));
  if (!memory.empty()) fmt::print("{}\n{}\n", style.bold("memory plan"), memory);
}

void inspect(const InspectCommand& command) {
  const ModelSummary summary = summarize_model(command.model);
  std::string memory;
  if (command.memory || !command.inputs.shapes.empty() || !command.inputs.files.empty()) {
    const Session session = Session::load(command.model, command.session);
    memory = session.memory_plan(gather_inputs(command.inputs, session.inputs()));
  }
  command.json ? print_json(summary, memory) : print_text(summary, memory);
}

}  // namespace

void add_inspect(CLI::App& app, Outcome&) {
  auto command = std::make_shared<InspectCommand>();
  CLI::App* sub =
      app.add_subcommand("inspect", "Show a model's inputs, outputs, operators, parameters and memory plan");
  sub->footer(
      "Examples:\n"
      "  sardonyx inspect model.onnx\n"
      "  sardonyx inspect model.onnx --shape input_ids:8x128     with the memory plan for that shape\n");
  sub->add_option("model", command->model, "ONNX file")->required()->type_name("MODEL");
  sub->add_flag("--memory", command->memory,
                "Show the memory plan, symbols taken as 1; --shape or --input ask for it too");
  sub->add_flag("--json", command->json, "Print JSON");
  add_input_options(*sub, command->inputs);
  add_session_options(*sub, command->session);
  sub->callback([command] { inspect(*command); });
}

}  // namespace sardonyx::cli
