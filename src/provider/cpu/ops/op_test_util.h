#pragma once

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <initializer_list>
#include <limits>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "sardonyx/error.h"

#include "base/numeric/numeric.h"
#include "provider/cpu/cpu_provider.h"
#include "provider/evaluate.h"

namespace sardonyx::provider::cpu::testing {

inline graph::Attributes attributes(std::initializer_list<std::pair<std::string, graph::Attribute>> items) {
  graph::Attributes result;
  for (const auto& [name, value] : items) result.set(name, value);
  return result;
}

inline std::vector<Value> run(std::string_view op, const graph::Attributes& attributes,
                              const std::vector<Value>& inputs, std::size_t outputs = 1) {
  const CpuProvider cpu;
  return evaluate_node(cpu, "", op, attributes, inputs, outputs);
}

template <typename T>
Tensor tensor(const Shape& shape, std::vector<T> values) {
  Tensor result(element_type_of<T>, shape);
  EXPECT_EQ(static_cast<std::size_t>(result.num_elements()), values.size());
  std::copy(values.begin(), values.end(), result.mutable_data<T>());
  return result;
}
inline Tensor floats(const Shape& shape, std::vector<float> values) { return tensor<float>(shape, std::move(values)); }
inline Tensor ints(const Shape& shape, std::vector<std::int64_t> values) {
  return tensor<std::int64_t>(shape, std::move(values));
}

/// Reproducible numbers in [-1, 1], multiples of 1/64 so that products in every floating-point type stay close.
inline Tensor random_floats(const Shape& shape, unsigned seed) {
  std::mt19937 generator(seed);
  Tensor result(ElementType::kFloat32, shape);
  for (std::int64_t i = 0; i < result.num_elements(); ++i) {
    result.mutable_data<float>()[i] = static_cast<float>(static_cast<int>(generator() % 129) - 64) / 64.0f;
  }
  return result;
}

inline double element(const Tensor& t, std::int64_t i) {
  switch (t.type()) {
    case ElementType::kFloat32: return t.data<float>()[i];
    case ElementType::kFloat64: return t.data<double>()[i];
    case ElementType::kFloat16: return static_cast<double>(t.data<Half>()[i]);
    case ElementType::kBFloat16: return static_cast<double>(t.data<BFloat16>()[i]);
    case ElementType::kInt64: return static_cast<double>(t.data<std::int64_t>()[i]);
    case ElementType::kInt32: return t.data<std::int32_t>()[i];
    case ElementType::kUInt8: return t.data<std::uint8_t>()[i];
    case ElementType::kInt8: return t.data<std::int8_t>()[i];
    case ElementType::kBool: return t.data<bool>()[i] ? 1 : 0;
    default: ADD_FAILURE() << "type " << name(t.type()); return 0;
  }
}
inline std::vector<double> elements(const Value& value) {
  std::vector<double> result;
  for (std::int64_t i = 0; i < value.tensor().num_elements(); ++i) result.push_back(element(value.tensor(), i));
  return result;
}

/// A float tensor as one of another floating-point type.
inline Tensor converted(const Tensor& from, ElementType type) {
  Tensor to(type, from.shape());
  for (std::int64_t i = 0; i < from.num_elements(); ++i) {
    const float value = from.data<float>()[i];
    switch (type) {
      case ElementType::kFloat64: to.mutable_data<double>()[i] = value; break;
      case ElementType::kFloat16: to.mutable_data<Half>()[i] = Half(value); break;
      case ElementType::kBFloat16: to.mutable_data<BFloat16>()[i] = BFloat16(value); break;
      default: to.mutable_data<float>()[i] = value;
    }
  }
  return to;
}

struct FloatType {
  ElementType type;
  double tolerance;  ///< relative to the largest value that these tests make
};
inline constexpr FloatType kFloatTypes[] = {{ElementType::kFloat32, 1e-5},
                                            {ElementType::kFloat64, 1e-5},
                                            {ElementType::kFloat16, 4e-3},
                                            {ElementType::kBFloat16, 3e-2}};

inline void expect_values(const Value& value, const Shape& shape, const std::vector<double>& wanted,
                          double tolerance = 1e-5) {
  ASSERT_TRUE(value.is_tensor());
  EXPECT_EQ(value.tensor().shape().to_string(), shape.to_string());
  const std::vector<double> found = elements(value);
  ASSERT_EQ(found.size(), wanted.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (std::isnan(wanted[i])) {
      EXPECT_TRUE(std::isnan(found[i])) << "element " << i << " is " << found[i];
    } else if (std::isinf(wanted[i])) {
      EXPECT_EQ(found[i], wanted[i]) << "element " << i;
    } else {
      EXPECT_NEAR(found[i], wanted[i], tolerance * (1 + std::abs(wanted[i]))) << "element " << i;
    }
  }
}

/// The node must fail with this code and a message that mentions `part`.
inline void expect_error(ErrorCode code, const std::string& part, std::string_view op,
                         const graph::Attributes& attributes, const std::vector<Value>& inputs,
                         std::size_t outputs = 1) {
  try {
    run(op, attributes, inputs, outputs);
    ADD_FAILURE() << op << " did not fail";
  } catch (const Error& error) {
    EXPECT_EQ(name(error.code()), name(code)) << error.what();
    EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
  }
}

/// Runs the node in every floating-point type on the same numbers and expects what `wanted` (in double) says.
inline void expect_in_all_types(std::string_view op, const graph::Attributes& attributes,
                                const std::vector<Tensor>& inputs, const Shape& shape,
                                const std::vector<double>& wanted) {
  for (const FloatType& type : kFloatTypes) {
    SCOPED_TRACE(std::string(name(type.type)));
    std::vector<Value> typed;
    for (const Tensor& input : inputs) {
      if (!input.defined())
        typed.emplace_back();
      else
        typed.emplace_back(input.type() == ElementType::kFloat32 ? converted(input, type.type) : input);
    }
    const std::vector<Value> outputs = run(op, attributes, typed);
    EXPECT_EQ(outputs[0].tensor().type(), type.type);
    expect_values(outputs[0], shape, wanted, type.tolerance);
  }
}

inline constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
inline constexpr double kInfinity = std::numeric_limits<double>::infinity();

}  // namespace sardonyx::provider::cpu::testing
