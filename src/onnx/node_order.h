#pragma once

#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "onnx/proto.h"

namespace sardonyx::onnx {

/// Which node of a list makes each value.
using Producers = std::unordered_map<std::string_view, std::uint32_t>;

/// Throws kInvalidModel when two nodes, or one node twice, make the same value.
Producers find_producers(const std::vector<Bytes>& nodes);

/// The positions of `nodes` in an order in which each node follows those whose values it or its subgraphs read; the
/// file's own order when that is such an order, and close to it when not. Throws kInvalidModel naming a node on a
/// cycle.
std::vector<std::uint32_t> order_nodes(const std::vector<Bytes>& nodes, const Producers& producers);

}  // namespace sardonyx::onnx
