#pragma once

#include "provider/cpu/kernel_list.h"

// Parts of families that fill more than one file; called by the family's own add function.
namespace sardonyx::provider::cpu {

// elementwise
void add_unary_kernels(KernelTable& table);  // ops/unary.cc: functions of one float
void add_number_unary_kernels(
    KernelTable& table);  // ops/number_unary.cc: Abs, Neg, Sign, Relu, Shrink on every number type
void add_arithmetic_kernels(KernelTable& table);  // ops/arithmetic.cc: Add, Sub, Mul, Div, Mod, BitShift, PRelu
void add_pow_kernels(KernelTable& table);         // ops/pow.cc
void add_variadic_kernels(KernelTable& table);    // ops/variadic.cc: Min, Max, Mean, Sum
void add_where_kernels(KernelTable& table);       // ops/where.cc: Where, Clip
void add_cast_kernels(KernelTable& table);        // ops/cast.cc: Cast, CastLike, BitCast
void add_fast_gelu_kernels(KernelTable& table);   // ops/fast_gelu.cc: com.microsoft FastGelu

// reduce
void add_arg_reduce_kernels(KernelTable& table);  // ops/arg_reduce.cc: ArgMax, ArgMin
void add_cumulative_kernels(KernelTable& table);  // ops/cumulative.cc: CumSum, CumProd
void add_top_k_kernels(KernelTable& table);       // ops/top_k.cc

// quantize
void add_qlinear_elementwise_kernels(
    KernelTable& table);  // ops/qlinear_elementwise.cc: com.microsoft QLinearAdd, QLinearMul, …

// linalg
void add_mat_mul_kernels(KernelTable& table);          // ops/mat_mul.cc
void add_gemm_kernels(KernelTable& table);             // ops/gemm.cc
void add_integer_mat_mul_kernels(KernelTable& table);  // ops/integer_mat_mul.cc: MatMulInteger, QLinearMatMul
void add_einsum_kernels(KernelTable& table);           // ops/einsum.cc
void add_scaled_mat_mul_kernels(
    KernelTable& table);  // ops/scaled_mat_mul.cc: com.microsoft MatMulIntegerToFloat, DynamicQuantizeMatMul
void add_mat_mul_n_bits_kernels(KernelTable& table);  // ops/mat_mul_n_bits.cc: com.microsoft MatMulNBits
void add_det_kernels(KernelTable& table);             // ops/det.cc: Det, com.microsoft Inverse

// internal
void add_fused_mat_mul_kernels(KernelTable& table);  // ops/fused_mat_mul.cc

}  // namespace sardonyx::provider::cpu
