#include "text/tokenizer/models/token_strings.h"

#include "base/fail.h"

namespace sardonyx::text {

void TokenStrings::reserve(std::size_t tokens, std::size_t bytes) {
  by_id_.reserve(tokens);
  bytes_.reserve(bytes);
}

TokenStrings::Place TokenStrings::set(std::uint32_t id, std::string_view token) {
  if (bytes_.size() + token.size() >= kNone) fail(ErrorCode::kInvalidModel, "the tokens of the vocabulary pass 4 GiB");
  const Place place{static_cast<std::uint32_t>(bytes_.size()), static_cast<std::uint32_t>(token.size())};
  bytes_ += token;
  set_place(id, place);
  return place;
}

void TokenStrings::set_place(std::uint32_t id, Place place) {
  if (id > kMaxId) {
    fail(ErrorCode::kInvalidModel, "token '{}' has id {}, above the limit of {}; the tokenizer file is damaged",
         text(place), id, kMaxId);
  }
  if (id >= by_id_.size()) by_id_.resize(id + 1);
  by_id_[id] = place;
}

}  // namespace sardonyx::text
