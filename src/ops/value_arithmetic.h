#pragma once

#include <functional>
#include <optional>

#include "ops/infer_context.h"

namespace sardonyx::ops {

/// Shape arithmetic: how an operator computes one element from two, as expressions; nullopt where it can't be written
/// as one.
using DimFn = std::optional<Dim> (*)(const Dim&, const Dim&);

/// After output 0 has been set to a tensor of rank 0 or 1: computes its values from those of inputs `a` and `b`
/// (broadcast) where both are known. Only for int32 and int64; results outside the element type leave the values
/// unknown.
void propagate_binary(InferContext& context, std::size_t a, std::size_t b, DimFn fn);

std::optional<Dim> dim_add(const Dim& a, const Dim& b);
std::optional<Dim> dim_sub(const Dim& a, const Dim& b);
std::optional<Dim> dim_mul(const Dim& a, const Dim& b);
/// Division rounding towards zero. Symbols are sizes, so never negative.
std::optional<Dim> dim_div(const Dim& a, const Dim& b);
/// The remainder with the divisor's sign, for constants.
std::optional<Dim> dim_mod(const Dim& a, const Dim& b);
std::optional<Dim> dim_min(const Dim& a, const Dim& b);
std::optional<Dim> dim_max(const Dim& a, const Dim& b);

}  // namespace sardonyx::ops
