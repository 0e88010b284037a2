#include "mutator.h"

#include <algorithm>
#include <utility>

namespace sardonyx::mutation {
namespace {

void put_varint(std::string& out, std::uint64_t value) {
  while (value >= 0x80) {
    out += static_cast<char>(value | 0x80);
    value >>= 7;
  }
  out += static_cast<char>(value);
}

bool get_varint(std::string_view& in, std::uint64_t& value) {
  value = 0;
  for (int shift = 0; shift < 64 && !in.empty(); shift += 7) {
    const auto byte = static_cast<unsigned char>(in.front());
    in.remove_prefix(1);
    value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
    if (byte < 0x80) return true;
  }
  return false;
}

constexpr int kDeepest = 24;

}  // namespace

struct Mutator::Field {
  std::uint64_t number = 0;
  std::uint32_t wire_type = 0;
  std::uint64_t value = 0;  // of a varint
  std::string bytes;        // of a fixed or length-delimited field that is no message
  Fields children;          // of a message
  bool is_message = false;
};

bool Mutator::parse(std::string_view message, int depth, Fields& fields) {
  while (!message.empty()) {
    std::uint64_t key = 0;
    if (!get_varint(message, key) || key >> 3 == 0 || key >> 3 > 100) return false;
    Field field;
    field.number = key >> 3;
    field.wire_type = key & 7;
    std::uint64_t length = 0;
    if (field.wire_type == 0) {
      if (!get_varint(message, field.value)) return false;
    } else {
      if (field.wire_type == 1) length = 8;
      if (field.wire_type == 5) length = 4;
      if (field.wire_type == 2 && !get_varint(message, length)) return false;
      if ((length == 0 && field.wire_type != 2) || length > message.size()) return false;
      field.bytes = message.substr(0, length);
      message.remove_prefix(length);
    }
    const bool may_be_message = field.wire_type == 2 && !field.bytes.empty() && depth < kDeepest;
    if (may_be_message && parse(field.bytes, depth + 1, field.children)) field.is_message = true;
    fields.push_back(std::move(field));
  }
  return true;
}

std::string Mutator::serialize(const Fields& fields) {
  std::string out;
  for (const Field& field : fields) {
    put_varint(out, field.number << 3 | field.wire_type);
    if (field.wire_type == 0) {
      put_varint(out, field.value);
      continue;
    }
    const std::string bytes = field.is_message ? serialize(field.children) : field.bytes;
    if (field.wire_type == 2) put_varint(out, bytes.size());
    out += bytes;
  }
  return out;
}

void Mutator::collect(Fields& fields, std::vector<std::pair<Fields*, std::size_t>>& places) {
  for (std::size_t i = 0; i < fields.size(); ++i) {
    places.emplace_back(&fields, i);
    if (fields[i].is_message) collect(fields[i].children, places);
  }
}

std::uint64_t Mutator::interesting_number() {
  constexpr std::uint64_t kNumbers[] = {0,
                                        1,
                                        2,
                                        3,
                                        4,
                                        7,
                                        8,
                                        13,
                                        64,
                                        127,
                                        128,
                                        255,
                                        1000,
                                        65535,
                                        1u << 20,
                                        0x7fffffff,
                                        0x80000000u,
                                        0xffffffffu,
                                        std::uint64_t{1} << 40,
                                        std::uint64_t{1} << 62,
                                        ~std::uint64_t{0} >> 1,
                                        ~std::uint64_t{0}};
  if (chance(20)) return -std::uint64_t{below(300)};
  return chance(70) ? kNumbers[below(std::size(kNumbers))] : below(300);
}

void Mutator::change_field(Fields& fields, std::size_t at, const std::vector<std::pair<Fields*, std::size_t>>& places) {
  const auto position = fields.begin() + static_cast<std::ptrdiff_t>(at);
  switch (below(6)) {
    case 0: fields.erase(position); return;
    case 1: {
      Field copy = *position;
      fields.insert(position, std::move(copy));
      return;
    }
    case 2: position->number = 1 + below(26); return;
    case 3: std::swap(*position, fields[below(fields.size())]); return;
    default: break;
  }
  if (position->wire_type == 0) {
    position->value = interesting_number();
  } else if (position->wire_type == 2 && chance(70)) {  // another field's content: a name, a tensor, a whole graph
    const auto& [other, index] = places[below(places.size())];
    const Field replacement = (*other)[index];
    if (replacement.wire_type == 2) {
      const std::uint64_t number = position->number;
      *position = replacement;
      position->number = number;
    }
  } else if (!position->bytes.empty()) {
    position->bytes[below(position->bytes.size())] = static_cast<char>(below(256));
  }
}

std::string Mutator::change_sense(std::string_view message) {
  Fields fields;
  if (!parse(message, 0, fields)) return std::string(message);
  std::vector<std::pair<Fields*, std::size_t>> places;
  collect(fields, places);
  if (places.empty()) return std::string(message);
  const auto [list, at] = places[below(places.size())];
  change_field(*list, at, places);
  return serialize(fields);
}

void Mutator::damage_bytes(std::string& bytes) {
  if (bytes.empty()) return;
  const std::size_t at = below(bytes.size());
  switch (below(5)) {
    case 0: bytes.resize(at); break;
    case 1: bytes[at] = static_cast<char>(bytes[at] ^ (1 << below(8))); break;
    case 2: bytes[at] = static_cast<char>(below(256)); break;
    case 3: bytes.erase(at, 1 + below(16)); break;
    default: bytes.insert(at, bytes.substr(below(bytes.size()), 1 + below(32))); break;
  }
}

/// Finds the length of some field, at any depth, and changes it without moving anything.
void Mutator::lie_about_length(std::string& bytes) {
  std::vector<std::size_t> lengths;
  const auto walk = [&](auto& self, std::size_t begin, std::size_t end, int depth) -> void {
    std::string_view rest(bytes.data() + begin, end - begin);
    while (!rest.empty()) {
      std::uint64_t key = 0, length = 0;
      if (!get_varint(rest, key) || key >> 3 == 0 || key >> 3 > 100) return;
      if ((key & 7) == 0) {
        if (!get_varint(rest, length)) return;
        continue;
      }
      const std::size_t at = static_cast<std::size_t>(rest.data() - bytes.data());
      length = (key & 7) == 1 ? 8 : 4;
      if ((key & 7) == 2) {
        if (!get_varint(rest, length)) return;
        lengths.push_back(at);
      }
      if (length > rest.size()) return;
      const std::size_t content = static_cast<std::size_t>(rest.data() - bytes.data());
      if ((key & 7) == 2 && depth < kDeepest) self(self, content, content + length, depth + 1);
      rest.remove_prefix(length);
    }
  };
  walk(walk, 0, bytes.size(), 0);
  if (lengths.empty()) return;
  char& length = bytes[lengths[below(lengths.size())]];
  length = chance(50) ? static_cast<char>(length + (chance(50) ? 1 : -1)) : static_cast<char>(below(256));
}

std::string Mutator::mutate(std::string_view message) {
  std::string mutant(message);
  const std::size_t changes = chance(60) ? 1 : 2 + below(3);
  for (std::size_t i = 0; i < changes; ++i) {
    const std::size_t kind = below(10);
    if (kind < 2) {
      damage_bytes(mutant);
    } else if (kind < 4) {
      lie_about_length(mutant);
    } else {
      mutant = change_sense(mutant);
    }
  }
  return mutant;
}

}  // namespace sardonyx::mutation
