#include "onnx/tensor_decode.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <string>
#include <utility>

#include "base/fail.h"
#include "onnx/context.h"
#include "onnx/wire.h"

namespace sardonyx::onnx {
namespace {

/// TensorProto's typed fields.
enum TypedField : std::uint32_t {
  kNone = 0,
  kFloats = 4,
  kInt32s = 5,
  kStrings = 6,
  kInt64s = 7,
  kDoubles = 10,
  kUInt64s = 11
};

TypedField typed_field_of(ElementType type) {
  switch (type) {
    case ElementType::kFloat32:
    case ElementType::kComplex64: return kFloats;
    case ElementType::kFloat64:
    case ElementType::kComplex128: return kDoubles;
    case ElementType::kInt64: return kInt64s;
    case ElementType::kUInt32:
    case ElementType::kUInt64: return kUInt64s;
    case ElementType::kString: return kStrings;
    default: return kInt32s;
  }
}

Shape to_shape(const std::vector<std::int64_t>& dims) {
  for (std::size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] < 0) fail(ErrorCode::kInvalidModel, "dimension {} of a tensor is negative: {}", i, dims[i]);
  }
  return Shape(dims);
}

std::size_t alignment_of(ElementType type) {
  if (is_complex(type)) return static_cast<std::size_t>(bit_width(type)) / 16;
  return std::max<std::size_t>(1, static_cast<std::size_t>(bit_width(type)) / 8);
}

/// Writes numbers into memory of a known capacity and counts them.
class Sink {
 public:
  Sink(std::byte* at, std::size_t capacity) : at_(at), capacity_(capacity) {}

  template <typename T>
  void put(T value) {
    if (count_ < capacity_) std::memcpy(at_ + count_ * sizeof(T), &value, sizeof(T));
    ++count_;
  }

  /// An integer stored in a field of wider integers; signed and unsigned spellings of the same bits are both taken.
  template <typename U>
  void put_narrow(std::int64_t value) {
    constexpr std::int64_t kMost = std::numeric_limits<U>::max();
    if (value < -(kMost / 2) - 1 || value > kMost) {
      fail(ErrorCode::kInvalidModel, "element {} of a tensor is {}, which does not fit into {} bits", count_, value,
           sizeof(U) * 8);
    }
    put(static_cast<U>(value));
  }

  void require_full() const {
    if (count_ != capacity_) {
      fail(ErrorCode::kInvalidModel, "type and shape take {} stored numbers, but the tensor has {}", capacity_, count_);
    }
  }

 private:
  std::byte* at_;
  std::size_t capacity_;
  std::size_t count_ = 0;
};

void read_integers(const MessageReader& reader, ElementType type, Sink& sink) {
  switch (type) {
    case ElementType::kInt64:
    case ElementType::kUInt64: return reader.each_int([&](std::int64_t value) { sink.put(value); });
    case ElementType::kInt32:
    case ElementType::kUInt32:
      return reader.each_int([&](std::int64_t value) { sink.put_narrow<std::uint32_t>(value); });
    case ElementType::kBool: return reader.each_int([&](std::int64_t value) { sink.put<std::uint8_t>(value != 0); });
    default:
      if (bit_width(type) == 16)
        return reader.each_int([&](std::int64_t value) { sink.put_narrow<std::uint16_t>(value); });
      return reader.each_int([&](std::int64_t value) { sink.put_narrow<std::uint8_t>(value); });
  }
}

void read_typed(const TensorProto& proto, ElementType type, Sink& sink) {
  const TypedField field = typed_field_of(type);
  MessageReader reader(proto.message, "TensorProto");
  while (reader.next()) {
    if (reader.field() != field) continue;
    if (field == kFloats) {
      reader.each_fixed<float>([&](float value) { sink.put(value); });
    } else if (field == kDoubles) {
      reader.each_fixed<double>([&](double value) { sink.put(value); });
    } else {
      read_integers(reader, type, sink);
    }
  }
}

void read_strings(const TensorProto& proto, std::string* out) {
  MessageReader reader(proto.message, "TensorProto");
  while (reader.next()) {
    if (reader.field() == kStrings) *out++ = reader.as_bytes();
  }
}

/// How many numbers the typed field holds for `count` elements.
std::size_t stored_numbers(ElementType type, std::size_t count) {
  if (is_complex(type)) return count * 2;
  if (is_sub_byte(type)) return byte_size(type, static_cast<std::int64_t>(count));
  return count;
}

}  // namespace

ElementType to_element_type(std::int64_t number) {
  if (!is_element_type(number)) {
    fail(ErrorCode::kInvalidModel, "{} is no element type; ONNX's are 1 to {}", number, kElementTypeCount - 1);
  }
  return static_cast<ElementType>(number);
}

void TensorDecoder::take(std::size_t bytes) {
  constexpr std::size_t kGrowth = 16;  // two bytes of the file can be a std::string of 32
  const std::size_t limit = most_extra_bytes_ + kGrowth * (file_bytes_ + files_.mapped_bytes());
  if (bytes > limit || taken_ > limit - bytes) {
    fail(ErrorCode::kResourceExhausted,
         "the model takes more than {} bytes of memory once its tensors are dense and its functions expanded, far more "
         "than "
         "its files have (ReadOptions::most_extra_bytes)",
         limit);
  }
  taken_ += bytes;
}

Tensor TensorDecoder::make(ElementType type, Shape shape) {
  take(byte_size(type, shape.num_elements()));
  return Tensor(type, std::move(shape));
}

Tensor TensorDecoder::decode_typed(const TensorProto& proto, ElementType type, Shape shape) {
  const auto count = static_cast<std::size_t>(shape.num_elements());
  byte_size(type, shape.num_elements());  // throws when it overflows
  const std::size_t numbers = stored_numbers(type, count);
  if (proto.typed_field != kNone && proto.typed_field != typed_field_of(type)) {
    fail(ErrorCode::kInvalidModel, "elements of type {} must stand in field {} of a TensorProto, but are in field {}",
         name(type), static_cast<int>(typed_field_of(type)), proto.typed_field);
  }
  if (proto.most_typed < numbers) {
    fail(ErrorCode::kInvalidModel, "a tensor of type {} and shape {} needs {} stored numbers, but has at most {}",
         name(type), shape.to_string(), numbers, proto.most_typed);
  }
  if (type == ElementType::kString) {
    if (proto.most_typed != numbers) {
      fail(ErrorCode::kInvalidModel, "a tensor of {} strings has {}", numbers, proto.most_typed);
    }
    Tensor tensor = make(type, std::move(shape));
    read_strings(proto, tensor.mutable_data<std::string>());
    return tensor;
  }
  Tensor tensor = make(type, std::move(shape));
  Sink sink(tensor.view().mutable_bytes(), numbers);
  read_typed(proto, type, sink);
  sink.require_full();
  return tensor;
}

Tensor TensorDecoder::decode_raw(ElementType type, Shape shape, std::string_view raw,
                                 const std::shared_ptr<const void>& owner) {
  const std::size_t bytes = byte_size(type, shape.num_elements());
  if (raw.size() != bytes) {
    fail(ErrorCode::kInvalidModel, "a tensor of type {} and shape {} takes {} bytes, but has {}", name(type),
         shape.to_string(), bytes, raw.size());
  }
  const auto address = reinterpret_cast<std::uintptr_t>(raw.data());
  // Large weights are mostly packed, straight from the file: those few that are read as they are get aligned by their
  // reader.
  constexpr std::size_t kLarge = 64 << 10;
  const bool usable = address % alignment_of(type) == 0 || bytes >= kLarge;
  if (owner && usable && type != ElementType::kBool) {
    return Tensor(type, std::move(shape), const_cast<char*>(raw.data()), owner);
  }
  Tensor tensor = make(type, std::move(shape));
  if (type == ElementType::kBool) {
    std::transform(raw.begin(), raw.end(), tensor.mutable_data<bool>(), [](char byte) { return byte != 0; });
  } else if (bytes > 0) {
    std::memcpy(tensor.view().mutable_bytes(), raw.data(), bytes);
  }
  return tensor;
}

Tensor TensorDecoder::decode(const TensorProto& proto) {
  return in_context(
      [&] { return "tensor '" + std::string(proto.name) + "'"; },
      [&] {
        const ElementType type = to_element_type(proto.data_type);
        Shape shape = to_shape(proto.dims);
        if (proto.has_segment) fail(ErrorCode::kUnsupported, "tensors stored in segments are not supported");
        const bool is_external = proto.data_location == 1;
        if (proto.data_location != 0 && !is_external) {
          fail(ErrorCode::kInvalidModel, "data_location must be 0 or 1, but is {}", proto.data_location);
        }
        const bool has_raw = proto.raw_data && !proto.raw_data->empty();
        if (int{is_external} + int{has_raw} + int{proto.typed_field != kNone} > 1) {
          fail(ErrorCode::kInvalidModel, "a tensor's elements are given twice");
        }
        if (type == ElementType::kString && (is_external || has_raw)) {
          fail(ErrorCode::kInvalidModel, "strings must stand in string_data, not in raw or external data");
        }
        if (is_external) {
          const MappedBytes found = files_.find(proto.external_data, byte_size(type, shape.num_elements()));
          const std::string_view raw(reinterpret_cast<const char*>(found.bytes.data()), found.bytes.size());
          return decode_raw(type, std::move(shape), raw, found.owner);
        }
        if (has_raw) return decode_raw(type, std::move(shape), *proto.raw_data, owner_);
        return decode_typed(proto, type, std::move(shape));
      });
}

}  // namespace sardonyx::onnx
