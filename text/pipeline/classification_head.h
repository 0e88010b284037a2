#pragma once

#include <span>
#include <string>
#include <vector>

#include "text/pipeline/model_folder.h"

namespace sardonyx::pipeline {

/// Turns a text's logits into one score per label.
class ClassificationHead {
 public:
  enum class Kind {
    kSoftmax,     ///< labels exclude each other; scores add up to 1
    kSigmoid,     ///< each label for itself
    kBinary,      ///< one logit for two labels: the second's sigmoid, and the rest for the first
    kRegression,  ///< the numbers themselves
  };

  /// As the config asks; without problem_type, one logit is a sigmoid and several are a softmax. Labels without names
  /// are "LABEL_0", ... Throws kInvalidModel where the names don't fit the number of logits.
  ClassificationHead(const ModelConfig& config, std::size_t logits);

  Kind kind() const { return kind_; }
  const std::vector<std::string>& labels() const { return labels_; }
  std::size_t logits() const { return logits_; }

  /// One score per label, finite for all logits that aren't NaN. Throws kInternal for NaN, naming the label.
  std::vector<float> scores(std::span<const float> logits) const;

 private:
  Kind kind_;
  std::vector<std::string> labels_;
  std::size_t logits_;
};

}  // namespace sardonyx::pipeline
