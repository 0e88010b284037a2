#pragma once

// For tests of inference: a node over types written as text, and what its outputs should be, as text.

#include <gtest/gtest.h>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "sardonyx/error.h"

#include "ops/infer_context.h"
#include "ops/op_list.h"

namespace sardonyx::ops {

/// Infers single nodes whose inputs share one table of symbols.
class NodeInference {
 public:
  graph::SymbolTable symbols;
  std::vector<Constraint> constraints;
  std::vector<ValueType> outputs;

  Dim symbol(const std::string& name) { return symbols.named(name); }

  /// A tensor whose dimensions are numbers or names: type(kFloat32, {"batch", "3"}).
  ValueType type(ElementType element, const std::vector<std::string>& dims) {
    std::vector<Dim> parsed;
    for (const std::string& dim : dims) parsed.push_back(parse(dim));
    return ValueType::tensor(element, std::move(parsed));
  }
  /// An int64 vector of known values, numbers or names.
  ValueType vector(const std::vector<Dim>& values) {
    ValueType type = ValueType::tensor(ElementType::kInt64, {static_cast<std::int64_t>(values.size())});
    type.values = values;
    return type;
  }
  ValueType scalar(const Dim& value) {
    ValueType type = ValueType::tensor(ElementType::kInt64, {});
    type.values = std::vector<Dim>{value};
    return type;
  }

  /// Runs inference and returns output 0 as text: "float[batch,3]".
  std::string run(std::string_view op, const std::vector<ValueType>& inputs, const graph::Attributes& attributes = {},
                  std::size_t num_outputs = 1, std::string_view domain = "") {
    const OpDef* def = find_op(domain, op);
    EXPECT_NE(def, nullptr) << op;
    graph::NodeDesc node{domain, op, "", &attributes, inputs, {}, {}};
    InferContext context(node, num_outputs, symbols, &constraints);
    def->infer(context);
    outputs = context.outputs();
    return outputs[0].to_string();
  }
  /// Output i's known values as text: "batch 2*sequence", or "unknown".
  std::string values(std::size_t i = 0) const {
    if (!outputs[i].values) return "unknown";
    std::string text;
    for (const Dim& value : *outputs[i].values) text += (text.empty() ? "" : " ") + value.to_string();
    return text;
  }

 private:
  Dim parse(const std::string& text) {
    const bool number = text.find_first_not_of("0123456789") == std::string::npos;
    return number ? Dim(std::stoll(text)) : symbols.named(text);
  }
};

template <typename Fn>
void expect_infer_error(Fn&& fn, std::string_view part) {
  try {
    fn();
    ADD_FAILURE() << "no error, expected one with: " << part;
  } catch (const Error& error) {
    EXPECT_NE(std::string_view(error.what()).find(part), std::string_view::npos) << error.what();
  }
}

/// One attribute.
inline graph::Attributes with(const char* name, graph::Attribute value) {
  graph::Attributes out;
  out.set(name, std::move(value));
  return out;
}

}  // namespace sardonyx::ops
