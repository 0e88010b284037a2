#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "text/tokenizer/models/model.h"
#include "text/tokenizer/normalizers/normalizer.h"
#include "text/tokenizer/pre_tokenized.h"
#include "text/tokenizer/tokenizer.h"
#include "text/tokenizer/trie.h"

namespace sardonyx::text {

/// The tokens that are found in the text before the model runs.
class AddedVocabulary {
 public:
  /// Adds tokens; returns how many were new or changed. `normalizer` may be null.
  std::size_t add(std::span<const AddedToken> tokens, const Model& model, const Normalizer* normalizer);

  void set_encode_special_tokens(bool on) { encode_special_tokens_ = on; }

  /// Cuts the added tokens out of `text`, normalizing what lies between.
  PreTokenized extract(std::string_view text, const Normalizer* normalizer) const;

  std::optional<std::uint32_t> token_to_id(std::string_view token) const;
  /// The form that decoders see: normalized where the token is matched normalized.
  const std::string* id_to_token(std::uint32_t id) const;
  bool is_special(std::string_view token) const { return specials_.count(std::string(token)) != 0; }

  const std::map<std::uint32_t, AddedToken>& by_id() const { return by_id_; }
  /// How many contents the model does not know itself.
  std::size_t size_beyond(const Model& model) const;

 private:
  /// One set of contents that is searched for together.
  struct Matcher {
    Trie trie;
    bool first_bytes[256] = {};
    std::uint32_t empty_token = Split::kNoToken;  ///< whose normalized form is empty, or none

    void build(const std::vector<Trie::Entry>& entries);
    /// The next leftmost-longest match at or after `from`. An empty one is found before every character, and at the
    /// end, but not at `last_end`, where the match before ended.
    std::optional<Split> find(std::string_view text, std::size_t from, std::size_t last_end) const;
  };

  std::uint32_t next_id(const Model& model) const;
  void rebuild();
  void find_all(const Matcher& matcher, std::string_view text, std::uint32_t base, std::vector<Split>& out) const;
  /// A range of whitespace in the text.
  struct Spaces {
    std::uint32_t begin = 0, end = 0;
  };
  bool accept(Split& match, std::string_view text, std::uint32_t covered, Spaces& spaces) const;

  std::unordered_map<std::string, std::uint32_t> ids_;
  std::map<std::uint32_t, AddedToken> by_id_;
  std::map<std::uint32_t, std::string> normalized_;
  std::unordered_set<std::string> specials_;
  Matcher raw_, normalized_matcher_;
  bool encode_special_tokens_ = false;
};

}  // namespace sardonyx::text
