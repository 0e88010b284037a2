#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "text/tokenizer/encoding.h"

namespace sardonyx::text {

/// Normalizers may make a text longer. A normalized text of more bytes than this is an Error kResourceExhausted.
inline constexpr std::size_t kMaxNormalizedBytes = std::size_t{1} << 31;
/// Throws where `bytes` are more than kMaxNormalizedBytes.
void check_normalized_size(std::size_t bytes);

/// A text and, for each of its bytes, the byte range of the original text that it came from. All bytes of a character
/// have the same range. While nothing has moved the ranges are implied and nothing is stored, and while nothing has
/// changed the bytes are the original's own (a view: the original must outlive this object).
class AlignedText {
 public:
  AlignedText() = default;
  /// The bytes of the original that start at its byte `base`.
  AlignedText(std::string_view original, std::uint32_t base) : view_(original), base_(base) {}
  AlignedText(AlignedText&& other) noexcept { *this = std::move(other); }
  AlignedText& operator=(AlignedText&& other) noexcept;

  std::string_view text() const { return owned_ ? std::string_view(buffer_) : view_; }
  std::size_t size() const { return text().size(); }
  bool moved() const { return moved_; }
  /// One range per byte; empty unless moved().
  const std::vector<Offset>& spans() const { return spans_; }
  /// Where the text begins in the original, unless moved().
  std::uint32_t base() const { return base_; }
  /// Whether the text begins with inserted bytes that stand for no character of the original.
  bool has_rootless_prefix() const { return moved_ && !spans_.empty() && spans_[0].begin == spans_[0].end; }

  /// Range of the original for the byte `at` (< size()).
  Offset span_at(std::size_t at) const;
  /// Range of the original for the non-empty range [begin, end): from the first byte's begin to the last byte's end.
  Offset span_of(std::size_t begin, std::size_t end) const { return {span_at(begin).begin, span_at(end - 1).end}; }

  /// Appends the ranges of the bytes [begin, end) to `out`; both must be borders of characters.
  void append_spans(std::size_t begin, std::size_t end, std::vector<Offset>& out) const;

  /// New bytes in the same places: the sizes and all character borders must agree.
  void replace_in_place(std::string text);
  /// New bytes and their ranges, one per byte.
  void replace(std::string text, std::vector<Offset> spans);
  /// Adds what follows in the original.
  void append(AlignedText next);

 private:
  void own();
  void store_spans();

  std::string_view view_;
  std::string buffer_;
  std::vector<Offset> spans_;
  std::uint32_t base_ = 0;
  bool owned_ = false;
  bool moved_ = false;
};

/// Writes the successor of a text character by character, giving each the place that the reference's `transform` gives
/// it.
///
/// A character either takes the place of the next old one (`put`), or is added and shares the place of the old
/// character before it (`add`); `skip` passes over old characters that are removed.
class Rewriter {
 public:
  explicit Rewriter(const AlignedText& source);

  void put(char32_t c);
  void add(char32_t c);
  void skip(std::size_t characters);
  /// `put` for each of the bytes [begin, end) of the old text, which must be ASCII.
  void put_ascii(std::size_t begin, std::size_t end);
  /// `put` for the first character of a sequence, `add` for the others.
  void put_or_add(char32_t c, bool first) { first ? put(c) : add(c); }
  /// change > 0: add; else put, and skip -change old characters after it.
  void change(char32_t c, int change) {
    if (change > 0) {
      add(c);
    } else {
      put(c);
      skip(static_cast<std::size_t>(-change));
    }
  }

  /// Moves the result into `target`, which may be the source.
  void finish(AlignedText& target);

 private:
  void write(char32_t c, Offset span);

  const AlignedText& source_;
  std::string_view old_;
  std::size_t at_ = 0;
  std::string text_;
  std::vector<Offset> spans_;
};

}  // namespace sardonyx::text
