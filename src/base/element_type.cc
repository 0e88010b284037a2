#include "sardonyx/element_type.h"

#include <string>

#include "base/fail.h"

namespace sardonyx {
namespace {

enum class Kind : std::uint8_t { kNone, kFloat, kSigned, kUnsigned, kBool, kComplex, kString };

struct TypeRow {
  std::string_view name;
  std::uint8_t bits;
  Kind kind;
};

// Indexed by ElementType.
constexpr TypeRow kTypes[kElementTypeCount] = {
    {"undefined", 0, Kind::kNone},       {"float", 32, Kind::kFloat},          {"uint8", 8, Kind::kUnsigned},
    {"int8", 8, Kind::kSigned},          {"uint16", 16, Kind::kUnsigned},      {"int16", 16, Kind::kSigned},
    {"int32", 32, Kind::kSigned},        {"int64", 64, Kind::kSigned},         {"string", 0, Kind::kString},
    {"bool", 8, Kind::kBool},            {"float16", 16, Kind::kFloat},        {"double", 64, Kind::kFloat},
    {"uint32", 32, Kind::kUnsigned},     {"uint64", 64, Kind::kUnsigned},      {"complex64", 64, Kind::kComplex},
    {"complex128", 128, Kind::kComplex}, {"bfloat16", 16, Kind::kFloat},       {"float8e4m3fn", 8, Kind::kFloat},
    {"float8e4m3fnuz", 8, Kind::kFloat}, {"float8e5m2", 8, Kind::kFloat},      {"float8e5m2fnuz", 8, Kind::kFloat},
    {"uint4", 4, Kind::kUnsigned},       {"int4", 4, Kind::kSigned},           {"float4e2m1", 4, Kind::kFloat},
    {"float8e8m0", 8, Kind::kFloat},     {"uint2", 2, Kind::kUnsigned},        {"int2", 2, Kind::kSigned},
};

const TypeRow& row(ElementType type) {
  const auto index = static_cast<std::size_t>(type);
  return kTypes[index < kElementTypeCount ? index : 0];
}

}  // namespace

std::string_view name(ElementType type) { return row(type).name; }

bool is_element_type(std::int64_t number) { return number > 0 && number < kElementTypeCount; }

int bit_width(ElementType type) { return row(type).bits; }

std::size_t byte_size(ElementType type, std::int64_t count) {
  const std::size_t bits = type == ElementType::kString ? 8 * sizeof(std::string) : row(type).bits;
  std::size_t total = 0;
  if (count < 0 || __builtin_mul_overflow(static_cast<std::size_t>(count), bits, &total) || total > SIZE_MAX / 2) {
    fail(ErrorCode::kResourceExhausted, "a tensor of {} {} elements is larger than the address space", count, name(type));
  }
  return (total + 7) / 8;
}

bool is_floating_point(ElementType type) { return row(type).kind == Kind::kFloat; }
bool is_integer(ElementType type) { return row(type).kind == Kind::kSigned || row(type).kind == Kind::kUnsigned; }
bool is_signed_integer(ElementType type) { return row(type).kind == Kind::kSigned; }
bool is_complex(ElementType type) { return row(type).kind == Kind::kComplex; }

}  // namespace sardonyx
