#include "text/pipeline/model_folder.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <nlohmann/json.hpp>

#include "base/fail.h"
#include "base/file_mapping.h"

namespace sardonyx::pipeline {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr std::size_t kMostConfigBytes = 16u << 20;
constexpr std::size_t kMostLabels = 1u << 20;

/// Models whose position embeddings begin at pad_token_id + 1.
constexpr std::array<std::string_view, 13> kShiftedPositions = {
    "camembert", "data2vec-text",        "esm",         "ibert",          "lilt", "longformer", "luke", "mpnet",
    "roberta",   "roberta-prelayernorm", "xlm-roberta", "xlm-roberta-xl", "xmod"};

/// A whole number of the file that must be positive, or nothing where it is absent or null.
std::optional<std::int64_t> whole_number(const json& root, const char* key, std::int64_t lowest,
                                         const std::string& where) {
  const auto found = root.find(key);
  if (found == root.end() || found->is_null()) return std::nullopt;
  if (!found->is_number_integer() || found->get<std::int64_t>() < lowest) {
    fail(ErrorCode::kInvalidArgument, "{}: expected \"{}\" to be a whole number of at least {}, found {}", where, key,
         lowest, found->dump());
  }
  return found->get<std::int64_t>();
}

std::vector<std::string> read_labels(const json& root, const std::string& where) {
  const auto found = root.find("id2label");
  if (found == root.end() || found->is_null()) return {};
  if (!found->is_object()) fail(ErrorCode::kInvalidArgument, "{}: expected \"id2label\" to be an object", where);
  std::vector<std::string> labels(found->size());
  std::vector<bool> seen(found->size(), false);
  if (labels.size() > kMostLabels) fail(ErrorCode::kInvalidArgument, "{}: more than {} labels", where, kMostLabels);
  for (const auto& [key, label] : found->items()) {
    std::size_t number = 0;
    const auto [end, error] = std::from_chars(key.data(), key.data() + key.size(), number);
    const bool is_number = error == std::errc() && end == key.data() + key.size();
    if (!is_number || number >= labels.size() || seen[number] || !label.is_string()) {
      fail(ErrorCode::kInvalidArgument,
           "{}: expected \"id2label\" to give a text for each number from 0 to {}, found \"{}\": {}", where,
           labels.size() - 1, key, label.dump());
    }
    seen[number] = true;
    labels[number] = label.get<std::string>();
  }
  return labels;
}

std::optional<ProblemType> read_problem_type(const json& root, const std::string& where) {
  const auto found = root.find("problem_type");
  if (found == root.end() || found->is_null()) return std::nullopt;
  if (*found == "single_label_classification") return ProblemType::kSingleLabel;
  if (*found == "multi_label_classification") return ProblemType::kMultiLabel;
  if (*found == "regression") return ProblemType::kRegression;
  fail(ErrorCode::kInvalidArgument,
       "{}: expected \"problem_type\" to be single_label_classification, multi_label_classification or regression, "
       "found {}",
       where, found->dump());
}

fs::path find_model(const fs::path& folder, const std::string& model_file) {
  if (!model_file.empty()) {
    if (!fs::is_regular_file(folder / model_file)) {
      fail(ErrorCode::kNotFound, "'{}' has no file '{}'", folder.string(), model_file);
    }
    return folder / model_file;
  }
  for (const char* usual : {"model.onnx", "onnx/model.onnx"}) {
    if (fs::is_regular_file(folder / usual)) return folder / usual;
  }
  std::vector<std::string> others;
  for (const fs::path& place : {folder, folder / "onnx"}) {
    if (!fs::is_directory(place)) continue;
    for (const fs::directory_entry& entry : fs::directory_iterator(place)) {
      if (entry.path().extension() == ".onnx") others.push_back(fs::relative(entry.path(), folder).string());
    }
  }
  std::sort(others.begin(), others.end());
  if (others.size() == 1) return folder / others.front();
  std::string found;
  for (const std::string& other : others) found += (found.empty() ? "" : ", ") + other;
  fail(ErrorCode::kNotFound,
       "expected model.onnx or onnx/model.onnx in '{}', found {}; name the one to use with --model-file",
       folder.string(), found.empty() ? "no .onnx file" : found);
}

}  // namespace

std::optional<std::size_t> ModelConfig::max_length() const {
  if (!max_position_embeddings) return std::nullopt;
  std::int64_t length = *max_position_embeddings;
  const bool shifted =
      std::find(kShiftedPositions.begin(), kShiftedPositions.end(), model_type) != kShiftedPositions.end();
  if (shifted) length -= pad_token_id.value_or(1) + 1;
  if (length < 1) return std::nullopt;
  return static_cast<std::size_t>(length);
}

ModelConfig parse_model_config(const std::string& text, const std::string& where) {
  json root;
  try {
    root = json::parse(text);
  } catch (const json::exception& error) {
    fail(ErrorCode::kInvalidArgument, "{}: expected JSON: {}", where, error.what());
  }
  if (!root.is_object()) fail(ErrorCode::kInvalidArgument, "{}: expected a JSON object", where);
  ModelConfig config;
  if (const auto type = root.find("model_type"); type != root.end() && type->is_string()) config.model_type = *type;
  config.labels = read_labels(root, where);
  config.problem_type = read_problem_type(root, where);
  config.max_position_embeddings = whole_number(root, "max_position_embeddings", 1, where);
  config.pad_token_id = whole_number(root, "pad_token_id", -1, where);
  if (config.pad_token_id == -1) config.pad_token_id.reset();
  return config;
}

ModelFolder open_model_folder(const fs::path& folder, const std::string& model_file) {
  if (!fs::is_directory(folder)) {
    fail(ErrorCode::kNotFound, "expected a model folder (model.onnx, config.json, tokenizer.json), but '{}' is {}",
         folder.string(), fs::exists(folder) ? "no folder" : "not there");
  }
  ModelFolder out{.folder = folder, .model = find_model(folder, model_file), .config = {}};
  const fs::path config = folder / "config.json";
  if (fs::exists(config))
    out.config = parse_model_config(read_file(config.string(), kMostConfigBytes), config.string());
  return out;
}

}  // namespace sardonyx::pipeline
