#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sardonyx/error.h"
#include "sardonyx/value.h"

namespace sardonyx {

/// How far a loaded graph is rewritten before it runs. Named as in ONNX Runtime.
enum class OptimizationLevel : std::uint8_t {
  kDisable,   ///< nothing
  kBasic,     ///< semantics-preserving passes over standard operators
  kExtended,  ///< and fusions that providers accept
  kAll,       ///< and whole-graph forms: unread rows, layouts
};

/// What a Session is made with. Plain data: copy freely.
struct SessionOptions {
  /// In the order they are asked. A provider that can't start is an Error unless allow_fallback.
  std::vector<std::string> providers = {"cpu"};
  /// Lets the CPU run what no named provider takes, and lets a provider that can't start be left out. All of it is reported.
  bool allow_fallback = false;
  OptimizationLevel optimization_level = OptimizationLevel::kAll;
  std::vector<std::string> disabled_passes;  ///< by name, as `sardonyx optimize --list-passes` prints them
  /// The most threads one run uses; 0 means what affinity and the cgroup quota give the process.
  int threads = 0;
  bool profile = false;  ///< record every node's times; see Session::profile_json
  /// Options of single providers and expert switches, such as "sim.decline" = "Softmax,Gelu". Unknown keys are an Error.
  std::map<std::string, std::string> config;
};

/// One input or output of a model. A dimension is a number, or an expression over the model's symbols such as "batch".
struct PortInfo {
  std::string name;
  std::string kind = "tensor";  ///< "tensor", "sequence", "optional" or "map"
  ElementType element_type = ElementType::kUndefined;
  bool has_rank = false;
  std::vector<std::string> dims;       ///< "3", "batch", "2*sequence+1"
  std::vector<std::int64_t> fixed;     ///< the number where dims[i] is one, else -1
  bool has_default = false;            ///< an input that may be left out
  std::string type;                    ///< all of it in words: "float[batch,3]"
};

/// What one run may ask for. The flag and the deadline are polled at every node and in long kernels.
struct RunOptions {
  const std::atomic<bool>* cancelled = nullptr;  ///< set it to stop the run with kCancelled
  std::chrono::steady_clock::time_point deadline = std::chrono::steady_clock::time_point::max();
  int threads = 0;  ///< lowers SessionOptions::threads for this run; 0 keeps it
};

using NamedValues = std::vector<std::pair<std::string, Value>>;

/// A model made ready to run. Immutable after load: run() is const and safe from any number of threads at once.
class Session {
 public:
  /// Loads, optimises, places and plans. Throws an Error with the file, node and reason.
  static Session load(const std::filesystem::path& path, const SessionOptions& options = {});
  /// The same from memory, which is copied. External data is not available then.
  static Session load(std::span<const std::byte> bytes, const SessionOptions& options = {});

  Session(Session&&) noexcept;
  Session& operator=(Session&&) noexcept;
  ~Session();

  const std::vector<PortInfo>& inputs() const;
  const std::vector<PortInfo>& outputs() const;
  /// Key-value metadata of the model file, with "producer_name", "domain", "graph_name", "version" and "description".
  const std::map<std::string, std::string>& metadata() const;

  /// Runs the model. Inputs by name, in any order; `output_names` empty means all outputs, in the model's order. Input memory
  /// is borrowed during the call; outputs own theirs. Throws kInvalidArgument naming the input that is missing, unknown, of
  /// another type, or of a shape that contradicts the model.
  std::vector<Value> run(const NamedValues& inputs, std::span<const std::string> output_names = {}, const RunOptions& options = {}) const;

  /// A readable table of where every node runs and why, copies with their bytes, and what was fused into what.
  std::string explain() const;
  std::string explain_json() const;
  /// The memory plan for input shapes as given to run(): arena bytes, buffers, sharing. Readable.
  std::string memory_plan(const NamedValues& inputs) const;
  /// Times of all runs so far as a Chrome trace (JSON). Empty events unless SessionOptions::profile.
  std::string profile_json() const;

 private:
  struct Impl;
  explicit Session(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

/// The names that SessionOptions::providers may hold in this build, in the order to prefer.
std::vector<std::string> available_providers();

/// What `sardonyx optimize` does: loads, runs the passes of `options`, and writes portable ONNX; with `fused`, the form after
/// fusions and whole-graph rewriting, stamped with what it depends on.
void optimize_model(const std::filesystem::path& input, const std::filesystem::path& output, const SessionOptions& options, bool fused);

/// What `sardonyx inspect` prints of a model file without running it.
struct ModelSummary {
  std::vector<PortInfo> inputs, outputs;
  std::int64_t ir_version = 0;
  std::map<std::string, std::int64_t> opsets;
  std::map<std::string, std::string> metadata;
  std::map<std::string, std::int64_t> operators;  ///< how often each occurs, bodies included; "domain.Name" outside ai.onnx
  std::int64_t parameters = 0;                    ///< elements of all constants
  std::int64_t parameter_bytes = 0;
};
ModelSummary summarize_model(const std::filesystem::path& path);

/// Reads and writes ONNX's .pb files of single values (TensorProto, SequenceProto, OptionalProto).
Value read_value_file(const std::filesystem::path& path, std::string_view kind = "tensor");
void write_value_file(const std::filesystem::path& path, const Value& value);

/// Names of the optimiser's passes with one line about each, in the order they run.
std::vector<std::pair<std::string, std::string>> optimization_passes();

}  // namespace sardonyx
