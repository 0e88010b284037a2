#pragma once

#include <cstdint>
#include <optional>
#include <simdjson.h>
#include <string_view>

namespace sardonyx::text::json {

using Element = simdjson::dom::element;
using Object = simdjson::dom::object;
using Array = simdjson::dom::array;

/// Throws Error kInvalidModel where `value` is not what is asked for; `where` names it, such as "model.vocab".
Object object(Element value, std::string_view where);
Array array(Element value, std::string_view where);
std::string_view string(Element value, std::string_view where);
std::uint32_t uint32(Element value, std::string_view where);
double number(Element value, std::string_view where);
bool boolean(Element value, std::string_view where);

/// The member, or nothing where it is missing or null.
std::optional<Element> find(Object parent, std::string_view key);
/// The member; throws Error kInvalidModel where it is missing. `where` names the parent.
Element get(Object parent, std::string_view key, std::string_view where);

std::string_view get_string(Object parent, std::string_view key, std::string_view where);
bool get_bool(Object parent, std::string_view key, std::string_view where);
/// The member, or `otherwise` where it is missing or null.
bool get_bool_or(Object parent, std::string_view key, bool otherwise, std::string_view where);
std::string_view get_string_or(Object parent, std::string_view key, std::string_view otherwise, std::string_view where);

}  // namespace sardonyx::text::json
