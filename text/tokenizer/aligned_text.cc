#include "text/tokenizer/aligned_text.h"

#include <algorithm>
#include <utility>

#include "base/fail.h"
#include "text/tokenizer/utf8.h"

namespace sardonyx::text {

void check_normalized_size(std::size_t bytes) {
  if (bytes <= kMaxNormalizedBytes) return;
  fail(ErrorCode::kResourceExhausted,
       "the tokenizer makes the text longer than {} bytes; cut it, or see what its normalizer and added tokens do",
       kMaxNormalizedBytes);
}

AlignedText& AlignedText::operator=(AlignedText&& other) noexcept {
  view_ = other.view_;
  buffer_ = std::move(other.buffer_);
  spans_ = std::move(other.spans_);
  base_ = other.base_;
  owned_ = other.owned_;
  moved_ = other.moved_;
  return *this;
}

Offset AlignedText::span_at(std::size_t at) const {
  if (moved_) return spans_[at];
  const std::string_view bytes = text();
  std::size_t begin = at;
  while (begin > 0 && is_utf8_continuation(bytes[begin])) --begin;
  const std::size_t end = begin + utf8_length(static_cast<unsigned char>(bytes[begin]));
  return {base_ + static_cast<std::uint32_t>(begin), base_ + static_cast<std::uint32_t>(end)};
}

void AlignedText::append_spans(std::size_t begin, std::size_t end, std::vector<Offset>& out) const {
  if (moved_) {
    out.insert(out.end(), spans_.begin() + static_cast<std::ptrdiff_t>(begin),
               spans_.begin() + static_cast<std::ptrdiff_t>(end));
    return;
  }
  const std::string_view bytes = text();
  out.resize(out.size() + (end - begin));
  Offset* next = out.data() + out.size() - (end - begin);
  for (std::size_t i = begin; i < end;) {
    const auto width = static_cast<std::uint32_t>(utf8_length(static_cast<unsigned char>(bytes[i])));
    const std::uint32_t start = base_ + static_cast<std::uint32_t>(i);
    for (std::uint32_t k = 0; k < width; ++k) *next++ = {start, start + width};
    i += width;
  }
}

void AlignedText::replace_in_place(std::string text) {
  buffer_ = std::move(text);
  owned_ = true;
}

void AlignedText::replace(std::string text, std::vector<Offset> spans) {
  buffer_ = std::move(text);
  spans_ = std::move(spans);
  owned_ = moved_ = true;
}

void AlignedText::own() {
  if (owned_) return;
  buffer_ = view_;
  owned_ = true;
}

void AlignedText::store_spans() {
  if (moved_) return;
  std::vector<Offset> spans;
  append_spans(0, size(), spans);
  spans_ = std::move(spans);
  moved_ = true;
}

void AlignedText::append(AlignedText next) {
  if (next.size() == 0) return;
  check_normalized_size(size() + next.size());
  if (size() == 0) {
    *this = std::move(next);
    return;
  }
  const bool contiguous = !moved_ && !next.moved_ && base_ + size() == next.base_;
  if (contiguous && !owned_ && !next.owned_) {
    view_ = std::string_view(view_.data(), view_.size() + next.view_.size());
    return;
  }
  if (!contiguous) {
    store_spans();
    next.store_spans();
    spans_.insert(spans_.end(), next.spans_.begin(), next.spans_.end());
  }
  own();
  buffer_ += next.text();
}

namespace {

/// The reference leaves a first run of bytes alone that came from nowhere (empty ranges). Only an inserted text can.
std::size_t rootless_prefix(const AlignedText& text) {
  if (!text.moved()) return 0;
  std::size_t at = 0;
  while (at < text.size() && text.span_at(at).begin == text.span_at(at).end) ++at;
  return at;
}

}  // namespace

Rewriter::Rewriter(const AlignedText& source) : source_(source), old_(source.text()) {
  text_.reserve(old_.size() + 16);
  spans_.reserve(old_.size() + 16);
  at_ = rootless_prefix(source);
  text_.append(old_, 0, at_);
  for (std::size_t i = 0; i < at_; ++i) spans_.push_back(source.span_at(i));
}

void Rewriter::write(char32_t c, Offset span) {
  utf8_append(text_, c);
  check_normalized_size(text_.size());
  spans_.resize(text_.size(), span);
}

void Rewriter::put(char32_t c) {
  if (at_ >= old_.size()) {
    add(c);
    return;
  }
  write(c, source_.span_at(at_));
  at_ += utf8_length(static_cast<unsigned char>(old_[at_]));
}

void Rewriter::put_ascii(std::size_t begin, std::size_t end) {
  if (at_ != begin) {  // the reference has lost its place
    for (std::size_t i = begin; i < end; ++i) put(static_cast<unsigned char>(old_[i]));
    return;
  }
  text_.append(old_, begin, end - begin);
  check_normalized_size(text_.size());
  source_.append_spans(begin, end, spans_);
  at_ = end;
}

void Rewriter::add(char32_t c) {
  if (at_ > 0) {
    write(c, source_.span_at(at_ - 1));
  } else {
    const std::uint32_t start = old_.empty() ? 0 : source_.span_at(0).begin;
    write(c, {start, start});
  }
}

void Rewriter::skip(std::size_t characters) {
  for (; characters > 0 && at_ < old_.size(); --characters) at_ += utf8_length(static_cast<unsigned char>(old_[at_]));
}

void Rewriter::finish(AlignedText& target) { target.replace(std::move(text_), std::move(spans_)); }

}  // namespace sardonyx::text
