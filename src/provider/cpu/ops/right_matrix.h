#pragma once

#include <cstddef>

#include "kernels/gemm/gemm.h"
#include "provider/cpu/dispatch.h"

namespace sardonyx::provider::cpu {

/// A weight matrix [k, n] made ready for products, stored as [n, k] in the model. Borrows its memory.
template <typename T>
struct RightMatrix {
  const T* data = nullptr;  ///< [k, n] for double, packed for the fp32 kernels for float
  std::size_t k = 0, n = 0;

  /// Elements that the prepared form takes, a multiple of 16.
  static std::size_t elements(std::size_t k, std::size_t n);
  /// Prepares weights [n, k] into `memory`, 64-byte aligned.
  static RightMatrix prepare(const T* weights, std::size_t k, std::size_t n, T* memory, Parallel parallel = {});

  /// c [rows, n] = a [rows, k] · this + bias (+ what c holds). One chain per element, k ascending; then bias; then c.
  /// `workspace` holds workspace_elements(rows).
  void multiply(std::size_t rows, const T* a, std::size_t a_stride, T* c, std::size_t c_stride, const T* bias,
                bool accumulate, T* workspace, Parallel parallel = {}) const;
  static std::size_t workspace_elements(std::size_t rows, std::size_t k, std::size_t n);
};

}  // namespace sardonyx::provider::cpu
