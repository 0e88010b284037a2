#include "kernels/attention/attention.h"

#include <algorithm>
#include <limits>

#include "kernels/attention/attention_table.h"
#include "kernels/gemm/gemm_kernel.h"
#include "kernels/math/elementwise.h"
#include "kernels/simd/dispatch.h"

namespace sardonyx::kernels {

SARDONYX_VARIANTS(AttentionTable, kAttentionTable);

namespace {

constexpr std::size_t kTile = 256;                 // keys, by the order of operations
constexpr std::size_t kScoreStride = kTile + 16;   // not a power of two: rows would share cache sets
constexpr std::size_t kQueryGroup = 128;           // queries per task
constexpr std::size_t kLanes = 16;
constexpr float kInfinity = std::numeric_limits<float>::infinity();

std::size_t round_up(std::size_t n, std::size_t step) { return (n + step - 1) / step * step; }
std::size_t value_dim(const AttentionArguments& a) { return a.value_dim == 0 ? a.head_dim : a.value_dim; }
std::size_t keys_size(const AttentionArguments& a) { return round_up(a.head_dim * round_up(a.keys, kLanes), kLanes); }
std::size_t values_size(const AttentionArguments& a) { return a.keys * round_up(value_dim(a), kLanes); }

std::size_t size_per_thread(const AttentionArguments& a) {
  return keys_size(a) + values_size(a) + kGemmMaxRows * kScoreStride;
}

/// One query group of one head.
class HeadTask {
 public:
  HeadTask(const AttentionArguments& a, std::size_t batch, std::size_t head, float* workspace)
      : a_(a), gemm_(active_gemm_kernel()), table_(kAttentionTableVariants.get()), dim_(value_dim(a)),
        width_(kLanes * static_cast<std::size_t>(gemm_.panel_vectors)) {
    const std::size_t key_heads = a.key_heads == 0 ? a.heads : a.key_heads;
    const std::size_t key_head = head * key_heads / a.heads;
    q_ = start(a.q, a.q_strides, batch, head);
    k_ = start(a.k, a.k_strides, batch, key_head);
    v_ = start(a.v, a.v_strides, batch, key_head);
    out_ = const_cast<float*>(start(a.out, a.out_strides, batch, head));
    mask_offset_ = static_cast<std::ptrdiff_t>(batch) * a.mask_strides.batch + static_cast<std::ptrdiff_t>(head) * a.mask_strides.head;
    queries_ = keys_ = a.offsets == nullptr ? 0 : static_cast<std::size_t>(a.offsets[batch + 1] - a.offsets[batch]);
    if (a.offsets == nullptr) {
      queries_ = a.queries;
      keys_ = a.keys;
    }
    if (a.key_lengths != nullptr) keys_ = std::min(keys_, static_cast<std::size_t>(std::max<std::int64_t>(0, a.key_lengths[batch])));
    packed_k_ = workspace;
    packed_v_ = packed_k_ + keys_size(a);
    scores_ = packed_v_ + values_size(a);
  }

  void run(std::size_t first_query) {
    if (first_query >= queries_) return;
    const std::size_t end = std::min(queries_, first_query + kQueryGroup);
    pack(visible_keys(end - 1));
    const std::size_t rows = end - first_query;
    const std::size_t blocks = (rows + static_cast<std::size_t>(gemm_.max_rows) - 1) / static_cast<std::size_t>(gemm_.max_rows);
    std::size_t query = first_query;
    for (std::size_t i = 0; i < blocks; ++i) {
      const std::size_t block_rows = rows / blocks + (i < rows % blocks ? 1 : 0);
      run_rows(query, block_rows);
      query += block_rows;
    }
  }

 private:
  const float* start(const float* data, const AttentionStrides& s, std::size_t batch, std::size_t head) const {
    const std::ptrdiff_t item = a_.offsets == nullptr ? static_cast<std::ptrdiff_t>(batch) * s.batch
                                                      : static_cast<std::ptrdiff_t>(a_.offsets[batch]) * s.row;
    return data + item + static_cast<std::ptrdiff_t>(head) * s.head;
  }

  std::size_t visible_keys(std::size_t query) const {
    if (!a_.causal) return keys_;
    const std::ptrdiff_t last = static_cast<std::ptrdiff_t>(query) + a_.causal_offset + 1;
    return last <= 0 ? 0 : std::min(keys_, static_cast<std::size_t>(last));
  }

  void pack(std::size_t keys) {
    for (std::size_t j = 0; j < keys; j += width_) {
      const std::size_t columns = std::min(width_, keys - j);
      gemm_.pack_transposed(k_ + static_cast<std::ptrdiff_t>(j) * a_.k_strides.row, a_.k_strides.row, a_.head_dim, columns,
                            round_up(columns, kLanes), packed_k_ + j * a_.head_dim);
    }
    for (std::size_t j = 0; j < dim_; j += width_) {
      const std::size_t columns = std::min(width_, dim_ - j);
      const std::size_t padded = round_up(columns, kLanes);
      float* panel = packed_v_ + j * keys;
      for (std::size_t i = 0; i < keys; ++i) {
        const float* row = v_ + static_cast<std::ptrdiff_t>(i) * a_.v_strides.row + j;
        std::copy_n(row, columns, panel + i * padded);
        std::fill_n(panel + i * padded + columns, padded - columns, 0.0f);
      }
    }
    packed_keys_ = keys;
  }

  void run_rows(std::size_t query, std::size_t rows) {
    std::fill_n(maximum_, rows, -kInfinity);
    std::fill_n(sum_, rows, 0.0f);
    float* out = out_ + static_cast<std::ptrdiff_t>(query) * a_.out_strides.row;
    const std::size_t visible = visible_keys(query + rows - 1);
    for (std::size_t key = 0; key < visible; key += kTile) {
      const std::size_t width = std::min(kTile, visible - key);
      score(query, rows, key, width);
      for (std::size_t r = 0; r < rows; ++r) weigh(query + r, r, key, width, out);
      add_values(rows, key, width, out);
    }
    for (std::size_t r = 0; r < rows; ++r) finish_row(r, visible, out + static_cast<std::ptrdiff_t>(r) * a_.out_strides.row);
  }

  void score(std::size_t query, std::size_t rows, std::size_t key, std::size_t width) {
    GemmTile tile = {};
    tile.a = q_ + static_cast<std::ptrdiff_t>(query) * a_.q_strides.row;
    tile.a_row_stride = a_.q_strides.row;
    tile.a_k_stride = 1;
    tile.k = a_.head_dim;
    tile.c_row_stride = kScoreStride;
    tile.finish = true;
    tile.scale = a_.scale;
    for (std::size_t j = 0; j < width; j += width_) {
      const std::size_t vectors = std::min(width_, round_up(packed_keys_ - key - j, kLanes)) / kLanes;
      tile.b = packed_k_ + (key + j) * a_.head_dim;
      tile.b_stride = vectors * kLanes;
      tile.c = scores_ + j;
      tile.columns = std::min(width_, width - j);
      gemm_.tile[rows - 1][vectors - 1][0](tile);
    }
  }

  void weigh(std::size_t query, std::size_t row, std::size_t key, std::size_t width, float* out) {
    AttentionScores t = {};
    t.scores = scores_ + row * kScoreStride;
    const std::size_t visible = visible_keys(query);
    t.visible = visible <= key ? 0 : std::min(width, visible - key);
    t.width = width;
    const std::ptrdiff_t mask = mask_offset_ + static_cast<std::ptrdiff_t>(query) * a_.mask_strides.row + static_cast<std::ptrdiff_t>(key);
    if (a_.additive_mask != nullptr) t.additive_mask = a_.additive_mask + mask;
    if (a_.keep_mask != nullptr) t.keep_mask = a_.keep_mask + mask;
    t.softcap = a_.softcap;
    t.maximum = maximum_[row];
    t.sum = sum_[row];
    table_.weigh(t);
    maximum_[row] = t.maximum;
    sum_[row] = t.sum;
    if (key != 0 && t.correction != 1.0f) {
      float* y = out + static_cast<std::ptrdiff_t>(row) * a_.out_strides.row;
      scale_(y, y, dim_, t.correction, 0.0f);
    }
  }

  void add_values(std::size_t rows, std::size_t key, std::size_t width, float* out) {
    GemmTile tile = {};
    tile.a = scores_;
    tile.a_row_stride = kScoreStride;
    tile.a_k_stride = 1;
    tile.k = width;
    tile.c_row_stride = static_cast<std::size_t>(a_.out_strides.row);
    tile.load_c = key != 0;
    for (std::size_t j = 0; j < dim_; j += width_) {
      tile.columns = std::min(width_, dim_ - j);
      const std::size_t vectors = round_up(tile.columns, kLanes) / kLanes;
      tile.b_stride = vectors * kLanes;
      tile.b = packed_v_ + j * packed_keys_ + key * tile.b_stride;
      tile.c = out + j;
      gemm_.tile[rows - 1][vectors - 1][0](tile);
    }
  }

  void finish_row(std::size_t row, std::size_t visible, float* y) const {
    if (visible == 0 || (sum_[row] == 0.0f && maximum_[row] == -kInfinity)) {
      std::fill_n(y, dim_, a_.zero_masked_rows ? 0.0f : std::numeric_limits<float>::quiet_NaN());
      return;
    }
    scale_(y, y, dim_, 1.0f / sum_[row], 0.0f);
  }

  const AttentionArguments& a_;
  const GemmKernel& gemm_;
  const AttentionTable& table_;
  UnaryFunction scale_ = unary_function(Unary::kScale);
  std::size_t dim_;
  std::size_t width_;  // columns of a GEMM panel
  const float* q_;
  const float* k_;
  const float* v_;
  float* out_;
  std::ptrdiff_t mask_offset_ = 0;
  std::size_t queries_ = 0;
  std::size_t keys_ = 0;
  std::size_t packed_keys_ = 0;
  float* packed_k_;
  float* packed_v_;
  float* scores_;
  float maximum_[kGemmMaxRows];
  float sum_[kGemmMaxRows];
};

}  // namespace

std::size_t attention_workspace_size(const AttentionArguments& a, int max_threads) {
  return size_per_thread(a) * static_cast<std::size_t>(std::max(max_threads, 1));
}

void attention(const AttentionArguments& a, float* workspace, Parallel parallel) {
  const std::size_t groups = (a.queries + kQueryGroup - 1) / kQueryGroup;
  const std::size_t work = std::min(a.queries, kQueryGroup) * a.keys * (a.head_dim + value_dim(a)) + 4 * a.keys * a.head_dim;
  const std::size_t chunk = std::max<std::size_t>(1, (std::size_t{1} << 19) / std::max<std::size_t>(work, 1));
  const std::size_t size = size_per_thread(a);
  parallel.parallel_for_participants(a.batch * a.heads * groups, chunk, [&](std::size_t begin, std::size_t end, int participant) {
    float* own = workspace + size * static_cast<std::size_t>(participant);
    for (std::size_t i = begin; i < end; ++i) {
      const std::size_t item = i / groups;
      HeadTask(a, item / a.heads, item % a.heads, own).run(i % groups * kQueryGroup);
    }
  });
}

}  // namespace sardonyx::kernels
