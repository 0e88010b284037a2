#include "text/tokenizer/normalizers/precompiled.h"

#include <algorithm>
#include <vector>

#include "text/tokenizer/unicode/graphemes.h"
#include "text/tokenizer/utf8.h"

namespace sardonyx::text {

namespace {

/// Longest cluster that is looked up whole, plus one.
constexpr std::size_t kClusterLimit = 6;

bool is_ascii(char c) { return static_cast<unsigned char>(c) < 0x80; }

/// What is written next: a character, counted as Rewriter::change does, or bytes [begin, end) of the text, all ASCII.
struct Step {
  char32_t c = 0;
  int change = 0;
  std::uint32_t begin = 0, end = 0;

  bool is_run() const { return begin < end; }
};

/// The last character that is written, as a step of its own; there must be one.
Step& last_character(std::string_view text, std::vector<Step>& out) {
  if (!out.back().is_run()) return out.back();
  const std::uint32_t last = --out.back().end;
  if (!out.back().is_run()) out.pop_back();
  return out.emplace_back(Step{static_cast<unsigned char>(text[last]), 0});
}

/// Writes `to` in place of `from`, counting as the reference does: surplus characters are added at the end, missing
/// ones are charged to the last character written, whichever it was.
void substitute(std::string_view text, std::string_view from, std::string_view to, std::vector<Step>& out) {
  const auto old_count = static_cast<int>(utf8_count(from));
  int new_count = 0;
  for (std::size_t i = 0; i < to.size(); i += utf8_length(static_cast<unsigned char>(to[i])), ++new_count) {
    out.push_back({utf8_decode(&to[i]), 0});
  }
  // No more are added than were written here, so that these are no runs.
  for (int i = 0; i < new_count - old_count; ++i) out[out.size() - 1 - i].change = 1;
  if (new_count < old_count && !out.empty()) last_character(text, out).change += new_count - old_count;
}

}  // namespace

void PrecompiledNormalizer::normalize(AlignedText& aligned) const {
  const std::string_view text = aligned.text();
  // Between ASCII characters there is always a border of clusters, but within a line end.
  const auto is_plain = [&](std::size_t at) {
    return is_ascii(text[at]) && !map_.is_key(text[at]) && text[at] != '\r' &&
           (at + 1 == text.size() || is_ascii(text[at + 1]));
  };
  const auto end_of_plain = [&](std::size_t at) {
    while (at < text.size() && is_plain(at)) ++at;
    return at;
  };
  if (end_of_plain(0) == text.size()) return;
  std::vector<Step> out;
  bool modified = false;
  GraphemeBreaker breaker(text);
  for (std::size_t at = 0; at < text.size();) {
    if (const std::size_t end = end_of_plain(at); end > at) {
      out.push_back({0, 0, static_cast<std::uint32_t>(at), static_cast<std::uint32_t>(end)});
      at = end;
      continue;
    }
    const std::size_t end = breaker.next(at);
    const std::string_view cluster = text.substr(at, end - at);
    at = end;
    const auto whole = cluster.size() < kClusterLimit ? map_.shortest(cluster) : std::nullopt;
    if (whole) {
      modified = true;
      substitute(text, cluster, whole->text, out);
      continue;
    }
    for (std::size_t i = 0; i < cluster.size();) {
      const std::string_view character = cluster.substr(i, utf8_length(static_cast<unsigned char>(cluster[i])));
      i += character.size();
      if (const auto replacement = map_.shortest(character)) {
        modified = true;
        substitute(text, character, replacement->text, out);
      } else {
        out.push_back({utf8_decode(character.data()), 0});
      }
    }
  }
  if (!modified) return;
  Rewriter rewriter(aligned);
  for (const Step& step : out)
    step.is_run() ? rewriter.put_ascii(step.begin, step.end) : rewriter.change(step.c, step.change);
  rewriter.finish(aligned);
}

}  // namespace sardonyx::text
