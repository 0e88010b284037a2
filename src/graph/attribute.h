#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "graph/value_type.h"
#include "sardonyx/tensor.h"

namespace sardonyx::graph {

class Graph;

/// A COO tensor as ONNX stores it: values [nnz], indices [nnz] (linear) or [nnz, rank], and the dense shape.
struct SparseTensor {
  Tensor values, indices;
  Shape shape;
};

/// The value of one attribute. Subgraphs are shared by pointer: clone the graph before changing it.
using Attribute = std::variant<std::int64_t, float, std::string, Tensor, std::shared_ptr<Graph>, ValueType, SparseTensor,
                               std::vector<std::int64_t>, std::vector<float>, std::vector<std::string>, std::vector<Tensor>,
                               std::vector<std::shared_ptr<Graph>>>;

/// A node's attributes by name, in the order they were set. Getters throw kInvalidModel naming the attribute when it has
/// another type, and, for the ones without a fallback, when it is missing.
class Attributes {
 public:
  bool has(std::string_view name) const { return find(name) != nullptr; }
  const Attribute* find(std::string_view name) const;
  void set(std::string name, Attribute value);
  void erase(std::string_view name);

  std::int64_t get_int(std::string_view name) const;
  std::int64_t get_int(std::string_view name, std::int64_t fallback) const;
  float get_float(std::string_view name) const;
  float get_float(std::string_view name, float fallback) const;
  const std::string& get_string(std::string_view name) const;
  std::string get_string(std::string_view name, std::string_view fallback) const;
  /// Null when missing.
  const std::vector<std::int64_t>* ints(std::string_view name) const;
  const std::vector<float>* floats(std::string_view name) const;
  const std::vector<std::string>* strings(std::string_view name) const;
  const Tensor* tensor(std::string_view name) const;
  std::vector<std::int64_t> get_ints(std::string_view name, std::vector<std::int64_t> fallback) const;
  /// Throws when missing.
  const std::shared_ptr<Graph>& graph(std::string_view name) const;

  auto begin() const { return items_.begin(); }
  auto end() const { return items_.end(); }
  auto begin() { return items_.begin(); }
  auto end() { return items_.end(); }
  std::size_t size() const { return items_.size(); }

 private:
  std::vector<std::pair<std::string, Attribute>> items_;
};

}  // namespace sardonyx::graph
