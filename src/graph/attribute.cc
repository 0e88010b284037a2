#include "graph/attribute.h"

#include <algorithm>

#include "base/fail.h"

namespace sardonyx::graph {
namespace {

constexpr const char* kKindNames[] = {"an int",       "a float", "a string", "a tensor", "a graph",  "a type",
                                      "a sparse tensor", "ints",    "floats",   "strings",  "tensors", "graphs"};

template <typename T>
const T* get(const Attributes& attributes, std::string_view name) {
  const Attribute* attribute = attributes.find(name);
  if (!attribute) return nullptr;
  const T* value = std::get_if<T>(attribute);
  if (!value) {
    fail(ErrorCode::kInvalidModel, "attribute '{}' must be {}, but it is {}", name, kKindNames[Attribute(T{}).index()],
         kKindNames[attribute->index()]);
  }
  return value;
}

template <typename T>
const T& require(const Attributes& attributes, std::string_view name) {
  const T* value = get<T>(attributes, name);
  if (!value) fail(ErrorCode::kInvalidModel, "attribute '{}' is required and missing", name);
  return *value;
}

}  // namespace

const Attribute* Attributes::find(std::string_view name) const {
  for (const auto& [key, value] : items_) {
    if (key == name) return &value;
  }
  return nullptr;
}

void Attributes::set(std::string name, Attribute value) {
  for (auto& [key, old] : items_) {
    if (key == name) {
      old = std::move(value);
      return;
    }
  }
  items_.emplace_back(std::move(name), std::move(value));
}

void Attributes::erase(std::string_view name) {
  std::erase_if(items_, [&](const auto& item) { return item.first == name; });
}

std::int64_t Attributes::get_int(std::string_view name) const { return require<std::int64_t>(*this, name); }
std::int64_t Attributes::get_int(std::string_view name, std::int64_t fallback) const {
  const std::int64_t* value = get<std::int64_t>(*this, name);
  return value ? *value : fallback;
}
float Attributes::get_float(std::string_view name) const { return require<float>(*this, name); }
float Attributes::get_float(std::string_view name, float fallback) const {
  const float* value = get<float>(*this, name);
  return value ? *value : fallback;
}
const std::string& Attributes::get_string(std::string_view name) const { return require<std::string>(*this, name); }
std::string Attributes::get_string(std::string_view name, std::string_view fallback) const {
  const std::string* value = get<std::string>(*this, name);
  return value ? *value : std::string(fallback);
}
const std::vector<std::int64_t>* Attributes::ints(std::string_view name) const {
  return get<std::vector<std::int64_t>>(*this, name);
}
const std::vector<float>* Attributes::floats(std::string_view name) const { return get<std::vector<float>>(*this, name); }
const std::vector<std::string>* Attributes::strings(std::string_view name) const {
  return get<std::vector<std::string>>(*this, name);
}
const Tensor* Attributes::tensor(std::string_view name) const { return get<Tensor>(*this, name); }
std::vector<std::int64_t> Attributes::get_ints(std::string_view name, std::vector<std::int64_t> fallback) const {
  const auto* value = ints(name);
  return value ? *value : fallback;
}
const std::shared_ptr<Graph>& Attributes::graph(std::string_view name) const {
  return require<std::shared_ptr<Graph>>(*this, name);
}

}  // namespace sardonyx::graph
