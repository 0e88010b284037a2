#include "text/tokenizer/models/word_level.h"

#include "base/fail.h"

namespace sardonyx::text {

void WordLevel::tokenize(std::string_view piece, std::uint32_t base, std::vector<ModelToken>& out) const {
  std::uint32_t id = vocabulary_.find(piece);
  if (id == Vocabulary::kNone) id = unk_id_;
  if (id == Vocabulary::kNone) {
    fail(ErrorCode::kInvalidModel,
         "the text has a word that WordLevel does not know, and the unknown token '{}' is not in the vocabulary",
         unk_token_);
  }
  out.push_back({id, base, base + static_cast<std::uint32_t>(piece.size()), 0, false});
}

}  // namespace sardonyx::text
