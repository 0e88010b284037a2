#include "text/tokenizer/normalizers/unicode.h"

#include <algorithm>
#include <bitset>
#include <memory>
#include <vector>

#include "text/tokenizer/unicode/properties.h"
#include "text/tokenizer/utf8.h"

namespace sardonyx::text {

namespace {

/// A character of the result. `change` tells how many old characters it stands for, as AlignedText's Rewriter takes it:
/// 0 one, positive none (it was added), -n one and the n after it.
struct Changed {
  char32_t c;
  int change;
};

/// Decomposes and puts marks in canonical order.
class Decomposer {
 public:
  Decomposer(bool compatible, std::vector<Changed>& out) : compatible_(compatible), out_(out) {}

  void feed(char32_t c) {
    char32_t jamo[3];
    if (const int count = decompose_hangul(c, jamo); count != 0) {
      for (int i = 0; i < count; ++i) order({jamo[i], i > 0});
      return;
    }
    const auto parts = compatible_ ? compatible_decomposition(c) : canonical_decomposition(c);
    if (parts.empty()) order({c, 0});
    for (std::size_t i = 0; i < parts.size(); ++i) order({parts[i], i > 0});
  }

  void flush() {
    std::stable_sort(out_.begin() + static_cast<std::ptrdiff_t>(marks_), out_.end(),
                     [](const Changed& a, const Changed& b) { return combining_class(a.c) < combining_class(b.c); });
    marks_ = out_.size();
  }

 private:
  void order(Changed changed) {
    if (combining_class(changed.c) != 0) {
      out_.push_back(changed);
      return;
    }
    if (out_.size() - marks_ > 1) flush();
    out_.push_back(changed);
    marks_ = out_.size();
  }

  bool compatible_;
  std::vector<Changed>& out_;
  std::size_t marks_ = 0;  ///< where the marks begin that are not in order yet
};

/// Canonical composition (UAX #15) that counts what each result stands for.
std::vector<Changed> composed(const std::vector<Changed>& decomposed) {
  std::vector<Changed> out;
  out.reserve(decomposed.size());
  std::ptrdiff_t starter = -1;  // index in `out` of the last starter
  int last_class = -1;          // combining class of what follows it, -1 for nothing
  for (const Changed& next : decomposed) {
    const int next_class = combining_class(next.c);
    if (starter >= 0 && last_class < next_class) {
      Changed& base = out[static_cast<std::size_t>(starter)];
      if (const char32_t c = compose(base.c, next.c); c != 0) {
        base = {c, base.change + next.change - 1};
        continue;
      }
    }
    if (next_class == 0) {
      starter = static_cast<std::ptrdiff_t>(out.size());
      last_class = -1;
    } else {
      last_class = next_class;
    }
    out.push_back(next);
  }
  return out;
}

/// Characters that a form leaves alone wherever they stand, up to the order of marks.
class InertSet {
 public:
  InertSet(bool compatible, bool composes) {
    for (char32_t c = 0; c < 0x110000; ++c) inert_[c] = !changes(c, compatible, composes);
    if (composes) {
      for (char32_t c = 0x1161; c < 0x11C3; ++c)
        inert_[c] = false;  // vowels and trails compose with what stands before
      mark_second_parts();
    }
  }
  bool operator()(char32_t c) const { return inert_[c]; }

 private:
  static bool changes(char32_t c, bool compatible, bool composes) {
    char32_t jamo[3];
    if (decompose_hangul(c, jamo) != 0) return !composes;
    const auto parts = compatible ? compatible_decomposition(c) : canonical_decomposition(c);
    if (parts.empty()) return false;
    if (!composes) return true;
    std::vector<Changed> decomposed;
    Decomposer decomposer(compatible, decomposed);
    decomposer.feed(c);
    decomposer.flush();
    const std::vector<Changed> result = composed(decomposed);
    return result.size() != 1 || result[0].c != c;
  }

  void mark_second_parts() {
    for (char32_t c = 0; c < 0x110000; ++c) {
      const auto parts = canonical_decomposition(c);
      for (std::size_t i = 1; i < parts.size(); ++i) inert_[parts[i]] = false;
    }
  }

  std::bitset<0x110000> inert_;
};

const InertSet& inert_set(bool compatible, bool composes) {
  static const std::unique_ptr<InertSet> sets[4] = {
      std::make_unique<InertSet>(false, false), std::make_unique<InertSet>(false, true),
      std::make_unique<InertSet>(true, false), std::make_unique<InertSet>(true, true)};
  return *sets[compatible * 2 + composes];
}

bool is_normalized(std::string_view text, const InertSet& inert) {
  int last_class = 0;
  for (std::size_t i = 0; i < text.size();) {
    const auto lead = static_cast<unsigned char>(text[i]);
    if (lead < 0x80) {
      last_class = 0;
      ++i;
      continue;
    }
    const char32_t c = utf8_decode(&text[i]);
    if (!inert(c)) return false;
    const int next_class = combining_class(c);
    if (next_class != 0 && next_class < last_class) return false;
    last_class = next_class;
    i += utf8_length(lead);
  }
  return true;
}

}  // namespace

void UnicodeNormalizer::normalize(AlignedText& aligned) const {
  const std::string_view text = aligned.text();
  if (!aligned.has_rootless_prefix() && (is_ascii(text) || is_normalized(text, inert_set(compatible_, composes_))))
    return;
  std::vector<Changed> result;
  result.reserve(text.size());
  Decomposer decomposer(compatible_, result);
  for (std::size_t i = 0; i < text.size(); i += utf8_length(static_cast<unsigned char>(text[i]))) {
    decomposer.feed(utf8_decode(&text[i]));
  }
  decomposer.flush();
  if (composes_) result = composed(result);
  Rewriter rewriter(aligned);
  for (const Changed& changed : result) rewriter.change(changed.c, changed.change);
  rewriter.finish(aligned);
}

}  // namespace sardonyx::text
