#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "tests/conformance/case.h"

namespace sardonyx::conformance {

struct Result {
  Case test;
  std::string why;  ///< empty: passed
  bool passed() const { return why.empty(); }
};

/// How many of the cases in folders pass, and of the light models and the Bernoulli draws among or beside them.
struct Totals {
  std::size_t cases = 0, passed = 0;
  std::size_t light = 0, light_passed = 0;
  std::size_t draws = 0, draws_passed = 0;  ///< among `cases`
};
Totals count(const std::vector<Result>& results);

/// "N of 1905 cases pass" and the two lines about what is judged otherwise.
std::string totals_text(const Totals& totals);

/// One row per operator: how many of the cases whose model holds it pass. `markdown` is the form of docs/.
std::string operator_table(const std::vector<Result>& results, bool markdown);

/// docs/operator-coverage.md.
std::string coverage_page(const std::vector<Result>& results);

/// The committed list: one name of a passing case a line, sorted; '#' starts a comment.
std::string passing_text(const std::vector<Result>& results);
std::vector<std::string> read_passing(const std::filesystem::path& path);

/// Held against the committed list.
struct Comparison {
  std::vector<const Result*> broken;  ///< passed before, fail now
  std::vector<std::string> missing;   ///< passed before, are no cases now
  std::vector<const Result*> fixed;   ///< not in the list, pass now
};
Comparison compare_with(const std::vector<Result>& results, const std::vector<std::string>& passing,
                        const std::string& filter);

}  // namespace sardonyx::conformance
