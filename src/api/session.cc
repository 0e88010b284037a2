#include "sardonyx/session.h"

#include <algorithm>
#include <mutex>
#include <optional>
#include <utility>

#include "api/load.h"
#include "api/ports.h"
#include "base/fail.h"
#include "base/float_environment.h"
#include "runtime/admission.h"
#include "runtime/frame.h"

namespace sardonyx {

using runtime::Frame;
using runtime::Slot;

struct Session::Impl {
  api::LoadedModel loaded;
  std::vector<PortInfo> inputs, outputs;
  std::map<std::string, std::string> metadata;
  int threads = 1;
  std::unique_ptr<runtime::Profiler> profiler;
  std::mutex frames_mutex;
  std::vector<std::unique_ptr<Frame>> free_frames;

  explicit Impl(api::LoadedModel model) : loaded(std::move(model)) {
    inputs = api::input_ports(*loaded.model);
    outputs = api::output_ports(*loaded.model);
    metadata = api::metadata_of(*loaded.model);
    const int available = ThreadPool::global().threads();
    threads = loaded.options.threads > 0 ? std::min(loaded.options.threads, available) : available;
    if (loaded.options.profile) profiler = std::make_unique<runtime::Profiler>();
  }

  std::unique_ptr<Frame> take_frame() {
    {
      const std::lock_guard lock(frames_mutex);
      if (!free_frames.empty()) {
        std::unique_ptr<Frame> frame = std::move(free_frames.back());
        free_frames.pop_back();
        return frame;
      }
    }
    return std::make_unique<Frame>(*loaded.plan);
  }

  void give_back(std::unique_ptr<Frame> frame) {
    const std::lock_guard lock(frames_mutex);
    free_frames.push_back(std::move(frame));
  }

  /// The graph's inputs in order, out of what the caller named.
  std::vector<Slot> arrange(const NamedValues& given) const {
    const graph::Graph& graph = loaded.model->graph;
    std::vector<Slot> slots(graph.inputs.size());
    std::vector<bool> present(graph.inputs.size(), false);
    for (const auto& [name, value] : given) {
      const auto it = std::find(graph.input_names.begin(), graph.input_names.end(), name);
      if (it == graph.input_names.end()) {
        std::string known;
        for (const std::string& one : graph.input_names) known += (known.empty() ? "" : ", ") + one;
        fail(ErrorCode::kInvalidArgument, "the model has no input '{}'; its inputs are: {}", name, known);
      }
      const auto index = static_cast<std::size_t>(it - graph.input_names.begin());
      if (present[index]) fail(ErrorCode::kInvalidArgument, "input '{}' is given twice", name);
      present[index] = true;
      slots[index] = check_input(graph, index, value);
    }
    for (std::size_t i = 0; i < slots.size(); ++i) {
      if (present[i]) continue;
      const graph::ConstId fallback = graph.input_defaults[i];
      const auto kind = graph.value(graph.inputs[i]).type.kind;
      if (fallback != graph::kNoConst) {
        const Tensor& tensor = loaded.model->constant(fallback);
        slots[i] = {tensor.view(), tensor, true};
      } else if (kind != graph::ValueType::Kind::kOptional) {
        fail(ErrorCode::kInvalidArgument, "input '{}' ({}) is missing", graph.input_names[i], inputs[i].type);
      }
    }
    return slots;
  }

  Slot check_input(const graph::Graph& graph, std::size_t index, const Value& value) const {
    const graph::ValueType& type = graph.value(graph.inputs[index]).type;
    const std::string& name = graph.input_names[index];
    if (!value.is_tensor()) {
      const bool fits = (value.is_none() && type.kind == graph::ValueType::Kind::kOptional) || (value.is_sequence() && !type.is_tensor()) ||
                        (value.is_map() && type.kind == graph::ValueType::Kind::kMap);
      if (!fits) fail(ErrorCode::kInvalidArgument, "input '{}' must be {}, but it is a {}", name, type.to_string(), value.kind_name());
      return {{}, value, false};
    }
    const Tensor& tensor = value.tensor();
    const graph::ValueType* expected = &type;
    if (type.kind == graph::ValueType::Kind::kOptional && type.inner) expected = type.inner.get();
    if (!expected->is_tensor()) fail(ErrorCode::kInvalidArgument, "input '{}' must be {}, but it is a tensor", name, type.to_string());
    if (expected->element != tensor.type()) {
      fail(ErrorCode::kInvalidArgument, "input '{}' must be {}, but its element type is {}", name, type.to_string(), sardonyx::name(tensor.type()));
    }
    return {tensor.view(), value, true};
  }
};

Session::Session(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Session::Session(Session&&) noexcept = default;
Session& Session::operator=(Session&&) noexcept = default;
Session::~Session() = default;

Session Session::load(const std::filesystem::path& path, const SessionOptions& options) {
  return Session(std::make_unique<Impl>(api::load(path, options)));
}

Session Session::load(std::span<const std::byte> bytes, const SessionOptions& options) {
  return Session(std::make_unique<Impl>(api::load(bytes, options)));
}

const std::vector<PortInfo>& Session::inputs() const { return impl_->inputs; }
const std::vector<PortInfo>& Session::outputs() const { return impl_->outputs; }
const std::map<std::string, std::string>& Session::metadata() const { return impl_->metadata; }

std::vector<Value> Session::run(const NamedValues& inputs, std::span<const std::string> output_names, const RunOptions& options) const {
  const graph::Graph& graph = impl_->loaded.model->graph;
  std::vector<std::size_t> wanted;
  for (const std::string& name : output_names) {
    const auto it = std::find(graph.output_names.begin(), graph.output_names.end(), name);
    if (it == graph.output_names.end()) fail(ErrorCode::kInvalidArgument, "the model has no output '{}'", name);
    wanted.push_back(static_cast<std::size_t>(it - graph.output_names.begin()));
  }
  const std::vector<Slot> slots = impl_->arrange(inputs);
  std::vector<const Slot*> pointers;
  for (const Slot& slot : slots) pointers.push_back(&slot);

  runtime::RunSettings settings;
  settings.parallel.pool = &ThreadPool::global();
  settings.parallel.max_threads = options.threads > 0 ? std::min(options.threads, impl_->threads) : impl_->threads;
  settings.cancelled = options.cancelled;
  settings.deadline = options.deadline;
  settings.profiler = impl_->profiler.get();

  runtime::AdmissionGate& gate = runtime::AdmissionGate::global();
  gate.enter(options.cancelled, options.deadline);
  const runtime::AdmissionGate::Place place(gate);
  const ScopedFloatEnvironment environment;
  std::unique_ptr<Frame> frame = impl_->take_frame();
  std::vector<Value> outputs;
  try {
    outputs = frame->run(pointers, settings);
  } catch (Error& error) {
    impl_->give_back(std::move(frame));
    if (!impl_->loaded.model->path.empty()) error.add_context("model '" + impl_->loaded.model->path + "'");
    throw;
  }
  impl_->give_back(std::move(frame));
  if (output_names.empty()) return outputs;
  std::vector<Value> selected;
  for (std::size_t index : wanted) selected.push_back(outputs[index]);
  return selected;
}

std::string Session::explain() const { return runtime::to_text(impl_->loaded.placement); }
std::string Session::explain_json() const { return runtime::to_json(impl_->loaded.placement); }
std::string Session::profile_json() const {
  return impl_->profiler ? impl_->profiler->to_chrome_trace() : runtime::Profiler().to_chrome_trace();
}

std::string Session::memory_plan(const NamedValues& inputs) const {
  const std::vector<Slot> slots = impl_->arrange(inputs);
  std::vector<const Slot*> pointers;
  for (const Slot& slot : slots) pointers.push_back(&slot);
  Frame frame(*impl_->loaded.plan);
  frame.run(pointers, {});
  return api::describe_memory(frame);
}

}  // namespace sardonyx
