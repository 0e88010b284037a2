#include "apps/server/metrics.h"

#include <mutex>
#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>

#include "apps/server/process_usage.h"
#include "apps/server/routes.h"

namespace sardonyx::server {
namespace {

using Buckets = prometheus::Histogram::BucketBoundaries;

const Buckets& seconds_buckets() {
  static const Buckets buckets = {0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10};
  return buckets;
}

const Buckets& token_buckets() {
  static const Buckets buckets = {8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096};
  return buckets;
}

/// Counters can't be set; what the system counts for us is added by its growth.
void raise_to(prometheus::Counter& counter, double value) {
  if (value > counter.Value()) counter.Increment(value - counter.Value());
}

}  // namespace

struct Metrics::Impl {
  prometheus::Registry registry;
  std::mutex raise_mutex;

  prometheus::Family<prometheus::Counter>& requests = prometheus::BuildCounter()
                                                          .Name("sardonyx_requests_total")
                                                          .Help("Requests answered, by route and status")
                                                          .Register(registry);
  prometheus::Family<prometheus::Histogram>& request_seconds =
      prometheus::BuildHistogram()
          .Name("sardonyx_request_duration_seconds")
          .Help("From a request's first byte to its answer, by route")
          .Register(registry);
  prometheus::Gauge& connections = gauge("sardonyx_connections", "Open client connections");
  prometheus::Gauge& ready = gauge("sardonyx_ready", "1 while requests are taken, else 0");
  prometheus::Gauge& queue_depth = gauge("sardonyx_queue_depth", "Requests that wait for a worker");
  prometheus::Gauge& memory = gauge("process_resident_memory_bytes", "Memory of the process");
  prometheus::Counter& cpu_seconds = counter("process_cpu_seconds_total", "CPU time of the process");
  prometheus::Counter& throttled_periods =
      counter("sardonyx_cgroup_throttled_periods_total", "Periods in which the CPU quota ran out");
  prometheus::Counter& throttled_seconds =
      counter("sardonyx_cgroup_throttled_seconds_total", "Time spent waiting for CPU quota");
  prometheus::Counter& texts = counter("sardonyx_texts_total", "Texts that the model has seen");
  prometheus::Counter& tokens = counter("sardonyx_tokens_total", "Tokens that the model has seen");
  prometheus::Counter& truncated = counter("sardonyx_truncated_texts_total", "Texts cut at the model's maximum length");
  prometheus::Histogram& queue_seconds =
      histogram("sardonyx_queue_seconds", "Time a request waited for a worker", seconds_buckets());
  prometheus::Histogram& tokenize_seconds =
      histogram("sardonyx_tokenize_seconds", "Time to tokenize a text", seconds_buckets());
  prometheus::Histogram& inference_seconds =
      histogram("sardonyx_inference_seconds", "Time of a model run", seconds_buckets());
  prometheus::Histogram& text_tokens =
      histogram("sardonyx_text_tokens", "Tokens of a text, as the model sees it", token_buckets());

  Impl() {
    for (const Route& route : routes()) {
      for (const int status : route.statuses) count(route.path, status);
      duration(route.path);
    }
    for (const int status : kUnroutedStatuses) count(kUnrouted, status);
    duration(kUnrouted);
  }

  prometheus::Counter& count(const std::string& route, int status) {
    return requests.Add({{"route", route}, {"status", std::to_string(status)}});
  }
  prometheus::Histogram& duration(const std::string& route) {
    return request_seconds.Add({{"route", route}}, seconds_buckets());
  }

  prometheus::Gauge& gauge(const char* name, const char* help) {
    return prometheus::BuildGauge().Name(name).Help(help).Register(registry).Add({});
  }
  prometheus::Counter& counter(const char* name, const char* help) {
    return prometheus::BuildCounter().Name(name).Help(help).Register(registry).Add({});
  }
  prometheus::Histogram& histogram(const char* name, const char* help, const Buckets& buckets) {
    return prometheus::BuildHistogram().Name(name).Help(help).Register(registry).Add({}, buckets);
  }
};

Metrics::Metrics() : impl_(std::make_unique<Impl>()) {}
Metrics::~Metrics() = default;

void Metrics::request_done(const std::string& route, int status, double seconds) {
  impl_->count(route, status).Increment();
  impl_->duration(route).Observe(seconds);
}

void Metrics::set_connections(std::size_t connections) { impl_->connections.Set(static_cast<double>(connections)); }
void Metrics::set_ready(bool ready) { impl_->ready.Set(ready ? 1 : 0); }
void Metrics::set_queue_depth(std::size_t depth) { impl_->queue_depth.Set(static_cast<double>(depth)); }

void Metrics::text_done(double queued, double tokenizing, double running, std::size_t tokens, bool truncated) {
  impl_->texts.Increment();
  impl_->tokens.Increment(static_cast<double>(tokens));
  if (truncated) impl_->truncated.Increment();
  impl_->queue_seconds.Observe(queued);
  impl_->tokenize_seconds.Observe(tokenizing);
  impl_->inference_seconds.Observe(running);
  impl_->text_tokens.Observe(static_cast<double>(tokens));
}

std::string Metrics::text() const {
  const ProcessUsage usage = read_process_usage();
  impl_->memory.Set(usage.resident_bytes);
  const std::lock_guard lock(impl_->raise_mutex);
  raise_to(impl_->cpu_seconds, usage.cpu_seconds);
  raise_to(impl_->throttled_periods, usage.throttled_periods);
  raise_to(impl_->throttled_seconds, usage.throttled_seconds);
  return prometheus::TextSerializer().Serialize(impl_->registry.Collect());
}

}  // namespace sardonyx::server
