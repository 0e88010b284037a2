#pragma once

// For tests of single operators: values from literals, one node on the CPU provider, and what it should give.

#include <gtest/gtest.h>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sardonyx/error.h"

#include "graph/attribute.h"
#include "provider/cpu/cpu_provider.h"
#include "provider/evaluate.h"

namespace sardonyx::provider::cpu {

template <typename T>
Value tensor_of(const Shape& shape, const std::vector<T>& values) {
  Tensor tensor(element_type_of<T>, shape);
  EXPECT_EQ(static_cast<std::int64_t>(values.size()), shape.num_elements())
      << "a literal that doesn't fill " << shape.to_string();
  for (std::size_t i = 0; i < values.size(); ++i) tensor.mutable_data<T>()[i] = values[i];
  return tensor;
}
inline Value floats(const Shape& shape, const std::vector<float>& values) { return tensor_of(shape, values); }
inline Value ints(const Shape& shape, const std::vector<std::int64_t>& values) { return tensor_of(shape, values); }
inline Value int_vector(const std::vector<std::int64_t>& values) {
  return tensor_of({static_cast<std::int64_t>(values.size())}, values);
}
inline Value strings(const Shape& shape, const std::vector<std::string>& values) { return tensor_of(shape, values); }
/// Elements of a packed type (int4, uint2, …), each given by its bits.
inline Value packed(ElementType type, const Shape& shape, const std::vector<unsigned>& codes) {
  Tensor tensor(type, shape);
  const auto bits = static_cast<std::size_t>(bit_width(type));
  auto* bytes = static_cast<std::uint8_t*>(tensor.view().data_ptr);
  std::fill(bytes, bytes + tensor.num_bytes(), 0);
  for (std::size_t i = 0; i < codes.size(); ++i)
    bytes[i * bits / 8] = static_cast<std::uint8_t>(bytes[i * bits / 8] | codes[i] << i * bits % 8);
  return tensor;
}

inline graph::Attributes attributes(std::initializer_list<std::pair<const char*, graph::Attribute>> items) {
  graph::Attributes out;
  for (const auto& [name, value] : items) out.set(name, value);
  return out;
}

inline std::vector<Value> run_op(std::string_view op, const graph::Attributes& attributes,
                                 const std::vector<Value>& inputs, std::size_t outputs = 1,
                                 std::string_view domain = "") {
  return evaluate_node(CpuProvider(), domain, op, attributes, inputs, outputs);
}

/// Exact equality of type, shape and elements.
inline void expect_equal(const Value& found, const Value& expected, const std::string& what = "") {
  ASSERT_TRUE(found.is_tensor()) << what;
  const TensorView &a = found.tensor().view(), &b = expected.tensor().view();
  EXPECT_EQ(name(a.type), name(b.type)) << what;
  EXPECT_EQ(a.shape.to_string(), b.shape.to_string()) << what;
  EXPECT_TRUE(identical(a, b)) << what;
}

inline void expect_near(const Value& found, const Shape& shape, const std::vector<float>& expected, float tolerance,
                        const std::string& what = "") {
  ASSERT_TRUE(found.is_tensor()) << what;
  ASSERT_EQ(found.tensor().shape().to_string(), shape.to_string()) << what;
  for (std::size_t i = 0; i < expected.size(); ++i)
    EXPECT_NEAR(found.tensor().data<float>()[i], expected[i], tolerance) << what << " element " << i;
}

/// Expects an Error whose message has `part` in it.
template <typename Fn>
void expect_error(Fn&& fn, std::string_view part) {
  try {
    fn();
    ADD_FAILURE() << "no error, expected one with: " << part;
  } catch (const Error& error) {
    EXPECT_NE(std::string_view(error.what()).find(part), std::string_view::npos) << error.what();
  }
}

}  // namespace sardonyx::provider::cpu
