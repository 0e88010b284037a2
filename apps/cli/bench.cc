#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <fmt/core.h>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>
#include <string>

#include "apps/cli/commands.h"
#include "apps/cli/model_inputs.h"
#include "apps/cli/session_options.h"
#include "apps/cli/terminal.h"
#include "base/cgroup.h"
#include "base/cpu_info.h"

namespace sardonyx::cli {
namespace {

using nlohmann::json;
using Clock = std::chrono::steady_clock;

struct BenchCommand {
  std::string model;
  SessionOptions session;
  InputOptions inputs;
  double seconds = 3;
  int iterations = 0, warmup = 3;
  std::size_t nodes = 0;
  bool json = false, no_operators = false;
};

/// Fewer say nothing about a distribution.
constexpr std::size_t kFewestRuns = 5;
constexpr int kProfiledRuns = 5;

struct OperatorTime {
  std::string op, provider;
  double ms = 0;  ///< of one run
  double calls = 0;
};

struct NodeTime {
  std::string name, op, shapes;
  double ms = 0;  ///< of one run
};

struct Profile {
  std::vector<OperatorTime> operators;  ///< slowest first
  std::vector<NodeTime> nodes;          ///< slowest first
};

struct Measurement {
  double load_s = 0;
  double peak_mib = 0;
  std::vector<double> ms;  ///< sorted
  Profile profile;
  NamedValues inputs;
};

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

/// The smallest time that a share `q` of the runs don't exceed.
double quantile(const std::vector<double>& sorted, double q) {
  const auto rank = static_cast<std::size_t>(std::ceil(q * static_cast<double>(sorted.size())));
  return sorted[std::min(sorted.size() - 1, rank == 0 ? 0 : rank - 1)];
}

double mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

/// The most memory this program has held. (getrusage would count what the process held before it became this program.)
double peak_mib() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmHWM:")) return std::strtod(line.c_str() + 6, nullptr) / 1024;
  }
  return 0;
}

std::vector<double> time_runs(const Session& session, const NamedValues& inputs, const BenchCommand& command) {
  Progress progress;
  for (int i = 0; i < command.warmup; ++i) {
    progress.show(fmt::format("warming up: {} of {}", i + 1, command.warmup));
    session.run(inputs);
  }
  std::vector<double> times;
  const Clock::time_point start = Clock::now();
  const auto goes_on = [&] {
    if (command.iterations > 0) return times.size() < static_cast<std::size_t>(command.iterations);
    return times.size() < kFewestRuns || seconds_since(start) < command.seconds;
  };
  while (goes_on()) {
    const Clock::time_point before = Clock::now();
    session.run(inputs);
    times.push_back(seconds_since(before) * 1e3);
    progress.show(fmt::format("measuring: {} runs, {:.1f} s", times.size(), seconds_since(start)));
  }
  std::sort(times.begin(), times.end());
  return times;
}

template <typename Key, typename Time>
std::vector<Time> slowest_first(std::map<Key, Time>& sums) {
  std::vector<Time> times;
  for (auto& [key, sum] : sums) times.push_back(std::move(sum));
  std::sort(times.begin(), times.end(), [](const Time& a, const Time& b) { return a.ms > b.ms; });
  return times;
}

/// Times by operator and by node, from a session of its own, since recording them costs time.
Profile profile(const BenchCommand& command, const NamedValues& inputs) {
  SessionOptions options = command.session;
  options.profile = true;
  const Session session = Session::load(command.model, options);
  session.run(inputs);
  const auto count_events = [&] { return json::parse(session.profile_json()).at("traceEvents").size(); };
  const std::size_t skipped = count_events();  // of the first run, which packs weights and touches memory
  for (int i = 0; i < kProfiledRuns; ++i) session.run(inputs);
  const json trace = json::parse(session.profile_json());
  std::map<std::pair<std::string, std::string>, OperatorTime> operators;
  std::map<std::pair<std::string, std::string>, NodeTime> nodes;
  for (std::size_t i = skipped; i < trace.at("traceEvents").size(); ++i) {
    const json& event = trace["traceEvents"][i];
    const std::string op = event.at("args").at("op"), provider = event["args"].at("provider");
    const double ms = event.at("dur").get<double>() / 1e3 / kProfiledRuns;
    OperatorTime& sum = operators.try_emplace({op, provider}, OperatorTime{op, provider}).first->second;
    sum.ms += ms;
    sum.calls += 1.0 / kProfiledRuns;
    const std::string node = event.at("name"), shapes = event["args"].value("shapes", "");
    nodes.try_emplace({node, shapes}, NodeTime{node, op, shapes}).first->second.ms += ms;
  }
  return {slowest_first(operators), slowest_first(nodes)};
}

Measurement measure(const BenchCommand& command) {
  Measurement out;
  const Clock::time_point start = Clock::now();
  const Session session = Session::load(command.model, command.session);
  out.load_s = seconds_since(start);
  out.inputs = gather_inputs(command.inputs, session.inputs());
  out.ms = time_runs(session, out.inputs, command);
  out.peak_mib = peak_mib();
  if (!command.no_operators || command.nodes > 0) out.profile = profile(command, out.inputs);
  if (command.no_operators) out.profile.operators.clear();
  out.profile.nodes.resize(std::min(out.profile.nodes.size(), command.nodes));
  return out;
}

double total_ms(const std::vector<OperatorTime>& operators) {
  double sum = 0;
  for (const OperatorTime& op : operators) sum += op.ms;
  return sum;
}

int threads_used(const BenchCommand& command) {
  const int available = effective_cpus();
  return command.session.threads == 0 ? available : std::min(command.session.threads, available);
}

void print_json(const BenchCommand& command, const Measurement& result) {
  json shapes = json::object();
  for (const auto& [name, value] : result.inputs) {
    if (value.is_tensor())
      shapes[name] = std::vector<std::int64_t>(value.tensor().shape().begin(), value.tensor().shape().end());
  }
  json operators = json::array();
  const double total = total_ms(result.profile.operators);
  for (const OperatorTime& op : result.profile.operators) {
    operators.push_back({{"operator", op.op},
                         {"provider", op.provider},
                         {"calls", op.calls},
                         {"ms", op.ms},
                         {"share", total == 0 ? 0 : op.ms / total}});
  }
  json nodes = json::array();
  for (const NodeTime& node : result.profile.nodes) {
    nodes.push_back({{"node", node.name}, {"operator", node.op}, {"shapes", node.shapes}, {"ms", node.ms}});
  }
  const json root = {{"model", command.model},
                     {"inputs", std::move(shapes)},
                     {"threads", threads_used(command)},
                     {"isa", name(current_isa())},
                     {"runs", result.ms.size()},
                     {"load_s", result.load_s},
                     {"median_ms", quantile(result.ms, 0.5)},
                     {"mean_ms", mean(result.ms)},
                     {"min_ms", result.ms.front()},
                     {"p90_ms", quantile(result.ms, 0.9)},
                     {"p99_ms", quantile(result.ms, 0.99)},
                     {"max_ms", result.ms.back()},
                     {"peak_mib", result.peak_mib},
                     {"operators", std::move(operators)},
                     {"nodes", std::move(nodes)}};
  fmt::print("{}\n", root.dump(2));
}

void print_operators(const std::vector<OperatorTime>& operators) {
  if (operators.empty()) return;
  const double total = total_ms(operators);
  const std::string head =
      fmt::format("{:<28} {:<8} {:>6} {:>10} {:>7}", "operator", "provider", "calls", "ms", "share");
  fmt::print("\n{}\n", output_style().bold(head));
  for (const OperatorTime& op : operators) {
    fmt::print("{:<28} {:<8} {:>6.0f} {:>10.3f} {:>6.1f}%\n", op.op, op.provider, op.calls, op.ms,
               total == 0 ? 0 : 100 * op.ms / total);
  }
}

void print_nodes(const std::vector<NodeTime>& nodes) {
  if (nodes.empty()) return;
  fmt::print("\n{}\n", output_style().bold(fmt::format("{:>10}  {:<20} {}", "ms", "operator", "node, shapes")));
  for (const NodeTime& node : nodes) fmt::print("{:>10.3f}  {:<20} {}  {}\n", node.ms, node.op, node.name, node.shapes);
}

void print_text(const BenchCommand& command, const Measurement& result) {
  const Style& style = output_style();
  fmt::print("{}  {} threads, {}\n", style.bold(command.model), threads_used(command), name(current_isa()));
  for (const auto& [name, value] : result.inputs) {
    if (value.is_tensor())
      fmt::print("  {} {}{}\n", name, sardonyx::name(value.tensor().type()), value.tensor().shape().to_string());
  }
  fmt::print("load {:.3f} s   peak memory {:.0f} MiB\n", result.load_s, result.peak_mib);
  fmt::print("{} {:.3f} ms   mean {:.3f}   min {:.3f}   p90 {:.3f}   p99 {:.3f}   max {:.3f}   ({} runs)\n",
             style.bold("median"), quantile(result.ms, 0.5), mean(result.ms), result.ms.front(),
             quantile(result.ms, 0.9), quantile(result.ms, 0.99), result.ms.back(), result.ms.size());
  print_operators(result.profile.operators);
  print_nodes(result.profile.nodes);
}

}  // namespace

void add_bench(CLI::App& app, Outcome&) {
  auto command = std::make_shared<BenchCommand>();
  CLI::App* sub = app.add_subcommand("bench", "Measure a model's latency, load time, memory and operators");
  sub->footer(
      "Examples:\n"
      "  sardonyx bench model.onnx --shape input_ids:1x30 --threads 1\n"
      "  sardonyx bench model.onnx --input in.npz --seconds 10 --json\n"
      "  sardonyx bench model.onnx --nodes 20\n");
  sub->add_option("model", command->model, "ONNX file")->required()->type_name("MODEL");
  sub->add_option("--seconds", command->seconds, "How long to measure")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str()
      ->group("Measurement");
  sub->add_option("--iterations", command->iterations, "How many runs to measure, in place of --seconds")
      ->check(CLI::NonNegativeNumber)
      ->group("Measurement");
  sub->add_option("--nodes", command->nodes, "Print the N slowest nodes too, with the shapes they work on")
      ->type_name("N")
      ->group("Measurement");
  sub->add_option("--warmup", command->warmup, "Runs before measuring")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str()
      ->group("Measurement");
  sub->add_flag("--no-operators", command->no_operators, "Leave out the table by operator")->group("Measurement");
  sub->add_flag("--json", command->json, "Print JSON")->group("Measurement");
  add_input_options(*sub, command->inputs);
  add_session_options(*sub, command->session);
  sub->callback([command] {
    const Measurement result = measure(*command);
    command->json ? print_json(*command, result) : print_text(*command, result);
  });
}

}  // namespace sardonyx::cli
