#pragma once

#include "sardonyx/error.h"

namespace sardonyx::cli {

// Exit statuses of the program; docs/command-line.md lists them for users.
inline constexpr int kSuccess = 0;
inline constexpr int kDifferent = 1;  ///< outputs are not what --expect holds
inline constexpr int kUsage = 2;      ///< the command line is wrong

/// 10 for kInvalidArgument, then one more for each code in ErrorCode's order.
int exit_status(ErrorCode code);

}  // namespace sardonyx::cli
