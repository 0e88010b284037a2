#include "apps/cli/terminal.h"

#include <cstdlib>
#include <fmt/core.h>
#include <unistd.h>

namespace sardonyx::cli {
namespace {

bool shows_colours(int file) {
  const char* no_color = std::getenv("NO_COLOR");
  const char* term = std::getenv("TERM");
  return isatty(file) != 0 && (no_color == nullptr || *no_color == '\0') && term != nullptr &&
         std::string_view(term) != "dumb";
}

}  // namespace

Style::Style(int file) : on_(shows_colours(file)) {}

std::string Style::paint(std::string_view code, std::string_view text) const {
  return on_ ? fmt::format("\x1b[{}m{}\x1b[0m", code, text) : std::string(text);
}

const Style& output_style() {
  static const Style style(STDOUT_FILENO);
  return style;
}

const Style& error_style() {
  static const Style style(STDERR_FILENO);
  return style;
}

Progress::Progress() : on_(isatty(STDERR_FILENO) != 0), last_(Clock::now() - std::chrono::seconds(1)) {}

Progress::~Progress() {
  if (drawn_) fmt::print(stderr, "\r\x1b[K");
}

void Progress::show(std::string_view text) {
  const Clock::time_point now = Clock::now();
  if (!on_ || now - last_ < std::chrono::milliseconds(100)) return;
  last_ = now;
  drawn_ = true;
  fmt::print(stderr, "\r\x1b[K{}", text);
  std::fflush(stderr);
}

std::string format_bytes(double bytes) {
  const char* const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  std::size_t unit = 0;
  while (bytes >= 1024 && unit < 4) {
    bytes /= 1024;
    ++unit;
  }
  return unit == 0 ? fmt::format("{:.0f} B", bytes) : fmt::format("{:.1f} {}", bytes, units[unit]);
}

std::string format_count(std::int64_t count) {
  std::string digits = std::to_string(count);
  for (std::size_t at = digits.size(); at > 3 + (digits[0] == '-' ? 1u : 0u); at -= 3) digits.insert(at - 3, ",");
  return digits;
}

}  // namespace sardonyx::cli
