#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "sardonyx/session.h"
#include "sardonyx/value.h"

namespace sardonyx::values {

/// The double whose shortest digits are those of the float, so that 0.1f is written as 0.1. It rounds back to the
/// float.
double short_double(float value);

/// A value as JSON. A tensor is {"type": "float", "shape": [2, 3], "data": [...]} with its elements in a flat list; a
/// sequence is a list; a map is {"map": [[key, value], ...]}; nothing is null. NaN and infinities are "NaN",
/// "Infinity", "-Infinity". Complex numbers are pairs.
nlohmann::json to_json(const Value& value);

/// Reads what to_json writes, and also plain numbers, texts and nested lists, which become a tensor of `port`'s element
/// type. `where` names the value in errors. Throws kInvalidArgument.
Value from_json(const nlohmann::json& json, const PortInfo& port, const std::string& where);

}  // namespace sardonyx::values
