#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace sardonyx::mutation {

/// Damages serialized protobuf messages, reproducibly by seed: cut, flipped and moved bytes; lengths that lie; and
/// changes that keep the encoding whole but not its sense (fields left out, doubled, renumbered; numbers and names
/// replaced).
class Mutator {
 public:
  explicit Mutator(std::uint64_t seed) : random_(seed) {}

  /// One to four changes to a copy of the message.
  std::string mutate(std::string_view message);

 private:
  struct Field;
  using Fields = std::vector<Field>;

  std::size_t below(std::size_t bound) { return bound == 0 ? 0 : random_() % bound; }
  bool chance(int percent) { return below(100) < static_cast<std::size_t>(percent); }

  void damage_bytes(std::string& bytes);
  void lie_about_length(std::string& bytes);
  std::string change_sense(std::string_view message);

  static bool parse(std::string_view message, int depth, Fields& fields);
  static std::string serialize(const Fields& fields);
  static void collect(Fields& fields, std::vector<std::pair<Fields*, std::size_t>>& places);
  void change_field(Fields& fields, std::size_t at, const std::vector<std::pair<Fields*, std::size_t>>& places);
  std::uint64_t interesting_number();

  std::mt19937_64 random_;
};

}  // namespace sardonyx::mutation
