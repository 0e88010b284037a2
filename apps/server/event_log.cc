#include "apps/server/event_log.h"

#include <chrono>
#include <cmath>
#include <ctime>
#include <fmt/core.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

namespace sardonyx::server {
namespace {

std::string_view level_name(LogLevel level) {
  switch (level) {
    case LogLevel::kTrace: return "trace";
    case LogLevel::kDebug: return "debug";
    case LogLevel::kInfo: return "info";
    case LogLevel::kWarning: return "warning";
    default: return "error";
  }
}

std::string quoted(std::string_view text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string time_text(std::int64_t time_ms) {
  const std::time_t seconds = time_ms / 1000;
  std::tm parts = {};
  gmtime_r(&seconds, &parts);
  char text[32];
  std::strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &parts);
  return fmt::format("{}.{:03}Z", text, time_ms % 1000);
}

std::string field_text(const EventField& field) {
  if (const auto* text = std::get_if<std::string_view>(&field.second)) return quoted(*text);
  if (const auto* whole = std::get_if<std::int64_t>(&field.second)) return std::to_string(*whole);
  const double number = std::get<double>(field.second);
  return std::isfinite(number) ? fmt::format("{:.3f}", number) : "null";
}

}  // namespace

std::string event_line(std::int64_t time_ms, LogLevel level, std::string_view event,
                       std::initializer_list<EventField> fields) {
  std::string line = fmt::format("{{\"time\":\"{}\",\"level\":\"{}\",\"event\":{}", time_text(time_ms),
                                 level_name(level), quoted(event));
  for (const EventField& field : fields) line += fmt::format(",\"{}\":{}", field.first, field_text(field));
  return line + "}";
}

void log_event(LogLevel level, std::string_view event, std::initializer_list<EventField> fields) noexcept {
  if (level < log_level()) return;
  try {
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    const std::string line =
        event_line(std::chrono::duration_cast<std::chrono::milliseconds>(now).count(), level, event, fields) + "\n";
    // One write per line keeps lines of several threads whole.
    [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, line.data(), line.size());
  } catch (...) {  // out of memory: the line is lost, the service goes on
  }
}

}  // namespace sardonyx::server
