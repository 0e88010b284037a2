#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sardonyx/session.h"

#include "text/pipeline/classification_head.h"

namespace sardonyx::pipeline {

struct ClassifierOptions {
  SessionOptions session;
  std::string model_file;      ///< relative to the folder; empty: model.onnx or onnx/model.onnx
  std::size_t max_length = 0;  ///< lowers the model's own limit, in tokens with specials; 0 keeps it
};

struct ClassifyOptions {
  RunOptions run;
  bool truncate = true;  ///< false: a text that is longer than the model's limit isn't run
};

/// What a model makes of one text.
struct Classification {
  std::vector<float> scores;    ///< one per label, in the model's order; none where the text wasn't run
  std::size_t tokens = 0;       ///< of the whole text, specials included
  std::size_t used_tokens = 0;  ///< that the model saw
  bool truncated = false;       ///< the text was longer than the model's limit
  double tokenize_seconds = 0;  ///< this text's
  double run_seconds = 0;       ///< of the model's run, which texts may share

  std::size_t best() const;  ///< the label with the highest score; the first among equals
};

/// Text in, scores of labels out: a tokenizer and a model of one folder. Immutable after load; classify() is const and
/// safe from any number of threads at once.
class TextClassifier {
 public:
  /// Loads a folder as ModelFolder describes it, with its tokenizer. Throws Error, also where the model takes other
  /// inputs than input_ids, attention_mask, token_type_ids and position_ids, or has no output [batch, labels].
  static TextClassifier load(const std::filesystem::path& folder, const ClassifierOptions& options = {});

  TextClassifier(TextClassifier&&) noexcept;
  TextClassifier& operator=(TextClassifier&&) noexcept;
  ~TextClassifier();

  const ClassificationHead& head() const;
  const std::vector<std::string>& labels() const { return head().labels(); }
  std::size_t max_length() const;  ///< in tokens, specials included
  const Session& session() const;

  /// Texts must be UTF-8. Those longer than max_length() are marked as truncated and cut, or not run, as asked. One
  /// result per text, in their order; each is what the text gives alone: texts share a run only where their token
  /// counts agree, so nothing is padded.
  std::vector<Classification> classify(std::span<const std::string> texts, const ClassifyOptions& options = {}) const;
  Classification classify(const std::string& text, const ClassifyOptions& options = {}) const;

 private:
  struct Impl;
  explicit TextClassifier(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace sardonyx::pipeline
