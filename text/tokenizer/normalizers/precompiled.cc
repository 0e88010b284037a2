#include "text/tokenizer/normalizers/precompiled.h"

#include <algorithm>
#include <vector>

#include "text/tokenizer/unicode/graphemes.h"
#include "text/tokenizer/utf8.h"

namespace sardonyx::text {

namespace {

/// Longest cluster that is looked up whole, plus one.
constexpr std::size_t kClusterLimit = 6;

struct Changed {
  char32_t c;
  int change;
};

/// Writes `to` in place of `from`, counting as the reference does: surplus characters are added at the end, missing
/// ones are charged to the last character written, whichever it was.
void substitute(std::string_view from, std::string_view to, std::vector<Changed>& out) {
  const auto old_count = static_cast<int>(utf8_count(from));
  int new_count = 0;
  for (std::size_t i = 0; i < to.size(); i += utf8_length(static_cast<unsigned char>(to[i])), ++new_count) {
    out.push_back({utf8_decode(&to[i]), 0});
  }
  for (int i = 0; i < std::min(new_count - old_count, static_cast<int>(out.size())); ++i)
    out[out.size() - 1 - i].change = 1;
  if (new_count < old_count && !out.empty()) out.back().change += new_count - old_count;
}

}  // namespace

void PrecompiledNormalizer::normalize(AlignedText& aligned) const {
  const std::string_view text = aligned.text();
  const auto is_plain = [&](char c) { return c != '\r' && !map_.may_replace(c); };
  if (std::all_of(text.begin(), text.end(), is_plain)) return;
  std::vector<Changed> out;
  out.reserve(text.size());
  bool modified = false;
  GraphemeBreaker breaker(text);
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = breaker.next(at);
    const std::string_view cluster = text.substr(at, end - at);
    at = end;
    const auto whole = cluster.size() < kClusterLimit ? map_.shortest(cluster) : std::nullopt;
    if (whole) {
      modified = true;
      substitute(cluster, whole->text, out);
      continue;
    }
    for (std::size_t i = 0; i < cluster.size();) {
      const std::string_view character = cluster.substr(i, utf8_length(static_cast<unsigned char>(cluster[i])));
      i += character.size();
      if (const auto replacement = map_.shortest(character)) {
        modified = true;
        substitute(character, replacement->text, out);
      } else {
        out.push_back({utf8_decode(character.data()), 0});
      }
    }
  }
  if (!modified) return;
  Rewriter rewriter(aligned);
  for (const Changed& changed : out) rewriter.change(changed.c, changed.change);
  rewriter.finish(aligned);
}

}  // namespace sardonyx::text
