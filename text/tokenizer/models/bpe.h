#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "text/tokenizer/models/merge_table.h"
#include "text/tokenizer/models/model.h"
#include "text/tokenizer/models/vocabulary.h"
#include "text/tokenizer/trie.h"

namespace sardonyx::text {

/// Byte pair encoding: starts from characters and merges the pair of lowest rank until none is left. O(n log n) in the
/// piece.
class Bpe : public Model {
 public:
  struct Options {
    std::string unk_token;
    bool has_unk_token = false;
    std::string continuing_subword_prefix;  ///< before every character but the first
    std::string end_of_word_suffix;         ///< after the last character
    bool fuse_unk = false;                  ///< unknown characters in a row are one token
    bool byte_fallback = false;             ///< unknown characters become <0xNN> tokens, where the vocabulary has them
    bool ignore_merges = false;             ///< a piece that is a token stays one
    std::vector<Trie::Entry> symbols = {};  ///< found before all else, the longest first, and never merged; views
  };

  using Merges = std::vector<std::pair<std::string_view, std::string_view>>;

  /// `merges` in order of rank; with `ranks`, one for each, some may have the same: then the leftmost comes first.
  /// Throws Error kInvalidModel where a merge names a token that is not in the vocabulary.
  Bpe(Vocabulary vocabulary, const Merges& merges, Options options, std::span<const std::uint32_t> ranks = {});

  std::string_view type() const override { return "BPE"; }
  void tokenize(std::string_view piece, std::uint32_t base, std::vector<ModelToken>& out) const override;
  std::optional<std::uint32_t> token_to_id(std::string_view token) const override {
    return vocabulary_.find_optional(token);
  }
  std::optional<std::string_view> id_to_token(std::uint32_t id) const override { return vocabulary_.token(id); }
  std::size_t vocab_size() const override { return vocabulary_.size(); }

  /// From now on pieces are raw bytes, each standing for its byte-level character. False, and nothing changes, where
  /// the vocabulary lacks one of these characters.
  bool read_bytes();

 private:
  struct Symbol {
    std::uint32_t id;
    std::uint32_t length;  ///< bytes; 0 once merged into the symbol before
    std::int32_t previous, next;
  };

  void tokenize_between_symbols(std::string_view piece, std::uint32_t base, std::vector<ModelToken>& out) const;
  void tokenize_part(std::string_view piece, std::uint32_t base, std::vector<ModelToken>& out) const;
  void symbols_of(std::string_view piece, std::vector<Symbol>& symbols) const;
  void symbols_of_bytes(std::string_view piece, std::vector<Symbol>& symbols) const;
  void merge_short(std::vector<Symbol>& symbols) const;
  void merge_long(std::vector<Symbol>& symbols) const;
  bool append_fallback(std::string_view character, std::vector<Symbol>& symbols) const;
  void find_word_borders();
  void check_unk() const;

  Vocabulary vocabulary_;
  Options options_;
  MergeTable merges_;
  Trie symbols_;
  std::uint32_t unk_id_;
  std::uint32_t owner_;
  std::uint32_t ascii_ids_[128];  ///< of characters that are tokens as they stand
  std::uint32_t byte_fallback_[256];
  bool splits_at_marks_ = false;  ///< no merge crosses the place before a ▁ that follows another character
  bool reads_bytes_ = false;
  std::uint32_t byte_ids_[2][2][256];  ///< by [is not first][is last][byte]
  Vocabulary whole_bytes_;             ///< with ignore_merges and reads_bytes_: tokens as raw bytes
};

}  // namespace sardonyx::text
