#include "provider/cpu/ops/gather.h"

#include <cmath>
#include <complex>

#include "provider/cpu/ops/exact_test_util.h"

namespace sardonyx::provider::cpu {
namespace {

graph::Attributes axis(std::int64_t value) { return attributes({{"axis", value}}); }

TEST(Gather, AxesScalarsAndBounds) {
  const Value x = floats({2, 3}, {0, 1, 2, 3, 4, 5});
  expect_equal(run_op("Gather", axis(1), {x, ints({2, 1}, {-1, 0})})[0], floats({2, 2, 1}, {2, 0, 5, 3}));
  expect_equal(run_op("Gather", axis(0), {x, tensor_of<std::int32_t>({}, {1})})[0], floats({3}, {3, 4, 5}));
  expect_equal(run_op("Gather", axis(0), {strings({2}, {"a", "b"}), int_vector({1, 1})})[0], strings({2}, {"b", "b"}));
  expect_equal(run_op("Gather", axis(0), {x, int_vector({})})[0], floats({0, 3}, {}));
  expect_error([&] { run_op("Gather", axis(0), {x, int_vector({2})}); }, "index 2");
  expect_error([&] { run_op("Gather", axis(0), {x, int_vector({-3})}); }, "index -3");
  expect_error([] { run_op("Gather", axis(0), {floats({2, 0}, {}), int_vector({7})}); }, "index 7");
}

TEST(GatherElements, BothAxes) {
  const Value x = floats({2, 2}, {1, 2, 3, 4}), at = ints({2, 2}, {0, 0, 1, -2});
  expect_equal(run_op("GatherElements", axis(1), {x, at})[0], floats({2, 2}, {1, 1, 4, 3}));
  expect_equal(run_op("GatherElements", axis(0), {x, at})[0], floats({2, 2}, {1, 2, 3, 2}));
  expect_equal(run_op("GatherElements", axis(0), {x, ints({1, 1}, {1})})[0], floats({1, 1}, {3}));
  expect_error([&] { run_op("GatherElements", axis(0), {x, ints({1, 3}, {0, 0, 0})}); }, "outside");
}

TEST(GatherND, BatchesAndSlices) {
  const Value x = floats({2, 2, 2}, {0, 1, 2, 3, 4, 5, 6, 7});
  expect_equal(run_op("GatherND", {}, {x, ints({2, 2}, {0, 1, 1, -2})})[0], floats({2, 2}, {2, 3, 4, 5}));
  expect_equal(run_op("GatherND", attributes({{"batch_dims", std::int64_t{1}}}), {x, ints({2, 1}, {1, 0})})[0],
               floats({2, 2}, {2, 3, 4, 5}));
  expect_error([&] { run_op("GatherND", {}, {x, ints({1, 1}, {2})}); }, "index 2");
  expect_error([&] { run_op("GatherND", {}, {x, ints({1, 4}, {0, 0, 0, 0})}); }, "4 dimensions");
}

struct ReductionCase {
  const char* name;
  std::vector<float> expected;
};

TEST(ScatterElements, RepeatedIndices) {
  const ReductionCase cases[] = {{"none", {7, 20, 30}},
                                 {"add", {17 + 3, 20, 30}},
                                 {"mul", {210, 20, 30}},
                                 {"max", {10, 20, 30}},
                                 {"min", {3, 20, 30}}};
  for (const ReductionCase& c : cases) {
    const auto out = run_op("ScatterElements", attributes({{"reduction", std::string(c.name)}}),
                            {floats({3}, {10, 20, 30}), int_vector({0, -3}), floats({2}, {3, 7})});
    expect_equal(out[0], floats({3}, c.expected), c.name);
  }
  const float nan = std::nanf("");
  const auto out = run_op("ScatterElements", attributes({{"reduction", std::string("max")}}),
                          {floats({1}, {nan}), int_vector({0}), floats({1}, {3})});
  EXPECT_TRUE(std::isnan(*out[0].tensor().data<float>()));
  expect_error([] { run_op("ScatterElements", {}, {floats({1}, {1}), int_vector({1}), floats({1}, {3})}); }, "index 1");
}

TEST(ScatterND, SlicesAndStrings) {
  expect_equal(run_op("ScatterND", {}, {floats({2, 2}, {1, 2, 3, 4}), ints({1, 1}, {1}), floats({1, 2}, {8, 9})})[0],
               floats({2, 2}, {1, 2, 8, 9}));
  expect_equal(run_op("ScatterND", {}, {strings({2}, {"a", "b"}), ints({1, 1}, {-1}), strings({1}, {"z"})})[0],
               strings({2}, {"a", "z"}));
  expect_error([] { run_op("ScatterND", {}, {floats({2}, {1, 2}), ints({1, 1}, {0}), floats({2}, {1, 2})}); }, "equal");
  expect_error(
      [] {
        run_op("ScatterND", attributes({{"reduction", std::string("sum")}}),
               {floats({2}, {1, 2}), ints({1, 1}, {0}), floats({1}, {1})});
      },
      "sum");
}

TEST(TensorScatter, WrapsOnlyWhenCircular) {
  const Value cache = floats({1, 3, 1}, {1, 2, 3}), update = floats({1, 2, 1}, {8, 9});
  expect_equal(
      run_op("TensorScatter", attributes({{"mode", std::string("circular")}}), {cache, update, int_vector({2})})[0],
      floats({1, 3, 1}, {9, 2, 8}));
  expect_equal(run_op("TensorScatter", {}, {cache, update})[0], floats({1, 3, 1}, {8, 9, 3}));
  expect_error([&] { run_op("TensorScatter", {}, {cache, update, int_vector({2})}); }, "no room");
}

TEST(OneHot, OutsideAndNegativeIndices) {
  const Value values = floats({2}, {0, 1});
  expect_equal(run_op("OneHot", {}, {int_vector({0, -1, 3, -4}), int_vector({3}), values})[0],
               floats({4, 3}, {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0}));
  expect_equal(run_op("OneHot", axis(0), {floats({2}, {1, 0}), floats({}, {2}), values})[0],
               floats({2, 2}, {0, 1, 1, 0}));
  expect_error([&] { run_op("OneHot", {}, {int_vector({0}), int_vector({-1}), values}); }, "depth");
}

TEST(NonZero, CoordinatesOfWhatIsThere) {
  expect_equal(run_op("NonZero", {}, {floats({2, 2}, {0, 1, -0.0F, std::nanf("")})})[0], ints({2, 2}, {0, 1, 1, 1}));
  expect_equal(run_op("NonZero", {}, {floats({0, 2}, {})})[0], ints({2, 0}, {}));
  expect_equal(run_op("NonZero", {}, {strings({2}, {"", "x"})})[0], ints({1, 1}, {1}));
  expect_equal(run_op("NonZero", {}, {tensor_of<std::complex<float>>({2}, {{0, 0}, {0, 1}})})[0], ints({1, 1}, {1}));
}

TEST(Compress, ShortAndLongConditions) {
  const Value x = floats({2, 2}, {1, 2, 3, 4});
  Tensor yes(ElementType::kBool, {3});
  const bool holds[] = {false, true, false};
  std::copy(holds, holds + 3, yes.mutable_data<bool>());
  expect_equal(run_op("Compress", {}, {x, yes})[0], floats({1}, {2}));
  expect_equal(run_op("Compress", axis(1), {x, yes})[0], floats({2, 1}, {2, 4}));
  yes.mutable_data<bool>()[2] = true;
  expect_error([&] { run_op("Compress", axis(1), {x, yes}); }, "3 elements");
}

TEST(Unique, SortedOrFirstSeen) {
  const Value x = floats({6}, {2, 1, 1, 3, 4, 3});
  const auto sorted = run_op("Unique", {}, {x}, 4);
  expect_equal(sorted[0], floats({4}, {1, 2, 3, 4}));
  expect_equal(sorted[1], int_vector({1, 0, 3, 4}));
  expect_equal(sorted[2], int_vector({1, 0, 0, 2, 3, 2}));
  expect_equal(sorted[3], int_vector({2, 1, 2, 1}));
  const auto seen = run_op("Unique", attributes({{"sorted", std::int64_t{0}}}), {x}, 4);
  expect_equal(seen[0], floats({4}, {2, 1, 3, 4}));
  expect_equal(seen[2], int_vector({0, 1, 1, 2, 3, 2}));
  expect_equal(run_op("Unique", axis(1), {ints({2, 3}, {1, 0, 1, 2, 5, 2})})[0], ints({2, 2}, {0, 1, 5, 2}));
  EXPECT_EQ(run_op("Unique", {}, {floats({3}, {std::nanf(""), 1, std::nanf("")})})[0].tensor().num_elements(), 2);
  expect_equal(run_op("Unique", {}, {strings({3}, {"b", "a", "b"})})[0], strings({2}, {"a", "b"}));
  expect_equal(run_op("Unique", {}, {floats({0}, {})})[0], floats({0}, {}));
}

}  // namespace
}  // namespace sardonyx::provider::cpu
