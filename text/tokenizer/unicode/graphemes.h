#pragma once

#include <cstddef>
#include <string_view>

namespace sardonyx::text {

/// Finds the borders of extended grapheme clusters (UAX #29), from left to right. Indic conjuncts are not kept
/// together.
class GraphemeBreaker {
 public:
  explicit GraphemeBreaker(std::string_view text) : text_(text) {}

  /// End of the cluster that starts at `at` (< size).
  std::size_t next(std::size_t at) const;

 private:
  std::string_view text_;
};

}  // namespace sardonyx::text
