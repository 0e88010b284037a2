#include "apps/values/compare.h"

#include <cmath>
#include <complex>
#include <fmt/core.h>

#include "base/numeric/numeric.h"

namespace sardonyx::values {
namespace {

template <typename Number>
bool close(Number expected, Number actual, const Tolerance& tolerance) {
  if (expected == actual) return true;
  return std::abs(actual - expected) <= tolerance.atol + tolerance.rtol * std::abs(expected);
}

bool floats_agree(double expected, double actual, const Tolerance& tolerance) {
  if (std::isnan(expected) || std::isnan(actual)) return std::isnan(expected) && std::isnan(actual);
  if (std::isinf(expected) || std::isinf(actual)) return expected == actual;
  return close(expected, actual, tolerance);
}

/// Counts where `agree(i)` is false and describes the first such place with `show(i)`.
template <typename Agree, typename Show>
std::string count_differences(std::int64_t n, Agree&& agree, Show&& show) {
  std::int64_t wrong = 0, first = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    if (agree(i)) continue;
    if (wrong++ == 0) first = i;
  }
  if (wrong == 0) return {};
  return fmt::format("{} of {} elements differ, first at {}: {}", wrong, n, first, show(first));
}

template <typename T>
std::string float_difference(const Tensor& expected, const Tensor& actual, const Tolerance& tolerance) {
  const T *a = expected.data<T>(), *b = actual.data<T>();
  return count_differences(
      expected.num_elements(),
      [&](std::int64_t i) { return floats_agree(static_cast<double>(a[i]), static_cast<double>(b[i]), tolerance); },
      [&](std::int64_t i) {
        return fmt::format("expected {:.9g}, found {:.9g}", static_cast<double>(a[i]), static_cast<double>(b[i]));
      });
}

template <typename T>
std::string complex_difference(const Tensor& expected, const Tensor& actual, const Tolerance& tolerance) {
  const auto *a = expected.data<std::complex<T>>(), *b = actual.data<std::complex<T>>();
  const auto widen = [](std::complex<T> value) { return std::complex<double>(value); };
  return count_differences(
      expected.num_elements(), [&](std::int64_t i) { return close(widen(a[i]), widen(b[i]), tolerance); },
      [&](std::int64_t i) {
        return fmt::format("expected {}{:+}i, found {}{:+}i", a[i].real(), a[i].imag(), b[i].real(), b[i].imag());
      });
}

template <typename T>
std::string exact_difference(const Tensor& expected, const Tensor& actual) {
  const T *a = expected.data<T>(), *b = actual.data<T>();
  return count_differences(
      expected.num_elements(), [&](std::int64_t i) { return a[i] == b[i]; },
      [&](std::int64_t i) { return fmt::format("expected '{}', found '{}'", a[i], b[i]); });
}

template <typename T>
std::string packed_difference(const Tensor& expected, const Tensor& actual, const Tolerance& tolerance) {
  const void *a = expected.view().bytes(), *b = actual.view().bytes();
  const auto get = [](const void* data, std::int64_t i) {
    return static_cast<double>(get_packed<T>(data, static_cast<std::size_t>(i)));
  };
  return count_differences(
      expected.num_elements(), [&](std::int64_t i) { return floats_agree(get(a, i), get(b, i), tolerance); },
      [&](std::int64_t i) { return fmt::format("expected {}, found {}", get(a, i), get(b, i)); });
}

std::string element_difference(const Tensor& expected, const Tensor& actual, const Tolerance& tolerance) {
  switch (expected.type()) {
    case ElementType::kFloat32: return float_difference<float>(expected, actual, tolerance);
    case ElementType::kFloat64: return float_difference<double>(expected, actual, tolerance);
    case ElementType::kFloat16: return float_difference<Half>(expected, actual, tolerance);
    case ElementType::kBFloat16: return float_difference<BFloat16>(expected, actual, tolerance);
    case ElementType::kFloat8E4M3FN: return float_difference<Float8E4M3FN>(expected, actual, tolerance);
    case ElementType::kFloat8E4M3FNUZ: return float_difference<Float8E4M3FNUZ>(expected, actual, tolerance);
    case ElementType::kFloat8E5M2: return float_difference<Float8E5M2>(expected, actual, tolerance);
    case ElementType::kFloat8E5M2FNUZ: return float_difference<Float8E5M2FNUZ>(expected, actual, tolerance);
    case ElementType::kFloat8E8M0: return float_difference<Float8E8M0>(expected, actual, tolerance);
    case ElementType::kFloat4E2M1: return packed_difference<PackedFloat4E2M1>(expected, actual, tolerance);
    case ElementType::kInt4: return packed_difference<Int4>(expected, actual, {0, 0});
    case ElementType::kUInt4: return packed_difference<UInt4>(expected, actual, {0, 0});
    case ElementType::kInt2: return packed_difference<Int2>(expected, actual, {0, 0});
    case ElementType::kUInt2: return packed_difference<UInt2>(expected, actual, {0, 0});
    case ElementType::kComplex64: return complex_difference<float>(expected, actual, tolerance);
    case ElementType::kComplex128: return complex_difference<double>(expected, actual, tolerance);
    case ElementType::kBool: return exact_difference<bool>(expected, actual);
    case ElementType::kString: return exact_difference<std::string>(expected, actual);
    case ElementType::kInt8: return exact_difference<std::int8_t>(expected, actual);
    case ElementType::kInt16: return exact_difference<std::int16_t>(expected, actual);
    case ElementType::kInt32: return exact_difference<std::int32_t>(expected, actual);
    case ElementType::kInt64: return exact_difference<std::int64_t>(expected, actual);
    case ElementType::kUInt8: return exact_difference<std::uint8_t>(expected, actual);
    case ElementType::kUInt16: return exact_difference<std::uint16_t>(expected, actual);
    case ElementType::kUInt32: return exact_difference<std::uint32_t>(expected, actual);
    case ElementType::kUInt64: return exact_difference<std::uint64_t>(expected, actual);
    case ElementType::kUndefined: break;
  }
  return "the tensor has no element type";
}

std::string tensor_difference(const Tensor& expected, const Tensor& actual, const Tolerance& tolerance) {
  if (expected.type() != actual.type()) {
    return fmt::format("expected {}, found {}", name(expected.type()), name(actual.type()));
  }
  if (!(expected.shape() == actual.shape())) {
    return fmt::format("expected shape {}, found {}", expected.shape().to_string(), actual.shape().to_string());
  }
  return element_difference(expected, actual, tolerance);
}

std::string list_difference(const std::vector<Value>& expected, const std::vector<Value>& actual,
                            const Tolerance& tolerance) {
  if (expected.size() != actual.size())
    return fmt::format("expected {} items, found {}", expected.size(), actual.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    if (std::string why = difference(expected[i], actual[i], tolerance); !why.empty()) {
      return fmt::format("item {}: {}", i, why);
    }
  }
  return {};
}

}  // namespace

std::string difference(const Value& expected, const Value& actual, const Tolerance& tolerance) {
  if (std::string_view(expected.kind_name()) != actual.kind_name()) {
    return fmt::format("expected a {}, found a {}", expected.kind_name(), actual.kind_name());
  }
  if (expected.is_tensor()) return tensor_difference(expected.tensor(), actual.tensor(), tolerance);
  if (expected.is_sequence()) return list_difference(expected.sequence().items, actual.sequence().items, tolerance);
  if (expected.is_map()) {
    std::string why = tensor_difference(expected.map().keys, actual.map().keys, tolerance);
    return why.empty() ? list_difference(expected.map().values, actual.map().values, tolerance) : "keys: " + why;
  }
  return {};
}

}  // namespace sardonyx::values
