#include <CLI/CLI.hpp>

#include "apps/cli/commands.h"
namespace sardonyx::cli {
void add_serve(CLI::App&, Outcome&) {}
}  // namespace sardonyx::cli
