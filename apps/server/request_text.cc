#include "apps/server/request_text.h"

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "sardonyx/error.h"

#include "apps/values/parse_json.h"

namespace sardonyx::server {
namespace {

using nlohmann::json;

constexpr int kMostJsonDepth = 16;

/// The shortest digits that give this float back, instead of those of the double next to it.
std::string short_float(float value) { return fmt::format("{}", value); }

std::string quoted(const std::string& text) { return json(text).dump(-1, ' ', false, json::error_handler_t::replace); }

}  // namespace

HttpResponse error_response(int status, const std::string& type, const std::string& message) {
  HttpResponse response{.status = status};
  response.body = json{{"error", message}, {"error_type", type}}.dump(-1, ' ', false, json::error_handler_t::replace);
  return response;
}

AnalyzeRequest parse_analyze(const std::string& body) {
  json root;
  try {
    root = values::parse_json(body, "the request's body", kMostJsonDepth);
  } catch (const Error& error) {
    throw Refusal{400, "invalid_json", error.message()};
  }
  if (!root.is_object()) throw Refusal{422, "validation", "expected a JSON object such as {\"text\": \"...\"}"};
  const auto text = root.find("text");
  if (text == root.end() || !text->is_string()) {
    throw Refusal{
        422, "validation",
        fmt::format("expected \"text\" to be a string, found {}", text == root.end() ? "none" : text->type_name())};
  }
  AnalyzeRequest request{.text = text->get<std::string>()};
  if (const auto truncate = root.find("truncate"); truncate != root.end() && !truncate->is_null()) {
    if (!truncate->is_boolean()) throw Refusal{422, "validation", "expected \"truncate\" to be true or false"};
    request.truncate = truncate->get<bool>();
  }
  return request;
}

std::string analyze_body(const std::string& label, const pipeline::Classification& result) {
  std::string body =
      fmt::format("{{\"label\":{},\"score\":{}", quoted(label), short_float(result.scores[result.best()]));
  if (result.truncated) body += fmt::format(",\"truncated\":true,\"tokens\":{}", result.tokens);
  return body + "}";
}

}  // namespace sardonyx::server
