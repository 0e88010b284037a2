#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "base/logging.h"

namespace sardonyx::server {

using EventField = std::pair<std::string_view, std::variant<std::string_view, double, std::int64_t>>;

/// Writes one JSON object on one line of standard error: "time", "level", "event" and the fields. Lines below
/// log_level() are dropped. Bytes that aren't UTF-8 become U+FFFD. Thread-safe; never throws.
void log_event(LogLevel level, std::string_view event, std::initializer_list<EventField> fields = {}) noexcept;

/// The line that log_event writes, without its end, for the time given in milliseconds since 1970.
std::string event_line(std::int64_t time_ms, LogLevel level, std::string_view event,
                       std::initializer_list<EventField> fields);

}  // namespace sardonyx::server
