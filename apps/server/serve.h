#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "apps/server/http_server.h"
#include "apps/server/service.h"
#include "text/pipeline/text_classifier.h"

namespace sardonyx::server {

struct ServeOptions {
  std::filesystem::path folder;
  std::string host = "127.0.0.1";
  int port = 8080;
  pipeline::ClassifierOptions classifier;
  ServiceOptions service;
  HttpLimits limits;
  std::vector<std::size_t> warm_up = {8, 32, 128};  ///< lengths in words that are run before the service is ready
  std::chrono::milliseconds linger{500};            ///< after SIGTERM, for clients between two requests
  std::chrono::milliseconds drain{25'000};          ///< after SIGTERM, for taken requests
};

/// Loads the folder's model and serves it until SIGTERM or SIGINT. Prints one line on standard output when ready: a
/// curl command that works. Returns once every request that was taken has been answered. Throws Error where the address
/// can't be had or the model can't be loaded.
void serve(const ServeOptions& options);

}  // namespace sardonyx::server
