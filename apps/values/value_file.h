#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sardonyx/session.h"

namespace sardonyx::values {

/// The formats in which values are read and written, told by a file's extension.
enum class FileFormat { kNpy, kNpz, kProtobuf, kJson };

/// Throws kInvalidArgument, listing the formats, for another extension.
FileFormat format_of(const std::filesystem::path& path);

/// Reads input or output values from a file: every array of a .npz or key of a JSON object by its name; the one value
/// of a .npy or .pb for `name`, or where that is empty for the first of `ports` that `taken` doesn't hold. What NumPy
/// has no type for is converted to the port's type (values::numpy_type). Throws kInvalidArgument for names that `ports`
/// lacks.
NamedValues read_values(const std::filesystem::path& path, std::string_view name, std::span<const PortInfo> ports,
                        const NamedValues& taken);

/// Writes values to a file; .npy and .pb take exactly one. Replaces the file in one step.
void write_values(const std::filesystem::path& path, const NamedValues& values);

/// The port of that name; throws kInvalidArgument listing those that exist. `what` is "input" or "output".
const PortInfo& find_port(std::span<const PortInfo> ports, std::string_view name, std::string_view what);

}  // namespace sardonyx::values
