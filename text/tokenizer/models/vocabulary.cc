#include "text/tokenizer/models/vocabulary.h"

#include <cstring>
#include <utility>

#include "base/fail.h"

namespace sardonyx::text {

namespace {

std::uint32_t hash_of(std::string_view key) {
  std::uint64_t hash = 0x9E3779B97F4A7C15u ^ key.size();
  const char* at = key.data();
  std::size_t left = key.size();
  for (; left >= 8; at += 8, left -= 8) {
    std::uint64_t word;
    std::memcpy(&word, at, 8);
    hash = (hash ^ word) * 0xFF51AFD7ED558CCDu;
    hash ^= hash >> 32;
  }
  std::uint64_t word = 0;
  std::memcpy(&word, at, left);
  hash = (hash ^ word) * 0xC4CEB9FE1A85EC53u;
  return static_cast<std::uint32_t>(hash >> 32);
}

}  // namespace

void Vocabulary::reserve(std::size_t tokens, std::size_t bytes) {
  strings_.reserve(tokens, bytes);
  std::size_t slots = 16;
  while (slots < tokens * 2) slots *= 2;
  if (slots > slots_.size()) grow(slots);
}

void Vocabulary::grow(std::size_t slots) {
  const LargeVector<Slot> old = std::exchange(slots_, LargeVector<Slot>(slots));
  for (const Slot& slot : old) {
    if (slot.place.length == kNone) continue;
    std::size_t i = slot.hash & (slots - 1);
    while (slots_[i].place.length != kNone) i = (i + 1) & (slots - 1);
    slots_[i] = slot;
  }
}

std::size_t Vocabulary::locate(std::string_view token, std::uint32_t hash) const {
  std::size_t i = hash & (slots_.size() - 1);
  for (; slots_[i].place.length != kNone; i = (i + 1) & (slots_.size() - 1)) {
    if (slots_[i].hash == hash && strings_.text(slots_[i].place) == token) break;
  }
  return i;
}

void Vocabulary::add(std::string_view token, std::uint32_t id) {
  if (size_ * 2 >= slots_.size()) grow(slots_.empty() ? 16 : slots_.size() * 2);
  const std::uint32_t hash = hash_of(token);
  Slot& slot = slots_[locate(token, hash)];
  if (slot.place.length == kNone) {
    slot = {hash, id, strings_.set(id, token)};
    ++size_;
  } else if (slot.id != id) {
    if (strings_.place(slot.id) == slot.place) strings_.remove(slot.id);
    strings_.set_place(id, slot.place);
    slot.id = id;
  }
}

std::uint32_t Vocabulary::find(std::string_view token) const {
  if (slots_.empty()) return kNone;
  const Slot& slot = slots_[locate(token, hash_of(token))];
  return slot.place.length == kNone ? kNone : slot.id;
}

}  // namespace sardonyx::text
