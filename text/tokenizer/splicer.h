#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "text/tokenizer/aligned_text.h"

namespace sardonyx::text {

/// Builds a text out of ranges of another one and new strings, keeping the places in the original.
class Splicer {
 public:
  explicit Splicer(const AlignedText& source, std::size_t extra_bytes = 0);

  /// Bytes [begin, end) of the source, with their places.
  void copy(std::size_t begin, std::size_t end);
  /// A new string; all its bytes have the place `span`.
  void insert(std::string_view text, Offset span) {
    check_normalized_size(text_.size() + text.size());
    text_ += text;
    spans_.resize(text_.size(), span);
  }
  std::size_t size() const { return text_.size(); }
  void finish(AlignedText& target) { target.replace(std::move(text_), std::move(spans_)); }

 private:
  const AlignedText& source_;
  std::string text_;
  std::vector<Offset> spans_;
};

/// Place of a string that the reference inserts after byte `at` of the source: that of the character before it.
inline Offset place_before(const AlignedText& source, std::size_t at) {
  if (at > 0) return source.span_at(at - 1);
  const std::uint32_t start = source.size() == 0 ? 0 : source.span_at(0).begin;
  return {start, start};
}

}  // namespace sardonyx::text
