#pragma once

namespace CLI {
class App;
}

namespace sardonyx::cli {

/// What a command leaves for main().
struct Outcome {
  int status = 0;  ///< the process's exit status where no Error is thrown
};

/// Each adds one subcommand, whose callback does the work. `outcome` outlives the parsing.
void add_bench(CLI::App& app, Outcome& outcome);
void add_classify(CLI::App& app, Outcome& outcome);
void add_explain(CLI::App& app, Outcome& outcome);
void add_inspect(CLI::App& app, Outcome& outcome);
void add_optimize(CLI::App& app, Outcome& outcome);
void add_run(CLI::App& app, Outcome& outcome);
void add_serve(CLI::App& app, Outcome& outcome);
void add_tokenize(CLI::App& app, Outcome& outcome);

}  // namespace sardonyx::cli
