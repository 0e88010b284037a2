#include "sardonyx/error.h"

#include <utility>

namespace sardonyx {

std::string_view name(ErrorCode code) {
  switch (code) {
    case ErrorCode::kInvalidArgument: return "invalid_argument";
    case ErrorCode::kInvalidModel: return "invalid_model";
    case ErrorCode::kUnsupported: return "unsupported";
    case ErrorCode::kNotFound: return "not_found";
    case ErrorCode::kIo: return "io";
    case ErrorCode::kResourceExhausted: return "resource_exhausted";
    case ErrorCode::kCancelled: return "cancelled";
    case ErrorCode::kDeadlineExceeded: return "deadline_exceeded";
    case ErrorCode::kUnavailable: return "unavailable";
    case ErrorCode::kInternal: return "internal";
  }
  return "unknown";
}

Error::Error(ErrorCode code, std::string message) : code_(code), message_(std::move(message)), what_(message_) {}

void Error::add_context(std::string place) {
  what_ += "\n  in " + place;
  context_.push_back(std::move(place));
}

}  // namespace sardonyx
