#include "base/fail.h"
#include "text/tokenizer/load/components.h"
#include "text/tokenizer/models/vocabulary.h"
#include "text/tokenizer/models/word_piece.h"

namespace sardonyx::text {

namespace {

Vocabulary vocabulary_from_map(json::Object map) {
  Vocabulary vocabulary;
  vocabulary.reserve(map.size(), map.size() * 8);
  for (const auto& [token, id] : map) vocabulary.add(token, json::uint32(id, "an id in model.vocab"));
  return vocabulary;
}

std::unique_ptr<Model> make_word_piece(json::Object model) {
  WordPiece::Options options;
  options.unk_token = json::get_string(model, "unk_token", "model");
  options.continuing_subword_prefix = json::get_string(model, "continuing_subword_prefix", "model");
  options.max_input_chars_per_word = json::uint32(json::get(model, "max_input_chars_per_word", "model"),
                                                  "max_input_chars_per_word");
  return std::make_unique<WordPiece>(vocabulary_from_map(json::object(json::get(model, "vocab", "model"), "model.vocab")),
                                     std::move(options));
}

/// Old files have no type: the reference tries BPE, WordPiece, WordLevel, Unigram in this order.
std::string_view type_of(json::Object model) {
  if (const auto type = json::find(model, "type")) return json::string(*type, "model.type");
  if (json::find(model, "merges")) return "BPE";
  if (json::find(model, "max_input_chars_per_word")) return "WordPiece";
  if (const auto vocab = json::find(model, "vocab"); vocab && vocab->is_array()) return "Unigram";
  return "WordLevel";
}

}  // namespace

std::unique_ptr<Model> make_model(json::Element description) {
  const json::Object model = json::object(description, "model");
  const std::string_view type = type_of(model);
  if (type == "WordPiece") return make_word_piece(model);
  fail(ErrorCode::kUnsupported, "tokenizer file: model type '{}' is unknown", type);
}

}  // namespace sardonyx::text
