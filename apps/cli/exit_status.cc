#include "apps/cli/exit_status.h"

namespace sardonyx::cli {

int exit_status(ErrorCode code) {
  switch (code) {
    case ErrorCode::kInvalidArgument: return 10;
    case ErrorCode::kInvalidModel: return 11;
    case ErrorCode::kUnsupported: return 12;
    case ErrorCode::kNotFound: return 13;
    case ErrorCode::kIo: return 14;
    case ErrorCode::kResourceExhausted: return 15;
    case ErrorCode::kCancelled: return 16;
    case ErrorCode::kDeadlineExceeded: return 17;
    case ErrorCode::kUnavailable: return 18;
    case ErrorCode::kInternal: break;
  }
  return 19;
}

}  // namespace sardonyx::cli
