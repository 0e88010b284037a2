// Runs ONNX's backend test cases: see --help.
#include <CLI/CLI.hpp>
#include <chrono>
#include <fmt/core.h>
#include <unistd.h>

#include "sardonyx/session.h"

#include "base/file_mapping.h"
#include "base/logging.h"
#include "tests/conformance/model_scan.h"
#include "tests/conformance/report.h"
#include "tests/conformance/run_case.h"
#include "tests/conformance/workers.h"

namespace sardonyx::conformance {
namespace {

struct Options {
  std::string data, filter, op, expect, write_passing, write_table, opt_level = "all";
  std::vector<std::string> providers = {"cpu"};
  bool verbose = false, list_failures = false, table = false;
  int jobs = 2;
  double timeout_s = 300;
};

void add_options(CLI::App& app, Options& options) {
  app.add_option("--data", options.data, "ONNX's onnx/backend/test/data (in the onnx package)")->required();
  app.add_option("--filter", options.filter, "Run only the cases whose name holds this text");
  app.add_option("--operator", options.op, "Run only the cases whose model holds this operator, such as Softmax");
  app.add_flag("--verbose", options.verbose, "Print why each failing case fails");
  app.add_flag("--list-failures", options.list_failures, "Print the names of the failing cases");
  app.add_flag("--table", options.table, "Print the table by operator");
  app.add_option("--expect", options.expect, "File of cases that must pass; exit 1 where one fails");
  app.add_option("--write-passing", options.write_passing, "Write the file that --expect reads");
  app.add_option("--write-table", options.write_table, "Write docs/operator-coverage.md");
  app.add_option("--providers", options.providers, "Providers in the order to ask")->delimiter(',');
  app.add_option("--opt-level", options.opt_level, "disable, basic, extended or all")
      ->check(CLI::IsMember({"disable", "basic", "extended", "all"}));
  app.add_option("--jobs", options.jobs, "Processes that run cases")->check(CLI::Range(1, 256));
  app.add_option("--timeout", options.timeout_s, "Seconds that one case may take");
}

SessionOptions session_options(const Options& options) {
  SessionOptions session;
  session.providers = options.providers;
  session.threads = 1;
  const std::string& level = options.opt_level;
  session.optimization_level = level == "disable"    ? OptimizationLevel::kDisable
                               : level == "basic"    ? OptimizationLevel::kBasic
                               : level == "extended" ? OptimizationLevel::kExtended
                                                     : OptimizationLevel::kAll;
  return session;
}

std::vector<Result> run_all(const Options& options) {
  std::vector<Case> cases = list_cases(options.data);
  std::erase_if(cases, [&](const Case& test) { return test.name.find(options.filter) == std::string::npos; });
  if (!options.op.empty()) {
    std::erase_if(cases, [&](const Case& test) { return scan_model(test.model).operators.count(options.op) == 0; });
  }
  // The slow ones first, so that no process is left alone with them.
  std::stable_partition(cases.begin(), cases.end(), [](const Case& test) { return test.light; });
  const SessionOptions session = session_options(options);
  const bool terminal = isatty(STDERR_FILENO) != 0;
  const auto job = [&](std::size_t i) { return run_case(cases[i], session); };
  const auto progress = [&](std::size_t done) {
    if (terminal && (done % 20 == 0 || done == cases.size()))
      fmt::print(stderr, "\r{} of {} cases ran", done, cases.size());
    if (terminal && done == cases.size()) fmt::print(stderr, "\n");
  };
  const std::vector<std::string> reasons = run_in_workers(cases.size(), options.jobs, options.timeout_s, job, progress);
  std::vector<Result> results;
  for (std::size_t i = 0; i < cases.size(); ++i) results.push_back({std::move(cases[i]), reasons[i]});
  std::sort(results.begin(), results.end(), [](const Result& a, const Result& b) { return a.test.name < b.test.name; });
  return results;
}

void print_failures(const Options& options, const std::vector<Result>& results) {
  for (const Result& result : results) {
    if (result.passed()) continue;
    if (options.verbose)
      fmt::print("FAIL {}: {}\n", result.test.name, result.why);
    else if (options.list_failures)
      fmt::print("{}\n", result.test.name);
  }
}

int hold_against(const Options& options, const std::vector<Result>& results) {
  std::vector<std::string> passing = read_passing(options.expect);
  if (!options.op.empty()) {  // what wasn't run can't be missing
    std::erase_if(passing, [&](const std::string& name) {
      return std::none_of(results.begin(), results.end(),
                          [&](const Result& result) { return result.test.name == name; });
    });
  }
  const Comparison comparison = compare_with(results, passing, options.filter);
  for (const Result* result : comparison.broken) fmt::print("BROKEN {}: {}\n", result->test.name, result->why);
  for (const std::string& name : comparison.missing)
    fmt::print("MISSING {}: listed as passing, but not in the data\n", name);
  for (const Result* result : comparison.fixed) fmt::print("newly passing: {}\n", result->test.name);
  if (!comparison.fixed.empty()) {
    fmt::print("{} cases pass that '{}' doesn't list: add them with --write-passing {}\n", comparison.fixed.size(),
               options.expect, options.expect);
  }
  return comparison.broken.empty() && comparison.missing.empty() ? 0 : 1;
}

int run(const Options& options) {
  const auto started = std::chrono::steady_clock::now();
  const std::vector<Result> results = run_all(options);
  print_failures(options, results);
  if (options.table) fmt::print("{}", operator_table(results, false));
  int status = 0;
  if (!options.expect.empty()) status = hold_against(options, results);
  if (!options.write_passing.empty()) write_file(options.write_passing, passing_text(results));
  if (!options.write_table.empty()) write_file(options.write_table, coverage_page(results));
  fmt::print("{}", totals_text(count(results)));
  fmt::print("{:.1f} s\n", std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count());
  return status;
}

}  // namespace
}  // namespace sardonyx::conformance

int main(int argc, char** argv) {
  using namespace sardonyx;
  conformance::Options options;
  CLI::App app("Runs ONNX's backend test cases through the runtime and counts those that pass.");
  conformance::add_options(app, options);
  CLI11_PARSE(app, argc, argv);
  try {
    return conformance::run(options);
  } catch (const std::exception& error) {
    fmt::print(stderr, "conformance: {}\n", error.what());
    return 2;
  }
}
