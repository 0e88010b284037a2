#include "runtime/profiler.h"

#include <utility>

namespace sardonyx::runtime {
namespace {

std::string json_string(const std::string& text) {
  static constexpr char kHex[] = "0123456789abcdef";
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (byte < 0x20 || byte >= 0x7f) {
      out += "\\u00";
      out += kHex[byte >> 4];
      out += kHex[byte & 15];
    } else {
      out += c;
    }
  }
  return out + '"';
}

}  // namespace

void Profiler::record(ProfileEvent event) {
  const std::lock_guard lock(mutex_);
  if (events_.size() < kMaxEvents) {
    events_.push_back(std::move(event));
  } else {
    ++dropped_;
  }
}

std::vector<ProfileEvent> Profiler::events() const {
  const std::lock_guard lock(mutex_);
  return events_;
}

std::string Profiler::to_chrome_trace() const {
  const std::lock_guard lock(mutex_);
  std::string out = "{\"displayTimeUnit\":\"ms\",\"otherData\":{\"dropped_events\":" + std::to_string(dropped_) + "},\"traceEvents\":[";
  bool first = true;
  for (const ProfileEvent& event : events_) {
    out += first ? "\n" : ",\n";
    first = false;
    out += "{\"ph\":\"X\",\"pid\":1,\"tid\":" + std::to_string(event.thread) + ",\"cat\":" + json_string(event.op_type) +
           ",\"name\":" + json_string(event.name.empty() ? event.op_type : event.name) +
           ",\"ts\":" + std::to_string(static_cast<double>(event.start_ns) / 1e3) +
           ",\"dur\":" + std::to_string(static_cast<double>(event.duration_ns) / 1e3) +
           ",\"args\":{\"op\":" + json_string(event.op_type) + ",\"provider\":" + json_string(event.provider) +
           ",\"bytes\":" + std::to_string(event.bytes) + ",\"shapes\":" + json_string(event.shapes) + "}}";
  }
  return out + "\n]}\n";
}

void describe_call(const provider::RunContext& context, ProfileEvent& event) {
  const auto add = [&](std::span<provider::Slot* const> slots) {
    bool first = true;
    for (const provider::Slot* slot : slots) {
      if (!first) event.shapes += ',';
      first = false;
      if (!slot || !slot->is_tensor) {
        event.shapes += slot ? slot->object.kind_name() : "_";
        continue;
      }
      event.shapes += std::string(name(slot->view.type)) + slot->view.shape.to_string();
      event.bytes += static_cast<std::int64_t>(slot->view.num_bytes());
    }
  };
  add(context.inputs);
  event.shapes += " -> ";
  add(context.outputs);
}

}  // namespace sardonyx::runtime
