#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "sardonyx/session.h"

#include "apps/server/http_server.h"
#include "apps/server/metrics.h"
#include "apps/server/routes.h"
#include "apps/server/work_queue.h"
#include "text/pipeline/text_classifier.h"

namespace sardonyx::server {

struct ServiceOptions {
  int workers = 0;                                    ///< threads that run the model; 0: effective_cpus()
  std::size_t max_queue = 256;                        ///< requests that may wait for a worker
  std::chrono::milliseconds request_timeout{30'000};  ///< from a request's arrival to its answer
};

/// What answers texts.
struct TextModel {
  std::vector<std::string> labels;
  /// Called by several workers at once.
  std::function<pipeline::Classification(const std::string& text, const pipeline::ClassifyOptions& options)> classify;
};

/// The answers to requests. Everything but texts is answered at once, on the calling thread, so that probes never wait
/// for the model; texts are queued for workers. All members are thread-safe.
class Service {
 public:
  using Respond = std::function<void(HttpResponse)>;

  Service(const ServiceOptions& options, Metrics& metrics);
  ~Service();

  /// From now on texts are answered and the service is ready. Once.
  void set_model(TextModel model);

  void handle(HttpRequest request, Respond respond);
  HttpResponse reject(int status, const std::string& why);

  /// From now on the service isn't ready and refuses texts with 503; those it has taken are still answered.
  void begin_shutdown();
  /// Answers what waits and what runs with 503, as soon as the running nodes end.
  void cancel_running();
  /// Waits for the workers to end, all taken texts answered.
  void stop();

  bool ready() const { return model_.load() != nullptr && !shutting_down_.load(); }

 private:
  using Clock = std::chrono::steady_clock;
  struct Job {
    HttpRequest request;
    Respond respond;
    Clock::time_point queued;
  };

  HttpResponse answer(Endpoint endpoint) const;
  void enqueue(HttpRequest request, Respond respond);
  void work();
  void run(Job& job);
  HttpResponse analyze(const Job& job, Clock::time_point started);
  RunOptions run_options(const Job& job) const;
  void finish(const HttpRequest& request, const char* route, HttpResponse response, const Respond& respond);

  ServiceOptions options_;
  Metrics& metrics_;
  WorkQueue<Job> queue_;
  std::unique_ptr<const TextModel> owned_model_;
  std::atomic<const TextModel*> model_{nullptr};
  std::atomic<bool> shutting_down_{false};
  std::atomic<bool> cancelled_{false};
  std::atomic<int> busy_{0};
  std::vector<std::thread> workers_;
};

}  // namespace sardonyx::server
