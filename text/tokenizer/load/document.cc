#include "text/tokenizer/load/document.h"

#include <cmath>
#include <cstring>

#include "base/fail.h"
#include "text/tokenizer/load/reference_number.h"

namespace sardonyx::text {

namespace ondemand = simdjson::ondemand;

namespace {

std::string_view trimmed(std::string_view token) {
  const auto is_space = [](char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; };
  while (!token.empty() && is_space(token.back())) token.remove_suffix(1);
  return token;
}

bool is_large(std::string_view key) { return key == "vocab" || key == "merges"; }

}  // namespace

/// The text between the quotes, escapes and all. The parser has seen to it that there is a closing quote.
std::string_view Document::between_quotes(RawString raw) const {
  const char* const begin = raw.raw();
  const char* end = begin;
  while (true) {
    end = static_cast<const char*>(std::memchr(end, '"', static_cast<std::size_t>(text_.data() + text_.size() - end)));
    if (end == nullptr) fail_with(simdjson::UNCLOSED_STRING);
    const char* text_end = end;
    while (text_end > begin && text_end[-1] == '\\') --text_end;
    if ((end - text_end) % 2 == 0) return {begin, static_cast<std::size_t>(end - begin)};
    ++end;
  }
}

Document::Document(std::string_view text, std::size_t readable, std::string_view name) : text_(text), name_(name) {
  if (readable < text.size() + kPadding) {
    copy_.reserve(text.size() + kPadding);
    copy_ = text;
    text_ = copy_;
  }
  document_ = get(parser_.iterate(text_.data(), text_.size(), text_.size() + kPadding));
}

void Document::fail_with(simdjson::error_code error) const {
  if (error == simdjson::INCORRECT_TYPE) fail(ErrorCode::kInvalidModel, "{}: a part of it has the wrong type", name_);
  fail(ErrorCode::kInvalidModel, "{} is not valid JSON: {}", name_, simdjson::error_message(error));
}

template <typename T>
T Document::get(simdjson::simdjson_result<T> result) const {
  if (result.error() != simdjson::SUCCESS) fail_with(result.error());
  return std::move(result).value_unsafe();
}

ondemand::object Document::rewound() {
  document_.rewind();
  unescaped_end_ = nullptr;
  ondemand::object root;
  const auto error = document_.get_object().get(root);
  if (error == simdjson::INCORRECT_TYPE) fail(ErrorCode::kInvalidModel, "{} should be an object", name_);
  if (error != simdjson::SUCCESS) fail_with(error);
  return root;
}

ondemand::object Document::rewound_model() {
  for (auto item : rewound()) {
    ondemand::field member = get(std::move(item));
    if (between_quotes(member.key()) == "model") return get(member.value().get_object());
  }
  fail(ErrorCode::kInvalidModel, "{} has no field 'model'", name_);
}

void Document::check_end() {
  if (document_.current_location().error() != simdjson::OUT_OF_BOUNDS) {
    fail(ErrorCode::kInvalidModel, "{} is not valid JSON: something follows its end", name_);
  }
}

void Document::append_member(ondemand::field& member, std::string& out) const {
  if (out.back() != '{') out += ',';
  out += '"';
  out += between_quotes(member.key());
  out += "\":";
  Value& value = member.value();
  switch (get(value.type())) {
    case ondemand::json_type::array: out += get(get(value.get_array()).raw_json()); break;
    case ondemand::json_type::object: out += get(get(value.get_object()).raw_json()); break;
    default: out += trimmed(value.raw_json_token());
  }
}

void Document::append_model(ondemand::object model, std::string& out) const {
  if (out.back() != '{') out += ',';
  out += "\"model\":{";
  for (auto item : model) {
    ondemand::field member = get(std::move(item));
    const std::string_view key = between_quotes(member.key());
    const auto type = get(member.value().type());
    if (is_large(key) && type == ondemand::json_type::array) {
      out.append(out.back() == '{' ? "" : ",").append("\"").append(key).append("\":[]");
    } else if (is_large(key) && type == ondemand::json_type::object) {
      out.append(out.back() == '{' ? "" : ",").append("\"").append(key).append("\":{}");
    } else {
      append_member(member, out);
    }
  }
  out += '}';
}

json::Object Document::tree() {
  std::string text = "{";
  for (auto item : rewound()) {
    ondemand::field member = get(std::move(item));
    const bool is_object = get(member.value().type()) == ondemand::json_type::object;
    if (is_object && between_quotes(member.key()) == "model") {
      append_model(get(member.value().get_object()), text);
    } else {
      append_member(member, text);
    }
  }
  check_end();
  text += '}';
  json::Element root;
  if (const auto error = tree_parser_.parse(text).get(root); error != simdjson::SUCCESS) fail_with(error);
  return json::object(root, name_);
}

/// The string without its escapes.
std::string_view Document::string(RawString raw) {
  const std::string_view text = between_quotes(raw);
  if (std::memchr(text.data(), '\\', text.size()) == nullptr) return text;
  if (!unescaped_) unescaped_ = std::make_unique_for_overwrite<std::uint8_t[]>(text_.size() + kPadding);
  if (unescaped_end_ == nullptr) unescaped_end_ = unescaped_.get();
  return get(parser_.unescape(raw, unescaped_end_));
}

std::string_view Document::string(Value& value, std::string_view where) {
  RawString raw;
  if (value.get_raw_json_string().get(raw) != simdjson::SUCCESS) {
    fail(ErrorCode::kInvalidModel, "{}: {} should be a string", name_, where);
  }
  return string(raw);
}

void Document::visit_ids_of(ondemand::object map, const VisitId& visit) {
  for (auto item : map) {
    ondemand::field member = get(std::move(item));
    const std::string_view token = string(member.key());
    std::uint64_t id = 0;
    if (member.value().get_uint64().get(id) != simdjson::SUCCESS || id > UINT32_MAX) {
      fail(ErrorCode::kInvalidModel, "{}: the id of token '{}' should be a whole number from 0 to 4294967295", name_,
           token);
    }
    visit(token, static_cast<std::uint32_t>(id));
  }
}

void Document::visit_ids(const VisitId& visit) {
  visit_ids_of(rewound(), visit);
  check_end();
}

void Document::visit_vocab(const VisitId& visit) {
  ondemand::object vocab;
  if (rewound_model().find_field("vocab").get_object().get(vocab) != simdjson::SUCCESS) {
    fail(ErrorCode::kInvalidModel, "{}: model.vocab should be an object of tokens and ids", name_);
  }
  visit_ids_of(vocab, visit);
}

double Document::score(Value& value, std::string_view piece) const {
  const auto score = reference_number(trimmed(value.raw_json_token()));
  if (!score || !std::isfinite(*score)) {
    fail(ErrorCode::kInvalidModel, "{}: the score of piece '{}' should be a number", name_, piece);
  }
  return *score;
}

Document::ScoredPieces Document::scored_pieces() {
  ondemand::array vocab;
  if (rewound_model().find_field("vocab").get_array().get(vocab) != simdjson::SUCCESS) {
    fail(ErrorCode::kInvalidModel, "{}: model.vocab should be a list of pieces and scores", name_);
  }
  ScoredPieces result;
  auto& [pieces, scores] = result;
  constexpr std::size_t kBytesPerPiece = 32;  // of the text, about
  pieces.reserve(text_.size() / kBytesPerPiece);
  scores.reserve(text_.size() / kBytesPerPiece);
  for (auto item : vocab) {
    std::size_t column = 0;
    ondemand::array pair;
    if (get(std::move(item)).get_array().get(pair) != simdjson::SUCCESS) {
      fail(ErrorCode::kInvalidModel, "{}: piece {} of model.vocab should be a pair", name_, pieces.size());
    }
    for (auto part : pair) {
      Value value = get(std::move(part));
      if (column == 0)
        pieces.emplace_back(string(value, "a piece of model.vocab"), static_cast<std::uint32_t>(pieces.size()));
      if (column == 1) scores.push_back(score(value, pieces.back().first));
      ++column;
    }
    if (column != 2)
      fail(ErrorCode::kInvalidModel, "{}: a piece of model.vocab has {} parts; expected 2", name_, column);
  }
  return result;
}

std::vector<std::pair<std::string_view, std::string_view>> Document::merges() {
  ondemand::array list;
  if (rewound_model().find_field("merges").get_array().get(list) != simdjson::SUCCESS) {
    fail(ErrorCode::kInvalidModel, "{}: model.merges should be a list", name_);
  }
  std::vector<std::pair<std::string_view, std::string_view>> merges;
  for (auto item : list) {
    Value value = get(std::move(item));
    if (get(value.type()) == ondemand::json_type::array) {
      std::vector<std::string_view> parts;
      for (auto item_part : get(value.get_array())) {
        Value part = get(std::move(item_part));
        parts.push_back(string(part, "a part of a merge"));
      }
      if (parts.size() != 2) {
        fail(ErrorCode::kInvalidModel, "{}: merge {} has {} parts; expected 2", name_, merges.size(), parts.size());
      }
      merges.emplace_back(parts[0], parts[1]);
      continue;
    }
    const std::string_view line = string(value, "a merge");
    if (line.starts_with("#version")) continue;
    const std::size_t space = line.find(' ');
    if (space == std::string_view::npos || line.find(' ', space + 1) != std::string_view::npos) {
      fail(ErrorCode::kInvalidModel, "{}: merge '{}' should be two tokens with a space between", name_, line);
    }
    merges.emplace_back(line.substr(0, space), line.substr(space + 1));
  }
  return merges;
}

}  // namespace sardonyx::text
