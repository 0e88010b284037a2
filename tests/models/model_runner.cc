// Holds one session and runs it as often as asked, for tests/models/compare.py.
//
//   model_runner MODEL [--threads N] [--opt-level disable|basic|extended|all] [--providers a,b]
//
// Says "ready" once the model is loaded. Each line of standard input is then FOLDER and the names of inputs, separated by tabs;
// input i lies in FOLDER/in_i.pb. The outputs are written to FOLDER/out_i.pb, and one line answers: "ok" and the names of the
// outputs, or "error" and a message.

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <filesystem>
#include <iostream>
#include <map>
#include <string>
#include <vector>

#include "sardonyx/session.h"

namespace {

using sardonyx::OptimizationLevel;

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts(1);
  for (const char c : text) {
    if (c == separator) {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

sardonyx::SessionOptions parse_options(int argc, char** argv) {
  static const std::map<std::string, OptimizationLevel> kLevels = {{"disable", OptimizationLevel::kDisable},
                                                                   {"basic", OptimizationLevel::kBasic},
                                                                   {"extended", OptimizationLevel::kExtended},
                                                                   {"all", OptimizationLevel::kAll}};
  sardonyx::SessionOptions options;
  for (int i = 2; i + 1 < argc; i += 2) {
    const std::string value = argv[i + 1];
    if (std::strcmp(argv[i], "--threads") == 0) {
      options.threads = std::atoi(value.c_str());
    } else if (std::strcmp(argv[i], "--opt-level") == 0) {
      options.optimization_level = kLevels.at(value);
    } else if (std::strcmp(argv[i], "--providers") == 0) {
      options.providers = split(value, ',');
    }
  }
  return options;
}

/// Answers one line of standard input.
std::string answer(const sardonyx::Session& session, const std::vector<std::string>& request) {
  const std::filesystem::path folder = request.front();
  sardonyx::NamedValues inputs;
  for (std::size_t i = 1; i < request.size(); ++i) {
    inputs.emplace_back(request[i], sardonyx::read_value_file(folder / ("in_" + std::to_string(i - 1) + ".pb")));
  }
  const std::vector<sardonyx::Value> outputs = session.run(inputs);
  std::string line = "ok";
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    sardonyx::write_value_file(folder / ("out_" + std::to_string(i) + ".pb"), outputs[i]);
    line += '\t' + session.outputs()[i].name;
  }
  return line;
}

std::string one_line(std::string message) {
  for (char& c : message) {
    if (c == '\n' || c == '\t') c = ' ';
  }
  return message;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: model_runner MODEL [--threads N] [--opt-level LEVEL] [--providers LIST]\n");
    return 2;
  }
  try {
    const sardonyx::Session session = sardonyx::Session::load(std::filesystem::path(argv[1]), parse_options(argc, argv));
    std::cout << "ready" << std::endl;
    for (std::string line; std::getline(std::cin, line);) {
      try {
        std::cout << answer(session, split(line, '\t')) << std::endl;
      } catch (const sardonyx::Error& error) {
        std::cout << "error\t" << one_line(error.what()) << std::endl;
      }
    }
  } catch (const std::exception& error) {
    std::cout << "error\t" << one_line(error.what()) << std::endl;
    return 1;
  }
  return 0;
}
