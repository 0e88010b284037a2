#include "provider/cpu/ops/op_case.h"

#include <cmath>
#include <string>

#include "sardonyx/error.h"

#include "provider/cpu/convert.h"
#include "provider/cpu/cpu_provider.h"
#include "provider/evaluate.h"

namespace sardonyx::provider::cpu {

graph::Attributes attributes(std::vector<std::pair<std::string, graph::Attribute>> items) {
  graph::Attributes result;
  for (auto& [name, value] : items) result.set(name, std::move(value));
  return result;
}

Tensor to_tensor(const Numbers& numbers) {
  Tensor tensor(numbers.type, numbers.shape);
  EXPECT_EQ(tensor.num_elements(), static_cast<std::int64_t>(numbers.values.size())) << numbers.shape.to_string();
  if (is_integer(numbers.type)) {
    const std::vector<std::int64_t> values(numbers.values.begin(), numbers.values.end());
    store_elements(values.data(), tensor.view(), 0, values.size());
  } else {
    store_elements(numbers.values.data(), tensor.view(), 0, numbers.values.size());
  }
  return tensor;
}

std::vector<double> to_doubles(const TensorView& tensor) {
  std::vector<double> values(static_cast<std::size_t>(tensor.num_elements()));
  load_elements(tensor, 0, values.size(), values.data());
  return values;
}

namespace {

void compare(const Tensor& found, const Numbers& expected, double tolerance) {
  EXPECT_EQ(name(found.type()), name(expected.type));
  EXPECT_EQ(found.shape().to_string(), expected.shape.to_string());
  if (found.type() != expected.type || !(found.shape() == expected.shape)) return;
  const std::vector<double> values = to_doubles(found.view());
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double wanted = expected.values[i];
    if (std::isnan(wanted))
      EXPECT_TRUE(std::isnan(values[i])) << "element " << i << " is " << values[i];
    else if (tolerance == 0 || std::isinf(wanted))
      EXPECT_EQ(values[i], wanted) << "element " << i;
    else
      EXPECT_NEAR(values[i], wanted, tolerance * (1 + std::abs(wanted))) << "element " << i;
  }
}

}  // namespace

void check(const OpCase& test) {
  const CpuProvider cpu;
  std::vector<Value> inputs;
  for (const Numbers& input : test.inputs)
    inputs.push_back(input.type == ElementType::kUndefined ? Value() : Value(to_tensor(input)));
  std::string message;
  try {
    const std::size_t count = std::max<std::size_t>(1, test.outputs.size());
    const std::vector<Value> outputs = evaluate_node(cpu, test.domain, test.op, test.attributes, inputs, count);
    for (std::size_t i = 0; i < test.outputs.size(); ++i) compare(outputs[i].tensor(), test.outputs[i], test.tolerance);
  } catch (const Error& error) {
    message = error.message();
    EXPECT_NE(error.code(), ErrorCode::kInternal) << message;
  }
  if (test.error.empty())
    EXPECT_EQ(message, "");
  else
    EXPECT_NE(message.find(test.error), std::string::npos) << "found: " << message;
}

OpCase with_type(OpCase test, ElementType from, ElementType to) {
  for (auto* tensors : {&test.inputs, &test.outputs}) {
    for (Numbers& numbers : *tensors) numbers.type = numbers.type == from ? to : numbers.type;
  }
  return test;
}

}  // namespace sardonyx::provider::cpu
