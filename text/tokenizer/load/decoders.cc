#include "base/fail.h"
#include "text/tokenizer/decoders/basic.h"
#include "text/tokenizer/decoders/word_piece.h"
#include "text/tokenizer/load/components.h"
#include "text/tokenizer/load/metaspace.h"

namespace sardonyx::text {

namespace {

using Result = std::unique_ptr<Decoder>;

Result make_sequence(json::Object object) {
  std::vector<std::unique_ptr<Decoder>> steps;
  for (const json::Element step : json::array(json::get(object, "decoders", "Sequence"), "decoders")) {
    steps.push_back(make_decoder(step));
  }
  return std::make_unique<SequenceDecoder>(std::move(steps));
}

Result make_metaspace(json::Object object) {
  const Metaspace metaspace = read_metaspace(object);
  return std::make_unique<MetaspaceDecoder>(metaspace.replacement, metaspace.scheme != PrependScheme::kNever);
}

Result make_strip(json::Object object) {
  return std::make_unique<StripDecoder>(make_character(object, "content"),
                                        json::uint32(json::get(object, "start", "Strip"), "start"),
                                        json::uint32(json::get(object, "stop", "Strip"), "stop"));
}

Result make_ctc(json::Object object) {
  return std::make_unique<CtcDecoder>(std::string(json::get_string(object, "pad_token", "CTC")),
                                      std::string(json::get_string(object, "word_delimiter_token", "CTC")),
                                      json::get_bool(object, "cleanup", "CTC"));
}

struct Row {
  std::string_view type;
  Result (*make)(json::Object);
};

constexpr Row kDecoders[] = {
    {"BPEDecoder",
     [](json::Object object) -> Result {
       return std::make_unique<BpeDecoder>(std::string(json::get_string(object, "suffix", "BPEDecoder")));
     }},
    {"ByteFallback", [](json::Object) -> Result { return std::make_unique<ByteFallbackDecoder>(); }},
    {"ByteLevel", [](json::Object) -> Result { return std::make_unique<ByteLevelDecoder>(); }},
    {"CTC", make_ctc},
    {"Fuse", [](json::Object) -> Result { return std::make_unique<FuseDecoder>(); }},
    {"Metaspace", make_metaspace},
    {"Replace",
     [](json::Object object) -> Result {
       return std::make_unique<ReplaceDecoder>(make_pattern(json::get(object, "pattern", "Replace")),
                                               std::string(json::get_string(object, "content", "Replace")));
     }},
    {"Sequence", make_sequence},
    {"Strip", make_strip},
    {"WordPiece",
     [](json::Object object) -> Result {
       return std::make_unique<WordPieceDecoder>(std::string(json::get_string(object, "prefix", "WordPiece")),
                                                 json::get_bool(object, "cleanup", "WordPiece"));
     }},
};

}  // namespace

std::unique_ptr<Decoder> make_decoder(json::Element description) {
  const json::Object object = json::object(description, "decoder");
  const std::string_view type = json::get_string(object, "type", "decoder");
  for (const Row& row : kDecoders) {
    if (row.type == type) return row.make(object);
  }
  fail(ErrorCode::kUnsupported, "tokenizer file: decoder type '{}' is unknown", type);
}

}  // namespace sardonyx::text
