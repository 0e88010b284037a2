#pragma once

#include <string>
#include <string_view>

namespace sardonyx::text {

/// The expression with its character properties (\p{L}, \w, [:alpha:], …) written out as ranges of code points, since
/// the Unicode version of the Oniguruma at hand is not the reference's. Unknown property names are left for Oniguruma
/// to judge.
std::string expand_properties(std::string_view expression);

}  // namespace sardonyx::text
