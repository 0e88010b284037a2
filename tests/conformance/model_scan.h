#pragma once

#include <cstdint>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

namespace sardonyx::conformance {

/// What the harness needs to know of a model file, read without the runtime that is being tested.
struct ModelScan {
  struct Port {
    std::string name;
    std::string kind = "tensor";     ///< "tensor", "sequence", "optional" or "map"
    std::vector<std::int64_t> dims;  ///< of a tensor; 1 where the dimension is no number
  };
  std::vector<Port> inputs;  ///< in the file's order, initialisers among them
  std::vector<Port> outputs;
  std::set<std::string> initializers;
  std::set<std::string> operators;  ///< of graph, bodies and functions; "domain.Name" outside ai.onnx
};

/// Throws Error(kInvalidModel) where the file isn't a protobuf.
ModelScan scan_model(const std::filesystem::path& path);

}  // namespace sardonyx::conformance
