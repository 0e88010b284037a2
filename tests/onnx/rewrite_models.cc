// rewrite_models IN_FOLDER OUT_FOLDER: reads every .onnx file of a folder and writes it, in the internal opset, to the
// other. Prints an error and goes on where a model does not load; exits 1 then.

#include <cstdio>
#include <filesystem>
#include <fmt/core.h>

#include "sardonyx/error.h"

#include "graph/model.h"
#include "onnx/reader.h"
#include "onnx/writer.h"

int main(int argc, char** argv) {
  if (argc != 3) {
    fmt::print(stderr, "usage: rewrite_models IN_FOLDER OUT_FOLDER\n");
    return 2;
  }
  bool all_loaded = true;
  for (const auto& entry : std::filesystem::directory_iterator(argv[1])) {
    if (entry.path().extension() != ".onnx") continue;
    try {
      const sardonyx::graph::Model model = sardonyx::onnx::read_model(entry.path());
      sardonyx::graph::verify(model);
      sardonyx::onnx::write_model(model, std::filesystem::path(argv[2]) / entry.path().filename());
    } catch (const sardonyx::Error& error) {
      fmt::print("{}: {}\n", entry.path().filename().string(), error.what());
      all_loaded = false;
    }
  }
  return all_loaded ? 0 : 1;
}
