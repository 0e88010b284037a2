#pragma once

#include <fmt/core.h>

#include <string_view>
#include <utility>

namespace sardonyx {

enum class LogLevel { kTrace, kDebug, kInfo, kWarning, kError, kOff };

/// Lines below this level are dropped. The start value is `warning`, or SARDONYX_LOG when it names a level
/// (trace, debug, info, warning, error, off). Thread-safe.
void set_log_level(LogLevel level);
LogLevel log_level();

/// The level of that name; throws Error(kInvalidArgument) that lists the names.
LogLevel parse_log_level(std::string_view name);

/// Writes one line to standard error: time, level, message. Thread-safe; never throws.
void log_line(LogLevel level, std::string_view message) noexcept;

namespace internal {
void log_formatted(LogLevel level, fmt::string_view format, fmt::format_args args) noexcept;
}

template <typename... Args>
void log(LogLevel level, fmt::format_string<Args...> format, Args&&... args) noexcept {
  if (level < log_level()) return;
  internal::log_formatted(level, fmt::string_view(format), fmt::make_format_args(args...));
}

template <typename... Args>
void log_debug(fmt::format_string<Args...> format, Args&&... args) noexcept {
  log(LogLevel::kDebug, format, std::forward<Args>(args)...);
}
template <typename... Args>
void log_info(fmt::format_string<Args...> format, Args&&... args) noexcept {
  log(LogLevel::kInfo, format, std::forward<Args>(args)...);
}
template <typename... Args>
void log_warning(fmt::format_string<Args...> format, Args&&... args) noexcept {
  log(LogLevel::kWarning, format, std::forward<Args>(args)...);
}
template <typename... Args>
void log_error(fmt::format_string<Args...> format, Args&&... args) noexcept {
  log(LogLevel::kError, format, std::forward<Args>(args)...);
}

}  // namespace sardonyx
