#include "apps/values/convert.h"

#include <cmath>
#include <limits>

#include "apps/values/elements.h"
#include "base/fail.h"

namespace sardonyx::values {
namespace {

/// The largest magnitude below which every integer is a double.
constexpr double kExactIntegers = 9007199254740992.0;

bool is_wide_integer(ElementType type) { return type == ElementType::kInt64 || type == ElementType::kUInt64; }

bool same_number(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

}  // namespace

ElementType numpy_type(ElementType type) {
  switch (type) {
    case ElementType::kBFloat16:
    case ElementType::kFloat8E4M3FN:
    case ElementType::kFloat8E4M3FNUZ:
    case ElementType::kFloat8E5M2:
    case ElementType::kFloat8E5M2FNUZ:
    case ElementType::kFloat8E8M0:
    case ElementType::kFloat4E2M1: return ElementType::kFloat32;
    case ElementType::kInt4:
    case ElementType::kInt2: return ElementType::kInt8;
    case ElementType::kUInt4:
    case ElementType::kUInt2: return ElementType::kUInt8;
    default: return type;
  }
}

Tensor convert(const Tensor& tensor, ElementType type) {
  if (tensor.type() == type) return tensor;
  if (!is_real(tensor.type()) || !is_real(type)) {
    fail(ErrorCode::kInvalidArgument, "expected {}, found {}, which isn't converted", name(type), name(tensor.type()));
  }
  Tensor out(type, tensor.shape());
  const std::int64_t n = tensor.num_elements();
  for (std::int64_t i = 0; i < n; ++i) {
    const double value = get_element(tensor.view(), i);
    const bool exact = !(is_wide_integer(tensor.type()) || is_wide_integer(type)) || std::abs(value) <= kExactIntegers;
    const bool in_range = is_floating_point(type) || (value >= lowest_integer(type) && value <= highest_integer(type));
    if (exact && in_range) set_element(out.view(), i, value);
    // Floats may round: a model that takes float16 is given the nearest. Everything else must come out as it went in.
    const bool may_round = is_floating_point(type) && is_floating_point(tensor.type());
    if (!exact || !in_range || (!may_round && !same_number(get_element(out.view(), i), value))) {
      fail(ErrorCode::kInvalidArgument, "element {} is {:.17g}, which {} can't hold", i, value, name(type));
    }
  }
  return out;
}

}  // namespace sardonyx::values
