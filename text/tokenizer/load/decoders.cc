#include "base/fail.h"
#include "text/tokenizer/decoders/word_piece.h"
#include "text/tokenizer/load/components.h"

namespace sardonyx::text {

std::unique_ptr<Decoder> make_decoder(json::Element description) {
  const json::Object object = json::object(description, "decoder");
  const std::string_view type = json::get_string(object, "type", "decoder");
  if (type == "WordPiece") {
    return std::make_unique<WordPieceDecoder>(std::string(json::get_string(object, "prefix", type)),
                                              json::get_bool(object, "cleanup", type));
  }
  fail(ErrorCode::kUnsupported, "tokenizer file: decoder type '{}' is unknown", type);
}

}  // namespace sardonyx::text
