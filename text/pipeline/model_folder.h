#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace sardonyx::pipeline {

enum class ProblemType { kSingleLabel, kMultiLabel, kRegression };

/// What config.json says of a text model. Whatever the file leaves out is unset or empty.
struct ModelConfig {
  std::string model_type;           ///< "bert", "roberta", ...
  std::vector<std::string> labels;  ///< id2label, by number
  std::optional<ProblemType> problem_type;
  std::optional<std::int64_t> max_position_embeddings;
  std::optional<std::int64_t> pad_token_id;

  /// How many tokens the position embeddings allow. RoBERTa and its kin count positions from pad_token_id + 1.
  std::optional<std::size_t> max_length() const;
};

/// A model folder laid out as on the Hugging Face hub.
struct ModelFolder {
  std::filesystem::path folder;
  std::filesystem::path model;  ///< the ONNX file
  ModelConfig config;
};

/// Finds and reads what the folder holds. The model is `model_file` (relative to the folder) where given, else
/// model.onnx or onnx/model.onnx, else the only .onnx file there. Throws Error: kNotFound naming what was looked for,
/// kInvalidArgument for a broken config.json. A missing config.json is an empty ModelConfig.
ModelFolder open_model_folder(const std::filesystem::path& folder, const std::string& model_file = "");

/// Reads the text of a config.json; `where` names it in errors.
ModelConfig parse_model_config(const std::string& json, const std::string& where);

}  // namespace sardonyx::pipeline
