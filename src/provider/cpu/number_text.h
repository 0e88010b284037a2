#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace sardonyx::provider::cpu {

// Numbers in string tensors, as Cast reads and writes them. Surrounding white space is ignored; "INF", "+INF", "-INF"
// and "NaN" are read in any case. What is not a number is an Error quoting the text.

double parse_double(std::string_view text);
/// Also reads decimal fractions, which it cuts off ("100.5" is 100), and "true" and "false". An Error when out of
/// range.
std::int64_t parse_int64(std::string_view text);
std::uint64_t parse_uint64(std::string_view text);

/// The shortest decimal that reads back as the same number ("0.1", "1.0", "1e+20"); NaN is "NaN", infinity "INF" and
/// "-INF".
std::string number_text(float value);
std::string number_text(double value);
std::string number_text(std::int64_t value);
std::string number_text(std::uint64_t value);

}  // namespace sardonyx::provider::cpu
