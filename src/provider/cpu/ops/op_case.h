#pragma once

#include <gtest/gtest.h>
#include <string>
#include <vector>

#include "sardonyx/tensor.h"
#include "sardonyx/value.h"

#include "graph/attribute.h"

namespace sardonyx::provider::cpu {

/// A tensor written as numbers: float values that are converted to `type`, whatever it is. Strings hold the numbers'
/// text.
struct Numbers {
  ElementType type = ElementType::kFloat32;
  Shape shape;
  std::vector<double> values;
};

/// One row of an operator's test table: a node, its inputs, and what it must give or the error it must raise.
struct OpCase {
  std::string name;  ///< letters and digits
  std::string op;
  std::vector<Numbers> inputs;  ///< type kUndefined: left out
  std::vector<Numbers> outputs;
  graph::Attributes attributes = {};
  std::string error = {};  ///< text the message must hold
  double tolerance = 0;    ///< absolute and relative; 0: the numbers exactly, NaN equal to NaN
  std::string domain = {};
};

/// Attributes in braces: attributes({{"axis", std::int64_t{1}}}).
graph::Attributes attributes(std::vector<std::pair<std::string, graph::Attribute>> items);

Tensor to_tensor(const Numbers& numbers);
std::vector<double> to_doubles(const TensorView& tensor);

/// Runs the case on the CPU provider and checks it.
void check(const OpCase& test);

/// The same with every input and output of type `from` turned into `to`.
OpCase with_type(OpCase test, ElementType from, ElementType to);

/// A vector.
inline Numbers row(ElementType type, std::vector<double> values) {
  const auto count = static_cast<std::int64_t>(values.size());
  return {type, {count}, std::move(values)};
}

inline std::string case_name(const testing::TestParamInfo<OpCase>& info) { return info.param.name; }

}  // namespace sardonyx::provider::cpu
