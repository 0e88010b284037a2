#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace sardonyx::conformance {

/// How a case's outputs are judged.
enum class Judge {
  kValues,        ///< outputs equal the expected ones within the tolerances
  kDistribution,  ///< Bernoulli draws: type, shape, zeros and ones, and how often a one comes
};

/// One of ONNX's backend test cases: a model and files of inputs and expected outputs.
struct Case {
  std::string name;  ///< "node/test_abs"
  std::filesystem::path model;
  /// Folders of input_<i>.pb and output_<i>.pb. Empty for a light model, which is fed 0/n, 1/n, ... as ONNX's runner
  /// does.
  std::vector<std::filesystem::path> data_sets;
  std::vector<std::filesystem::path> light_outputs;  ///< of a light model
  bool light = false;
  Judge judge = Judge::kValues;
  double rtol = 1e-3;
  double atol = 1e-7;
};

/// All cases below onnx/backend/test/data, by name. Throws Error(kNotFound) where `data` isn't such a folder.
std::vector<Case> list_cases(const std::filesystem::path& data);

}  // namespace sardonyx::conformance
