#pragma once

#include "sardonyx/session.h"

namespace CLI {
class App;
}

namespace sardonyx::cli {

/// Adds --threads, --providers, --allow-fallback, --opt-level, --disable-pass and --config. `options` outlives the
/// parsing.
void add_session_options(CLI::App& command, SessionOptions& options);

}  // namespace sardonyx::cli
