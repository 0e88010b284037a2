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
  bytes_.reserve(bytes);
  by_id_.reserve(tokens);
  std::size_t slots = 16;
  while (slots < tokens * 2) slots *= 2;
  if (slots > slots_.size()) grow(slots);
}

void Vocabulary::grow(std::size_t slots) {
  std::vector<Slot> old = std::exchange(slots_, std::vector<Slot>(slots));
  for (const Slot& slot : old) {
    if (slot.length == kNone) continue;
    std::size_t i = slot.hash & (slots - 1);
    while (slots_[i].length != kNone) i = (i + 1) & (slots - 1);
    slots_[i] = slot;
  }
}

std::size_t Vocabulary::locate(std::string_view token, std::uint32_t hash) const {
  std::size_t i = hash & (slots_.size() - 1);
  for (; slots_[i].length != kNone; i = (i + 1) & (slots_.size() - 1)) {
    const Slot& slot = slots_[i];
    if (slot.hash == hash && slot.length == token.size() &&
        std::memcmp(bytes_.data() + slot.at, token.data(), token.size()) == 0) {
      break;
    }
  }
  return i;
}

void Vocabulary::add(std::string_view token, std::uint32_t id) {
  if (id > kMaxId) {
    fail(ErrorCode::kInvalidModel, "token '{}' has id {}, above the limit of {}; the tokenizer file is damaged", token, id,
         kMaxId);
  }
  if (size_ * 2 >= slots_.size()) grow(slots_.empty() ? 16 : slots_.size() * 2);
  const std::uint32_t hash = hash_of(token);
  Slot& slot = slots_[locate(token, hash)];
  if (slot.length == kNone) {
    slot = {hash, static_cast<std::uint32_t>(bytes_.size()), static_cast<std::uint32_t>(token.size()), id};
    bytes_ += token;
    ++size_;
  }
  slot.id = id;
  if (id >= by_id_.size()) by_id_.resize(id + 1);
  by_id_[id] = {slot.at, slot.length};
}

std::uint32_t Vocabulary::find(std::string_view token) const {
  if (slots_.empty()) return kNone;
  const Slot& slot = slots_[locate(token, hash_of(token))];
  return slot.length == kNone ? kNone : slot.id;
}

std::optional<std::string_view> Vocabulary::token(std::uint32_t id) const {
  if (id >= by_id_.size() || by_id_[id].length == kNone) return std::nullopt;
  return std::string_view(bytes_.data() + by_id_[id].at, by_id_[id].length);
}

}  // namespace sardonyx::text
