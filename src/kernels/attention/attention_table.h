#pragma once

#include <stddef.h>
#include <stdint.h>

namespace sardonyx::kernels {

/// Scores of one query against one tile of keys, made into weights.
struct AttentionScores {
  float* scores;                ///< [width] in: scaled scores; out: e^(score - maximum), 0 where masked
  size_t visible;               ///< keys that this query sees; the others count as masked
  size_t width;                 ///< keys of the tile
  const float* additive_mask;   ///< [width] or null
  const uint8_t* keep_mask;     ///< [width] or null
  float softcap;                ///< 0: none
  float maximum;                ///< in and out: of all keys so far
  float sum;                    ///< in and out: of all weights so far, relative to `maximum`
  float correction;             ///< out: what earlier weights must be multiplied by
};

struct AttentionTable {
  void (*weigh)(AttentionScores& tile);
};

}  // namespace sardonyx::kernels
