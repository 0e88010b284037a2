#include "apps/server/serve.h"

#include <csignal>
#include <cstdlib>
#include <exception>
#include <fmt/core.h>
#include <thread>

#include "apps/server/event_log.h"
#include "base/cgroup.h"

namespace sardonyx::server {
namespace {

using Clock = std::chrono::steady_clock;

/// The address to show for one that was bound: a wildcard is reached by the loopback address.
std::string shown_host(const std::string& host) {
  if (host == "0.0.0.0") return "127.0.0.1";
  if (host == "::") return "[::1]";
  return host.find(':') == std::string::npos ? host : "[" + host + "]";
}

void print_ready(const std::string& host, int port) {
  fmt::print(
      "ready: curl -s http://{}:{}/analyze -H 'Content-Type: application/json' -d '{{\"text\": \"What a lovely "
      "day.\"}}'\n",
      shown_host(host), port);
  std::fflush(stdout);
}

void warm_up(const pipeline::TextClassifier& classifier, const std::vector<std::size_t>& lengths) {
  for (const std::size_t words : lengths) {
    std::string text;
    for (std::size_t i = 0; i < words; ++i) text += "a ";
    classifier.classify(text);
  }
}

TextModel load_model(const ServeOptions& options) {
  auto classifier = std::make_shared<const pipeline::TextClassifier>(
      pipeline::TextClassifier::load(options.folder, options.classifier));
  warm_up(*classifier, options.warm_up);
  return {classifier->labels(), [classifier](const std::string& text, const pipeline::ClassifyOptions& classify) {
            return classifier->classify(text, classify);
          }};
}

/// One run of the service: what is shared by the I/O thread and the thread that loads the model.
class Serving {
 public:
  explicit Serving(const ServeOptions& options)
      : options_(options),
        service_(options.service, metrics_),
        http_(options.host, options.port, options.limits, callbacks()) {}

  void run() {
    log_event(
        LogLevel::kInfo, "listening",
        {{"host", options_.host}, {"port", std::int64_t{http_.port()}}, {"threads", std::int64_t{effective_cpus()}}});
    std::thread loader([this] { load(); });
    http_.run();
    service_.stop();
    if (!loaded_) {
      // Told to stop while the model was loading, which can't be interrupted; nothing was taken that needs an answer.
      log_event(LogLevel::kInfo, "stopped", {{"while", "loading"}});
      std::_Exit(EXIT_SUCCESS);
    }
    loader.join();
    if (failure_) std::rethrow_exception(failure_);
    log_event(LogLevel::kInfo, "stopped");
  }

 private:
  HttpCallbacks callbacks() {
    return {.handle =
                [this](HttpRequest request, std::function<void(HttpResponse)> respond) {
                  service_.handle(std::move(request), std::move(respond));
                },
            .reject = [this](int status, const std::string& why) { return service_.reject(status, why); },
            .connections_changed = [this](std::size_t connections) { metrics_.set_connections(connections); },
            .stop_asked = [this](int signal) { stop(signal); }};
  }

  void load() {
    const Clock::time_point start = Clock::now();
    try {
      TextModel model = load_model(options_);
      loaded_ = true;
      // On the I/O thread, so that stopping and becoming ready don't cross.
      http_.post([this, model = std::move(model), start]() mutable {
        service_.set_model(std::move(model));
        const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
        log_event(LogLevel::kInfo, "ready", {{"folder", options_.folder.native()}, {"load_s", seconds}});
        if (service_.ready()) print_ready(options_.host, http_.port());
      });
    } catch (...) {
      failure_ = std::current_exception();
      loaded_ = true;
      http_.drain(std::chrono::milliseconds(0), std::chrono::milliseconds(1000), [] {});
    }
  }

  void stop(int signal) {
    log_event(LogLevel::kInfo, stopping_ ? "stopping_at_once" : "stopping", {{"signal", std::int64_t{signal}}});
    if (stopping_) return service_.cancel_running();
    stopping_ = true;
    service_.begin_shutdown();
    http_.drain(options_.linger, options_.drain, [this] {
      log_event(LogLevel::kWarning, "drain_deadline_passed");
      service_.cancel_running();
    });
  }

  const ServeOptions& options_;
  Metrics metrics_;
  Service service_;
  HttpServer http_;  // first to go: its connections hold what the service gave out
  std::atomic<bool> loaded_{false};
  std::exception_ptr failure_;
  bool stopping_ = false;
};

}  // namespace

void serve(const ServeOptions& options) {
  std::signal(SIGPIPE, SIG_IGN);  // whoever reads the ready line or the log may go away
  Serving(options).run();
}

}  // namespace sardonyx::server
