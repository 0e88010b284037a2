#pragma once

#include <string>

#include "apps/server/http_server.h"
#include "text/pipeline/text_classifier.h"

namespace sardonyx::server {

/// A request that is refused with a status of its own; other faults are sardonyx::Error.
struct Refusal {
  int status;
  std::string type;  ///< "error_type" of the answer
  std::string message;
};

/// {"error": message, "error_type": type}
HttpResponse error_response(int status, const std::string& type, const std::string& message);

/// What the body of POST /analyze asks.
struct AnalyzeRequest {
  std::string text;
  bool truncate = true;  ///< cut a text that is longer than the model takes, and say so; else refuse it
};
/// Throws Refusal: 400 where the body is no JSON, 422 where it lacks what is needed.
AnalyzeRequest parse_analyze(const std::string& body);

/// {"label", "score"}, and where the text was cut "truncated" and "tokens".
std::string analyze_body(const std::string& label, const pipeline::Classification& result);

}  // namespace sardonyx::server
