#include "base/fail.h"
#include "text/tokenizer/load/components.h"
#include "text/tokenizer/load/reference_number.h"
#include "text/tokenizer/models/bpe.h"
#include "text/tokenizer/models/unigram.h"
#include "text/tokenizer/models/vocabulary.h"
#include "text/tokenizer/models/word_level.h"
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

std::unique_ptr<Model> make_word_level(json::Object model) {
  return std::make_unique<WordLevel>(vocabulary_from_map(json::object(json::get(model, "vocab", "model"), "model.vocab")),
                                     std::string(json::get_string(model, "unk_token", "model")));
}

/// Merges are ["a b", …] or [["a", "b"], …].
std::vector<std::pair<std::string_view, std::string_view>> read_merges(json::Array list) {
  std::vector<std::pair<std::string_view, std::string_view>> merges;
  for (const json::Element element : list) {
    if (element.is_array()) {
      const json::Array pair = json::array(element, "a merge");
      if (pair.size() != 2) fail(ErrorCode::kInvalidModel, "tokenizer file: merge {} has {} parts", merges.size(), pair.size());
      merges.emplace_back(json::string(pair.at(0).value(), "a merge"), json::string(pair.at(1).value(), "a merge"));
      continue;
    }
    const std::string_view line = json::string(element, "a merge");
    if (line.starts_with("#version")) continue;
    const std::size_t space = line.find(' ');
    if (space == std::string_view::npos || line.find(' ', space + 1) != std::string_view::npos) {
      fail(ErrorCode::kInvalidModel, "tokenizer file: merge '{}' should be two tokens with a space between", line);
    }
    merges.emplace_back(line.substr(0, space), line.substr(space + 1));
  }
  return merges;
}

std::unique_ptr<Model> make_bpe(json::Object model) {
  Bpe::Options options;
  options.has_unk_token = json::find(model, "unk_token").has_value();
  options.unk_token = json::get_string_or(model, "unk_token", "", "model");
  options.continuing_subword_prefix = json::get_string_or(model, "continuing_subword_prefix", "", "model");
  options.end_of_word_suffix = json::get_string_or(model, "end_of_word_suffix", "", "model");
  options.fuse_unk = json::get_bool_or(model, "fuse_unk", false, "model");
  options.byte_fallback = json::get_bool_or(model, "byte_fallback", false, "model");
  options.ignore_merges = json::get_bool_or(model, "ignore_merges", false, "model");
  const json::Array merges = json::array(json::get(model, "merges", "model"), "model.merges");
  return std::make_unique<Bpe>(vocabulary_from_map(json::object(json::get(model, "vocab", "model"), "model.vocab")),
                               read_merges(merges), std::move(options));
}

/// The scores of model.vocab, read as the reference reads numbers. The document tree keeps only their nearest doubles, so the
/// text is walked once more.
void read_scores(std::string_view text, std::vector<std::pair<std::string_view, double>>& pieces) {
  simdjson::ondemand::parser parser;
  const simdjson::padded_string padded(text);
  simdjson::ondemand::document document = parser.iterate(padded);
  std::size_t at = 0;
  for (simdjson::ondemand::array piece : document["model"]["vocab"].get_array()) {
    std::size_t column = 0;
    for (simdjson::ondemand::value part : piece) {
      if (column++ != 1 || at >= pieces.size()) continue;
      std::string_view number = part.raw_json_token();
      while (number.ends_with(' ') || number.ends_with('\n') || number.ends_with('\r') || number.ends_with('\t')) {
        number.remove_suffix(1);
      }
      pieces[at].second = reference_number(number);
    }
    ++at;
  }
}

std::unique_ptr<Model> make_unigram(json::Object model, std::string_view text) {
  const json::Array vocab = json::array(json::get(model, "vocab", "model"), "model.vocab");
  std::vector<std::pair<std::string_view, double>> pieces;
  for (const json::Element element : vocab) {
    const json::Array pair = json::array(element, "a piece of model.vocab");
    auto part = pair.begin();
    if (part == pair.end()) fail(ErrorCode::kInvalidModel, "tokenizer file: piece {} of model.vocab is empty", pieces.size());
    const std::string_view piece = json::string(*part, "a piece of model.vocab");
    if (++part == pair.end()) fail(ErrorCode::kInvalidModel, "tokenizer file: piece '{}' of model.vocab has no score", piece);
    pieces.emplace_back(piece, json::number(*part, "a score in model.vocab"));
  }
  read_scores(text, pieces);
  const auto unk_id = json::find(model, "unk_id");
  return std::make_unique<Unigram>(pieces, unk_id ? std::optional(json::uint32(*unk_id, "unk_id")) : std::nullopt,
                                   json::get_bool_or(model, "byte_fallback", false, "model"));
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

std::unique_ptr<Model> make_model(json::Element description, std::string_view text) {
  const json::Object model = json::object(description, "model");
  const std::string_view type = type_of(model);
  if (type == "WordPiece") return make_word_piece(model);
  if (type == "BPE") return make_bpe(model);
  if (type == "Unigram") return make_unigram(model, text);
  if (type == "WordLevel") return make_word_level(model);
  fail(ErrorCode::kUnsupported, "tokenizer file: model type '{}' is unknown", type);
}

}  // namespace sardonyx::text
