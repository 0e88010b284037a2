#include "text/tokenizer/processors/template.h"

#include <utility>

#include "base/fail.h"
#include "text/tokenizer/encoding_ops.h"

namespace sardonyx::text {

TemplateProcessor::TemplateProcessor(std::vector<Piece> single, std::vector<Piece> pair, Specials specials)
    : single_(std::move(single)), pair_(std::move(pair)), specials_(std::move(specials)) {
  for (const bool is_pair : {false, true}) {
    for (const Piece& piece : pieces(is_pair)) {
      if (!piece.is_sequence && specials_.count(piece.special) == 0) {
        fail(ErrorCode::kInvalidModel,
             "TemplateProcessing names the special token '{}', which its special_tokens do not define", piece.special);
      }
      if (piece.is_sequence && piece.sequence > 0 && !is_pair) {
        fail(ErrorCode::kInvalidModel, "TemplateProcessing uses sequence B in its template for single texts");
      }
    }
  }
}

std::size_t TemplateProcessor::added_tokens(bool is_pair) const {
  std::size_t count = 0;
  for (const Piece& piece : pieces(is_pair)) {
    if (!piece.is_sequence) count += specials_.at(piece.special).size();
  }
  return count;
}

std::vector<Encoding> TemplateProcessor::process(std::vector<Encoding> encodings, bool add_special_tokens) const {
  if (encodings.empty()) return encodings;
  const bool with_tokens = encodings[0].tokens.size() == encodings[0].size();
  std::vector<Encoding> result;
  for (const Piece& piece : pieces(encodings.size() > 1)) {
    if (piece.is_sequence) {
      Encoding& encoding = encodings[piece.sequence];
      set_type_ids(encoding, piece.type_id);
      set_sequence(encoding, piece.sequence);
      result.push_back(encoding);
    } else if (add_special_tokens) {
      Encoding special;
      for (const SpecialPiece& token : specials_.at(piece.special)) {
        append_special(special, token.id, token.token, piece.type_id, with_tokens);
      }
      result.push_back(std::move(special));
    }
  }
  return result;
}

std::optional<Frame> TemplateProcessor::frame(bool is_pair, bool add_special_tokens) const {
  Frame frame;
  for (const Piece& piece : pieces(is_pair)) {
    if (piece.is_sequence) {
      frame.parts.push_back({piece.sequence, piece.type_id, nullptr});
    } else if (add_special_tokens) {
      frame.parts.push_back({0, piece.type_id, &specials_.at(piece.special)});
    }
  }
  return frame;
}

}  // namespace sardonyx::text
