#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "sardonyx/session.h"

#include "text/tokenizer/encoding.h"

namespace sardonyx::pipeline {

/// Makes a text model's input tensors out of encodings.
class TokenInputs {
 public:
  /// Throws kUnsupported where the model takes something that isn't made of tokens, naming it.
  TokenInputs(const std::vector<PortInfo>& inputs, std::int64_t pad_token_id);

  std::size_t most_texts() const { return fixed_batch_ == 0 ? SIZE_MAX : fixed_batch_; }
  /// The length that the model insists on; 0 where any will do.
  std::size_t fixed_length() const { return fixed_length_; }

  /// Encodings of equal lengths; a model of fixed sizes has the rest filled with padding that its mask hides.
  NamedValues make(std::span<const text::Encoding* const> encodings) const;

 private:
  enum class Role { kIds, kMask, kTypeIds, kPositions };
  struct Input {
    std::string name;
    Role role;
    ElementType type;
  };
  static std::int64_t element(Role role, const text::Encoding* encoding, std::size_t at, std::int64_t pad);

  std::vector<Input> inputs_;
  std::int64_t pad_token_id_;
  std::size_t fixed_batch_ = 0;
  std::size_t fixed_length_ = 0;
};

}  // namespace sardonyx::pipeline
