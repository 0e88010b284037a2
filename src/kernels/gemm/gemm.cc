#include "kernels/gemm/gemm.h"

#include <algorithm>
#include <cstring>

#include "base/cpu_info.h"
#include "kernels/gemm/gemm_kernel.h"
#include "kernels/gemm/gemm_run.h"
#include "kernels/math/elementwise.h"
#include "kernels/simd/dispatch.h"

namespace sardonyx::kernels {

namespace gemm_internal {

bool rows_collide(std::size_t m, std::size_t k, std::ptrdiff_t row_stride) {
  constexpr std::ptrdiff_t kFloats = 2048 / sizeof(float);
  return m > 4 && k >= kFloats && row_stride % kFloats == 0;
}

GemmA spread_rows(std::size_t m, std::size_t k, const GemmA& a, float* workspace, Parallel parallel) {
  const std::size_t stride = k + kLanes;
  parallel.parallel_for(
      m, std::max<std::size_t>(1, (std::size_t{1} << 16) / k), [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i)
          std::copy_n(a.data + static_cast<std::ptrdiff_t>(i) * a.row_stride, k, workspace + i * stride);
      });
  return {workspace, static_cast<std::ptrdiff_t>(stride), 1};
}

}  // namespace gemm_internal

SARDONYX_VARIANTS(GemmKernel, kGemmKernel);

namespace {

using namespace gemm_internal;

void pack_panel(const GemmKernel& kernel, const float* b, std::ptrdiff_t k_stride, std::ptrdiff_t n_stride,
                std::size_t k, std::size_t columns, std::size_t width, float* out) {
  if (n_stride == 1) {
    for (std::size_t i = 0; i < k; ++i) {
      const float* row = b + static_cast<std::ptrdiff_t>(i) * k_stride;
      std::copy_n(row, columns, out + i * width);
      std::fill_n(out + i * width + columns, width - columns, 0.0f);
    }
    return;
  }
  if (k_stride == 1) return kernel.pack_transposed(b, n_stride, k, columns, width, out);
  constexpr std::size_t kBlock = 16;  // one cache line of every column at a time
  for (std::size_t begin = 0; begin < k; begin += kBlock) {
    const std::size_t end = std::min(k, begin + kBlock);
    for (std::size_t j = 0; j < width; ++j) {
      const float* column = b + static_cast<std::ptrdiff_t>(j) * n_stride;
      for (std::size_t i = begin; i < end; ++i) {
        out[i * width + j] = j < columns ? column[static_cast<std::ptrdiff_t>(i) * k_stride] : 0.0f;
      }
    }
  }
}

void pack_panels(const GemmKernel& kernel, const float* b, std::ptrdiff_t k_stride, std::ptrdiff_t n_stride,
                 std::size_t k, std::size_t n, float* out, Parallel parallel) {
  const std::size_t width = panel_columns(kernel);
  const std::size_t chunk = std::max<std::size_t>(1, (std::size_t{1} << 16) / std::max<std::size_t>(1, k * width));
  parallel.parallel_for(divide_up(n, width), chunk, [&](std::size_t begin, std::size_t end) {
    for (std::size_t panel = begin; panel < end; ++panel) {
      const std::size_t first = panel * width;
      pack_panel(kernel, b + static_cast<std::ptrdiff_t>(first) * n_stride, k_stride, n_stride, k,
                 std::min(width, n - first), kLanes * vectors_of_panel(kernel, n, panel), out + first * k);
    }
  });
}

float finish_element(const GemmEpilogue& e, UnaryFunction activation, float value, std::size_t row) {
  if (e.scale != 1.0f) value *= e.scale;
  if (e.bias != nullptr) value += e.bias[0];
  if (e.row_bias != nullptr) value += e.row_bias[row];
  const float residual = e.residual == nullptr ? 0.0f : e.residual[row * e.residual_stride];
  if (e.residual != nullptr && !e.residual_after_activation) value += residual;
  if (activation != nullptr) activation(&value, &value, 1, e.alpha, e.beta);
  if (e.residual != nullptr && e.residual_after_activation) value += residual;
  return value;
}

/// A constant column: every row of A is a dot product by lanes.
void gemm_one_column(std::size_t m, const GemmA& a, const PackedB& b, float* c, std::size_t c_row_stride,
                     const GemmEpilogue& epilogue, Parallel parallel) {
  const GemmKernel& kernel = kGemmKernelVariants.get();
  const UnaryFunction activation =
      epilogue.activation == Unary::kIdentity ? nullptr : unary_function(epilogue.activation);
  const std::size_t chunk = std::max<std::size_t>(1, (std::size_t{1} << 17) / std::max<std::size_t>(b.k, 1));
  parallel.parallel_for(m, chunk, [&](std::size_t begin, std::size_t end) {
    constexpr std::size_t kBlock = 4096;  // the lane rule's
    float gathered[kBlock];
    for (std::size_t row = begin; row < end; ++row) {
      const float* x = a.data + static_cast<std::ptrdiff_t>(row) * a.row_stride;
      float sum = 0.0f;
      if (a.k_stride == 1) {
        sum = kernel.dot(x, b.data, b.k);
      } else {
        for (std::size_t k = 0; k < b.k; k += kBlock) {
          const std::size_t count = std::min(kBlock, b.k - k);
          for (std::size_t i = 0; i < count; ++i) gathered[i] = x[static_cast<std::ptrdiff_t>(k + i) * a.k_stride];
          const float block = kernel.dot(gathered, b.data + k, count);
          sum = k == 0 ? block : sum + block;
        }
      }
      c[row * c_row_stride] = finish_element(epilogue, activation, sum, row);
    }
  });
}

}  // namespace

const GemmKernel& active_gemm_kernel() { return kGemmKernelVariants.get(); }

const char* packed_b_format() { return kGemmKernelVariants.get().panel_vectors == 2 ? "gemm_b32_v1" : "gemm_b16_v1"; }

std::size_t packed_b_size(std::size_t k, std::size_t n) { return n == 1 ? k : k * (divide_up(n, kLanes) * kLanes); }

PackedB pack_b(const float* b, std::ptrdiff_t k_stride, std::ptrdiff_t n_stride, std::size_t k, std::size_t n,
               float* out, Parallel parallel) {
  if (n == 1) {
    for (std::size_t i = 0; i < k; ++i) out[i] = b[static_cast<std::ptrdiff_t>(i) * k_stride];
  } else {
    pack_panels(kGemmKernelVariants.get(), b, k_stride, n_stride, k, n, out, parallel);
  }
  return {out, k, n};
}

std::size_t gemm_workspace_size(std::size_t m, std::size_t, std::size_t k) {
  return rows_collide(m, k, static_cast<std::ptrdiff_t>(k)) ? m * (k + kLanes) : 0;
}

void gemm(std::size_t m, GemmA a, const PackedB& b, float* c, std::size_t c_row_stride, const GemmEpilogue& epilogue,
          float* workspace, Parallel parallel) {
  if (m == 0 || b.n == 0) return;
  if (b.n == 1) return gemm_one_column(m, a, b, c, c_row_stride, epilogue, parallel);
  if (rows_collide(m, b.k, static_cast<std::ptrdiff_t>(b.k)) && a.k_stride == 1) {
    a = spread_rows(m, b.k, a, workspace, parallel);
  }
  GemmRun(m, a, {b.data, b.k, b.n}, c, c_row_stride, epilogue).run(parallel);
}

std::size_t gemm_unpacked_workspace_size(std::size_t m, std::size_t n, std::size_t k) {
  return k * (divide_up(n, kLanes) * kLanes) + gemm_workspace_size(m, n, k);
}

void gemm_unpacked(std::size_t m, std::size_t n, std::size_t k, GemmA a, const float* b, std::ptrdiff_t b_k_stride,
                   std::ptrdiff_t b_n_stride, float* c, std::size_t c_row_stride, const GemmEpilogue& epilogue,
                   float* workspace, Parallel parallel) {
  if (m == 0 || n == 0) return;
  const GemmKernel& kernel = kGemmKernelVariants.get();
  Panels panels{workspace, k, n};
  if (b_n_stride == 1 && m <= 2 * static_cast<std::size_t>(kernel.max_rows) && b_k_stride > 0) {
    // Too few rows to pay for packing: read B where it lies. The last columns are packed, since their full width may
    // not exist.
    panels.in_place = b;
    panels.in_place_stride = static_cast<std::size_t>(b_k_stride);
    const std::size_t width = panel_columns(kernel);
    const std::size_t whole = n / width * width;
    if (whole < n) {
      pack_panels(kernel, b + whole, b_k_stride, 1, k, n - whole, workspace + whole * k, parallel);
    }
  } else {
    pack_panels(kernel, b, b_k_stride, b_n_stride, k, n, workspace, parallel);
  }
  if (rows_collide(m, k, static_cast<std::ptrdiff_t>(k)) && a.k_stride == 1) {
    a = spread_rows(m, k, a, workspace + k * (divide_up(n, kLanes) * kLanes), parallel);
  }
  GemmRun(m, a, panels, c, c_row_stride, epilogue).run(parallel);
}

}  // namespace sardonyx::kernels
