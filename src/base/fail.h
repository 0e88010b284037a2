#pragma once

#include <fmt/core.h>

#include <utility>

#include "sardonyx/error.h"

namespace sardonyx {

/// Throws an Error with a formatted message: fail(ErrorCode::kInvalidModel, "axis {} is outside rank {}", axis, rank).
template <typename... Args>
[[noreturn]] void fail(ErrorCode code, fmt::format_string<Args...> format, Args&&... args) {
  throw Error(code, fmt::vformat(fmt::string_view(format), fmt::make_format_args(args...)));
}

}  // namespace sardonyx
