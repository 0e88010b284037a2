// mutation_test [--count N] [--seed S] [--keep FOLDER] [MODEL.onnx ...]
//
// Damages models (those given, or five that are built here) and loads, writes, reads again and runs what comes out.
// Each mutant must give an Error or run; it must not crash, hang, report a fault of ours, or take more than 1 GiB. Work
// is done in a child process: a mutant that ends it is reported with its number (and its file is kept, with --keep),
// and the next one goes on.

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fmt/core.h>
#include <new>
#include <string>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sardonyx/session.h"

#include "base/file_mapping.h"
#include "memory_meter.h"
#include "mutator.h"
#include "onnx/reader.h"
#include "onnx/writer.h"
#include "seed_models.h"

namespace sardonyx::mutation {
namespace {

constexpr std::size_t kMostMemory = std::size_t{1} << 30;
constexpr unsigned kMostSeconds = 30;  ///< for one mutant, on a machine that is busy with other things
constexpr std::int64_t kMostInputElements = 100'000;

struct Options {
  std::int64_t count = 2000;
  std::uint64_t seed = 1;
  std::string keep;
  std::vector<SeedModel> models;
};

/// Shared with the parent.
struct Progress {
  std::atomic<std::int64_t> next{0};
  std::atomic<std::int64_t> rejected{0}, loaded{0}, ran{0}, run_errors{0}, faults{0};
};

std::string mutant_of(const Options& options, std::int64_t index) {
  const SeedModel& model = options.models[static_cast<std::size_t>(index) % options.models.size()];
  return Mutator(options.seed * 1'000'003 + static_cast<std::uint64_t>(index)).mutate(model.bytes);
}

void report(const Options& options, std::int64_t index, const std::string& what) {
  const SeedModel& model = options.models[static_cast<std::size_t>(index) % options.models.size()];
  fmt::print("mutant {} ({}, seed {}): {}\n", index, model.name, options.seed, what);
  std::fflush(stdout);
  if (options.keep.empty()) return;
  std::filesystem::create_directories(options.keep);
  write_file(fmt::format("{}/mutant-{}-{}.onnx", options.keep, options.seed, index), mutant_of(options, index));
}

/// An input that the model takes, if it says enough: symbols are 2.
bool make_input(const PortInfo& port, NamedValues& inputs) {
  if (port.kind != "tensor" || port.element_type == ElementType::kUndefined) return false;
  Shape shape;
  std::int64_t count = 1;
  for (std::int64_t fixed : port.fixed) {
    const std::int64_t dim = fixed < 0 ? 2 : fixed;
    if (__builtin_mul_overflow(count, dim, &count) || count > kMostInputElements) return false;
    shape.push_back(dim);
  }
  if (!port.has_rank) shape.push_back(2);
  Tensor tensor(port.element_type, shape);
  if (port.element_type == ElementType::kFloat32) {
    for (std::int64_t i = 0; i < tensor.num_elements(); ++i)
      tensor.mutable_data<float>()[i] = 0.5f * static_cast<float>(i % 7) - 1;
  } else if (port.element_type != ElementType::kString && tensor.num_bytes() > 0) {
    std::memset(tensor.view().data_ptr, port.element_type == ElementType::kBool ? 1 : 0, tensor.num_bytes());
  }
  inputs.emplace_back(port.name, tensor);
  return true;
}

/// Whether it ran.
bool run(const Session& session) {
  NamedValues inputs;
  for (const PortInfo& port : session.inputs()) {
    if (!port.has_default && !make_input(port, inputs)) return false;
  }
  RunOptions run_options;
  run_options.deadline = std::chrono::steady_clock::now() + std::chrono::seconds(2);
  session.run(inputs, {}, run_options);
  return true;
}

/// Reads, writes and reads again; returns false where the file is refused.
bool load(std::string_view bytes) {
  graph::Model model;
  try {
    model = onnx::read_model(std::as_bytes(std::span(bytes)));
  } catch (const Error& error) {
    if (error.code() == ErrorCode::kInternal) throw;
    return false;
  }
  graph::verify(model);
  const std::string written = onnx::write_model_to_string(model);
  graph::verify(onnx::read_model(std::as_bytes(std::span(written))));
  return true;
}

void try_mutant(const Options& options, std::int64_t index, Progress& progress) {
  const std::string mutant = mutant_of(options, index);
  reset_peak();
  const std::size_t before = memory_in_use();
  bool is_loaded = false;
  try {
    is_loaded = load(mutant);
  } catch (const std::exception& error) {
    ++progress.faults;
    return report(options, index, fmt::format("loads, but not when written: {}", error.what()));
  }
  if (memory_peak() - before > kMostMemory) {
    ++progress.faults;
    report(options, index, fmt::format("loading took {} bytes", memory_peak() - before));
  }
  if (!is_loaded) {
    ++progress.rejected;
    return;
  }
  ++progress.loaded;
  limit_memory(before +
               kMostMemory);  // a model may ask for more when it runs, but must then be told that it can't have it
  struct Unlimited {
    ~Unlimited() { limit_memory(0); }
  } unlimited;
  try {
    const Session session = Session::load(std::as_bytes(std::span(mutant)));
    if (run(session)) ++progress.ran;
  } catch (const Error& error) {
    ++progress.run_errors;
    if (error.code() != ErrorCode::kInternal) return;
    ++progress.faults;
    report(options, index, error.what());
  } catch (const std::exception& error) {
    ++progress.faults;
    report(options, index, fmt::format("an exception that is no Error: {}", error.what()));
  }
}

void run_child(const Options& options, Progress& progress) {
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  const rlimit address_space{8 * kMostMemory, 8 * kMostMemory};
  setrlimit(RLIMIT_AS, &address_space);
#endif
  while (progress.next < options.count) {
    alarm(kMostSeconds);
    try_mutant(options, progress.next, progress);
    ++progress.next;
  }
  alarm(0);
}

std::string death_of(int status) {
  if (!WIFSIGNALED(status)) return fmt::format("the process ended with status {}", WEXITSTATUS(status));
  const int signal = WTERMSIG(status);
  if (signal == SIGALRM) return fmt::format("hangs: more than {} seconds", kMostSeconds);
  return fmt::format("crashes: {}", strsignal(signal));
}

int run_all(const Options& options) {
  void* memory = mmap(nullptr, sizeof(Progress), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return 1;
  Progress& progress = *new (memory) Progress;
  while (progress.next < options.count) {
    const pid_t child = fork();
    if (child == 0) {
      run_child(options, progress);
      std::fflush(stdout);
      _exit(0);
    }
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) != child) return 1;
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) break;
    ++progress.faults;
    report(options, progress.next, death_of(status));
    ++progress.next;
  }
  fmt::print("{} mutants of {} models: {} refused, {} loaded, of which {} ran and {} gave an error; {} faults\n",
             options.count, options.models.size(), progress.rejected.load(), progress.loaded.load(),
             progress.ran.load(), progress.run_errors.load(), progress.faults.load());
  return progress.faults == 0 ? 0 : 1;
}

Options parse(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    const bool has_value = i + 1 < argc;
    if (argument == "--count" && has_value) {
      options.count = std::atoll(argv[++i]);
    } else if (argument == "--seed" && has_value) {
      options.seed = std::strtoull(argv[++i], nullptr, 10);
    } else if (argument == "--keep" && has_value) {
      options.keep = argv[++i];
    } else {
      options.models.push_back({argument, read_file(argument)});
    }
  }
  if (options.models.empty()) options.models = seed_models();
  return options;
}

/// The models themselves must load and run: a test of nothing but refusals would prove little.
bool seeds_run(const std::vector<SeedModel>& models) {
  bool all = true;
  for (const SeedModel& model : models) {
    try {
      if (run(Session::load(std::as_bytes(std::span(model.bytes))))) continue;
      fmt::print("{} was not run: it does not say enough of its inputs\n", model.name);
    } catch (const Error& error) {
      fmt::print("{} undamaged: {}\n", model.name, error.what());
    }
    all = false;
  }
  std::fflush(stdout);
  return all;
}

}  // namespace
}  // namespace sardonyx::mutation

int main(int argc, char** argv) {
  using namespace sardonyx::mutation;  // NOLINT
  const Options options = parse(argc, argv);
  std::fflush(stdout);
  const pid_t child = fork();  // so that this process starts no threads
  if (child == 0) _exit(seeds_run(options.models) ? 0 : 1);
  int status = 0;
  const bool seeds_ran = waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
  return run_all(options) == 0 && seeds_ran ? 0 : 1;
}
