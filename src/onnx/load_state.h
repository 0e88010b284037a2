#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "graph/model.h"
#include "onnx/node_order.h"
#include "onnx/proto.h"
#include "onnx/reader.h"
#include "onnx/tensor_decode.h"

namespace sardonyx::onnx {

/// Opset versions by domain, "" being ai.onnx.
using Opsets = std::map<std::string, std::int64_t, std::less<>>;

/// "ai.onnx" and "" are the same domain.
inline std::string_view canonical_domain(std::string_view domain) {
  return domain == "ai.onnx" ? std::string_view() : domain;
}

/// Checks and collects opset imports; throws kUnsupported for a version above the newest known one.
Opsets to_opsets(const std::vector<OperatorSetIdProto>& imports);

/// A model-local function, with what is worth keeping between its calls.
struct Function {
  FunctionProto proto;
  Opsets opsets;
  Producers producers;
  std::vector<std::uint32_t> order;
  bool is_ordered = false;  ///< producers and order are made at the first call
  bool is_active = false;   ///< being inlined now: a further call is a recursion
};

/// Domain, name and overload.
using FunctionKey = std::tuple<std::string_view, std::string_view, std::string_view>;

/// What the loading of one model shares between its graphs.
struct LoadState {
  graph::Model& model;
  const ReadOptions& options;
  TensorDecoder tensors;
  std::map<FunctionKey, Function> functions;
  std::size_t inlined_nodes = 0;  ///< made by expanding functions, checked against ReadOptions::most_inlined_nodes
  int depth = 0;                  ///< graphs and function calls that enclose the present one
};

/// Counts a level of nesting for its scope's time. Throws kInvalidModel beyond kDeepestNesting.
class NestingLevel {
 public:
  explicit NestingLevel(LoadState& state);
  ~NestingLevel() { --state_.depth; }
  NestingLevel(const NestingLevel&) = delete;
  NestingLevel& operator=(const NestingLevel&) = delete;

 private:
  LoadState& state_;
};

}  // namespace sardonyx::onnx
