#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace sardonyx::text {

/// A token that a model found: bytes [begin, end) of the normalized text.
struct ModelToken {
  std::uint32_t id = 0;
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
  std::uint32_t word = 0;   ///< filled by the caller
  bool is_surface = false;  ///< its string is the text it covers, not the vocabulary's
};

/// What turns a piece of text into tokens. Const members are safe from any number of threads.
class Model {
 public:
  virtual ~Model() = default;

  virtual std::string_view type() const = 0;
  /// Appends the tokens of `piece` (not empty, valid UTF-8), which starts at byte `base` of the text.
  virtual void tokenize(std::string_view piece, std::uint32_t base, std::vector<ModelToken>& out) const = 0;
  virtual std::optional<std::uint32_t> token_to_id(std::string_view token) const = 0;
  /// The view lives as long as the model.
  virtual std::optional<std::string_view> id_to_token(std::uint32_t id) const = 0;
  virtual std::size_t vocab_size() const = 0;
};

}  // namespace sardonyx::text
