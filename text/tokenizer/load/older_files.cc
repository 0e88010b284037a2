#include "text/tokenizer/load/older_files.h"

#include <initializer_list>
#include <utility>

#include "base/fail.h"
#include "text/tokenizer/decoders/basic.h"
#include "text/tokenizer/decoders/word_piece.h"
#include "text/tokenizer/load/document.h"
#include "text/tokenizer/models/bpe.h"
#include "text/tokenizer/models/vocabulary.h"
#include "text/tokenizer/models/word_piece.h"
#include "text/tokenizer/normalizers/bert.h"
#include "text/tokenizer/pre_tokenizers/bert.h"
#include "text/tokenizer/pre_tokenizers/byte_level.h"
#include "text/tokenizer/processors/bert.h"
#include "text/tokenizer/processors/byte_level.h"
#include "text/tokenizer/unicode/properties.h"
#include "text/tokenizer/utf8.h"

namespace sardonyx::text {

namespace {

/// The line without the whitespace at its end.
std::string_view trim_end(std::string_view line) {
  while (!line.empty()) {
    const std::size_t last = utf8_previous(line, line.size());
    if (!has_flag(utf8_decode(&line[last]), kWhitespace)) break;
    line = line.substr(0, last);
  }
  return line;
}

template <typename Visit>
void for_each_line(std::string_view text, Visit&& visit) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    visit(line);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

void add_specials(TokenizerParts& parts, std::initializer_list<const char*> contents) {
  for (const char* content : contents) {
    if (!parts.model->token_to_id(content)) continue;
    AddedToken token;
    token.content = content;
    token.normalized = false;
    token.special = true;
    token.lstrip = token.content == "<mask>";
    parts.added_tokens.push_back(std::move(token));
  }
}

SpecialPiece special(const Model& model, const char* content, std::string_view file) {
  const auto id = model.token_to_id(content);
  if (!id) fail(ErrorCode::kInvalidModel, "{} has no token {}, which the tokenizer needs", file, content);
  return {*id, content};
}

void check_utf8(std::string_view text, std::string_view file) {
  if (const std::size_t at = find_invalid_utf8(text); at != std::string_view::npos) {
    fail(ErrorCode::kInvalidModel, "{} is not valid UTF-8 at byte {}", file, at);
  }
}

}  // namespace

TokenizerParts parse_vocab_txt(std::string_view text, bool lowercase) {
  check_utf8(text, "vocab.txt");
  std::vector<Trie::Entry> words;
  for_each_line(text, [&](std::string_view line) {
    words.emplace_back(trim_end(line), static_cast<std::uint32_t>(words.size()));
  });
  TokenizerParts parts;
  parts.model = std::make_unique<WordPiece>(words, WordPiece::Options());
  BertNormalizer::Options options;
  options.lowercase = options.strip_accents = lowercase;
  parts.normalizer = std::make_unique<BertNormalizer>(options);
  parts.pre_tokenizer = std::make_unique<BertPreTokenizer>();
  parts.post_processor = std::make_unique<BertProcessor>(special(*parts.model, "[CLS]", "vocab.txt"),
                                                         special(*parts.model, "[SEP]", "vocab.txt"));
  parts.decoder = std::make_unique<WordPieceDecoder>("##", true);
  add_specials(parts, {"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"});
  return parts;
}

TokenizerParts parse_vocab_and_merges(std::string_view vocab_json, std::string_view merges_txt) {
  check_utf8(merges_txt, "merges.txt");
  Vocabulary vocabulary;
  Document(vocab_json, vocab_json.size(), "vocab.json").visit_ids([&](std::string_view token, std::uint32_t id) {
    vocabulary.add(token, id);
  });
  std::vector<std::pair<std::string_view, std::string_view>> merges;
  for_each_line(merges_txt, [&](std::string_view line) {
    if (line.starts_with("#version") || line.empty()) return;
    const std::size_t space = line.find(' ');
    if (space == std::string_view::npos || line.find(' ', space + 1) != std::string_view::npos) {
      fail(ErrorCode::kInvalidModel, "merges.txt: '{}' should be two tokens with a space between", line);
    }
    merges.emplace_back(line.substr(0, space), line.substr(space + 1));
  });
  TokenizerParts parts;
  parts.model = std::make_unique<Bpe>(std::move(vocabulary), merges, Bpe::Options());
  parts.pre_tokenizer = std::make_unique<ByteLevelPreTokenizer>(false, true);
  parts.decoder = std::make_unique<ByteLevelDecoder>();
  if (parts.model->token_to_id("<s>") && parts.model->token_to_id("</s>")) {
    parts.post_processor = std::make_unique<RobertaProcessor>(special(*parts.model, "<s>", "vocab.json"),
                                                              special(*parts.model, "</s>", "vocab.json"), true, false);
  } else {
    parts.post_processor = std::make_unique<ByteLevelProcessor>(false, true);
  }
  add_specials(parts, {"<s>", "<pad>", "</s>", "<unk>", "<mask>", "<|endoftext|>"});
  return parts;
}

}  // namespace sardonyx::text
