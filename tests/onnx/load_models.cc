// Loads every ONNX model below the folders given as arguments, checks the result's form, and reads the values beside
// them. Each is also written and read again, which must give the same graph. Fails when one does not load, or when
// there is none.

#include <cstdio>
#include <filesystem>
#include <fmt/core.h>
#include <span>
#include <string>

#include "sardonyx/error.h"

#include "base/fail.h"
#include "graph/model.h"
#include "onnx/reader.h"
#include "onnx/tensor_io.h"
#include "onnx/writer.h"

namespace fs = std::filesystem;
namespace {

struct Counts {
  int models = 0, values = 0, failures = 0;
};

/// Reads input_N.pb and output_N.pb of a conformance case: as many as the model has, by type.
void load_values(const fs::path& folder, const sardonyx::graph::Model& model, Counts& counts) {
  for (const fs::directory_entry& set : fs::directory_iterator(folder)) {
    if (!set.is_directory()) continue;
    const auto load = [&](const char* prefix, const std::vector<sardonyx::graph::ValueId>& ids) {
      for (std::size_t i = 0; i < ids.size(); ++i) {
        const fs::path file = set.path() / fmt::format("{}_{}.pb", prefix, i);
        if (!fs::exists(file)) continue;
        sardonyx::onnx::read_value(file, model.graph.value(ids[i]).type);
        ++counts.values;
      }
    };
    load("input", model.graph.inputs);
    load("output", model.graph.outputs);
  }
}

/// The listing without the numbers of symbols that the file does not name: they depend on the order of reading.
std::string comparable_text(const sardonyx::graph::Model& model) {
  const std::string text = to_text(model);
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    result += text[i];
    if (text[i] != '#') continue;
    while (i + 1 < text.size() && text[i + 1] >= '0' && text[i + 1] <= '9') ++i;
  }
  return result;
}

void round_trip(const sardonyx::graph::Model& model) {
  const std::string bytes = sardonyx::onnx::write_model_to_string(model);
  const sardonyx::graph::Model again = sardonyx::onnx::read_model(std::as_bytes(std::span(bytes)));
  sardonyx::graph::verify(again);
  const std::string before = comparable_text(model);
  const std::string after = comparable_text(again);
  if (before != after) {
    sardonyx::fail(sardonyx::ErrorCode::kInternal, "written and read again, the model differs:\n{}\n{}", before, after);
  }
}

void load_model(const fs::path& path, Counts& counts) {
  try {
    const sardonyx::graph::Model model = sardonyx::onnx::read_model(path);
    sardonyx::graph::verify(model);
    load_values(path.parent_path(), model, counts);
    round_trip(model);
    ++counts.models;
  } catch (const sardonyx::Error& error) {
    fmt::print("{}: {}\n", path.string(), error.what());
    ++counts.failures;
  }
}

}  // namespace

int main(int argc, char** argv) {
  Counts counts;
  for (int i = 1; i < argc; ++i) {
    if (fs::is_regular_file(argv[i])) {
      load_model(argv[i], counts);
      continue;
    }
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(argv[i])) {
      if (entry.path().extension() == ".onnx") load_model(entry.path(), counts);
    }
  }
  fmt::print("{} models and {} values loaded, {} models failed\n", counts.models, counts.values, counts.failures);
  return counts.failures == 0 && counts.models > 0 ? 0 : 1;
}
