#include "text/pipeline/model_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "sardonyx/error.h"

#include "base/file_mapping.h"

namespace sardonyx::pipeline {
namespace {

namespace fs = std::filesystem;

TEST(ModelConfig, WhatFilesHold) {
  const ModelConfig config = parse_model_config(
      R"({"model_type": "roberta", "id2label": {"1": "b", "0": "a", "2": "c"}, "problem_type": "multi_label_classification",
          "max_position_embeddings": 514, "pad_token_id": 1, "other": [1]})",
      "config.json");
  EXPECT_THAT(config.labels, testing::ElementsAre("a", "b", "c"));
  EXPECT_EQ(config.problem_type, ProblemType::kMultiLabel);
  EXPECT_EQ(config.max_length(), 512u);
}

TEST(ModelConfig, Lengths) {
  const auto length = [](const char* json) { return parse_model_config(json, "x").max_length(); };
  EXPECT_EQ(length(R"({"model_type": "bert", "max_position_embeddings": 512, "pad_token_id": 0})"), 512u);
  EXPECT_EQ(length(R"({"model_type": "xlm-roberta", "max_position_embeddings": 514})"), 512u);
  EXPECT_EQ(length(R"({"model_type": "t5"})"), std::nullopt);
  EXPECT_EQ(length(R"({"max_position_embeddings": null})"), std::nullopt);
}

TEST(ModelConfig, Faults) {
  for (const char* json :
       {"", "[]", "{", R"({"id2label": [1]})", R"({"id2label": {"0": "a", "2": "b"}})", R"({"id2label": {"x": "a"}})",
        R"({"id2label": {"0": 1}})", R"({"id2label": {"0": "a", "00": "b"}})", R"({"problem_type": "guessing"})",
        R"({"max_position_embeddings": -5})", R"({"max_position_embeddings": "many"})", R"({"pad_token_id": 0.5})"}) {
    EXPECT_THROW(parse_model_config(json, "config.json"), Error) << json;
  }
}

class Folder : public testing::Test {
 protected:
  Folder() : folder_(fs::temp_directory_path() / ("model_folder_test." + std::to_string(getpid()))) {
    fs::create_directories(folder_ / "onnx");
  }
  ~Folder() override { fs::remove_all(folder_); }
  void touch(const char* name) { write_file((folder_ / name).string(), std::string_view("x")); }
  std::string found(const std::string& named = "") {
    return fs::relative(open_model_folder(folder_, named).model, folder_).string();
  }
  fs::path folder_;
};

TEST_F(Folder, WhichModelIsTaken) {
  EXPECT_THROW(found(), Error);
  touch("onnx/model_quantized.onnx");
  EXPECT_EQ(found(), "onnx/model_quantized.onnx");
  touch("other.onnx");
  EXPECT_THROW(found(), Error);
  EXPECT_EQ(found("other.onnx"), "other.onnx");
  EXPECT_THROW(found("missing.onnx"), Error);
  touch("onnx/model.onnx");
  EXPECT_EQ(found(), "onnx/model.onnx");
  touch("model.onnx");
  EXPECT_EQ(found(), "model.onnx");
}

TEST_F(Folder, NoFolder) {
  EXPECT_THROW(open_model_folder(folder_ / "none"), Error);
  touch("file");
  EXPECT_THROW(open_model_folder(folder_ / "file"), Error);
}

}  // namespace
}  // namespace sardonyx::pipeline
