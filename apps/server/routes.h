#pragma once

#include <array>
#include <span>
#include <string_view>
#include <vector>

namespace sardonyx::server {

enum class Endpoint { kAnalyze, kHealth, kLive, kMetrics, kPing, kReady };

/// One path that the service answers.
struct Route {
  const char* method;
  const char* path;
  Endpoint endpoint;
  std::vector<int> statuses;  ///< that it answers with, for the metrics
};

const std::vector<Route>& routes();

/// The route label of requests that match none, and of those refused before they are read.
inline constexpr const char* kUnrouted = "other";
inline constexpr std::array<int, 6> kUnroutedStatuses = {400, 404, 405, 413, 431, 503};

}  // namespace sardonyx::server
