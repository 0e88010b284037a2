#include "apps/values/value_file.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "apps/values/convert.h"
#include "apps/values/json_value.h"
#include "apps/values/npy.h"
#include "apps/values/parse_json.h"
#include "apps/values/zip.h"
#include "base/fail.h"
#include "base/file_mapping.h"

namespace sardonyx::values {
namespace {

constexpr std::string_view kNpySuffix = ".npy";

std::string list_names(std::span<const PortInfo> ports) {
  std::string text;
  for (const PortInfo& port : ports) text += (text.empty() ? "'" : ", '") + port.name + "'";
  return text.empty() ? "none" : text;
}

bool holds(const NamedValues& values, std::string_view name) {
  return std::any_of(values.begin(), values.end(), [&](const auto& named) { return named.first == name; });
}

/// Which port a nameless value is for.
const PortInfo& next_port(const std::filesystem::path& path, std::span<const PortInfo> ports,
                          const NamedValues& taken) {
  for (const PortInfo& port : ports) {
    if (!holds(taken, port.name)) return port;
  }
  fail(ErrorCode::kInvalidArgument, "'{}' is one value too many: the model has {}", path.string(), list_names(ports));
}

Value fit(Tensor tensor, const PortInfo& port, const std::string& where) {
  const ElementType type = port.element_type;
  if (port.kind != "tensor" || tensor.type() == type || tensor.type() != numpy_type(type)) return tensor;
  try {
    return convert(tensor, type);
  } catch (Error& error) {
    error.add_context(where);
    throw;
  }
}

NamedValues read_npz(const std::filesystem::path& path, std::span<const PortInfo> ports) {
  const FileMapping file(path.string());
  const ZipReader archive(file.text(), path.string());
  NamedValues values;
  for (const ZipReader::Entry& entry : archive.entries()) {
    std::string name = entry.name;
    if (name.ends_with(kNpySuffix)) name.resize(name.size() - kNpySuffix.size());
    const PortInfo& port = find_port(ports, name, "port");
    const std::string where = path.string() + ": array '" + name + "'";
    values.emplace_back(name, fit(parse_npy(archive.read(entry), where), port, where));
  }
  return values;
}

NamedValues read_json(const std::filesystem::path& path, std::span<const PortInfo> ports) {
  const FileMapping file(path.string());
  const nlohmann::json root = parse_json(file.text(), path.string());
  if (!root.is_object()) {
    fail(ErrorCode::kInvalidArgument, "{}: expected a JSON object of values by name, such as {{\"{}\": ...}}",
         path.string(), ports.empty() ? "name" : ports.front().name);
  }
  NamedValues values;
  for (const auto& [name, item] : root.items()) {
    const PortInfo& port = find_port(ports, name, "port");
    values.emplace_back(name, from_json(item, port, path.string() + ": '" + name + "'"));
  }
  return values;
}

std::string npz_content(const NamedValues& values) {
  ZipWriter archive;
  for (const auto& [name, value] : values) {
    if (!value.is_tensor()) {
      fail(ErrorCode::kInvalidArgument, "'{}' is a {}, which .npz can't hold; write .json instead", name,
           value.kind_name());
    }
    archive.add(name + std::string(kNpySuffix), format_npy(value.tensor()));
  }
  return archive.finish();
}

std::string json_content(const NamedValues& values) {
  nlohmann::json root = nlohmann::json::object();
  for (const auto& [name, value] : values) root[name] = to_json(value);
  try {
    return root.dump() + "\n";
  } catch (const nlohmann::json::exception&) {
    fail(ErrorCode::kInvalidArgument, "a string isn't UTF-8, which JSON can't hold; write .pb instead");
  }
}

}  // namespace

FileFormat format_of(const std::filesystem::path& path) {
  const std::string extension = path.extension().string();
  if (extension == ".npy") return FileFormat::kNpy;
  if (extension == ".npz") return FileFormat::kNpz;
  if (extension == ".pb") return FileFormat::kProtobuf;
  if (extension == ".json") return FileFormat::kJson;
  fail(ErrorCode::kInvalidArgument, "'{}': expected a name that ends in .npy, .npz, .pb or .json", path.string());
}

const PortInfo& find_port(std::span<const PortInfo> ports, std::string_view name, std::string_view what) {
  for (const PortInfo& port : ports) {
    if (port.name == name) return port;
  }
  fail(ErrorCode::kInvalidArgument, "the model has no {} '{}'; it has {}", what, name, list_names(ports));
}

NamedValues read_values(const std::filesystem::path& path, std::string_view name, std::span<const PortInfo> ports,
                        const NamedValues& taken) {
  const FileFormat format = format_of(path);
  if (format == FileFormat::kNpz || format == FileFormat::kJson) {
    if (!name.empty()) {
      fail(ErrorCode::kInvalidArgument, "'{}' holds values by name; give it without '{}='", path.string(), name);
    }
    return format == FileFormat::kNpz ? read_npz(path, ports) : read_json(path, ports);
  }
  const PortInfo& port = name.empty() ? next_port(path, ports, taken) : find_port(ports, name, "port");
  if (format == FileFormat::kProtobuf) return {{port.name, read_value_file(path, port.kind)}};
  const FileMapping file(path.string());
  return {{port.name, fit(parse_npy(file.text(), path.string()), port, path.string())}};
}

void write_values(const std::filesystem::path& path, const NamedValues& values) {
  const FileFormat format = format_of(path);
  if (format == FileFormat::kNpz) return write_file(path.string(), npz_content(values));
  if (format == FileFormat::kJson) return write_file(path.string(), json_content(values));
  if (values.size() != 1) {
    fail(ErrorCode::kInvalidArgument,
         "'{}' takes one value, but there are {}; name one (name={}) or write .npz or .json", path.string(),
         values.size(), path.string());
  }
  const Value& value = values.front().second;
  if (format == FileFormat::kProtobuf) return write_value_file(path, value);
  write_file(path.string(), format_npy(value.tensor()));
}

}  // namespace sardonyx::values
