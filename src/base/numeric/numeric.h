#pragma once

#include <complex>

// Every element type that C++ has no name for.
#include "base/numeric/float8.h"
#include "base/numeric/half.h"
#include "base/numeric/packed.h"
#include "sardonyx/tensor.h"

namespace sardonyx {

template <> inline constexpr ElementType element_type_of<Half> = ElementType::kFloat16;
template <> inline constexpr ElementType element_type_of<BFloat16> = ElementType::kBFloat16;
template <> inline constexpr ElementType element_type_of<Float8E4M3FN> = ElementType::kFloat8E4M3FN;
template <> inline constexpr ElementType element_type_of<Float8E4M3FNUZ> = ElementType::kFloat8E4M3FNUZ;
template <> inline constexpr ElementType element_type_of<Float8E5M2> = ElementType::kFloat8E5M2;
template <> inline constexpr ElementType element_type_of<Float8E5M2FNUZ> = ElementType::kFloat8E5M2FNUZ;
template <> inline constexpr ElementType element_type_of<Float8E8M0> = ElementType::kFloat8E8M0;
template <> inline constexpr ElementType element_type_of<Int4> = ElementType::kInt4;
template <> inline constexpr ElementType element_type_of<UInt4> = ElementType::kUInt4;
template <> inline constexpr ElementType element_type_of<Int2> = ElementType::kInt2;
template <> inline constexpr ElementType element_type_of<UInt2> = ElementType::kUInt2;
template <> inline constexpr ElementType element_type_of<PackedFloat4E2M1> = ElementType::kFloat4E2M1;
template <> inline constexpr ElementType element_type_of<std::complex<float>> = ElementType::kComplex64;
template <> inline constexpr ElementType element_type_of<std::complex<double>> = ElementType::kComplex128;

}  // namespace sardonyx
