#pragma once

#include <chrono>
#include <cstddef>
#include <iterator>
#include <string>
#include <string_view>

namespace sardonyx::cli {

/// Colours, where the stream is a terminal that shows them and NO_COLOR isn't set.
class Style {
 public:
  explicit Style(int file);
  std::string bold(std::string_view text) const { return paint("1", text); }
  std::string dim(std::string_view text) const { return paint("2", text); }
  std::string red(std::string_view text) const { return paint("31", text); }
  std::string green(std::string_view text) const { return paint("32", text); }
  /// A background that changes from piece to piece, so that their borders show.
  std::string stripe(std::size_t piece, std::string_view text) const {
    static constexpr std::string_view kBackgrounds[] = {"30;44", "30;42", "30;43", "30;45", "30;46"};
    return paint(kBackgrounds[piece % std::size(kBackgrounds)], text);
  }

 private:
  std::string paint(std::string_view code, std::string_view text) const;
  bool on_;
};

/// Styles of standard output and standard error.
const Style& output_style();
const Style& error_style();

/// One line on standard error that is rewritten as work goes on; silent where that is no terminal. Erased on
/// destruction.
class Progress {
 public:
  Progress();
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  /// Shown at most ten times a second.
  void show(std::string_view text);

 private:
  using Clock = std::chrono::steady_clock;
  bool on_;
  bool drawn_ = false;
  Clock::time_point last_;
};

/// "1.5 GiB"
std::string format_bytes(double bytes);
/// 12345678 as "12,345,678"
std::string format_count(std::int64_t count);

}  // namespace sardonyx::cli
