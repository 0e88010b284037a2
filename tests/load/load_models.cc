// Loads every ONNX model below the folders given as arguments, checks the result's form, and reads the values beside them.
// Fails when one does not load, or when there is none.

#include <fmt/core.h>

#include <cstdio>
#include <filesystem>
#include <string>

#include "graph/model.h"
#include "onnx/reader.h"
#include "onnx/tensor_io.h"
#include "sardonyx/error.h"

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

void load_model(const fs::path& path, Counts& counts) {
  try {
    const sardonyx::graph::Model model = sardonyx::onnx::read_model(path);
    sardonyx::graph::verify(model);
    load_values(path.parent_path(), model, counts);
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
