#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "text/tokenizer/models/model.h"
#include "text/tokenizer/models/vocabulary.h"
#include "text/tokenizer/trie.h"

namespace sardonyx::text {

/// The segmentation of highest total score (Viterbi). A character that no piece covers is unknown and costs the lowest
/// score less ten; unknown characters in a row are one token.
class Unigram : public Model {
 public:
  struct Options {
    std::optional<std::uint32_t> unk_id;
    bool byte_fallback = false;       ///< unknown characters become <0xNN> tokens, where the vocabulary has them
    std::vector<bool> reserved = {};  ///< by id, or empty: pieces that are never found in a text
  };

  /// Pieces in the order of their ids, which are 0, 1, …, and the score of each; of equal pieces the last counts.
  /// Throws Error kInvalidModel where `unk_id` is outside.
  Unigram(std::span<const Trie::Entry> pieces, LargeVector<double> scores, const Options& options);

  std::string_view type() const override { return "Unigram"; }
  void tokenize(std::string_view piece, std::uint32_t base, std::vector<ModelToken>& out) const override;
  std::optional<std::uint32_t> token_to_id(std::string_view token) const override;
  std::optional<std::string_view> id_to_token(std::uint32_t id) const override;
  std::size_t vocab_size() const override { return scores_.size(); }

 private:
  struct Node {
    double score = 0;
    std::uint32_t id = 0;
    std::uint32_t begin = kUnreached;
  };
  static constexpr std::uint32_t kUnreached = 0xFFFFFFFF;

  std::uint32_t find(std::string_view token) const;
  void search(std::string_view piece, std::vector<Node>& nodes) const;
  void append(std::string_view surface, std::uint32_t begin, std::vector<ModelToken>& out) const;

  LargeVector<double> scores_;
  LargeVector<char> bytes_;          ///< all pieces, one after the other
  LargeVector<std::uint32_t> ends_;  ///< where each ends
  Trie trie_;                        ///< of the pieces that may be found
  Trie reserved_;                    ///< of the others
  std::optional<std::uint32_t> unk_id_;
  bool byte_fallback_;
  double unk_score_;
  std::uint32_t owner_;
  std::uint32_t byte_ids_[256];
};

}  // namespace sardonyx::text
