#include "text/tokenizer/splicer.h"

namespace sardonyx::text {

Splicer::Splicer(const AlignedText& source, std::size_t extra_bytes) : source_(source) {
  text_.reserve(source.size() + extra_bytes);
  spans_.reserve(source.size() + extra_bytes);
}

void Splicer::copy(std::size_t begin, std::size_t end) {
  text_.append(source_.text(), begin, end - begin);
  source_.append_spans(begin, end, spans_);
}

}  // namespace sardonyx::text
