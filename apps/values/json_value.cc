#include "apps/values/json_value.h"

#include <charconv>
#include <cmath>
#include <complex>
#include <limits>
#include <nlohmann/json.hpp>

#include "apps/values/elements.h"
#include "base/fail.h"
#include "base/numeric/numeric.h"

namespace sardonyx::values {
namespace {

using nlohmann::json;

constexpr std::size_t kMostRank = 64;

json number_json(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "Infinity" : "-Infinity";
  return value;
}

template <typename T>
json complex_json(const T& value) {
  return json::array({number_json(value.real()), number_json(value.imag())});
}

json element_json(const TensorView& tensor, std::int64_t i) {
  switch (tensor.type) {
    case ElementType::kString: return tensor.data<std::string>()[i];
    case ElementType::kBool: return tensor.data<bool>()[i];
    case ElementType::kFloat32: return number_json(short_double(tensor.data<float>()[i]));
    case ElementType::kInt64: return tensor.data<std::int64_t>()[i];
    case ElementType::kUInt64: return tensor.data<std::uint64_t>()[i];
    case ElementType::kComplex64: return complex_json(tensor.data<std::complex<float>>()[i]);
    case ElementType::kComplex128: return complex_json(tensor.data<std::complex<double>>()[i]);
    default: break;
  }
  const double value = get_element(tensor, i);
  if (is_integer(tensor.type)) return static_cast<std::int64_t>(value);
  return number_json(value);
}

json tensor_json(const Tensor& tensor) {
  json data = json::array();
  for (std::int64_t i = 0; i < tensor.num_elements(); ++i) data.push_back(element_json(tensor.view(), i));
  json shape = json::array();
  for (std::int64_t dim : tensor.shape()) shape.push_back(dim);
  return {{"type", name(tensor.type())}, {"shape", std::move(shape)}, {"data", std::move(data)}};
}

double number_of(const json& item, ElementType type, const std::string& where) {
  if (item.is_boolean()) return item.get<bool>() ? 1 : 0;
  if (item.is_number()) return item.get<double>();
  if (item == "NaN") return std::numeric_limits<double>::quiet_NaN();
  if (item == "Infinity" || item == "-Infinity")
    return (item == "Infinity" ? 1 : -1) * std::numeric_limits<double>::infinity();
  fail(ErrorCode::kInvalidArgument, "{}: expected a number for {}, found {}", where, name(type), item.type_name());
}

void set_wide(const TensorView& tensor, std::int64_t i, const json& item) {
  if (tensor.type == ElementType::kInt64)
    tensor.mutable_data<std::int64_t>()[i] = item.get<std::int64_t>();
  else
    tensor.mutable_data<std::uint64_t>()[i] = item.get<std::uint64_t>();
}

template <typename T>
void set_complex(const TensorView& tensor, std::int64_t i, const json& item, const std::string& where) {
  if (!item.is_array() || item.size() != 2) {
    fail(ErrorCode::kInvalidArgument, "{}: expected [real, imaginary] for {}", where, name(tensor.type));
  }
  tensor.mutable_data<std::complex<T>>()[i] = {static_cast<T>(number_of(item[0], tensor.type, where)),
                                               static_cast<T>(number_of(item[1], tensor.type, where))};
}

void set_from_json(const TensorView& tensor, std::int64_t i, const json& item, const std::string& where) {
  const ElementType type = tensor.type;
  if (type == ElementType::kString) {
    if (!item.is_string()) fail(ErrorCode::kInvalidArgument, "{}: expected a text, found {}", where, item.type_name());
    tensor.mutable_data<std::string>()[i] = item.get<std::string>();
    return;
  }
  if (type == ElementType::kComplex64) return set_complex<float>(tensor, i, item, where);
  if (type == ElementType::kComplex128) return set_complex<double>(tensor, i, item, where);
  const bool fits_wide =
      type == ElementType::kInt64
          ? item.is_number_integer() && !(item.is_number_unsigned() && item.get<std::uint64_t>() > INT64_MAX)
          : type == ElementType::kUInt64 && item.is_number_unsigned();
  if (fits_wide) return set_wide(tensor, i, item);
  const double value = number_of(item, type, where);
  if (!is_floating_point(type) &&
      !(value >= lowest_integer(type) && value <= highest_integer(type) && value == std::floor(value))) {
    fail(ErrorCode::kInvalidArgument, "{}: {} is not a {}", where, value, name(type));
  }
  set_element(tensor, i, value);
}

ElementType type_named(const std::string& text, const std::string& where) {
  for (int number = 1; number < kElementTypeCount; ++number) {
    if (name(static_cast<ElementType>(number)) == text) return static_cast<ElementType>(number);
  }
  fail(ErrorCode::kInvalidArgument, "{}: '{}' is no element type; write float, int64, string, ...", where, text);
}

Tensor described_tensor(const json& item, const std::string& where) {
  if (!item["type"].is_string() || !item["shape"].is_array() || !item["data"].is_array()) {
    fail(ErrorCode::kInvalidArgument, "{}: expected {{\"type\": text, \"shape\": list, \"data\": list}}", where);
  }
  Shape shape;
  for (const json& dim : item["shape"]) {
    if (!dim.is_number_integer() || dim.get<std::int64_t>() < 0) {
      fail(ErrorCode::kInvalidArgument, "{}: a dimension of \"shape\" is no whole number", where);
    }
    shape.push_back(dim.get<std::int64_t>());
  }
  const json& data = item["data"];
  if (static_cast<std::uint64_t>(shape.num_elements()) != data.size()) {
    fail(ErrorCode::kInvalidArgument, "{}: shape {} takes {} elements, but \"data\" has {}", where, shape.to_string(),
         shape.num_elements(), data.size());
  }
  Tensor tensor(type_named(item["type"].get<std::string>(), where), shape);
  for (std::size_t i = 0; i < data.size(); ++i)
    set_from_json(tensor.view(), static_cast<std::int64_t>(i), data[i], where);
  return tensor;
}

void fill_nested(const json& item, std::size_t depth, const TensorView& tensor, std::int64_t& at,
                 const std::string& where) {
  if (depth == tensor.shape.rank()) return set_from_json(tensor, at++, item, where);
  if (!item.is_array() || static_cast<std::int64_t>(item.size()) != tensor.shape[depth]) {
    fail(ErrorCode::kInvalidArgument, "{}: the lists at depth {} are not all of length {}", where, depth,
         tensor.shape[depth]);
  }
  for (const json& inner : item) fill_nested(inner, depth + 1, tensor, at, where);
}

Tensor nested_tensor(const json& item, ElementType type, const std::string& where) {
  Shape shape;
  for (const json* level = &item; level->is_array(); level = &(*level)[0]) {
    if (shape.rank() == kMostRank)
      fail(ErrorCode::kInvalidArgument, "{}: lists are nested deeper than {}", where, kMostRank);
    shape.push_back(static_cast<std::int64_t>(level->size()));
    if (level->empty()) break;
  }
  if (is_complex(type) && shape.rank() > 0) shape.resize(shape.rank() - 1);
  Tensor tensor(type, shape);
  std::int64_t at = 0;
  fill_nested(item, 0, tensor.view(), at, where);
  return tensor;
}

Value map_from_json(const json& pairs, const PortInfo& port, const std::string& where) {
  Map map;
  if (!pairs.is_array()) fail(ErrorCode::kInvalidArgument, "{}: expected \"map\" to be a list of [key, value]", where);
  const bool texts = !pairs.empty() && pairs[0].is_array() && !pairs[0].empty() && pairs[0][0].is_string();
  map.keys = Tensor(texts ? ElementType::kString : ElementType::kInt64, {static_cast<std::int64_t>(pairs.size())});
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    if (!pairs[i].is_array() || pairs[i].size() != 2) {
      fail(ErrorCode::kInvalidArgument, "{}: item {} of \"map\" is no [key, value]", where, i);
    }
    set_from_json(map.keys.view(), static_cast<std::int64_t>(i), pairs[i][0], where);
    map.values.push_back(from_json(pairs[i][1], port, where));
  }
  return map;
}

}  // namespace

double short_double(float value) {
  char digits[32];
  const auto end = std::to_chars(digits, digits + sizeof(digits), value).ptr;
  double out = value;
  if (std::isfinite(value)) std::from_chars(digits, end, out);
  return out;
}

json to_json(const Value& value) {
  if (value.is_tensor()) return tensor_json(value.tensor());
  if (value.is_sequence()) {
    json items = json::array();
    for (const Value& item : value.sequence().items) items.push_back(to_json(item));
    return items;
  }
  if (value.is_map()) {
    json pairs = json::array();
    const Map& map = value.map();
    for (std::size_t i = 0; i < map.values.size(); ++i) {
      pairs.push_back(
          json::array({element_json(map.keys.view(), static_cast<std::int64_t>(i)), to_json(map.values[i])}));
    }
    return {{"map", std::move(pairs)}};
  }
  return nullptr;
}

Value from_json(const json& item, const PortInfo& port, const std::string& where) {
  if (item.is_null()) return {};
  if (item.is_object() && item.contains("map")) return map_from_json(item["map"], port, where);
  if (item.is_object()) {
    if (!item.contains("type") || !item.contains("shape") || !item.contains("data")) {
      fail(ErrorCode::kInvalidArgument,
           "{}: expected a number, a list, or an object with \"type\", \"shape\" and \"data\"", where);
    }
    return described_tensor(item, where);
  }
  const bool sequence =
      port.kind == "sequence" || (port.kind == "optional" && item.is_array() && !item.empty() && item[0].is_object());
  if (sequence) {
    if (!item.is_array()) fail(ErrorCode::kInvalidArgument, "{}: expected a list, found {}", where, item.type_name());
    Sequence items{port.element_type, {}};
    for (const json& inner : item) {
      items.items.push_back(inner.is_object() ? from_json(inner, port, where)
                                              : Value(nested_tensor(inner, port.element_type, where)));
    }
    return items;
  }
  return nested_tensor(item, port.element_type, where);
}

}  // namespace sardonyx::values
