#include <cmath>
#include <limits>

#include "base/numeric/numeric.h"
#include "provider/cpu/ops/exact_test_util.h"

namespace sardonyx::provider::cpu {
namespace {

TEST(Reshape, InfersCopiesAndChecks) {
  const Value x = floats({2, 3}, {0, 1, 2, 3, 4, 5});
  const auto reshape = [](const Value& data, std::vector<std::int64_t> shape, std::int64_t allow_zero = 0) {
    return run_op("Reshape", attributes({{"allowzero", allow_zero}}), {data, int_vector(shape)})[0];
  };
  expect_equal(reshape(x, {3, -1}), floats({3, 2}, {0, 1, 2, 3, 4, 5}));
  expect_equal(reshape(x, {0, 3, 1}), floats({2, 3, 1}, {0, 1, 2, 3, 4, 5}));
  expect_equal(reshape(floats({0, 3}, {}), {0, -1}), floats({0, 3}, {}));
  expect_equal(reshape(floats({0, 3}, {}), {3, 0}, 1), floats({3, 0}, {}));
  expect_equal(reshape(floats({}, {7}), {}), floats({}, {7}));
  expect_error([&] { reshape(x, {4, -1}); }, "element counts");
  expect_error([&] { reshape(x, {4, 2}); }, "element counts");
  expect_error([&] { reshape(x, {-1, -1}); }, "more than once");
  expect_error([&] { reshape(x, {-2, 3}); }, "-2");
  expect_error([&] { reshape(x, {2, 3, 0}); }, "copies dimension 2");
  expect_error([&] { reshape(x, {std::int64_t{1} << 40, std::int64_t{1} << 40}); }, "overflow");
}

TEST(Views, SqueezeUnsqueezeFlatten) {
  const Value x = packed(ElementType::kUInt2, {1, 3, 1}, {1, 2, 3});
  expect_equal(run_op("Squeeze", {}, {x})[0], packed(ElementType::kUInt2, {3}, {1, 2, 3}));
  expect_equal(run_op("Squeeze", {}, {x, int_vector({-1})})[0], packed(ElementType::kUInt2, {1, 3}, {1, 2, 3}));
  expect_equal(run_op("Unsqueeze", {}, {floats({2}, {1, 2}), int_vector({-1, 0})})[0], floats({1, 2, 1}, {1, 2}));
  expect_equal(run_op("Flatten", attributes({{"axis", std::int64_t{-1}}}), {floats({2, 1, 2}, {1, 2, 3, 4})})[0],
               floats({2, 2}, {1, 2, 3, 4}));
  expect_equal(run_op("Flatten", attributes({{"axis", std::int64_t{0}}}), {floats({}, {1})})[0], floats({1, 1}, {1}));
  expect_error([&] { run_op("Squeeze", {}, {x, int_vector({1})}); }, "squeezed");
  expect_error([&] { run_op("Unsqueeze", {}, {x, int_vector({0, 0})}); }, "twice");
}

TEST(Expand, BroadcastsBothWays) {
  expect_equal(run_op("Expand", {}, {floats({2, 1}, {1, 2}), int_vector({3, 1, 2})})[0],
               floats({3, 2, 2}, {1, 1, 2, 2, 1, 1, 2, 2, 1, 1, 2, 2}));
  expect_equal(run_op("Expand", {}, {floats({3}, {1, 2, 3}), int_vector({1})})[0], floats({3}, {1, 2, 3}));
  expect_equal(run_op("Expand", {}, {strings({}, {"a"}), int_vector({2})})[0], strings({2}, {"a", "a"}));
  expect_equal(run_op("Expand", {}, {floats({1}, {1}), int_vector({0})})[0], floats({0}, {}));
  expect_error([] { run_op("Expand", {}, {floats({3}, {1, 2, 3}), int_vector({2})}); }, "broadcast");
  expect_error([] { run_op("Expand", {}, {floats({1}, {1}), int_vector({-1})}); }, "-1");
}

TEST(Range, LengthsAndOverflow) {
  const auto range = [](std::int64_t start, std::int64_t limit, std::int64_t delta) {
    return run_op("Range", {}, {ints({}, {start}), ints({}, {limit}), ints({}, {delta})})[0];
  };
  expect_equal(range(1, 7, 3), int_vector({1, 4}));
  expect_equal(range(10, 4, -2), int_vector({10, 8, 6}));
  expect_equal(range(4, 4, 1), int_vector({}));
  expect_equal(range(4, 1, 1), int_vector({}));
  expect_error([&] { range(0, 5, 0); }, "delta is 0");
  expect_error([&] { range(std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max(), 1); },
               "overflow");
  expect_equal(run_op("Range", {}, {floats({}, {0}), floats({}, {1}), floats({}, {0.25F})})[0],
               floats({4}, {0, 0.25F, 0.5F, 0.75F}));
  expect_error([] { run_op("Range", {}, {floats({}, {0}), floats({}, {INFINITY}), floats({}, {1})}); }, "length");
}

TEST(ConstantOfShape, ValuesOfEveryWidth) {
  expect_equal(run_op("ConstantOfShape", {}, {int_vector({2})})[0], floats({2}, {0, 0}));
  expect_equal(run_op("ConstantOfShape", attributes({{"value", int_vector({7}).tensor()}}), {int_vector({})})[0],
               ints({}, {7}));
  expect_equal(run_op("ConstantOfShape", attributes({{"value", packed(ElementType::kInt4, {1}, {13}).tensor()}}),
                      {int_vector({4})})[0],
               packed(ElementType::kInt4, {4}, {13, 13, 13, 13}));
  expect_equal(run_op("ConstantOfShape", {}, {int_vector({0, 3})})[0], floats({0, 3}, {}));
  expect_error([] { run_op("ConstantOfShape", {}, {int_vector({-1})}); }, "-1");
}

TEST(Identity, CarriesAnything) {
  const Value sequence = Sequence{ElementType::kFloat32, {floats({1}, {5})}};
  const Value out = run_op("Identity", {}, {sequence})[0];
  ASSERT_TRUE(out.is_sequence());
  expect_equal(out.sequence().items[0], floats({1}, {5}));
  expect_equal(run_op("Identity", {}, {packed(ElementType::kFloat4E2M1, {3}, {1, 7, 9})})[0],
               packed(ElementType::kFloat4E2M1, {3}, {1, 7, 9}));
}

TEST(EyeLike, DiagonalsInsideAndOut) {
  const auto eye = [](std::int64_t k) {
    return run_op("EyeLike", attributes({{"k", k}}), {ints({2, 3}, {0, 0, 0, 0, 0, 0})})[0];
  };
  expect_equal(eye(0), ints({2, 3}, {1, 0, 0, 0, 1, 0}));
  expect_equal(eye(2), ints({2, 3}, {0, 0, 1, 0, 0, 0}));
  expect_equal(eye(-1), ints({2, 3}, {0, 0, 0, 1, 0, 0}));
  expect_equal(eye(std::numeric_limits<std::int64_t>::min()), ints({2, 3}, {0, 0, 0, 0, 0, 0}));
}

TEST(ShapeOp, RangesOfDimensions) {
  const Value x = floats({2, 1, 3}, {1, 2, 3, 4, 5, 6});
  expect_equal(run_op("Shape", {}, {x})[0], int_vector({2, 1, 3}));
  expect_equal(run_op("Shape", attributes({{"start", std::int64_t{-2}}, {"end", std::int64_t{-1}}}), {x})[0],
               int_vector({1}));
  expect_equal(run_op("Shape", attributes({{"start", std::int64_t{5}}}), {x})[0], int_vector({}));
  expect_equal(run_op("Size", {}, {x})[0], ints({}, {6}));
}

TEST(Constant, EveryForm) {
  expect_equal(run_op("Constant", attributes({{"value_ints", std::vector<std::int64_t>{4, 5}}}), {})[0],
               int_vector({4, 5}));
  expect_equal(run_op("Constant", attributes({{"value_string", std::string("x")}}), {})[0], strings({}, {"x"}));
  const graph::SparseTensor sparse{floats({2}, {5, 6}).tensor(), ints({2, 2}, {0, 1, 1, 0}).tensor(), {2, 2}};
  expect_equal(run_op("Constant", attributes({{"sparse_value", sparse}}), {})[0], floats({2, 2}, {0, 5, 6, 0}));
  const graph::SparseTensor outside{floats({1}, {5}).tensor(), int_vector({4}).tensor(), {2, 2}};
  expect_error([&] { run_op("Constant", attributes({{"sparse_value", outside}}), {}); }, "outside");
}

}  // namespace
}  // namespace sardonyx::provider::cpu
