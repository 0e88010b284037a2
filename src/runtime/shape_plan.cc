#include "runtime/shape_plan.h"

#include <algorithm>
#include <utility>

namespace sardonyx::runtime {

std::shared_ptr<const ShapePlan> ShapePlanCache::find(std::span<const std::int64_t> key) {
  const std::lock_guard lock(mutex_);
  for (auto it = plans_.rbegin(); it != plans_.rend(); ++it) {
    if (!std::equal(key.begin(), key.end(), (*it)->key.begin(), (*it)->key.end())) continue;
    auto found = *it;
    std::rotate(it.base() - 1, it.base(), plans_.end());
    return found;
  }
  return nullptr;
}

void ShapePlanCache::insert(std::shared_ptr<const ShapePlan> plan) {
  const std::lock_guard lock(mutex_);
  if (plans_.size() >= kCapacity) plans_.erase(plans_.begin());
  plans_.push_back(std::move(plan));
}

}  // namespace sardonyx::runtime
