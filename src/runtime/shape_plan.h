#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "provider/kernel.h"
#include "sardonyx/shape.h"

namespace sardonyx::runtime {

/// One segment bound to values of its symbols. Immutable once published.
struct ShapePlan {
  std::vector<std::int64_t> key;               ///< values of Segment::symbols
  std::vector<Shape> shapes;                   ///< parallel to Segment::values
  std::vector<std::byte> shape_values;         ///< elements of Segment::shape_values, each at the next multiple of 8 bytes
  std::vector<std::size_t> slot_offsets;       ///< parallel to Segment::slots, within the slot's provider's arena
  std::vector<std::size_t> arena_bytes;        ///< by provider
  std::vector<provider::Binding> bindings;     ///< parallel to Segment::steps
  std::vector<std::size_t> workspace_bytes;    ///< by provider: the largest of its steps
};

/// The shape plans of a segment that were used last. Thread-safe.
class ShapePlanCache {
 public:
  static constexpr std::size_t kCapacity = 16;

  std::shared_ptr<const ShapePlan> find(std::span<const std::int64_t> key);
  void insert(std::shared_ptr<const ShapePlan> plan);

 private:
  std::mutex mutex_;
  std::vector<std::shared_ptr<const ShapePlan>> plans_;  // most recently used last
};

}  // namespace sardonyx::runtime
