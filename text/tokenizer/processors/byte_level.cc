#include "text/tokenizer/processors/byte_level.h"

#include <algorithm>

#include "text/tokenizer/unicode/properties.h"
#include "text/tokenizer/utf8.h"

namespace sardonyx::text {

namespace {

constexpr char32_t kByteLevelSpace = 0x120;  // Ġ

bool is_space(char32_t c) { return c == kByteLevelSpace || has_flag(c, kWhitespace); }

std::uint32_t leading_spaces(std::string_view token) {
  std::uint32_t count = 0;
  for (std::size_t i = 0; i < token.size() && is_space(utf8_decode(&token[i])); ++count) {
    i += utf8_length(static_cast<unsigned char>(token[i]));
  }
  return count;
}

std::uint32_t trailing_spaces(std::string_view token) {
  std::uint32_t count = 0;
  for (std::size_t end = token.size(); end > 0; ++count) {
    end = utf8_previous(token, end);
    if (!is_space(utf8_decode(&token[end]))) break;
  }
  return count;
}

}  // namespace

void trim_offset(std::string_view token, bool is_first, bool add_prefix_space, Offset& offset) {
  std::uint32_t leading = leading_spaces(token);
  const std::uint32_t trailing = trailing_spaces(token);
  if (leading > 0) {
    if ((is_first || offset.begin == 0) && add_prefix_space && leading == 1) leading = 0;
    offset.begin = std::min(offset.begin + leading, offset.end);
  }
  if (trailing > 0 && offset.end >= trailing) offset.end = std::max(offset.end - trailing, offset.begin);
}

void trim_offsets(Encoding& encoding, bool add_prefix_space) {
  for (std::size_t i = 0; i < encoding.tokens.size(); ++i) {
    trim_offset(encoding.tokens[i], i == 0, add_prefix_space, encoding.offsets[i]);
    trim_offset(encoding.tokens[i], i == 0, add_prefix_space, encoding.byte_offsets[i]);
  }
}

std::vector<Encoding> ByteLevelProcessor::process(std::vector<Encoding> encodings, bool) const {
  for (std::uint32_t i = 0; i < encodings.size(); ++i) {
    if (trim_offsets_) {
      trim_offsets(encodings[i], add_prefix_space_);
      for (Encoding& piece : encodings[i].overflowing) trim_offsets(piece, add_prefix_space_);
    }
    set_sequence(encodings[i], i);
  }
  return encodings;
}

std::optional<Frame> ByteLevelProcessor::frame(bool is_pair, bool) const {
  Frame frame;
  frame.trims_offsets = trim_offsets_;
  frame.add_prefix_space = add_prefix_space_;
  frame.parts.push_back({0, 0, nullptr});
  if (is_pair) frame.parts.push_back({1, 1, nullptr});
  return frame;
}

std::size_t SequenceProcessor::added_tokens(bool is_pair) const {
  std::size_t count = 0;
  for (const auto& step : steps_) count += step->added_tokens(is_pair);
  return count;
}

std::vector<Encoding> SequenceProcessor::process(std::vector<Encoding> encodings, bool add_special_tokens) const {
  for (const auto& step : steps_) encodings = step->process(std::move(encodings), add_special_tokens);
  return encodings;
}

std::optional<Frame> SequenceProcessor::frame(bool is_pair, bool add_special_tokens) const {
  // The usual shape: offsets trimmed at most once, then one processor that adds special tokens.
  if (steps_.empty() || steps_.size() > 2) return std::nullopt;
  std::optional<Frame> last = steps_.back()->frame(is_pair, add_special_tokens);
  if (steps_.size() == 1 || !last) return last;
  if (dynamic_cast<const ByteLevelProcessor*>(steps_[0].get()) == nullptr || last->trims_offsets) return std::nullopt;
  const std::optional<Frame> first = steps_[0]->frame(is_pair, add_special_tokens);
  last->trims_offsets = first->trims_offsets;
  last->add_prefix_space = first->add_prefix_space;
  return last;
}

}  // namespace sardonyx::text
