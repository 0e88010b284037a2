#include "base/logging.h"

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <atomic>
#include <cstdlib>
#include <memory>

#include "base/fail.h"

namespace sardonyx {
namespace {

struct LevelName {
  std::string_view name;
  LogLevel level;
  spdlog::level::level_enum spdlog_level;
};

constexpr LevelName kLevels[] = {
    {"trace", LogLevel::kTrace, spdlog::level::trace},    {"debug", LogLevel::kDebug, spdlog::level::debug},
    {"info", LogLevel::kInfo, spdlog::level::info},       {"warning", LogLevel::kWarning, spdlog::level::warn},
    {"error", LogLevel::kError, spdlog::level::err},      {"off", LogLevel::kOff, spdlog::level::off},
};

const LevelName* find_level(std::string_view name) {
  for (const LevelName& row : kLevels) {
    if (row.name == name) return &row;
  }
  return nullptr;
}

/// A name that is no level is ignored here: logging must not stop a program from starting.
LogLevel start_level() {
  const char* text = std::getenv("SARDONYX_LOG");
  const LevelName* row = text == nullptr ? nullptr : find_level(text);
  return row == nullptr ? LogLevel::kWarning : row->level;
}

std::atomic<LogLevel>& level_variable() {
  static std::atomic<LogLevel> level{start_level()};
  return level;
}

spdlog::logger& logger() {
  // Leaked on purpose: threads may still log while the program exits.
  static spdlog::logger* instance = [] {
    auto* created = new spdlog::logger("sardonyx", std::make_shared<spdlog::sinks::stderr_sink_mt>());
    created->set_pattern("%Y-%m-%dT%H:%M:%S.%e %l %v");
    created->set_level(spdlog::level::trace);
    return created;
  }();
  return *instance;
}

}  // namespace

void set_log_level(LogLevel level) { level_variable().store(level, std::memory_order_relaxed); }

LogLevel log_level() { return level_variable().load(std::memory_order_relaxed); }

LogLevel parse_log_level(std::string_view name) {
  const LevelName* row = find_level(name);
  if (row == nullptr) {
    fail(ErrorCode::kInvalidArgument, "log level '{}' is not one of trace, debug, info, warning, error, off", name);
  }
  return row->level;
}

void log_line(LogLevel level, std::string_view message) noexcept {
  if (level < log_level() || level == LogLevel::kOff) return;
  try {
    logger().log(kLevels[static_cast<int>(level)].spdlog_level, spdlog::string_view_t(message.data(), message.size()));
  } catch (...) {  // nothing sensible is left to do with a line that cannot be written
  }
}

void internal::log_formatted(LogLevel level, fmt::string_view format, fmt::format_args args) noexcept {
  try {
    log_line(level, fmt::vformat(format, args));
  } catch (...) {
  }
}

}  // namespace sardonyx
