#include <algorithm>
#include <cstdint>
#include <memory>
#include <re2/re2.h>
#include <string>
#include <string_view>
#include <vector>

#include "base/fail.h"
#include "graph/attribute.h"
#include "provider/cpu/ops/string.h"

namespace sardonyx::provider::cpu {
namespace {

std::size_t character_length(std::string_view text, std::size_t at) {
  std::size_t n = 1;
  while (at + n < text.size() && (static_cast<unsigned char>(text[at + n]) & 0xc0U) == 0x80) ++n;
  return n;
}

std::int64_t count_characters(std::string_view text) {
  return std::count_if(text.begin(), text.end(),
                       [](char c) { return (static_cast<unsigned char>(c) & 0xc0U) != 0x80; });
}

std::unique_ptr<RE2> compile(const std::string& pattern, const char* attribute) {
  RE2::Options options;
  options.set_log_errors(false);
  options.set_longest_match(true);
  auto regex = std::make_unique<RE2>(pattern, options);
  if (!regex->ok()) fail(ErrorCode::kInvalidModel, "attribute '{}' is no RE2 pattern: {}", attribute, regex->error());
  return regex;
}

/// com.microsoft.Tokenizer: cuts strings at separators, into what an expression matches, or into characters.
class TokenizerKernel final : public Kernel {
 public:
  explicit TokenizerKernel(const NodeDesc& node)
      : mark_(node.attributes->get_int("mark", 0) != 0),
        shortest_(node.attributes->get_int("mincharnum", 1)),
        pad_(node.attributes->get_string("pad_value", "")) {
    const auto* separators = node.attributes->strings("separators");
    const std::string expression = node.attributes->get_string("tokenexp", "");
    const bool has_separators = separators && !separators->empty();
    if (has_separators == !expression.empty())
      fail(ErrorCode::kInvalidModel, "Tokenizer needs either 'separators' or 'tokenexp'");
    if (!expression.empty()) {
      token_ = compile(expression, "tokenexp");
    } else if (separators->size() > 1 || !(*separators)[0].empty()) {
      for (const std::string& separator : *separators) separators_.push_back(compile(separator, "separators"));
    }
  }

  void run(RunContext& context) const override {
    const TensorView& in = context.input(0);
    const auto* text = in.data<std::string>();
    std::vector<std::vector<std::string_view>> tokens(static_cast<std::size_t>(in.num_elements()));
    std::size_t most = 0;
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      tokenize(text[i], tokens[i]);
      std::erase_if(tokens[i],
                    [&](std::string_view token) { return token.empty() || count_characters(token) < shortest_; });
      most = std::max(most, tokens[i].size());
    }
    if (!context.wants_output(0)) return;
    if (mark_ && !tokens.empty()) most += 2;
    Shape shape = in.shape;
    shape.push_back(static_cast<std::int64_t>(most));
    auto* out = context.allocate_output(0, shape).mutable_data<std::string>();
    for (const auto& row : tokens) {
      auto* end = out + most;
      if (mark_) *out++ = kStart;
      out = std::copy(row.begin(), row.end(), out);
      if (mark_) *out++ = kEnd;
      std::fill(out, end, pad_);
      out = end;
    }
  }

  static Support supports(const NodeDesc& node) {
    return node.input_type(0) == ElementType::kString ? Support::accept() : decline_type(node, 0);
  }

 private:
  static constexpr const char* kStart = "\x02";  // start and end of text, as the operator defines them
  static constexpr const char* kEnd = "\x03";

  void tokenize(std::string_view text, std::vector<std::string_view>& out) const {
    if (token_) return match_tokens(text, out);
    if (separators_.empty()) {
      for (std::size_t at = 0; at < text.size(); at += out.back().size())
        out.push_back(text.substr(at, character_length(text, at)));
      return;
    }
    out.push_back(text);
    for (const auto& separator : separators_) {
      std::vector<std::string_view> pieces;
      for (const std::string_view piece : out) cut(piece, *separator, pieces);
      out.swap(pieces);
    }
  }

  void match_tokens(std::string_view text, std::vector<std::string_view>& out) const {
    re2::StringPiece found;
    for (std::size_t at = 0; at < text.size();) {
      if (!token_->Match({text.data(), text.size()}, at, text.size(), RE2::UNANCHORED, &found, 1)) return;
      const auto begin = static_cast<std::size_t>(found.data() - text.data());
      if (found.empty()) {
        at = begin + (begin < text.size() ? character_length(text, begin) : 1);
        continue;
      }
      out.push_back(text.substr(begin, found.size()));
      at = begin + found.size();
    }
  }

  static void cut(std::string_view text, const RE2& separator, std::vector<std::string_view>& out) {
    re2::StringPiece found;
    std::size_t begin = 0;
    for (std::size_t at = 0; at < text.size();) {
      if (!separator.Match({text.data(), text.size()}, at, text.size(), RE2::UNANCHORED, &found, 1)) break;
      const auto start = static_cast<std::size_t>(found.data() - text.data());
      if (found.empty()) {
        at = start + (start < text.size() ? character_length(text, start) : 1);
        continue;
      }
      out.push_back(text.substr(begin, start - begin));
      begin = at = start + found.size();
    }
    out.push_back(text.substr(begin));
  }

  bool mark_;
  std::int64_t shortest_;
  std::string pad_;
  std::unique_ptr<RE2> token_;
  std::vector<std::unique_ptr<RE2>> separators_;
};

}  // namespace

void add_string_tokenizer_kernels(KernelTable& table) {
  table.push_back({"com.microsoft", "Tokenizer", TokenizerKernel::supports, make<TokenizerKernel>});
}

}  // namespace sardonyx::provider::cpu
