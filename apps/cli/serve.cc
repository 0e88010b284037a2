#include "apps/server/serve.h"

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <fmt/core.h>
#include <memory>

#include "apps/cli/commands.h"
#include "apps/cli/session_options.h"
#include "base/logging.h"

namespace sardonyx::cli {
namespace {

struct ServeCommand {
  server::ServeOptions options;
  std::string log_level;
};

using Milliseconds = std::chrono::milliseconds;

/// An option in seconds for a duration.
void add_seconds(CLI::App& command, const std::string& name, Milliseconds& duration, const std::string& what,
                 const std::string& group) {
  command
      .add_option_function<double>(
          name,
          [&duration](const double& seconds) { duration = Milliseconds(static_cast<std::int64_t>(seconds * 1e3)); },
          what)
      ->check(CLI::Range(0.0, 86400.0))
      ->type_name("SECONDS")
      ->default_str(fmt::format("{:g}", static_cast<double>(duration.count()) / 1e3))
      ->group(group);
}

void add_limits(CLI::App& command, server::ServeOptions& options) {
  const std::string group = "Limits";
  server::HttpLimits& limits = options.limits;
  command.add_option("--max-queue", options.service.max_queue, "Requests that may wait; more are answered with 429")
      ->check(CLI::PositiveNumber)
      ->capture_default_str()
      ->group(group);
  command.add_option("--max-connections", limits.connections, "Clients at a time; more are answered with 503")
      ->check(CLI::PositiveNumber)
      ->capture_default_str()
      ->group(group);
  command.add_option("--max-body", limits.body_bytes, "Bytes of a request's body; more are answered with 413")
      ->check(CLI::PositiveNumber)
      ->capture_default_str()
      ->group(group);
  command.add_option("--max-header", limits.header_bytes, "Bytes of a request's header; more are answered with 431")
      ->check(CLI::Range(256, 1 << 20))
      ->capture_default_str()
      ->group(group);
  add_seconds(command, "--request-timeout", options.service.request_timeout, "For a request to be answered, else 504",
              group);
  add_seconds(command, "--header-timeout", limits.header, "For a client to send a request's header", group);
  add_seconds(command, "--body-timeout", limits.body, "For a client to send a request's body", group);
  add_seconds(command, "--idle-timeout", limits.idle, "Between two requests of a connection", group);
  add_seconds(command, "--linger", options.linger, "After SIGTERM, for clients between two requests", group);
  add_seconds(command, "--drain-timeout", options.drain, "After SIGTERM, for taken requests to be answered", group);
}

void serve(const ServeCommand& command) {
  if (!command.log_level.empty())
    set_log_level(parse_log_level(command.log_level));
  else if (std::getenv("SARDONYX_LOG") == nullptr)
    set_log_level(LogLevel::kInfo);
  server::serve(command.options);
}

}  // namespace

void add_serve(CLI::App& app, Outcome&) {
  auto command = std::make_shared<ServeCommand>();
  server::ServeOptions& options = command->options;
  CLI::App* sub = app.add_subcommand("serve", "Serve a text classifier over HTTP");
  sub->footer(
      "Answers POST /analyze {\"text\": ...} with {\"label\", \"score\"}, and GET /ping, /health, /metrics, "
      "/v2/health/live and\n"
      "/v2/health/ready. Logs are JSON lines on standard error. SIGTERM ends it once every request that was taken is "
      "answered.\n\n"
      "Examples:\n"
      "  sardonyx serve models/sentiment\n"
      "  sardonyx serve ./my-model --host 0.0.0.0 --port 80 --max-queue 64\n");
  sub->add_option("folder", options.folder, "Model folder: model.onnx, config.json, tokenizer.json")
      ->required()
      ->type_name("FOLDER");
  sub->add_option("--host", options.host, "Address to listen on; 0.0.0.0 for every network of the machine")
      ->capture_default_str();
  sub->add_option("--port", options.port, "Port to listen on; 0 takes a free one")
      ->check(CLI::Range(0, 65535))
      ->capture_default_str();
  sub->add_option("--model-file", options.classifier.model_file,
                  "The ONNX file in the folder, where it isn't model.onnx")
      ->type_name("FILE");
  sub->add_option("--max-length", options.classifier.max_length,
                  "Cut texts at this many tokens, below the model's own limit");
  sub->add_option("--warm-up", options.warm_up, "Lengths in words that are run before the service is ready")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->capture_default_str();
  sub->add_option("--log-level", command->log_level, "debug, info (the default), warning, error or off");
  add_limits(*sub, options);
  add_session_options(*sub, options.classifier.session);
  sub->callback([command] {
    command->options.service.workers = command->options.classifier.session.threads;
    serve(*command);
  });
}

}  // namespace sardonyx::cli
