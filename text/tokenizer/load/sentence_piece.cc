#include "text/tokenizer/load/sentence_piece.h"

#include <algorithm>
#include <limits>
#include <protozero/pbf_reader.hpp>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/fail.h"
#include "text/tokenizer/decoders/basic.h"
#include "text/tokenizer/models/bpe.h"
#include "text/tokenizer/models/unigram.h"
#include "text/tokenizer/models/vocabulary.h"
#include "text/tokenizer/normalizers/sentence_piece.h"
#include "text/tokenizer/patterns/pattern.h"
#include "text/tokenizer/pre_tokenizers/metaspace.h"
#include "text/tokenizer/utf8.h"

namespace sardonyx::text {

namespace {

constexpr std::string_view kMark = "\xE2\x96\x81";  // ▁

enum class PieceType { kNormal = 1, kUnknown = 2, kControl = 3, kUserDefined = 4, kUnused = 5, kByte = 6 };
enum class ModelType { kUnigram = 1, kBpe = 2, kWord = 3, kCharacter = 4 };

struct Piece {
  std::string text;
  float score = 0;
  PieceType type = PieceType::kNormal;
};

struct SpecFile {
  std::vector<Piece> pieces;
  ModelType type = ModelType::kUnigram;
  bool byte_fallback = false;
  std::string character_map;
  bool add_dummy_prefix = true;
  bool remove_extra_whitespaces = true;
  bool escape_whitespaces = true;
};

using protozero::pbf_wire_type;

/// Field and wire type in one number, for `switch`.
constexpr std::uint32_t field(std::uint32_t tag, pbf_wire_type type) { return protozero::tag_and_type(tag, type); }
constexpr auto kBytes = pbf_wire_type::length_delimited;
constexpr auto kVarint = pbf_wire_type::varint;

/// The reader's own get_bool looks at a byte before it knows that there is one.
bool read_bool(protozero::pbf_reader& message) { return message.get_uint64() != 0; }

Piece read_piece(protozero::pbf_reader message) {
  Piece piece;
  while (message.next()) {
    switch (message.tag_and_type()) {
      case field(1, kBytes): piece.text = message.get_string(); break;
      case field(2, pbf_wire_type::fixed32): piece.score = message.get_float(); break;
      case field(3, kVarint): piece.type = static_cast<PieceType>(message.get_enum()); break;
      default: message.skip();
    }
  }
  return piece;
}

void read_trainer(protozero::pbf_reader message, SpecFile& file) {
  while (message.next()) {
    switch (message.tag_and_type()) {
      case field(3, kVarint): file.type = static_cast<ModelType>(message.get_enum()); break;
      case field(35, kVarint): file.byte_fallback = read_bool(message); break;
      default: message.skip();
    }
  }
}

void read_normalizer(protozero::pbf_reader message, SpecFile& file) {
  while (message.next()) {
    switch (message.tag_and_type()) {
      case field(2, kBytes): file.character_map = message.get_bytes(); break;
      case field(3, kVarint): file.add_dummy_prefix = read_bool(message); break;
      case field(4, kVarint): file.remove_extra_whitespaces = read_bool(message); break;
      case field(5, kVarint): file.escape_whitespaces = read_bool(message); break;
      default: message.skip();
    }
  }
}

SpecFile read_file_message(std::string_view bytes) {
  SpecFile file;
  try {
    protozero::pbf_reader message(bytes.data(), bytes.size());
    while (message.next()) {
      switch (message.tag_and_type()) {
        case field(1, kBytes): file.pieces.push_back(read_piece(message.get_message())); break;
        case field(2, kBytes): read_trainer(message.get_message(), file); break;
        case field(3, kBytes): read_normalizer(message.get_message(), file); break;
        default: message.skip();
      }
    }
  } catch (const protozero::exception& error) {
    fail(ErrorCode::kInvalidModel, "the SentencePiece model is damaged: {}", error.what());
  }
  for (const Piece& piece : file.pieces) {
    if (find_invalid_utf8(piece.text) != std::string_view::npos) {
      fail(ErrorCode::kInvalidModel, "the SentencePiece model has a piece that is not UTF-8");
    }
  }
  return file;
}

bool may_be_found(const Piece& piece) {
  return piece.type == PieceType::kNormal || piece.type == PieceType::kUserDefined;
}

struct RankedMerges {
  Bpe::Merges merges;
  std::vector<std::uint32_t> ranks;
};

/// The merges of a SentencePiece BPE model, which keeps only merged pieces: every way to cut a piece in two pieces, the
/// better pieces first.
RankedMerges merges_of(const SpecFile& file) {
  std::unordered_map<std::string_view, float> scores;
  for (const Piece& piece : file.pieces) {
    if (may_be_found(piece)) scores.emplace(piece.text, piece.score);
  }
  struct Cut {
    float score;
    std::string_view left, right;
  };
  std::vector<Cut> cuts;
  for (const auto& [text, score] : scores) {
    for (std::size_t i = 1; i < text.size(); ++i) {
      if (is_utf8_continuation(text[i])) continue;
      const auto left = scores.find(text.substr(0, i)), right = scores.find(text.substr(i));
      if (left != scores.end() && right != scores.end()) cuts.push_back({score, left->first, right->first});
    }
  }
  std::sort(cuts.begin(), cuts.end(), [](const Cut& a, const Cut& b) { return a.score > b.score; });
  RankedMerges result;
  for (const Cut& cut : cuts) {
    const std::size_t i = result.merges.size();
    const bool same = i > 0 && cut.score == cuts[i - 1].score;
    result.ranks.push_back(i == 0 ? 0 : result.ranks.back() + !same);
    result.merges.emplace_back(cut.left, cut.right);
  }
  return result;
}

std::optional<std::uint32_t> unknown_id(const SpecFile& file) {
  for (std::uint32_t i = 0; i < file.pieces.size(); ++i) {
    if (file.pieces[i].type == PieceType::kUnknown) return i;
  }
  return std::nullopt;
}

std::unique_ptr<Model> make_unigram(const SpecFile& file) {
  std::vector<Trie::Entry> pieces;
  LargeVector<double> scores;
  Unigram::Options options;
  options.unk_id = unknown_id(file);
  options.byte_fallback = file.byte_fallback;
  double best = 0;  // as SentencePiece starts, though scores are logarithms
  for (const Piece& piece : file.pieces) {
    if (piece.type == PieceType::kNormal) best = std::max<double>(best, piece.score);
  }
  for (const Piece& piece : file.pieces) {
    pieces.emplace_back(piece.text, static_cast<std::uint32_t>(pieces.size()));
    // SentencePiece's bonus for the user's symbols: a little worse than as many of the best piece as they have bytes.
    const bool is_symbol = piece.type == PieceType::kUserDefined;
    scores.push_back(is_symbol ? static_cast<double>(piece.text.size()) * best - 0.1 : piece.score);
    options.reserved.push_back(!may_be_found(piece));
  }
  return std::make_unique<Unigram>(pieces, std::move(scores), options);
}

std::unique_ptr<Model> make_bpe(const SpecFile& file) {
  Vocabulary vocabulary;
  for (std::uint32_t i = 0; i < file.pieces.size(); ++i) vocabulary.add(file.pieces[i].text, i);
  const auto unk_id = unknown_id(file);
  Bpe::Options options;
  options.has_unk_token = unk_id.has_value();
  if (unk_id) options.unk_token = file.pieces[*unk_id].text;
  options.fuse_unk = true;
  options.byte_fallback = file.byte_fallback;
  for (std::uint32_t i = 0; i < file.pieces.size(); ++i) {
    if (file.pieces[i].type == PieceType::kUserDefined) options.symbols.emplace_back(file.pieces[i].text, i);
  }
  const RankedMerges ranked = merges_of(file);
  return std::make_unique<Bpe>(std::move(vocabulary), ranked.merges, std::move(options), ranked.ranks);
}

std::unique_ptr<Model> make_model(const SpecFile& file) {
  if (file.type == ModelType::kUnigram) return make_unigram(file);
  if (file.type == ModelType::kBpe) return make_bpe(file);
  fail(ErrorCode::kUnsupported, "the SentencePiece model is of type {}; unigram (1) and bpe (2) are supported",
       static_cast<int>(file.type));
}

std::unique_ptr<Normalizer> make_normalizer(const SpecFile& file) {
  std::vector<Trie::Entry> symbols;
  for (const Piece& piece : file.pieces) {
    if (piece.type == PieceType::kUserDefined)
      symbols.emplace_back(piece.text, static_cast<std::uint32_t>(symbols.size()));
  }
  return std::make_unique<SentencePieceNormalizer>(file.character_map, symbols, file.remove_extra_whitespaces);
}

/// No piece goes on over a mark, so that texts may be cut there before the model sees them.
bool cuts_at_marks(const SpecFile& file) {
  return file.type == ModelType::kUnigram &&
         std::none_of(file.pieces.begin(), file.pieces.end(), [](const Piece& piece) {
           return may_be_found(piece) && piece.text.find(kMark, 1) != std::string::npos;
         });
}

std::unique_ptr<Decoder> make_decoder(const SpecFile& file) {
  std::vector<std::unique_ptr<Decoder>> steps;
  if (file.byte_fallback) {
    steps.push_back(std::make_unique<ReplaceDecoder>(make_literal_pattern(kMark), " "));
    steps.push_back(std::make_unique<ByteFallbackDecoder>());
    steps.push_back(std::make_unique<FuseDecoder>());
    steps.push_back(std::make_unique<StripDecoder>(" ", file.add_dummy_prefix ? 1 : 0, 0));
  } else {
    steps.push_back(std::make_unique<MetaspaceDecoder>(std::string(kMark), file.add_dummy_prefix));
  }
  return std::make_unique<SequenceDecoder>(std::move(steps));
}

}  // namespace

bool looks_like_sentence_piece(std::string_view bytes) { return bytes.size() > 2 && bytes[0] == 0x0A; }

TokenizerParts parse_sentence_piece(std::string_view bytes) {
  const SpecFile file = read_file_message(bytes);
  if (file.pieces.empty()) fail(ErrorCode::kInvalidModel, "the SentencePiece model has no pieces");
  TokenizerParts parts;
  parts.model = make_model(file);
  parts.normalizer = make_normalizer(file);
  if (file.escape_whitespaces) {
    const PrependScheme scheme = file.add_dummy_prefix ? PrependScheme::kSentencePiece : PrependScheme::kNever;
    parts.pre_tokenizer = std::make_unique<MetaspacePreTokenizer>(std::string(kMark), scheme, cuts_at_marks(file));
  }
  parts.decoder = make_decoder(file);
  for (const Piece& piece : file.pieces) {
    // The user's symbols are the model's own business.
    if (piece.type != PieceType::kControl && piece.type != PieceType::kUnknown) continue;
    AddedToken token;
    token.content = piece.text;
    token.normalized = false;
    token.special = true;
    parts.added_tokens.push_back(std::move(token));
  }
  return parts;
}

}  // namespace sardonyx::text
