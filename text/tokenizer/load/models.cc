#include "base/fail.h"
#include "text/tokenizer/load/components.h"
#include "text/tokenizer/models/bpe.h"
#include "text/tokenizer/models/unigram.h"
#include "text/tokenizer/models/vocabulary.h"
#include "text/tokenizer/models/word_level.h"
#include "text/tokenizer/models/word_piece.h"

namespace sardonyx::text {

namespace {

constexpr std::size_t kBytesPerToken = 16;  ///< of a vocabulary's text, about

Vocabulary read_vocabulary(Document& document) {
  Vocabulary vocabulary;
  vocabulary.reserve(document.size() / (2 * kBytesPerToken), document.size() / 4);
  document.visit_vocab([&](std::string_view token, std::uint32_t id) { vocabulary.add(token, id); });
  return vocabulary;
}

std::unique_ptr<Model> make_word_piece(json::Object model, Document& document) {
  WordPiece::Options options;
  options.unk_token = json::get_string(model, "unk_token", "model");
  options.continuing_subword_prefix = json::get_string(model, "continuing_subword_prefix", "model");
  options.max_input_chars_per_word =
      json::uint32(json::get(model, "max_input_chars_per_word", "model"), "max_input_chars_per_word");
  LargeVector<Trie::Entry> words;
  words.reserve(document.size() / kBytesPerToken);
  document.visit_vocab([&](std::string_view word, std::uint32_t id) { words.emplace_back(word, id); });
  return std::make_unique<WordPiece>(words, std::move(options));
}

std::unique_ptr<Model> make_word_level(json::Object model, Document& document) {
  return std::make_unique<WordLevel>(read_vocabulary(document),
                                     std::string(json::get_string(model, "unk_token", "model")));
}

std::unique_ptr<Model> make_bpe(json::Object model, Document& document) {
  Bpe::Options options;
  options.has_unk_token = json::find(model, "unk_token").has_value();
  options.unk_token = json::get_string_or(model, "unk_token", "", "model");
  options.continuing_subword_prefix = json::get_string_or(model, "continuing_subword_prefix", "", "model");
  options.end_of_word_suffix = json::get_string_or(model, "end_of_word_suffix", "", "model");
  options.fuse_unk = json::get_bool_or(model, "fuse_unk", false, "model");
  options.byte_fallback = json::get_bool_or(model, "byte_fallback", false, "model");
  options.ignore_merges = json::get_bool_or(model, "ignore_merges", false, "model");
  Vocabulary vocabulary = read_vocabulary(document);
  return std::make_unique<Bpe>(std::move(vocabulary), document.merges(), std::move(options));
}

std::unique_ptr<Model> make_unigram(json::Object model, Document& document) {
  Unigram::Options options;
  if (const auto unk_id = json::find(model, "unk_id")) options.unk_id = json::uint32(*unk_id, "unk_id");
  options.byte_fallback = json::get_bool_or(model, "byte_fallback", false, "model");
  Document::ScoredPieces vocab = document.scored_pieces();
  return std::make_unique<Unigram>(vocab.pieces, std::move(vocab.scores), options);
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

std::unique_ptr<Model> make_model(json::Element description, Document& document) {
  const json::Object model = json::object(description, "model");
  const std::string_view type = type_of(model);
  if (type == "WordPiece") return make_word_piece(model, document);
  if (type == "BPE") return make_bpe(model, document);
  if (type == "Unigram") return make_unigram(model, document);
  if (type == "WordLevel") return make_word_level(model, document);
  fail(ErrorCode::kUnsupported, "tokenizer file: model type '{}' is unknown", type);
}

}  // namespace sardonyx::text
