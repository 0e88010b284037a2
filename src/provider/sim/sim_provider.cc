#include "provider/sim/sim_provider.h"

#include <algorithm>
#include <charconv>

#include "base/fail.h"
#include "provider/sim/device_memory.h"
#include "provider/sim/sim_stream.h"

namespace sardonyx::provider::sim {
namespace {

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> parts;
  std::size_t begin = 0;
  while (begin < text.size()) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    if (end > begin) parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

template <typename T>
T number(const std::string& key, const std::string& text, T most) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < T{0} || value > most) {
    fail(ErrorCode::kInvalidArgument, "{} must be a number from 0 to {}, not '{}'", key, most, text);
  }
  return value;
}

/// FNV-1a over seed and name, then mixed: the same nodes on every machine.
std::uint64_t draw(std::uint64_t seed, std::string_view name) {
  std::uint64_t hash = 0xcbf29ce484222325ull ^ (seed * 0x9e3779b97f4a7c15ull);
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ull;
  hash ^= hash >> 33;
  hash *= 0xff51afd7ed558ccdull;
  return hash ^ hash >> 33;
}

bool is_plain_tensor(const graph::ValueType& type) {
  return type.is_none() || (type.is_tensor() && type.element != ElementType::kString);
}

}  // namespace

SimOptions SimOptions::parse(const std::map<std::string, std::string>& config) {
  SimOptions options;
  for (const auto& [key, value] : config) {
    if (!key.starts_with("sim.")) continue;
    if (key == "sim.decline") {
      options.declined_operators = split(value);
    } else if (key == "sim.decline_nodes") {
      options.declined_nodes = split(value);
    } else if (key == "sim.gap_percent") {
      options.gap_percent = number<int>(key, value, 100);
    } else if (key == "sim.gap_seed") {
      options.gap_seed = number<std::uint64_t>(key, value, UINT64_MAX);
    } else {
      fail(ErrorCode::kInvalidArgument, "the sim provider has no option '{}'; it has sim.decline, sim.decline_nodes, sim.gap_percent and sim.gap_seed", key);
    }
  }
  return options;
}

graph::Support SimProvider::supports(const graph::NodeDesc& node) const {
  const auto contains = [](const std::vector<std::string>& list, std::string_view one) { return std::find(list.begin(), list.end(), one) != list.end(); };
  if (contains(options_.declined_operators, node.op_type)) return graph::Support::decline(std::string(node.op_type) + " is in sim.decline");
  if (contains(options_.declined_nodes, node.name)) return graph::Support::decline("the node is in sim.decline_nodes");
  if (draw(options_.gap_seed, node.name) % 100 < static_cast<std::uint64_t>(options_.gap_percent)) {
    return graph::Support::decline("the node falls into a gap of sim.gap_percent");
  }
  const bool plain = std::all_of(node.inputs.begin(), node.inputs.end(), is_plain_tensor) && std::all_of(node.outputs.begin(), node.outputs.end(), is_plain_tensor);
  // These hand their input on as a Value, whatever it is.
  const bool passes_values = node.op_type.starts_with("Optional") || node.op_type.starts_with("Sequence");
  if (!plain || passes_values) return graph::Support::decline("sim runs tensors of numbers only");
  return cpu_.supports(node);
}

std::shared_ptr<void> SimProvider::allocate(std::size_t bytes) const { return DeviceMemory::global().allocate(bytes); }
std::unique_ptr<Stream> SimProvider::create_stream() const { return std::make_unique<SimStream>(); }

}  // namespace sardonyx::provider::sim
