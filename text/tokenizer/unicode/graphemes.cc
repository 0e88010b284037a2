#include "text/tokenizer/unicode/graphemes.h"

#include "text/tokenizer/unicode/properties.h"
#include "text/tokenizer/utf8.h"

namespace sardonyx::text {

namespace {

/// What the rules need to remember of a cluster so far.
struct State {
  GraphemeClass last;
  bool pictograph_open = false;  ///< pictograph, then only extending characters
  bool joiner_after_pictograph = false;
  bool odd_regional = false;
};

bool is_control(GraphemeClass c) {
  return c == GraphemeClass::kControl || c == GraphemeClass::kCr || c == GraphemeClass::kLf;
}

/// Rules GB3 to GB13.
bool joins(const State& state, GraphemeClass next) {
  using enum GraphemeClass;
  const GraphemeClass last = state.last;
  if (last == kCr && next == kLf) return true;
  if (is_control(last) || is_control(next)) return false;
  if (last == kL && (next == kL || next == kV || next == kLv || next == kLvt)) return true;
  if ((last == kLv || last == kV) && (next == kV || next == kT)) return true;
  if ((last == kLvt || last == kT) && next == kT) return true;
  if (next == kExtend || next == kZwj || next == kSpacingMark) return true;
  if (last == kPrepend) return true;
  if (state.joiner_after_pictograph && next == kPictographic) return true;
  return last == kRegional && next == kRegional && state.odd_regional;
}

void advance(State& state, GraphemeClass next) {
  using enum GraphemeClass;
  state.joiner_after_pictograph = state.pictograph_open && next == kZwj;
  if (next == kPictographic) {
    state.pictograph_open = true;
  } else if (next != kExtend) {
    state.pictograph_open = false;
  }
  state.odd_regional = next == kRegional && !(state.last == kRegional && state.odd_regional);
  state.last = next;
}

}  // namespace

std::size_t GraphemeBreaker::next(std::size_t at) const {
  State state{GraphemeClass::kOther};
  advance(state, grapheme_class(utf8_decode(&text_[at])));
  at += utf8_length(static_cast<unsigned char>(text_[at]));
  while (at < text_.size()) {
    const GraphemeClass next = grapheme_class(utf8_decode(&text_[at]));
    if (!joins(state, next)) break;
    advance(state, next);
    at += utf8_length(static_cast<unsigned char>(text_[at]));
  }
  return at;
}

}  // namespace sardonyx::text
