#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "ops/infer_context.h"

namespace sardonyx::ops {

/// Product of dims [from, to).
Dim product(const std::vector<Dim>& dims, std::size_t from, std::size_t to);
Dim product(const std::vector<Dim>& dims);

/// a's elements divided among b's other factors: product(a) / product(b), with equal factors cancelled first so that
/// sums of symbols divide too. The quotient of an empty product is exact.
Dim quotient(std::vector<Dim> a, std::vector<Dim> b);

/// The single length of a rank-1 input, where it is a plain number.
std::optional<std::size_t> known_length(const InferContext& context, std::size_t input);

/// Distinct axes out of input `input`'s values, each normalised against `rank`; nullopt when they are not known.
std::optional<std::vector<std::size_t>> axes_input(const InferContext& context, std::size_t input, std::size_t rank);

/// Rank 0 or 1 and an integer: what value tracking covers.
bool tracks_values(const ValueType& type);

}  // namespace sardonyx::ops
