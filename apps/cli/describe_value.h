#pragma once

#include <string>

#include "sardonyx/value.h"

namespace sardonyx::cli {

std::string describe_type(const Value& value);     ///< "float[1,2]", "sequence of 3", ...
std::string describe_content(const Value& value);  ///< the first elements, and the range of numbers

}  // namespace sardonyx::cli
