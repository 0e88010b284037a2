#pragma once

#include <string>
#include <string_view>

#include "sardonyx/tensor.h"

namespace sardonyx::values {

/// Reads the content of a NumPy .npy file (format 1 to 3; either byte order, either memory order). Unicode and byte
/// strings become strings. `where` names the file in errors. Throws kInvalidArgument for broken content, and
/// kUnsupported for element types that ONNX lacks (objects, dates, records).
Tensor parse_npy(std::string_view content, const std::string& where);

/// The content of a .npy file. Types that NumPy lacks are written as the smallest that holds them: bfloat16 and the
/// floats below as float32, integers under 8 bits as int8 or uint8. Throws kInvalidArgument for strings that aren't
/// UTF-8.
std::string format_npy(const Tensor& tensor);

}  // namespace sardonyx::values
