#pragma once

#include <map>
#include <string>
#include <vector>

#include "text/tokenizer/processors/post_processor.h"

namespace sardonyx::text {

/// TemplateProcessing: special tokens and texts in the order of a template, one for single texts and one for pairs.
class TemplateProcessor : public PostProcessor {
 public:
  struct Piece {
    bool is_sequence = false;
    std::uint32_t sequence = 0;  ///< 0 for $A, 1 for $B
    std::string special;         ///< key into the special tokens
    std::uint32_t type_id = 0;
  };
  using Specials = std::map<std::string, std::vector<SpecialPiece>>;

  /// Throws Error kInvalidModel where a template names an unknown special token, or `single` uses $B.
  TemplateProcessor(std::vector<Piece> single, std::vector<Piece> pair, Specials specials);

  std::size_t added_tokens(bool is_pair) const override;
  std::vector<Encoding> process(std::vector<Encoding> encodings, bool add_special_tokens) const override;
  std::optional<Frame> frame(bool is_pair, bool add_special_tokens) const override;

 private:
  const std::vector<Piece>& pieces(bool is_pair) const { return is_pair ? pair_ : single_; }

  std::vector<Piece> single_, pair_;
  Specials specials_;
};

}  // namespace sardonyx::text
