#include "apps/cli/model_inputs.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <map>

#include "apps/values/random_value.h"
#include "apps/values/value_file.h"
#include "base/fail.h"

namespace sardonyx::cli {
namespace {

using Shapes = std::map<std::string, Shape>;
using Symbols = std::map<std::string, std::int64_t>;

Shapes parse_shapes(const InputOptions& options, std::span<const PortInfo> ports) {
  Shapes shapes;
  for (const std::string& text : options.shapes) {
    const std::size_t colon = text.rfind(':');
    std::string name;
    if (colon != std::string::npos) {
      name = values::find_port(ports, text.substr(0, colon), "input").name;
    } else if (ports.size() == 1) {
      name = ports.front().name;
    } else {
      fail(ErrorCode::kInvalidArgument, "--shape '{}': expected NAME:1x30, since the model has {} inputs", text,
           ports.size());
    }
    shapes[name] =
        parse_shape(colon == std::string::npos ? std::string_view(text) : std::string_view(text).substr(colon + 1));
  }
  return shapes;
}

/// What the shapes given say of the model's symbols. Expressions such as "2*n" are left to the run's own checks.
void learn_symbols(const PortInfo& port, const Shape& shape, Symbols& symbols) {
  if (!port.has_rank || port.dims.size() != shape.rank()) return;
  for (std::size_t i = 0; i < shape.rank(); ++i) {
    if (port.fixed[i] < 0) symbols.emplace(port.dims[i], shape[i]);
  }
}

Shape choose_shape(const PortInfo& port, const Shapes& shapes, const Symbols& symbols) {
  const auto given = shapes.find(port.name);
  if (given != shapes.end()) return given->second;
  if (!port.has_rank) {
    fail(ErrorCode::kInvalidArgument,
         "input '{}' ({}) has no fixed rank: give it with --input {}=FILE or --shape {}:1x30", port.name, port.type,
         port.name, port.name);
  }
  Shape shape;
  for (std::size_t i = 0; i < port.dims.size(); ++i) {
    const auto symbol = symbols.find(port.dims[i]);
    shape.push_back(port.fixed[i] >= 0 ? port.fixed[i] : symbol != symbols.end() ? symbol->second : 1);
  }
  return shape;
}

bool holds(const NamedValues& values, const std::string& name) {
  return std::any_of(values.begin(), values.end(), [&](const auto& named) { return named.first == name; });
}

}  // namespace

void add_input_options(CLI::App& command, InputOptions& options) {
  const std::string group = "Inputs";
  command
      .add_option("-i,--input", options.files,
                  "File of inputs: .npz or .json by name; .npy or .pb for one, as NAME=FILE or in order")
      ->type_name("[NAME=]FILE")
      ->group(group)
      ->allow_extra_args(false);
  command.add_option("--shape", options.shapes, "Shape of an input that is made up, such as input_ids:1x30")
      ->type_name("NAME:1x30")
      ->delimiter(',')
      ->group(group)
      ->allow_extra_args(false);
  command.add_option("--seed", options.seed, "Seed of what is made up")->group(group);
}

std::pair<std::string, std::string> split_named_file(const std::string& text, std::span<const PortInfo> ports) {
  for (std::size_t at = text.find('='); at != std::string::npos; at = text.find('=', at + 1)) {
    const std::string name = text.substr(0, at);
    for (const PortInfo& port : ports) {
      if (port.name == name) return {name, text.substr(at + 1)};
    }
  }
  return {"", text};
}

Shape parse_shape(std::string_view text) {
  Shape shape;
  if (text.empty() || text == "scalar") return shape;
  for (std::size_t at = 0;;) {
    const std::size_t end = std::min(text.find('x', at), text.size());
    std::int64_t dim = 0;
    const auto [stop, error] = std::from_chars(text.data() + at, text.data() + end, dim);
    if (error != std::errc() || stop != text.data() + end || dim < 0) {
      fail(ErrorCode::kInvalidArgument, "--shape: expected numbers with x between them, such as 1x30, found '{}'",
           text);
    }
    shape.push_back(dim);
    if (end == text.size()) return shape;
    at = end + 1;
  }
}

NamedValues gather_inputs(const InputOptions& options, std::span<const PortInfo> ports) {
  NamedValues values;
  for (const std::string& text : options.files) {
    const auto [name, file] = split_named_file(text, ports);
    for (auto& named : values::read_values(file, name, ports, values)) {
      if (holds(values, named.first)) fail(ErrorCode::kInvalidArgument, "input '{}' is given twice", named.first);
      values.push_back(std::move(named));
    }
  }
  const Shapes shapes = parse_shapes(options, ports);
  Symbols symbols;
  for (const PortInfo& port : ports) {
    if (const auto shape = shapes.find(port.name); shape != shapes.end()) learn_symbols(port, shape->second, symbols);
    for (const auto& [name, value] : values) {
      if (name == port.name && value.is_tensor()) learn_symbols(port, value.tensor().shape(), symbols);
    }
  }
  for (const PortInfo& port : ports) {
    const bool asked = shapes.count(port.name) != 0;
    if (holds(values, port.name)) {
      if (asked) fail(ErrorCode::kInvalidArgument, "input '{}' has both a file and a --shape", port.name);
      continue;
    }
    if (!asked && (port.has_default || port.kind == "optional")) continue;
    if (port.kind != "tensor") {
      fail(ErrorCode::kInvalidArgument, "input '{}' is a {}, which can't be made up: give it with --input", port.name,
           port.kind);
    }
    values.emplace_back(port.name, values::random_tensor(port.name, port.element_type,
                                                         choose_shape(port, shapes, symbols), options.seed));
  }
  return values;
}

}  // namespace sardonyx::cli
