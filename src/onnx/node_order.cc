#include "onnx/node_order.h"

#include <functional>
#include <queue>
#include <unordered_set>

#include "base/fail.h"
#include "onnx/wire.h"

namespace sardonyx::onnx {
namespace {

using Names = std::unordered_set<std::string_view>;

void collect_reads(Bytes node, int depth, Names& reads);

/// What a subgraph reads and does not make itself. Depth is checked where graphs are built as well; here it bounds
/// recursion.
void collect_free_names(Bytes message, int depth, Names& reads) {
  if (depth > kDeepestNesting) fail(ErrorCode::kInvalidModel, "graphs are nested more than {} deep", kDeepestNesting);
  const GraphProto graph = parse_graph(message);
  Names made, inner;
  for (Bytes input : graph.inputs) made.insert(parse_value_info(input).name);
  for (Bytes tensor : graph.initializers) made.insert(parse_tensor(tensor).name);
  for (Bytes tensor : graph.sparse_initializers) {
    if (const auto values = parse_sparse_tensor(tensor).values) made.insert(parse_tensor(*values).name);
  }
  for (Bytes node : graph.nodes) {
    MessageReader reader(node, "NodeProto");
    while (reader.next()) {
      if (reader.field() == 2) made.insert(reader.as_bytes());
    }
    collect_reads(node, depth, inner);
  }
  for (Bytes output : graph.outputs) inner.insert(parse_value_info(output).name);
  for (std::string_view name : inner) {
    if (!made.contains(name)) reads.insert(name);
  }
}

/// Everything that a node reads by name: its inputs and what its subgraphs take from outside.
void collect_reads(Bytes node, int depth, Names& reads) {
  MessageReader reader(node, "NodeProto");
  while (reader.next()) {
    if (reader.field() == 1 && !reader.as_bytes().empty()) reads.insert(reader.as_bytes());
    if (reader.field() != 5) continue;
    MessageReader attribute(reader.as_bytes(), "AttributeProto");
    while (attribute.next()) {
      if (attribute.field() == 6 || attribute.field() == 11) collect_free_names(attribute.as_bytes(), depth + 1, reads);
    }
  }
}

[[noreturn]] void fail_on_cycle(Bytes message) {
  const NodeProto node = parse_node(message);
  fail(ErrorCode::kInvalidModel, "the graph has a cycle through node '{}' ({})", node.name, node.op_type);
}

/// Kahn's algorithm; of the nodes that could come next, the one that stands first in the file.
std::vector<std::uint32_t> sort_nodes(const std::vector<Bytes>& nodes,
                                      const std::vector<std::vector<std::uint32_t>>& readers,
                                      std::vector<std::uint32_t> waiting) {
  std::priority_queue<std::uint32_t, std::vector<std::uint32_t>, std::greater<>> ready;
  for (std::uint32_t i = 0; i < nodes.size(); ++i) {
    if (waiting[i] == 0) ready.push(i);
  }
  std::vector<std::uint32_t> order;
  order.reserve(nodes.size());
  while (!ready.empty()) {
    const std::uint32_t at = ready.top();
    ready.pop();
    order.push_back(at);
    for (std::uint32_t reader : readers[at]) {
      if (--waiting[reader] == 0) ready.push(reader);
    }
  }
  if (order.size() == nodes.size()) return order;
  for (std::uint32_t i = 0; i < nodes.size(); ++i) {
    if (waiting[i] > 0) fail_on_cycle(nodes[i]);
  }
  return order;
}

}  // namespace

Producers find_producers(const std::vector<Bytes>& nodes) {
  Producers producers;
  producers.reserve(nodes.size());
  for (std::uint32_t i = 0; i < nodes.size(); ++i) {
    MessageReader reader(nodes[i], "NodeProto");
    while (reader.next()) {
      if (reader.field() != 2 || reader.as_bytes().empty()) continue;
      if (!producers.emplace(reader.as_bytes(), i).second) {
        const NodeProto node = parse_node(nodes[i]);
        fail(ErrorCode::kInvalidModel, "the value '{}' is made twice, the second time by node '{}' ({})",
             reader.as_bytes(), node.name, node.op_type);
      }
    }
  }
  return producers;
}

std::vector<std::uint32_t> order_nodes(const std::vector<Bytes>& nodes, const Producers& producers) {
  std::vector<std::vector<std::uint32_t>> readers(nodes.size());
  std::vector<std::uint32_t> waiting(nodes.size(), 0);
  std::vector<std::uint32_t> order(nodes.size());
  bool is_sorted = true;
  Names reads;
  for (std::uint32_t i = 0; i < nodes.size(); ++i) {
    order[i] = i;
    reads.clear();
    collect_reads(nodes[i], 0, reads);
    for (std::string_view name : reads) {
      const auto producer = producers.find(name);
      if (producer == producers.end()) continue;
      readers[producer->second].push_back(i);
      ++waiting[i];
      is_sorted &= producer->second < i;
    }
  }
  return is_sorted ? order : sort_nodes(nodes, readers, std::move(waiting));
}

}  // namespace sardonyx::onnx
