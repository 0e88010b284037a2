#include "onnx/graph_encode.h"

#include <map>
#include <protozero/pbf_writer.hpp>
#include <unordered_map>
#include <unordered_set>

#include "base/fail.h"
#include "onnx/proto.h"
#include "onnx/tensor_encode.h"
#include "onnx/type_encode.h"
#include "onnx/value_names.h"
#include "ops/op_list.h"

namespace sardonyx::onnx {
namespace {

using graph::Attribute;
using graph::ConstId;
using graph::Graph;
using graph::kNoConst;
using graph::kNoNode;
using graph::kNoValue;
using graph::Model;
using graph::Node;
using graph::NodeId;
using graph::ValueId;

/// Smaller constants of one subgraph stay in it.
constexpr std::size_t kLeastBytesToHoist = 1024;

/// GraphProto's fields.
enum GraphField : protozero::pbf_tag_type {
  kNode = 1,
  kName = 2,
  kInitializer = 5,
  kInput = 11,
  kOutput = 12,
  kValueInfo = 13
};

/// The constants that a graph's nodes read or that it returns, each once, in order of use.
std::vector<ValueId> used_constants(const Graph& graph) {
  std::vector<ValueId> used;
  std::unordered_set<ValueId> seen;
  const auto add = [&](ValueId value) {
    if (value != kNoValue && graph.value(value).is_constant() && seen.insert(value).second) used.push_back(value);
  };
  for (NodeId id : graph.order()) {
    for (ValueId input : graph.node(id).inputs) add(input);
  }
  for (ValueId output : graph.outputs) add(output);
  return used;
}

class GraphEncoder {
 public:
  explicit GraphEncoder(const Model& model) : model_(model) {}

  EncodedGraph encode_main() {
    count_uses(model_.graph, true);
    ValueNames names(model_.graph, nullptr, nullptr);
    name_main_constants(names);
    encoded_.message = encode(model_.graph, names, nullptr);
    return std::move(encoded_);
  }

 private:
  struct Use {
    int graphs = 0;
    bool in_main = false;
    std::string name;  // of the first value that stands for it
  };

  void count_uses(const Graph& graph, bool is_main) {
    std::unordered_set<ConstId> here;
    for (ValueId value : used_constants(graph)) {
      const graph::ValueInfo& info = graph.value(value);
      Use& use = uses_[info.constant];
      if (here.insert(info.constant).second) ++use.graphs;
      use.in_main |= is_main;
      if (use.name.empty()) use.name = info.name;
    }
    for (NodeId id : graph.order()) {
      graph::for_each_subgraph(graph.node(id), [&](Graph& body) { count_uses(body, false); });
    }
  }

  /// Constants of the main graph, of several graphs, and large ones become initializers of the main graph.
  void name_main_constants(ValueNames& names) {
    std::unordered_set<ConstId> returned;  // become Constant nodes
    for (ValueId value : used_constants(model_.graph)) {
      if (!names.of(value).empty()) {
        returned.insert(model_.graph.value(value).constant);
        main_names_[model_.graph.value(value).constant] = names.of(value);
      }
    }
    for (const auto& [id, use] : uses_) {
      const Tensor& tensor = model_.constant(id);
      const bool hoisted = use.in_main || use.graphs > 1 || tensor.num_bytes() >= kLeastBytesToHoist;
      if (!hoisted || returned.contains(id)) continue;
      main_names_[id] = names.unique(use.name);
      encoded_.constants.push_back({main_names_[id], &tensor});
    }
  }

  std::string encode(const Graph& graph, ValueNames& names, const Node* around) {
    std::string data;
    protozero::pbf_writer writer(data);
    const std::string& name = graph.name;
    writer.add_string(kName, name.empty() ? "graph" : name);
    write_constants(graph, names, writer);
    const std::size_t captures = around ? static_cast<std::size_t>(around->captures) : 0;
    for (std::size_t i = 0; i + captures < graph.inputs.size(); ++i) {
      writer.add_message(kInput, encode_value_info(names.of(graph.inputs[i]), graph.value(graph.inputs[i]).type));
      if (graph.input_defaults[i] != kNoConst) {
        writer.add_message(kInitializer,
                           encode_tensor(model_.constant(graph.input_defaults[i]), names.of(graph.inputs[i])));
      }
    }
    for (NodeId id : graph.order()) write_node(graph, graph.node(id), names, writer);
    for (const ValueNames::Identity& identity : names.identities())
      write_identity(names.of(identity.value), identity.output, writer);
    for (std::size_t i = 0; i < graph.outputs.size(); ++i) {
      writer.add_message(kOutput, encode_value_info(names.of_output(i), graph.value(graph.outputs[i]).type));
    }
    return data;
  }

  /// Gives every constant its name. Returned ones are written as Constant nodes, those of this graph alone as
  /// initializers.
  void write_constants(const Graph& graph, ValueNames& names, protozero::pbf_writer& writer) {
    std::unordered_map<ConstId, std::string> local;
    for (ValueId value : used_constants(graph)) {
      const ConstId id = graph.value(value).constant;
      if (!names.of(value).empty()) {
        write_constant_node(model_.constant(id), names.of(value), writer);
        continue;
      }
      const auto hoisted = main_names_.find(id);
      if (hoisted != main_names_.end()) {
        names.set(value, hoisted->second);
        continue;
      }
      const auto [known, is_new] = local.emplace(id, "");
      if (is_new) {
        known->second = names.unique(graph.value(value).name);
        writer.add_message(kInitializer, encode_tensor(model_.constant(id), known->second));
      }
      names.set(value, known->second);
    }
  }

  void write_constant_node(const Tensor& tensor, const std::string& name, protozero::pbf_writer& writer) {
    encoded_.domains.insert("");
    protozero::pbf_writer node(writer, kNode);
    node.add_string(2, name);
    node.add_string(4, "Constant");
    protozero::pbf_writer attribute(node, 5);
    attribute.add_string(1, "value");
    attribute.add_int32(20, static_cast<std::int32_t>(AttributeType::kTensor));
    attribute.add_message(5, encode_tensor(tensor, ""));
  }

  void write_identity(const std::string& from, const std::string& to, protozero::pbf_writer& writer) {
    encoded_.domains.insert("");
    protozero::pbf_writer node(writer, kNode);
    node.add_string(1, from);
    node.add_string(2, to);
    node.add_string(4, "Identity");
  }

  void write_node(const Graph& graph, const Node& node, ValueNames& names, protozero::pbf_writer& writer) {
    encoded_.domains.insert(node.domain);
    {
      protozero::pbf_writer message(writer, kNode);
      std::size_t inputs = node.inputs.size() - static_cast<std::size_t>(node.captures);
      while (inputs > 0 && node.inputs[inputs - 1] == kNoValue) --inputs;
      for (std::size_t i = 0; i < inputs; ++i)
        message.add_string(1, node.inputs[i] == kNoValue ? "" : names.of(node.inputs[i]));
      std::size_t outputs = node.outputs.size();
      while (outputs > 0 && node.outputs[outputs - 1] == kNoValue) --outputs;
      for (std::size_t i = 0; i < outputs; ++i)
        message.add_string(2, node.outputs[i] == kNoValue ? "" : names.of(node.outputs[i]));
      if (!node.name.empty()) message.add_string(3, node.name);
      message.add_string(4, node.op_type);
      if (!node.domain.empty()) message.add_string(7, node.domain);
      for (const auto& [key, attribute] : node.attributes)
        message.add_message(5, encode_attribute(key, attribute, node, names));
    }
    if (ops::find_op(node.domain, node.op_type)) return;
    for (ValueId output : node.outputs) {  // nothing else tells the types of what an unknown operator makes
      if (output == kNoValue || graph.value(output).type.is_none()) continue;
      writer.add_message(kValueInfo, encode_value_info(names.of(output), graph.value(output).type));
    }
  }

  std::string encode_body(const Graph& body, const Node& node, ValueNames& names) {
    ValueNames inner(body, &names, &node);
    return encode(body, inner, &node);
  }

  static std::string encode_sparse(const graph::SparseTensor& sparse) {
    std::string data;
    protozero::pbf_writer writer(data);
    writer.add_message(1, encode_tensor(sparse.values, ""));
    writer.add_message(2, encode_tensor(sparse.indices, ""));
    writer.add_packed_int64(3, sparse.shape.begin(), sparse.shape.end());
    return data;
  }

  std::string encode_attribute(const std::string& key, const Attribute& attribute, const Node& node,
                               ValueNames& names) {
    std::string data;
    protozero::pbf_writer writer(data);
    writer.add_string(1, key);
    AttributeType type = AttributeType::kUndefined;
    const auto write = [&](const auto& value) {
      using T = std::decay_t<decltype(value)>;
      if constexpr (std::is_same_v<T, std::int64_t>) {
        type = AttributeType::kInt, writer.add_int64(3, value);
      } else if constexpr (std::is_same_v<T, float>) {
        type = AttributeType::kFloat, writer.add_float(2, value);
      } else if constexpr (std::is_same_v<T, std::string>) {
        type = AttributeType::kString, writer.add_bytes(4, value);
      } else if constexpr (std::is_same_v<T, Tensor>) {
        type = AttributeType::kTensor, writer.add_message(5, encode_tensor(value, ""));
      } else if constexpr (std::is_same_v<T, std::shared_ptr<Graph>>) {
        type = AttributeType::kGraph, writer.add_message(6, encode_body(*value, node, names));
      } else if constexpr (std::is_same_v<T, graph::ValueType>) {
        type = AttributeType::kTypeProto, writer.add_message(14, encode_type(value));
      } else if constexpr (std::is_same_v<T, graph::SparseTensor>) {
        type = AttributeType::kSparseTensor, writer.add_message(22, encode_sparse(value));
      } else if constexpr (std::is_same_v<T, std::vector<std::int64_t>>) {
        type = AttributeType::kInts;
        for (std::int64_t item : value) writer.add_int64(8, item);
      } else if constexpr (std::is_same_v<T, std::vector<float>>) {
        type = AttributeType::kFloats;
        for (float item : value) writer.add_float(7, item);
      } else if constexpr (std::is_same_v<T, std::vector<std::string>>) {
        type = AttributeType::kStrings;
        for (const std::string& item : value) writer.add_bytes(9, item);
      } else if constexpr (std::is_same_v<T, std::vector<Tensor>>) {
        type = AttributeType::kTensors;
        for (const Tensor& item : value) writer.add_message(10, encode_tensor(item, ""));
      } else {
        type = AttributeType::kGraphs;
        for (const auto& item : value) writer.add_message(11, encode_body(*item, node, names));
      }
    };
    std::visit(write, attribute);
    writer.add_int32(20, static_cast<std::int32_t>(type));
    return data;
  }

  const Model& model_;
  EncodedGraph encoded_;
  std::map<ConstId, Use> uses_;
  std::unordered_map<ConstId, std::string> main_names_;
};

}  // namespace

EncodedGraph encode_graph(const Model& model) { return GraphEncoder(model).encode_main(); }

}  // namespace sardonyx::onnx
