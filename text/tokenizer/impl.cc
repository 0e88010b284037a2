#include "text/tokenizer/impl.h"

#include <algorithm>
#include <utility>

#include "base/fail.h"
#include "text/tokenizer/char_offsets.h"
#include "text/tokenizer/encoding_ops.h"
#include "text/tokenizer/processors/byte_level.h"
#include "text/tokenizer/utf8.h"

namespace sardonyx::text {

std::size_t TokenizedText::size() const {
  std::size_t count = 0;
  for (const Word& word : words) count += word.tokens.size();
  return count;
}

namespace {

void check_text(std::string_view text) {
  if (text.size() > Tokenizer::kMaxTextBytes) {
    fail(ErrorCode::kInvalidArgument, "the text has {} bytes; at most {} can be tokenized at once", text.size(),
         Tokenizer::kMaxTextBytes);
  }
  if (const std::size_t at = find_invalid_utf8(text); at != std::string_view::npos) {
    fail(ErrorCode::kInvalidArgument, "the text is not valid UTF-8: byte {} (0x{:02x}) starts no character", at,
         static_cast<unsigned char>(text[at]));
  }
}

}  // namespace

void Tokenizer::Impl::tokenize_word(std::string_view text, TokenizedText::Word& out) const {
  check_text(text);
  out.original = text;
  out.pre_tokenized = added.extract(text, parts.normalizer.get());
  if (parts.pre_tokenizer) parts.pre_tokenizer->pre_tokenize(out.pre_tokenized);
  const std::vector<Split>& splits = out.pre_tokenized.splits;
  const std::string_view normalized = out.pre_tokenized.text.text();
  out.tokens.reserve(splits.size() + splits.size() / 2);
  for (std::uint32_t i = 0; i < splits.size(); ++i) {
    const Split& split = splits[i];
    const std::size_t first = out.tokens.size();
    if (split.is_token()) {
      out.tokens.push_back({split.token, split.begin, split.end, i, true});
      continue;
    }
    parts.model->tokenize(normalized.substr(split.begin, split.end - split.begin), split.begin, out.tokens);
    for (std::size_t k = first; k < out.tokens.size(); ++k) out.tokens[k].word = i;
  }
}

TokenizedText Tokenizer::Impl::tokenize(const TextInput& input) const {
  TokenizedText result;
  result.is_split = input.is_split();
  if (!input.is_split()) {
    tokenize_word(input.text(), result.words.emplace_back());
    return result;
  }
  result.words.resize(input.words().size());
  for (std::size_t i = 0; i < input.words().size(); ++i) tokenize_word(input.words()[i], result.words[i]);
  return result;
}

const std::optional<Truncation>& Tokenizer::Impl::truncation_for(const EncodeOptions& options) const {
  return options.truncation || !options.use_defaults ? options.truncation : parts.truncation;
}

const std::optional<Padding>& Tokenizer::Impl::padding_for(const EncodeOptions& options) const {
  return options.padding || !options.use_defaults ? options.padding : parts.padding;
}

std::optional<Frame> Tokenizer::Impl::frame_for(bool is_pair, bool add_special_tokens) const {
  if (parts.post_processor) return parts.post_processor->frame(is_pair, add_special_tokens);
  Frame frame;
  frame.parts.push_back({0, 0, nullptr});
  if (is_pair) frame.parts.push_back({1, 1, nullptr});
  frame.sets_ranges = is_pair;
  return frame;
}

namespace {

/// Range of the original text. BPE with byte fallback and affixes claims more bytes than its piece has; the reference
/// then gives offsets within the piece, and so must we.
Offset place_of(const TokenizedText::Word& word, const ModelToken& token) {
  const Split& split = word.pre_tokenized.splits[token.word];
  if (token.end > split.end) return {token.begin - split.begin, token.end - split.begin};
  return word.pre_tokenized.text.span_of(token.begin, token.end);
}

}  // namespace

/// Appends tokens [begin, end) of the text.
void Tokenizer::Impl::write(const TokenizedText& text, std::size_t begin, std::size_t end, std::uint32_t type_id,
                            const Frame& frame, bool with_tokens, Encoding& out) const {
  std::size_t index = 0;
  for (std::size_t w = 0; w < text.words.size() && index < end; ++w) {
    const TokenizedText::Word& word = text.words[w];
    const std::size_t stop = std::min(word.tokens.size(), end - index);
    const std::size_t start = begin > index ? std::min(begin - index, stop) : 0;
    const CharOffsets chars(word.original);
    const std::string_view normalized = word.pre_tokenized.text.text();
    for (std::size_t i = start; i < stop; ++i) {
      const ModelToken& token = word.tokens[i];
      Offset bytes = place_of(word, token);
      Offset characters = chars.convert(bytes);
      std::string_view string;
      if (with_tokens || frame.trims_offsets) {
        string = token.is_surface ? normalized.substr(token.begin, token.end - token.begin)
                                  : parts.model->id_to_token(token.id).value_or(std::string_view());
        if (frame.trims_offsets) {
          trim_offset(string, index + i == begin, frame.add_prefix_space, bytes);
          trim_offset(string, index + i == begin, frame.add_prefix_space, characters);
        }
      }
      out.ids.push_back(token.id);
      if (with_tokens) out.tokens.emplace_back(string);
      out.offsets.push_back(characters);
      out.byte_offsets.push_back(bytes);
      out.word_ids.push_back(static_cast<std::int32_t>(text.is_split ? w : token.word));
    }
    index += word.tokens.size();
  }
  out.type_ids.resize(out.ids.size(), type_id);
  out.special_tokens_mask.resize(out.ids.size(), 0);
  out.attention_mask.resize(out.ids.size(), 1);
}

namespace {

void reserve(Encoding& encoding, std::size_t size, bool with_tokens) {
  encoding.ids.reserve(size);
  encoding.type_ids.reserve(size);
  if (with_tokens) encoding.tokens.reserve(size);
  encoding.offsets.reserve(size);
  encoding.byte_offsets.reserve(size);
  encoding.word_ids.reserve(size);
  encoding.special_tokens_mask.reserve(size);
  encoding.attention_mask.reserve(size);
}

}  // namespace

/// Writes the final encoding at once: the texts, cut to the given lengths, in their frame.
Encoding Tokenizer::Impl::assemble(const Frame& frame, const TokenizedText* texts[2], const Lengths lengths,
                                   Direction direction, const EncodeOptions& options) const {
  Encoding result;
  std::size_t total = 0;
  for (const Frame::Part& part : frame.parts) {
    total += part.specials != nullptr ? part.specials->size() : part.sequence == 0 ? lengths.first : lengths.second;
  }
  reserve(result, total, options.tokens);
  for (const Frame::Part& part : frame.parts) {
    if (part.specials != nullptr) {
      for (const SpecialPiece& special : *part.specials) {
        append_special(result, special.id, special.token, part.type_id, options.tokens);
      }
      continue;
    }
    const auto start = static_cast<std::uint32_t>(result.size());
    const TokenizedText& text = *texts[part.sequence];
    const std::size_t length = part.sequence == 0 ? lengths.first : lengths.second;
    const std::size_t begin = direction == Direction::kRight ? 0 : text.size() - length;
    write(text, begin, begin + length, part.type_id, frame, options.tokens, result);
    if (frame.sets_ranges) {
      set_sequence_range(result, {part.sequence, start, static_cast<std::uint32_t>(result.size())});
    }
  }
  return result;
}

/// The general way: whole encodings, truncated into overflowing pieces, each sent through the post-processor.
Encoding Tokenizer::Impl::process(const TokenizedText& first, const TokenizedText* second,
                                  const std::optional<Truncation>& truncation, const EncodeOptions& options) const {
  const Frame plain;
  const bool with_tokens = true;  // post-processors look at them
  std::vector<Encoding> encodings(second == nullptr ? 1 : 2);
  write(first, 0, first.size(), 0, plain, with_tokens, encodings[0]);
  if (second != nullptr) write(*second, 0, second->size(), 1, plain, with_tokens, encodings[1]);
  if (truncation) truncate_pair(encodings[0], second == nullptr ? nullptr : &encodings[1], *truncation);
  if (!options.overflowing) {
    for (Encoding& encoding : encodings) encoding.overflowing.clear();
  }
  if (parts.post_processor) {
    for (std::uint32_t i = 0; i < encodings.size(); ++i) {
      set_sequence(encodings[i], i);
      for (Encoding& piece : encodings[i].overflowing) set_sequence(piece, i);
      set_type_ids(encodings[i], i);
    }
    encodings = parts.post_processor->process(std::move(encodings), options.add_special_tokens);
  } else if (second != nullptr) {
    for (std::uint32_t i = 0; i < encodings.size(); ++i) set_sequence(encodings[i], i);
  }
  if (encodings.size() == 1) return std::move(encodings[0]);
  Encoding result;
  for (const Encoding& encoding : encodings) merge(result, encoding);
  return result;
}

namespace {

void drop_tokens(Encoding& encoding) {
  encoding.tokens.clear();
  for (Encoding& piece : encoding.overflowing) drop_tokens(piece);
}

}  // namespace

Encoding Tokenizer::Impl::encode(const EncodeInput& input, const EncodeOptions& options) const {
  const TokenizedText first = tokenize(input.first);
  TokenizedText second;
  const bool is_pair = input.second.has_value();
  if (is_pair) second = tokenize(*input.second);

  std::optional<Truncation> truncation = truncation_for(options);
  const std::size_t added_count =
      options.add_special_tokens && parts.post_processor ? parts.post_processor->added_tokens(is_pair) : 0;
  if (truncation) {
    if (added_count > truncation->max_length) {
      fail(ErrorCode::kInvalidArgument, "truncation to {} tokens leaves no room for the {} special tokens",
           truncation->max_length, added_count);
    }
    truncation->max_length -= added_count;
  }
  Lengths lengths{first.size(), is_pair ? second.size() : 0};
  if (truncation) lengths = truncated_lengths(lengths.first, lengths.second, is_pair, *truncation);
  const bool cut = lengths.first < first.size() || (is_pair && lengths.second < second.size());
  if (!cut || !options.overflowing) {
    if (const auto frame = frame_for(is_pair, options.add_special_tokens)) {
      const TokenizedText* texts[2] = {&first, &second};
      return assemble(*frame, texts, lengths, truncation ? truncation->direction : Direction::kRight, options);
    }
  }
  Encoding result = process(first, is_pair ? &second : nullptr, truncation, options);
  if (!options.tokens) drop_tokens(result);
  return result;
}

}  // namespace sardonyx::text
