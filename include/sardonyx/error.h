#pragma once

#include <exception>
#include <string>
#include <string_view>
#include <vector>

namespace sardonyx {

/// What kind of fault an Error reports. Servers map these to status codes, the program to exit codes.
enum class ErrorCode {
  kInvalidArgument,    ///< the caller's input is wrong: shape, type, name, option, request, text
  kInvalidModel,       ///< the model file breaks the format or ONNX's rules
  kUnsupported,        ///< right by the rules, but not something this build or provider can do
  kNotFound,           ///< a file, name or device does not exist
  kIo,                 ///< the operating system failed a read, write or mapping
  kResourceExhausted,  ///< a limit or the memory ran out
  kCancelled,          ///< the caller asked the run to stop
  kDeadlineExceeded,   ///< the run's deadline passed
  kUnavailable,        ///< not ready yet, or shutting down
  kInternal,           ///< a bug of ours
};

/// The code's stable name, such as "invalid_model".
std::string_view name(ErrorCode code);

/// The one exception type. Anything that a model, a request or a file can cause is an Error.
///
/// The message says what was expected and what was found; the context chain says where, innermost first, such as
/// "node 'encoder/MatMul_3' (MatMul)" and then "model 'model.onnx'". Copying may throw only on memory exhaustion.
class Error : public std::exception {
 public:
  Error(ErrorCode code, std::string message);

  ErrorCode code() const noexcept { return code_; }
  const std::string& message() const noexcept { return message_; }
  /// Innermost first.
  const std::vector<std::string>& context() const noexcept { return context_; }

  /// Adds the next outer place. Catch by reference, add, and rethrow with `throw;`.
  void add_context(std::string place);

  /// The message and its context on one line each, control characters spelt out (\x00). Valid as long as this object and until add_context.
  const char* what() const noexcept override { return what_.c_str(); }

 private:
  ErrorCode code_;
  std::string message_;
  std::vector<std::string> context_;
  std::string what_;
};

}  // namespace sardonyx
