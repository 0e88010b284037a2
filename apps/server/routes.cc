#include "apps/server/routes.h"

namespace sardonyx::server {

const std::vector<Route>& routes() {
  static const std::vector<Route> table = {
      {"POST", "/analyze", Endpoint::kAnalyze, {200, 400, 422, 429, 500, 503, 504}},
      {"GET", "/health", Endpoint::kHealth, {200, 503}},
      {"GET", "/metrics", Endpoint::kMetrics, {200}},
      {"GET", "/ping", Endpoint::kPing, {200}},
      {"GET", "/v2/health/live", Endpoint::kLive, {200}},
      {"GET", "/v2/health/ready", Endpoint::kReady, {200, 503}},
  };
  return table;
}

}  // namespace sardonyx::server
