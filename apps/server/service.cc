#include "apps/server/service.h"

#include <algorithm>

#include "apps/server/event_log.h"
#include "apps/server/request_text.h"
#include "base/cgroup.h"
#include "base/fail.h"

namespace sardonyx::server {
namespace {

using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

constexpr const char* kRetrySeconds = "1";

HttpResponse unavailable(const std::string& why) {
  HttpResponse response = error_response(503, "unavailable", why);
  response.headers.emplace_back("Retry-After", kRetrySeconds);
  return response;
}

HttpResponse response_of(const Error& error, const std::string& request_id) {
  switch (error.code()) {
    case ErrorCode::kInvalidArgument: return error_response(400, "invalid_argument", error.message());
    case ErrorCode::kCancelled:
    case ErrorCode::kUnavailable: return unavailable("the server is shutting down");
    case ErrorCode::kDeadlineExceeded:
      return error_response(504, "deadline_exceeded", "the request took longer than it may");
    default: break;
  }
  log_event(LogLevel::kError, "request_failed",
            {{"request_id", request_id}, {"code", name(error.code())}, {"error", error.what()}});
  return error_response(500, std::string(name(error.code())),
                        "the model failed on this text; the log has request " + request_id);
}

const Route* find_path(const std::string& path, const std::string& method, bool& path_exists) {
  path_exists = false;
  for (const Route& route : routes()) {
    if (route.path != path) continue;
    path_exists = true;
    if (route.method == method) return &route;
  }
  return nullptr;
}

HttpResponse unrouted(const HttpRequest& request, bool path_exists) {
  if (!path_exists) return error_response(404, "not_found", "there is no '" + request.path.substr(0, 200) + "' here");
  std::string allowed;
  for (const Route& route : routes()) {
    if (route.path == request.path) allowed = std::string_view(route.method) == "GET" ? "GET, HEAD" : route.method;
  }
  HttpResponse response = error_response(405, "method_not_allowed", "'" + request.path + "' takes " + allowed);
  response.headers.emplace_back("Allow", allowed);
  return response;
}

}  // namespace

Service::Service(const ServiceOptions& options, Metrics& metrics)
    : options_(options), metrics_(metrics), queue_(options.max_queue) {
  if (options_.workers <= 0) options_.workers = effective_cpus();
}

Service::~Service() { stop(); }

void Service::set_model(TextModel model) {
  owned_model_ = std::make_unique<const TextModel>(std::move(model));
  model_ = owned_model_.get();
  for (int i = 0; i < options_.workers; ++i) workers_.emplace_back([this] { work(); });
  metrics_.set_ready(ready());
}

void Service::begin_shutdown() {
  shutting_down_ = true;
  metrics_.set_ready(false);
}

void Service::cancel_running() { cancelled_ = true; }

void Service::stop() {
  queue_.close();
  for (std::thread& worker : workers_) worker.join();
  workers_.clear();
}

void Service::handle(HttpRequest request, Respond respond) {
  bool path_exists = false;
  const Route* route = find_path(request.path, request.method, path_exists);
  if (route == nullptr) return finish(request, kUnrouted, unrouted(request, path_exists), respond);
  if (route->endpoint == Endpoint::kAnalyze) return enqueue(std::move(request), std::move(respond));
  finish(request, route->path, answer(route->endpoint), respond);
}

HttpResponse Service::reject(int status, const std::string& why) {
  metrics_.request_done(kUnrouted, status, 0);
  log_event(LogLevel::kInfo, "rejected", {{"status", std::int64_t{status}}, {"error", why}});
  if (status == 503) return unavailable(why);
  return error_response(status,
                        status == 413   ? "payload_too_large"
                        : status == 431 ? "header_too_large"
                                        : "invalid_request",
                        why);
}

HttpResponse Service::answer(Endpoint endpoint) const {
  switch (endpoint) {
    case Endpoint::kPing: return {.body = R"({"text":"pong"})"};
    case Endpoint::kLive: return {.body = R"({"live":true})"};
    case Endpoint::kMetrics:
      return {.content_type = "text/plain; version=0.0.4; charset=utf-8", .body = metrics_.text()};
    case Endpoint::kReady:
      return {.status = ready() ? 200 : 503, .body = ready() ? R"({"ready":true})" : R"({"ready":false})"};
    case Endpoint::kHealth: break;
    case Endpoint::kAnalyze: break;
  }
  if (ready()) return {.body = R"({"status":"ready"})"};
  return unavailable(shutting_down_ ? "the server is shutting down" : "the model is loading");
}

void Service::enqueue(HttpRequest request, Respond respond) {
  if (!ready()) {
    const HttpResponse response = unavailable(shutting_down_ ? "the server is shutting down" : "the model is loading");
    return finish(request, "/analyze", response, respond);
  }
  Job job{std::move(request), std::move(respond), Clock::now()};
  if (!queue_.push(job)) {
    HttpResponse response = error_response(429, "overloaded", "the queue is full; try again later");
    response.headers.emplace_back("Retry-After", kRetrySeconds);
    return finish(job.request, "/analyze", std::move(response), job.respond);
  }
  metrics_.set_queue_depth(queue_.size());
}

void Service::work() {
  while (std::optional<Job> job = queue_.pop()) {
    metrics_.set_queue_depth(queue_.size());
    ++busy_;
    run(*job);
    --busy_;
  }
}

void Service::run(Job& job) {
  HttpResponse response;
  try {
    response = analyze(job, Clock::now());
  } catch (const Refusal& refusal) {
    response = error_response(refusal.status, refusal.type, refusal.message);
  } catch (const Error& error) {
    response = response_of(error, job.request.id);
  } catch (const std::exception& error) {
    response = response_of(Error(ErrorCode::kInternal, error.what()), job.request.id);
  }
  finish(job.request, "/analyze", std::move(response), job.respond);
}

RunOptions Service::run_options(const Job& job) const {
  RunOptions options;
  options.cancelled = &cancelled_;
  options.deadline = job.request.received + options_.request_timeout;
  // One text alone may use every thread; several at once share them, so that they don't run over each other.
  options.threads = std::max(1, options_.workers / std::max(1, busy_.load()));
  return options;
}

HttpResponse Service::analyze(const Job& job, Clock::time_point started) {
  const RunOptions options = run_options(job);
  if (cancelled_) fail(ErrorCode::kCancelled, "shutting down");
  if (started >= options.deadline) fail(ErrorCode::kDeadlineExceeded, "waited too long");
  const AnalyzeRequest asked = parse_analyze(job.request.body);
  const TextModel& model = *model_.load();
  const pipeline::Classification result = model.classify(asked.text, {.run = options, .truncate = asked.truncate});
  if (result.truncated && !asked.truncate) {
    throw Refusal{422, "validation",
                  fmt::format("the text has {} tokens, but the model takes {}; shorten it or allow \"truncate\"",
                              result.tokens, result.used_tokens)};
  }
  metrics_.text_done(Seconds(started - job.queued).count(), result.tokenize_seconds, result.run_seconds,
                     result.used_tokens, result.truncated);
  return {.body = analyze_body(model.labels[result.best()], result)};
}

void Service::finish(const HttpRequest& request, const char* route, HttpResponse response, const Respond& respond) {
  const double seconds = Seconds(Clock::now() - request.received).count();
  metrics_.request_done(route, response.status, seconds);
  // Probes and scrapes come every few seconds; they are noise among requests.
  const bool quiet = request.method == "GET" && response.status < 400;
  log_event(quiet ? LogLevel::kDebug : LogLevel::kInfo, "request",
            {{"request_id", request.id},
             {"method", request.method},
             {"path", request.path},
             {"status", std::int64_t{response.status}},
             {"ms", seconds * 1e3},
             {"request_bytes", static_cast<std::int64_t>(request.body.size())},
             {"peer", request.peer},
             {"traceparent", request.traceparent}});
  respond(std::move(response));
}

}  // namespace sardonyx::server
