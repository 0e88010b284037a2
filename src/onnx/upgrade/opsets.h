#pragma once

#include <cstdint>
#include <string_view>

namespace sardonyx::onnx {

/// The newest version of a domain's operators that this build knows: the internal opset. 0 for domains that it does not
/// version (com.microsoft, custom ones), whose nodes are kept as they are.
std::int64_t newest_opset(std::string_view domain);

/// Throws kInvalidModel for a version below 1, kUnsupported for one above the newest.
void check_opset(std::string_view domain, std::int64_t version);

}  // namespace sardonyx::onnx
