#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "runtime/admission.h"
#include "runtime/shape_plan.h"
#include "runtime/stacking.h"
#include "sardonyx/error.h"

namespace sardonyx::runtime {
namespace {

constexpr auto kNoDeadline = std::chrono::steady_clock::time_point::max();

TEST(ShapePlanCache, ForgetsTheOneUsedLongestAgo) {
  ShapePlanCache cache;
  for (std::int64_t i = 0; i < static_cast<std::int64_t>(ShapePlanCache::kCapacity); ++i) {
    auto plan = std::make_shared<ShapePlan>();
    plan->key = {i};
    cache.insert(plan);
  }
  const std::int64_t first[] = {0}, second[] = {1}, fresh[] = {99};
  EXPECT_NE(cache.find(first), nullptr);  // now the second was used longest ago
  auto plan = std::make_shared<ShapePlan>();
  plan->key = {99};
  cache.insert(plan);
  EXPECT_NE(cache.find(first), nullptr);
  EXPECT_EQ(cache.find(second), nullptr);
  EXPECT_NE(cache.find(fresh), nullptr);
}

TEST(AdmissionGate, LetsInSoManyAndTheRestInOrder) {
  AdmissionGate gate(1);
  gate.enter(nullptr, kNoDeadline);
  std::vector<int> order;
  std::mutex mutex;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&, i] {
      gate.enter(nullptr, kNoDeadline);
      {
        const std::lock_guard lock(mutex);
        order.push_back(i);
      }
      gate.leave();
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
  }
  EXPECT_TRUE(order.empty()) << "somebody came in while the only place was taken";
  gate.leave();
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(order, (std::vector<int>{0, 1, 2, 3}));
}

TEST(AdmissionGate, WaitingEndsWithTheDeadlineOrTheFlag) {
  AdmissionGate gate(1);
  gate.enter(nullptr, kNoDeadline);
  EXPECT_THROW(gate.enter(nullptr, std::chrono::steady_clock::now() + std::chrono::milliseconds(5)), Error);
  std::atomic<bool> cancelled{true};
  EXPECT_THROW(gate.enter(&cancelled, kNoDeadline), Error);
  gate.leave();
  gate.enter(nullptr, kNoDeadline);  // nobody who gave up holds a place
  gate.leave();
}

TEST(Stacker, StacksAlongAnyAxis) {
  const std::int32_t a[] = {1, 2, 3}, b[] = {4, 5, 6};
  Stacker stacker;
  stacker.add(Tensor::from<std::int32_t>({3}, a));
  stacker.add(Tensor::from<std::int32_t>({3}, b));
  const Tensor rows = stacker.finish({}, 0), columns = stacker.finish({}, -1);
  EXPECT_EQ(rows.shape(), (Shape{2, 3}));
  EXPECT_EQ(columns.shape(), (Shape{3, 2}));
  EXPECT_EQ(columns.data<std::int32_t>()[1], 4);
  EXPECT_THROW(stacker.add(Tensor(ElementType::kInt32, {2})), Error);
  EXPECT_THROW(stacker.finish({}, 2), Error);
}

TEST(Stacker, NothingStackedIsAnEmptyTensor) {
  const auto declared = graph::ValueType::tensor(ElementType::kFloat32, {graph::Dim(7), graph::Dim(3)});
  graph::SymbolTable symbols;
  auto unknown = declared;
  unknown.dims[0] = symbols.fresh();
  EXPECT_EQ(Stacker().finish(unknown, 0).shape(), (Shape{0, 3}));
}

TEST(SliceAlong, TakesOneOfAnyAxis) {
  const std::int64_t values[] = {0, 1, 2, 3, 4, 5};
  const Tensor tensor = Tensor::from<std::int64_t>({2, 3}, values);
  const Tensor column = slice_along(tensor.view(), 1, 2), row = slice_along(tensor.view(), 0, 1);
  EXPECT_EQ(column.shape(), (Shape{2}));
  EXPECT_EQ(column.data<std::int64_t>()[1], 5);
  EXPECT_EQ(row.data<std::int64_t>()[0], 3);
}

}  // namespace
}  // namespace sardonyx::runtime
