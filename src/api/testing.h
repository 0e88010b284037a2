#pragma once

#include <filesystem>

#include "sardonyx/session.h"

namespace sardonyx::api::testing {

/// The built-in model of the source tree.
inline std::filesystem::path sentiment_model() { return std::filesystem::path(SARDONYX_SOURCE_DIR) / "models/sentiment/model.onnx"; }

/// Inputs for it: `batch` texts of `length` made-up tokens; row i has i padding tokens at its end.
inline NamedValues sentiment_inputs(std::int64_t batch, std::int64_t length) {
  Tensor ids(ElementType::kInt64, {batch, length}), mask(ElementType::kInt64, {batch, length}), types(ElementType::kInt64, {batch, length});
  for (std::int64_t b = 0; b < batch; ++b) {
    for (std::int64_t i = 0; i < length; ++i) {
      const std::int64_t at = b * length + i;
      ids.mutable_data<std::int64_t>()[at] = 1000 + (at * 7919) % 20000;
      mask.mutable_data<std::int64_t>()[at] = i < length - b ? 1 : 0;
      types.mutable_data<std::int64_t>()[at] = 0;
    }
  }
  return {{"input_ids", ids}, {"attention_mask", mask}, {"token_type_ids", types}};
}

}  // namespace sardonyx::api::testing
