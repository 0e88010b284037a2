#include "text/tokenizer/load/json.h"

#include <limits>

#include "base/fail.h"

namespace sardonyx::text::json {

namespace {

[[noreturn]] void wrong_type(std::string_view where, std::string_view expected) {
  fail(ErrorCode::kInvalidModel, "tokenizer file: {} should be {}", where, expected);
}

}  // namespace

Object object(Element value, std::string_view where) {
  Object result;
  if (value.get_object().get(result) != simdjson::SUCCESS) wrong_type(where, "an object");
  return result;
}

Array array(Element value, std::string_view where) {
  Array result;
  if (value.get_array().get(result) != simdjson::SUCCESS) wrong_type(where, "an array");
  return result;
}

std::string_view string(Element value, std::string_view where) {
  std::string_view result;
  if (value.get_string().get(result) != simdjson::SUCCESS) wrong_type(where, "a string");
  return result;
}

std::uint32_t uint32(Element value, std::string_view where) {
  std::uint64_t result = 0;
  if (value.get_uint64().get(result) != simdjson::SUCCESS || result > std::numeric_limits<std::uint32_t>::max()) {
    wrong_type(where, "a whole number from 0 to 4294967295");
  }
  return static_cast<std::uint32_t>(result);
}

double number(Element value, std::string_view where) {
  double result = 0;
  if (value.get_double().get(result) != simdjson::SUCCESS) wrong_type(where, "a number");
  return result;
}

bool boolean(Element value, std::string_view where) {
  bool result = false;
  if (value.get_bool().get(result) != simdjson::SUCCESS) wrong_type(where, "true or false");
  return result;
}

std::optional<Element> find(Object parent, std::string_view key) {
  Element result;
  if (parent.at_key(key).get(result) != simdjson::SUCCESS || result.is_null()) return std::nullopt;
  return result;
}

Element get(Object parent, std::string_view key, std::string_view where) {
  Element result;
  if (parent.at_key(key).get(result) != simdjson::SUCCESS) {
    fail(ErrorCode::kInvalidModel, "tokenizer file: {} has no field '{}'", where, key);
  }
  return result;
}

std::string_view get_string(Object parent, std::string_view key, std::string_view where) {
  return string(get(parent, key, where), key);
}

bool get_bool(Object parent, std::string_view key, std::string_view where) {
  return boolean(get(parent, key, where), key);
}

bool get_bool_or(Object parent, std::string_view key, bool otherwise, std::string_view) {
  const std::optional<Element> value = find(parent, key);
  return value ? boolean(*value, key) : otherwise;
}

std::string_view get_string_or(Object parent, std::string_view key, std::string_view otherwise, std::string_view) {
  const std::optional<Element> value = find(parent, key);
  return value ? string(*value, key) : otherwise;
}

}  // namespace sardonyx::text::json
