#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>

#include "sardonyx/value.h"

#include "graph/value_type.h"

namespace sardonyx::onnx {

/// Values as ONNX stores them one a file (`input_0.pb`): a TensorProto, SequenceProto, MapProto or OptionalProto. The
/// message does not say which, so `type` does; where nothing is known of the type, a TensorProto is expected. Elements
/// are copied. Throws kInvalidModel for bytes that are no such message.
Value read_value(std::span<const std::byte> bytes, const graph::ValueType& type = {});
/// The same from a file; throws kNotFound and kIo as well.
Value read_value(const std::filesystem::path& path, const graph::ValueType& type = {});

/// The message for a value; an OptionalProto where `type` is optional. Throws kInvalidArgument for nothing without such
/// a type.
std::string write_value(const Value& value, const std::string& name, const graph::ValueType& type = {});

}  // namespace sardonyx::onnx
