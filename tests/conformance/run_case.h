#pragma once

#include <string>

#include "sardonyx/session.h"

#include "tests/conformance/case.h"

namespace sardonyx::conformance {

/// Loads and runs the case; why it fails, or empty where it passes. Errors become reasons. Never throws.
std::string run_case(const Case& test, const SessionOptions& options);

}  // namespace sardonyx::conformance
