#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "sardonyx/session.h"

namespace CLI {
class App;
}

namespace sardonyx::cli {

/// Where a model's inputs come from.
struct InputOptions {
  std::vector<std::string> files;   ///< "[NAME=]FILE"
  std::vector<std::string> shapes;  ///< "NAME:1x30"; without the name where there is one input
  std::uint64_t seed = 1;
};

/// Adds --input, --shape and --seed. `options` outlives the parsing.
void add_input_options(CLI::App& command, InputOptions& options);

/// Values for all ports that need one: from files, and made up for the rest. A dimension that is a symbol takes the
/// number that another input's shape gives it, else 1. Throws kInvalidArgument saying which option is missing or wrong.
NamedValues gather_inputs(const InputOptions& options, std::span<const PortInfo> ports);

/// "[NAME=]FILE" -> name (empty without one) and file. A text whose head is no port's name is all file.
std::pair<std::string, std::string> split_named_file(const std::string& text, std::span<const PortInfo> ports);

/// "1x30" -> {1, 30}; "" or "scalar" is a scalar. Throws kInvalidArgument.
Shape parse_shape(std::string_view text);

}  // namespace sardonyx::cli
