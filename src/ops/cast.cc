#include <string>
#include <utility>
#include <vector>

#include "base/fail.h"
#include "ops/families.h"
#include "ops/infer_context.h"

namespace sardonyx::ops {
namespace {

ElementType type_attribute(const InferContext& context, const char* attribute) {
  const std::int64_t number = context.attributes().get_int(attribute);
  if (!is_element_type(number)) fail(ErrorCode::kInvalidModel, "{}={} is not an element type", attribute, number);
  return static_cast<ElementType>(number);
}

void check_castable(ElementType type, const char* what) {
  if (is_complex(type)) fail(ErrorCode::kInvalidModel, "casting {} {} is not defined", what, name(type));
}

void check_round_mode(const InferContext& context) {
  const std::string mode = context.attributes().get_string("round_mode", "up");
  if (mode != "up" && mode != "down" && mode != "nearest") {
    fail(ErrorCode::kInvalidModel, "round_mode must be up, down or nearest, found '{}'", mode);
  }
}

void set_cast(InferContext& context, ElementType to) {
  check_castable(context.tensor(0).element, "from");
  check_castable(to, "to");
  check_round_mode(context);
  context.set_like(0, 0, to);
  if (to != ElementType::kInt64 && to != ElementType::kInt32) return;
  if (!context.has_rank(0) || context.rank(0) > 1) return;
  auto values = context.values(0);
  if (!values) return;
  for (const Dim& value : *values) {
    if (to == ElementType::kInt32 && value.is_constant() &&
        value.constant() != static_cast<std::int32_t>(value.constant()))
      return;
  }
  context.set_values(0, std::move(*values));
}

void infer_cast(InferContext& context) { set_cast(context, type_attribute(context, "to")); }
void infer_cast_like(InferContext& context) { set_cast(context, context.tensor(1).element); }

void infer_bit_cast(InferContext& context) {
  const ElementType from = context.tensor(0).element, to = type_attribute(context, "to");
  if (bit_width(from) != bit_width(to) || bit_width(to) == 0) {
    fail(ErrorCode::kInvalidModel, "BitCast needs types of one width, found {} ({} bits) and {} ({} bits)", name(from),
         bit_width(from), name(to), bit_width(to));
  }
  context.set_like(0, 0, to);
}

}  // namespace

void add_cast_ops(OpTable& table) {
  table.push_back({"", "Cast", infer_cast, {}});
  table.push_back({"", "CastLike", infer_cast_like, {}});
  table.push_back({"", "BitCast", infer_bit_cast, {.in_place = mask({0})}});
}

}  // namespace sardonyx::ops
