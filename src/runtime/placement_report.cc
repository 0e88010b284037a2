#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>

#include "runtime/placement.h"

namespace sardonyx::runtime {
namespace {

std::string pad(std::string text, std::size_t width) {
  if (text.size() > width && width > 3) text = text.substr(0, width - 1) + "~";
  text.resize(std::max(text.size(), width), ' ');
  return text;
}

std::string join(const std::vector<std::string>& parts, const char* separator) {
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : separator) + part;
  return text;
}

}  // namespace

std::string to_text(const Placement& placement) {
  std::string text = pad("NODE", 48) + " " + pad("OPERATOR", 24) + " " + pad("PROVIDER", 9) + " WHY\n";
  std::map<std::string, std::size_t> counts;
  for (const PlacedNode& node : placement.nodes) {
    ++counts[node.provider];
    std::string why = node.declined.empty() ? "" : join(node.declined, "; ");
    if (!node.fused_from.empty()) why += (why.empty() ? "" : "; ") + ("fuses " + join(node.fused_from, ", "));
    text += pad(std::string(static_cast<std::size_t>(node.depth) * 2, ' ') + node.name, 48) + " " + pad(node.op_type, 24) + " " +
            (why.empty() ? node.provider : pad(node.provider, 9) + " " + why) + "\n";
  }
  if (!placement.copies.empty()) {
    text += "\n" + pad("COPY OF", 48) + " " + pad("FROM", 9) + " " + pad("TO", 9) + " BYTES\n";
    for (const PlacedCopy& copy : placement.copies) {
      text += pad(copy.value, 48) + " " + pad(copy.from, 9) + " " + pad(copy.to, 9) + " " + copy.bytes + (copy.once ? " (once, at load)" : "") + "\n";
    }
  }
  text += "\n";
  for (const auto& [provider, count] : counts) text += std::to_string(count) + " nodes on " + provider + ". ";
  text += std::to_string(placement.copies.size()) + " copies between devices.\n";
  for (const std::string& note : placement.notes) text += "note: " + note + "\n";
  return text;
}

std::string to_json(const Placement& placement) {
  nlohmann::json nodes = nlohmann::json::array(), copies = nlohmann::json::array();
  for (const PlacedNode& node : placement.nodes) {
    nodes.push_back({{"name", node.name}, {"operator", node.op_type}, {"provider", node.provider}, {"declined", node.declined},
                     {"fused_from", node.fused_from}, {"depth", node.depth}});
  }
  for (const PlacedCopy& copy : placement.copies) {
    copies.push_back({{"value", copy.value}, {"from", copy.from}, {"to", copy.to}, {"bytes", copy.bytes}, {"once", copy.once}});
  }
  const nlohmann::json report = {{"nodes", nodes}, {"copies", copies}, {"notes", placement.notes}};
  return report.dump(2, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace sardonyx::runtime
