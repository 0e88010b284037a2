#include "provider/cpu/ops/string.h"

#include <algorithm>
#include <cstdint>
#include <re2/re2.h>

#include "base/fail.h"
#include "graph/attribute.h"

namespace sardonyx::provider::cpu {
namespace {

/// Bytes of the white-space character at `at` (as Python's str.isspace has it), 0 when it is none.
std::size_t white_space_length(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t i) { return at + i < text.size() ? static_cast<unsigned char>(text[at + i]) : 0U; };
  const unsigned first = byte(0);
  if ((first >= 0x09 && first <= 0x0d) || (first >= 0x1c && first <= 0x20)) return 1;
  if (first == 0xc2) return byte(1) == 0x85 || byte(1) == 0xa0 ? 2 : 0;  // NEL, no-break space
  const unsigned code = (first & 0x0fU) << 12 | (byte(1) & 0x3fU) << 6 | (byte(2) & 0x3fU);
  if ((first & 0xf0U) != 0xe0 || at + 2 >= text.size()) return 0;
  const bool space = code == 0x1680 || (code >= 0x2000 && code <= 0x200a) || code == 0x2028 || code == 0x2029 ||
                     code == 0x202f || code == 0x205f || code == 0x3000;
  return space ? 3 : 0;
}

class StringConcatKernel final : public Kernel {
 public:
  explicit StringConcatKernel(const NodeDesc&) {}
  void run(RunContext& context) const override {
    const TensorView &a = context.input(0), &b = context.input(1), &out = context.output(0);
    const auto *x = a.data<std::string>(), *y = b.data<std::string>();
    auto* to = out.mutable_data<std::string>();
    for (std::int64_t i = 0; i < out.num_elements(); ++i)
      to[i] = x[source(a.shape, out.shape, i)] + y[source(b.shape, out.shape, i)];
  }

 private:
  /// Which element of a broadcast operand belongs to element i of the output.
  static std::int64_t source(const Shape& from, const Shape& to, std::int64_t i) {
    std::int64_t at = 0, step = 1;
    for (std::size_t d = to.rank(), missing = to.rank() - from.rank(); d-- > missing; i /= to[d]) {
      if (from[d - missing] != 1) at += i % to[d] * step;
      step *= from[d - missing];
    }
    return at;
  }
};

class StringSplitKernel final : public Kernel {
 public:
  explicit StringSplitKernel(const NodeDesc& node)
      : delimiter_(node.attributes->get_string("delimiter", "")),
        max_split_(node.attributes->get_int("maxsplit", -1)) {}

  void run(RunContext& context) const override {
    const TensorView& in = context.input(0);
    const auto* text = in.data<std::string>();
    const std::int64_t n = in.num_elements();
    std::vector<std::vector<std::string_view>> pieces(static_cast<std::size_t>(n));
    std::size_t most = 0;
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      delimiter_.empty() ? split_white_space(text[i], max_split_, pieces[i])
                         : split_at(text[i], delimiter_, max_split_, pieces[i]);
      most = std::max(most, pieces[i].size());
    }
    if (context.wants_output(0)) {
      Shape shape = in.shape;
      shape.push_back(static_cast<std::int64_t>(most));
      auto* out = context.allocate_output(0, shape).mutable_data<std::string>();
      for (std::size_t i = 0; i < pieces.size(); ++i) {
        for (std::size_t j = 0; j < most; ++j)
          out[i * most + j] = j < pieces[i].size() ? pieces[i][j] : std::string_view();
      }
    }
    if (context.wants_output(1)) {
      auto* counts = context.allocate_output(1, in.shape).mutable_data<std::int64_t>();
      for (std::size_t i = 0; i < pieces.size(); ++i) counts[i] = static_cast<std::int64_t>(pieces[i].size());
    }
  }

 private:
  std::string delimiter_;
  std::int64_t max_split_;
};

/// Whether the whole string matches a pattern in RE2's syntax, whose matching takes linear time whatever the pattern.
class RegexFullMatchKernel final : public Kernel {
 public:
  explicit RegexFullMatchKernel(const NodeDesc& node) : pattern_(node.attributes->get_string("pattern", ""), quiet()) {
    if (!pattern_.ok()) fail(ErrorCode::kInvalidModel, "attribute 'pattern' is no RE2 pattern: {}", pattern_.error());
  }
  void run(RunContext& context) const override {
    const TensorView& in = context.input(0);
    const auto* text = in.data<std::string>();
    bool* out = context.output(0).mutable_data<bool>();
    context.parallel.parallel_for(static_cast<std::size_t>(in.num_elements()), 64,
                                  [&](std::size_t begin, std::size_t end) {
                                    for (std::size_t i = begin; i < end; ++i)
                                      out[i] = RE2::FullMatch(text[i], pattern_);
                                  });
  }

 private:
  static RE2::Options quiet() {
    RE2::Options options;
    options.set_log_errors(false);
    return options;
  }
  RE2 pattern_;
};

}  // namespace

void split_white_space(std::string_view text, std::int64_t max_split, std::vector<std::string_view>& pieces) {
  std::size_t at = 0;
  for (;;) {
    while (at < text.size()) {
      const std::size_t space = white_space_length(text, at);
      if (space == 0) break;
      at += space;
    }
    if (at == text.size()) return;
    if (max_split >= 0 && static_cast<std::int64_t>(pieces.size()) >= max_split)
      return pieces.push_back(text.substr(at));
    const std::size_t begin = at;
    while (at < text.size() && white_space_length(text, at) == 0) ++at;
    pieces.push_back(text.substr(begin, at - begin));
  }
}

void split_at(std::string_view text, std::string_view delimiter, std::int64_t max_split,
              std::vector<std::string_view>& pieces) {
  while (max_split < 0 || static_cast<std::int64_t>(pieces.size()) < max_split) {
    const std::size_t at = text.find(delimiter);
    if (at == std::string_view::npos) break;
    pieces.push_back(text.substr(0, at));
    text.remove_prefix(at + delimiter.size());
  }
  pieces.push_back(text);
}

void add_string_kernels(KernelTable& table) {
  table.push_back({"", "StringConcat", always, make<StringConcatKernel>});
  table.push_back({"", "StringSplit", always, make<StringSplitKernel>});
  table.push_back({"", "RegexFullMatch", always, make<RegexFullMatchKernel>});
  add_string_case_kernels(table);
  add_tf_idf_kernels(table);
  add_string_tokenizer_kernels(table);
}

}  // namespace sardonyx::provider::cpu
