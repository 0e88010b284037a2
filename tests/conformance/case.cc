#include "tests/conformance/case.h"

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>

#include "base/fail.h"
#include "base/file_mapping.h"

namespace sardonyx::conformance {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> sorted_entries(const fs::path& folder) {
  std::vector<fs::path> entries;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) entries.push_back(entry.path());
  std::sort(entries.begin(), entries.end());
  return entries;
}

nlohmann::json read_settings(const fs::path& file) {
  if (!fs::exists(file)) return nlohmann::json::object();
  return nlohmann::json::parse(read_file(file.string()));
}

void take_tolerances(const nlohmann::json& settings, Case& out) {
  out.rtol = settings.value("rtol", out.rtol);
  out.atol = settings.value("atol", out.atol);
}

Case folder_case(const std::string& kind, const fs::path& folder) {
  const std::string name = folder.filename().string();
  Case out{.name = kind + "/" + name, .model = folder / "model.onnx"};
  for (const fs::path& entry : sorted_entries(folder)) {
    if (entry.filename().string().starts_with("test_data_set")) out.data_sets.push_back(entry);
  }
  if (name.starts_with("test_bernoulli")) out.judge = Judge::kDistribution;
  take_tolerances(read_settings(folder / "data.json"), out);
  return out;
}

/// The folders of real/ hold only a data.json, whose url ends in a model's path below data/.
Case light_case(const fs::path& data, const fs::path& folder) {
  const nlohmann::json settings = read_settings(folder / "data.json");
  const std::string url = settings.value("url", std::string());
  Case out{
      .name = "light/" + folder.filename().string(), .model = data / "light" / fs::path(url).filename(), .light = true};
  take_tolerances(settings, out);
  const std::string stem = out.model.stem().string() + "_output_";
  for (int i = 0;; ++i) {
    const fs::path output = data / "light" / (stem + std::to_string(i) + ".pb");
    if (!fs::exists(output)) break;
    out.light_outputs.push_back(output);
  }
  return out;
}

}  // namespace

std::vector<Case> list_cases(const fs::path& data) {
  std::vector<Case> cases;
  for (const char* kind : {"node", "pytorch-converted", "pytorch-operator", "simple"}) {
    if (!fs::is_directory(data / kind)) {
      fail(ErrorCode::kNotFound,
           "expected ONNX's test data (a folder with node/, pytorch-converted/, ...) in '{}' but it has no '{}'; the "
           "onnx "
           "package holds it at onnx/backend/test/data",
           data.string(), kind);
    }
    for (const fs::path& folder : sorted_entries(data / kind)) {
      if (fs::exists(folder / "model.onnx")) cases.push_back(folder_case(kind, folder));
    }
  }
  if (fs::is_directory(data / "real")) {
    for (const fs::path& folder : sorted_entries(data / "real")) {
      if (fs::exists(folder / "data.json")) cases.push_back(light_case(data, folder));
    }
  }
  return cases;
}

}  // namespace sardonyx::conformance
