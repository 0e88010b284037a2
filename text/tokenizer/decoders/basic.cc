#include "text/tokenizer/decoders/basic.h"

#include <algorithm>
#include <optional>

#include "text/tokenizer/byte_level.h"
#include "text/tokenizer/decoders/replace_all.h"
#include "text/tokenizer/decoders/word_piece.h"
#include "text/tokenizer/utf8.h"

namespace sardonyx::text {

namespace {

constexpr std::string_view kReplacementCharacter = "\xEF\xBF\xBD";

/// Length of the longest prefix of a character that `text` starts with, at least 1: what one U+FFFD stands for.
std::size_t broken_length(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text[0]);
  if (lead < 0xC2 || lead > 0xF4) return 1;
  const std::size_t wanted = utf8_length(lead);
  // Completing the prefix by any valid continuation must give a valid character.
  std::size_t length = 1;
  for (; length < wanted && length < text.size() && is_utf8_continuation(text[length]); ++length) {
    if (length > 1) continue;
    const auto second = static_cast<unsigned char>(text[1]);
    const unsigned char low = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
    const unsigned char high = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
    if (second < low || second > high) break;
  }
  return length;
}

std::string to_utf8_lossy(std::string_view bytes) {
  std::string text;
  for (std::size_t bad; (bad = find_invalid_utf8(bytes)) != std::string_view::npos;) {
    text += bytes.substr(0, bad);
    text += kReplacementCharacter;
    bytes.remove_prefix(bad);
    bytes.remove_prefix(broken_length(bytes));
  }
  return text += bytes;
}

std::optional<char> byte_of_token(std::string_view token) {
  if (token.size() != 6 || !token.starts_with("<0x") || token[5] != '>') return std::nullopt;
  // Rust's number parser takes a sign before one digit.
  const bool has_sign = token[3] == '+';
  int value = 0;
  for (char c : token.substr(has_sign ? 4 : 3, has_sign ? 1 : 2)) {
    const int digit = c >= '0' && c <= '9'   ? c - '0'
                      : c >= 'a' && c <= 'f' ? c - 'a' + 10
                      : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                             : -1;
    if (digit < 0) return std::nullopt;
    value = value * 16 + digit;
  }
  return static_cast<char>(value);
}

}  // namespace

std::vector<std::string> BpeDecoder::decode(std::vector<std::string> tokens) const {
  if (suffix_.empty()) return tokens;
  for (std::string& token : tokens) token = replace_all(token, suffix_, &token == &tokens.back() ? "" : " ");
  return tokens;
}

std::vector<std::string> ByteLevelDecoder::decode(std::vector<std::string> tokens) const {
  std::string bytes;
  for (const std::string& token : tokens) bytes += bytes_of_byte_level(token).value_or(token);
  return {to_utf8_lossy(bytes)};
}

std::vector<std::string> ByteFallbackDecoder::decode(std::vector<std::string> tokens) const {
  std::vector<std::string> result;
  std::string bytes;
  const auto flush = [&] {
    if (bytes.empty()) return;
    if (find_invalid_utf8(bytes) == std::string_view::npos) {
      result.push_back(bytes);
    } else {
      result.insert(result.end(), bytes.size(), std::string(kReplacementCharacter));
    }
    bytes.clear();
  };
  for (std::string& token : tokens) {
    if (const auto byte = byte_of_token(token)) {
      bytes.push_back(*byte);
      continue;
    }
    flush();
    result.push_back(std::move(token));
  }
  flush();
  return result;
}

std::vector<std::string> FuseDecoder::decode(std::vector<std::string> tokens) const {
  std::string all;
  for (const std::string& token : tokens) all += token;
  return {std::move(all)};
}

std::vector<std::string> StripDecoder::decode(std::vector<std::string> tokens) const {
  for (std::string& token : tokens) {
    std::string_view rest = token;
    for (std::size_t i = 0; i < start_ && rest.starts_with(content_); ++i) rest.remove_prefix(content_.size());
    for (std::size_t i = 0; i < stop_ && rest.ends_with(content_); ++i) rest.remove_suffix(content_.size());
    token = std::string(rest);
  }
  return tokens;
}

std::vector<std::string> ReplaceDecoder::decode(std::vector<std::string> tokens) const {
  std::vector<Match> matches;
  for (std::string& token : tokens) {
    matches.clear();
    if (!token.empty()) pattern_->find(token, matches);
    std::string result;
    std::size_t at = 0;
    for (const Match& match : matches) {
      result.append(token, at, match.begin - at);
      result += content_;
      at = match.end;
    }
    result.append(token, at);
    token = std::move(result);
  }
  return tokens;
}

std::vector<std::string> MetaspaceDecoder::decode(std::vector<std::string> tokens) const {
  for (std::size_t i = 0; i < tokens.size(); ++i)
    tokens[i] = replace_all(tokens[i], replacement_, i == 0 && prepends_ ? "" : " ");
  return tokens;
}

std::vector<std::string> CtcDecoder::decode(std::vector<std::string> tokens) const {
  tokens.erase(std::unique(tokens.begin(), tokens.end()), tokens.end());
  std::vector<std::string> result;
  for (const std::string& token : tokens) {
    std::string text = pad_token_.empty() ? token : replace_all(token, pad_token_, "");
    if (cleanup_) {
      text = clean_up(std::move(text));
      if (!word_delimiter_.empty()) text = replace_all(text, word_delimiter_, " ");
    }
    if (!text.empty()) result.push_back(std::move(text));
  }
  return result;
}

}  // namespace sardonyx::text
