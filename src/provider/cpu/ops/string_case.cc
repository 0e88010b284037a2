#include <algorithm>
#include <cstdint>
#include <locale.h>
#include <memory>
#include <string>
#include <unordered_set>
#include <vector>
#include <wctype.h>

#include "base/fail.h"
#include "graph/attribute.h"
#include "provider/cpu/ops/string.h"

namespace sardonyx::provider::cpu {
namespace {

enum class Case { kKeep, kLower, kUpper };

Case parse_case(const std::string& text) {
  if (text == "NONE") return Case::kKeep;
  if (text == "LOWER") return Case::kLower;
  if (text == "UPPER") return Case::kUpper;
  fail(ErrorCode::kInvalidModel, "attribute 'case_change_action' must be NONE, LOWER or UPPER, found {}", text);
}

struct FreeLocale {
  void operator()(locale_t locale) const { freelocale(locale); }
};
using Locale = std::unique_ptr<std::remove_pointer_t<locale_t>, FreeLocale>;

/// The locale of that name in its UTF-8 form, or, where this machine doesn't have it, plain Unicode case mapping.
Locale open_locale(const std::string& name) {
  const std::string language = name.substr(0, name.find('.'));
  if (locale_t locale = language.empty() ? nullptr : newlocale(LC_CTYPE_MASK, (language + ".UTF-8").c_str(), nullptr))
    return Locale(locale);
  return Locale(newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr));
}

/// Reads one character at `at` and moves on; a byte that is no UTF-8 is -1, to be copied as it is.
std::int32_t next_character(const std::string& text, std::size_t& at) {
  const auto first = static_cast<unsigned char>(text[at++]);
  const int more = first < 0x80             ? 0
                   : (first & 0xe0) == 0xc0 ? 1
                   : (first & 0xf0) == 0xe0 ? 2
                   : (first & 0xf8) == 0xf0 ? 3
                                            : -1;
  if (more < 0 || at + static_cast<std::size_t>(more) > text.size()) return -1;
  std::int32_t code = more == 0 ? first : first & (0x3f >> more);
  for (int i = 0; i < more; ++i) {
    const auto byte = static_cast<unsigned char>(text[at + static_cast<std::size_t>(i)]);
    if ((byte & 0xc0) != 0x80) return -1;
    code = code << 6 | (byte & 0x3f);
  }
  at += static_cast<std::size_t>(more);
  return code;
}

void append_character(std::string& out, std::uint32_t code) {
  if (code < 0x80) {
    out += static_cast<char>(code);
    return;
  }
  const int more = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
  out += static_cast<char>((0xf00U >> (more + 1) & 0xf0U) | code >> (6 * more));
  for (int i = more - 1; i >= 0; --i) out += static_cast<char>(0x80U | (code >> (6 * i) & 0x3fU));
}

/// Drops stop words from a list of strings, each compared as a whole, and changes the case of the others.
class StringNormalizerKernel final : public Kernel {
 public:
  explicit StringNormalizerKernel(const NodeDesc& node)
      : action_(parse_case(node.attributes->get_string("case_change_action", "NONE"))),
        case_sensitive_(node.attributes->get_int("is_case_sensitive", 0) != 0),
        locale_(open_locale(node.attributes->get_string("locale", "en_US"))) {
    const auto* words = node.attributes->strings("stopwords");
    for (std::size_t i = 0; words && i < words->size(); ++i) stop_words_.insert(comparable((*words)[i]));
  }

  void run(RunContext& context) const override {
    const TensorView& in = context.input(0);
    const auto* text = in.data<std::string>();
    std::vector<std::string> kept;
    for (std::int64_t i = 0; i < in.num_elements(); ++i) {
      if (!stop_words_.empty() && stop_words_.count(comparable(text[i])) > 0) continue;
      kept.push_back(changed(text[i], action_));
    }
    if (kept.empty()) kept.emplace_back();
    if (!context.wants_output(0)) return;
    const auto count = static_cast<std::int64_t>(kept.size());
    const TensorView& out = context.allocate_output(0, in.shape.rank() == 1 ? Shape{count} : Shape{1, count});
    std::move(kept.begin(), kept.end(), out.mutable_data<std::string>());
  }

 private:
  std::string comparable(const std::string& text) const { return case_sensitive_ ? text : changed(text, Case::kLower); }

  std::string changed(const std::string& text, Case action) const {
    if (action == Case::kKeep) return text;
    std::string out;
    out.reserve(text.size());
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t begin = at;
      const std::int32_t code = next_character(text, at);
      if (code < 0) {
        out += text[begin];
        at = begin + 1;
        continue;
      }
      const auto wide = static_cast<wint_t>(code);
      append_character(out, static_cast<std::uint32_t>(action == Case::kLower ? towlower_l(wide, locale_.get())
                                                                              : towupper_l(wide, locale_.get())));
    }
    return out;
  }

  Case action_;
  bool case_sensitive_;
  Locale locale_;
  std::unordered_set<std::string> stop_words_;
};

}  // namespace

void add_string_case_kernels(KernelTable& table) {
  table.push_back({"", "StringNormalizer", always, make<StringNormalizerKernel>});
}

}  // namespace sardonyx::provider::cpu
