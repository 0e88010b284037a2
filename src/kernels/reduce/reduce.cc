#include "kernels/reduce/reduce.h"

#include <algorithm>

#include "kernels/norm/norm.h"
#include "kernels/simd/dispatch.h"

namespace sardonyx::kernels {

SARDONYX_VARIANTS(ReduceTable, kReduceTable);

namespace {

constexpr std::size_t kChunkElements = 16384;  // read per task
constexpr std::size_t kColumnGroup = 64;       // columns per task, four cache lines

std::size_t rows_per_chunk(std::size_t n) { return std::max<std::size_t>(1, kChunkElements / std::max<std::size_t>(n, 1)); }

using RowToRow = void (*)(const float*, float*, std::size_t);
using ColumnsToColumns = void (*)(const float*, float*, std::size_t, std::size_t, std::size_t);

/// Calls body(outer index, first column, columns) for every group of columns.
template <typename Body>
void for_column_groups(std::size_t outer, std::size_t n, std::size_t inner, Parallel parallel, Body body) {
  const std::size_t groups = (inner + kColumnGroup - 1) / kColumnGroup;
  const std::size_t chunk = rows_per_chunk(n * std::min(inner, kColumnGroup));
  parallel.parallel_for(outer * groups, chunk, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      const std::size_t column = i % groups * kColumnGroup;
      body(i / groups, column, std::min(kColumnGroup, inner - column));
    }
  });
}

void run_softmax(RowToRow row, ColumnsToColumns columns, const float* x, std::size_t outer, std::size_t n, std::size_t inner,
                 float* y, Parallel parallel) {
  if (n == 0) return;
  if (inner == 1) {
    parallel.parallel_for(outer, rows_per_chunk(n), [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) row(x + i * n, y + i * n, n);
    });
    return;
  }
  for_column_groups(outer, n, inner, parallel, [&](std::size_t o, std::size_t column, std::size_t width) {
    const std::size_t offset = o * n * inner + column;
    columns(x + offset, y + offset, n, inner, width);
  });
}

void run_norm(void (*row_function)(NormRow&), const NormArguments& arguments, Parallel parallel) {
  const std::size_t n = arguments.n;
  parallel.parallel_for(arguments.rows, rows_per_chunk(n), [&](std::size_t begin, std::size_t end) {
    NormRow row = {};
    row.gamma = arguments.gamma;
    row.beta = arguments.beta;
    row.n = n;
    row.epsilon = arguments.epsilon;
    for (std::size_t i = begin; i < end; ++i) {
      row.x = arguments.x + i * n;
      row.residual = arguments.residual == nullptr ? nullptr : arguments.residual + i * n;
      row.sum = arguments.sum == nullptr ? nullptr : arguments.sum + i * n;
      row.y = arguments.y + i * n;
      row_function(row);
      if (arguments.mean != nullptr) arguments.mean[i] = row.mean;
      if (arguments.inverse_deviation != nullptr) arguments.inverse_deviation[i] = row.inverse;
    }
  });
}

}  // namespace

void reduce(Reduction reduction, const float* x, std::size_t outer, std::size_t n, std::size_t inner, float* y,
            Parallel parallel) {
  const ReduceTable& table = kReduceTableVariants.get();
  if (inner == 1) {
    const auto row = table.row[static_cast<int>(reduction)];
    parallel.parallel_for(outer, rows_per_chunk(n), [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) y[i] = row(x + i * n, n);
    });
    return;
  }
  const auto columns = table.columns[static_cast<int>(reduction)];
  for_column_groups(outer, n, inner, parallel, [&](std::size_t o, std::size_t column, std::size_t width) {
    columns(x + o * n * inner + column, n, inner, width, y + o * inner + column);
  });
}

void softmax(const float* x, std::size_t outer, std::size_t n, std::size_t inner, float* y, Parallel parallel) {
  const ReduceTable& table = kReduceTableVariants.get();
  run_softmax(table.softmax_row, table.softmax_columns, x, outer, n, inner, y, parallel);
}

void log_softmax(const float* x, std::size_t outer, std::size_t n, std::size_t inner, float* y, Parallel parallel) {
  const ReduceTable& table = kReduceTableVariants.get();
  run_softmax(table.log_softmax_row, table.log_softmax_columns, x, outer, n, inner, y, parallel);
}

void layer_norm(const NormArguments& arguments, Parallel parallel) {
  run_norm(kReduceTableVariants.get().layer_norm_row, arguments, parallel);
}

void rms_norm(const NormArguments& arguments, Parallel parallel) {
  run_norm(kReduceTableVariants.get().rms_norm_row, arguments, parallel);
}

}  // namespace sardonyx::kernels
