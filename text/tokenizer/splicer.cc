#include "text/tokenizer/splicer.h"

#include "text/tokenizer/utf8.h"

namespace sardonyx::text {

Splicer::Splicer(const AlignedText& source, std::size_t extra_bytes) : source_(source) {
  text_.reserve(source.size() + extra_bytes);
  spans_.reserve(source.size() + extra_bytes);
}

void Splicer::copy(std::size_t begin, std::size_t end) {
  const std::string_view old = source_.text();
  text_.append(old, begin, end - begin);
  if (source_.moved()) {
    spans_.insert(spans_.end(), source_.spans().begin() + begin, source_.spans().begin() + end);
    return;
  }
  const std::uint32_t base = source_.base();
  for (std::size_t i = begin; i < end;) {
    const auto width = static_cast<std::uint32_t>(utf8_length(static_cast<unsigned char>(old[i])));
    const auto start = base + static_cast<std::uint32_t>(i);
    for (std::uint32_t k = 0; k < width; ++k) spans_.push_back({start, start + width});
    i += width;
  }
}

}  // namespace sardonyx::text
