#include <limits>
#include <utility>

#include "base/fail.h"
#include "text/tokenizer/load/components.h"
#include "text/tokenizer/processors/bert.h"
#include "text/tokenizer/processors/byte_level.h"
#include "text/tokenizer/processors/template.h"

namespace sardonyx::text {

namespace {

/// A pair such as ["[SEP]", 102].
SpecialPiece token_and_id(json::Object parent, std::string_view key) {
  const json::Array pair = json::array(json::get(parent, key, "post_processor"), key);
  if (pair.size() != 2) fail(ErrorCode::kInvalidModel, "tokenizer file: post_processor.{} should be [token, id]", key);
  return {json::uint32(pair.at(1).value(), key), std::string(json::string(pair.at(0).value(), key))};
}

std::vector<TemplateProcessor::Piece> template_pieces(json::Object parent, std::string_view key) {
  std::vector<TemplateProcessor::Piece> pieces;
  for (const json::Element element : json::array(json::get(parent, key, "TemplateProcessing"), key)) {
    const json::Object object = json::object(element, "a piece of TemplateProcessing");
    TemplateProcessor::Piece piece;
    const auto sequence = json::find(object, "Sequence");
    piece.is_sequence = sequence.has_value();
    const json::Object inner =
        json::object(sequence ? *sequence : json::get(object, "SpecialToken", "a piece of TemplateProcessing"), key);
    piece.type_id = json::uint32(json::get(inner, "type_id", key), "type_id");
    const std::string_view id = json::get_string(inner, "id", key);
    if (!piece.is_sequence) {
      piece.special = id;
    } else if (id == "A" || id == "B") {
      piece.sequence = id == "A" ? 0 : 1;
    } else {
      fail(ErrorCode::kInvalidModel, "tokenizer file: TemplateProcessing has a sequence '{}'; only A and B exist", id);
    }
    pieces.push_back(std::move(piece));
  }
  return pieces;
}

std::unique_ptr<PostProcessor> make_template(json::Object description) {
  TemplateProcessor::Specials specials;
  const json::Object tokens =
      json::object(json::get(description, "special_tokens", "TemplateProcessing"), "special_tokens");
  for (const auto& [name, element] : tokens) {
    const json::Object token = json::object(element, "a special token of TemplateProcessing");
    std::vector<SpecialPiece> pieces;
    for (const json::Element id : json::array(json::get(token, "ids", name), "ids")) {
      pieces.push_back({json::uint32(id, "ids"), std::string()});
    }
    std::size_t at = 0;
    for (const json::Element text : json::array(json::get(token, "tokens", name), "tokens")) {
      if (at < pieces.size()) pieces[at].token = json::string(text, "tokens");
      ++at;
    }
    if (at != pieces.size()) {
      fail(ErrorCode::kInvalidModel, "tokenizer file: special token '{}' has {} ids and {} tokens", name, pieces.size(),
           at);
    }
    specials[std::string(name)] = std::move(pieces);
  }
  return std::make_unique<TemplateProcessor>(template_pieces(description, "single"),
                                             template_pieces(description, "pair"), std::move(specials));
}

}  // namespace

std::unique_ptr<PostProcessor> make_post_processor(json::Element description) {
  const json::Object object = json::object(description, "post_processor");
  const std::string_view type = json::get_string(object, "type", "post_processor");
  if (type == "TemplateProcessing") return make_template(object);
  if (type == "BertProcessing") {
    return std::make_unique<BertProcessor>(token_and_id(object, "cls"), token_and_id(object, "sep"));
  }
  if (type == "RobertaProcessing") {
    return std::make_unique<RobertaProcessor>(token_and_id(object, "cls"), token_and_id(object, "sep"),
                                              json::get_bool(object, "trim_offsets", type),
                                              json::get_bool(object, "add_prefix_space", type));
  }
  if (type == "ByteLevel") {
    return std::make_unique<ByteLevelProcessor>(json::get_bool(object, "trim_offsets", type),
                                                json::get_bool(object, "add_prefix_space", type));
  }
  if (type == "Sequence") {
    std::vector<std::unique_ptr<PostProcessor>> steps;
    for (const json::Element step : json::array(json::get(object, "processors", type), "processors")) {
      steps.push_back(make_post_processor(step));
    }
    return std::make_unique<SequenceProcessor>(std::move(steps));
  }
  fail(ErrorCode::kUnsupported, "tokenizer file: post_processor type '{}' is unknown", type);
}

}  // namespace sardonyx::text
