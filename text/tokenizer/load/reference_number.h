#pragma once

#include <optional>
#include <string_view>

namespace sardonyx::text {

/// The value that the reference reads for a JSON number. Its parser scales the digits by a power of ten in double
/// precision and so misses the nearest double now and then by the last bit, which decides ties between Unigram
/// segmentations. Nothing where `number` is not a JSON number; too large ones become infinite.
std::optional<double> reference_number(std::string_view number);

}  // namespace sardonyx::text
