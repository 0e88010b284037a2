#include "provider/cpu/ops/movement.h"

#include <limits>
#include <numeric>

#include "provider/cpu/ops/exact_test_util.h"

namespace sardonyx::provider::cpu {
namespace {

constexpr std::int64_t kMin = std::numeric_limits<std::int64_t>::min(), kMax = std::numeric_limits<std::int64_t>::max();

std::vector<float> counting(std::int64_t n) {
  std::vector<float> values(static_cast<std::size_t>(n));
  std::iota(values.begin(), values.end(), 0.0F);
  return values;
}

/// What Transpose means, one element at a time.
std::vector<float> transposed(const std::vector<float>& in, const Shape& shape, const std::vector<std::int64_t>& perm) {
  const std::size_t rank = shape.rank();
  std::vector<float> out;
  for (std::int64_t i = 0; i < shape.num_elements(); ++i) {
    std::vector<std::int64_t> at(rank);
    std::int64_t rest = i;
    for (std::size_t d = rank; d-- > 0;) {
      const auto axis = static_cast<std::size_t>(perm[d]);
      at[axis] = rest % shape[axis];
      rest /= shape[axis];
    }
    std::int64_t from = 0;
    for (std::size_t d = 0; d < rank; ++d) from = from * shape[d] + at[d];
    out.push_back(in[static_cast<std::size_t>(from)]);
  }
  return out;
}

TEST(Transpose, EveryPermutationOfOddAndLargeShapes) {
  for (const Shape& shape : {Shape{2, 3, 4, 5}, Shape{17, 1, 33, 3}, Shape{1, 64, 7, 16}, Shape{3, 0, 2, 2}}) {
    std::vector<std::int64_t> perm{0, 1, 2, 3};
    do {
      Shape expected;
      for (std::int64_t axis : perm) expected.push_back(shape[static_cast<std::size_t>(axis)]);
      const std::vector<float> in = counting(shape.num_elements());
      const auto out = run_op("Transpose", attributes({{"perm", perm}}), {floats(shape, in)});
      expect_equal(out[0], floats(expected, transposed(in, shape, perm)), shape.to_string());
    } while (std::next_permutation(perm.begin(), perm.end()));
  }
}

TEST(Transpose, StringsComplexAndPackedElements) {
  expect_equal(run_op("Transpose", {}, {strings({2, 2}, {"a", "b", "c", "d"})})[0],
               strings({2, 2}, {"a", "c", "b", "d"}));
  expect_equal(run_op("Transpose", {}, {packed(ElementType::kUInt4, {2, 3}, {1, 2, 3, 4, 5, 6})})[0],
               packed(ElementType::kUInt4, {3, 2}, {1, 4, 2, 5, 3, 6}));
  expect_equal(run_op("Transpose", {}, {packed(ElementType::kInt2, {2, 3}, {0, 1, 2, 3, 2, 1})})[0],
               packed(ElementType::kInt2, {3, 2}, {0, 3, 1, 2, 2, 1}));
}

TEST(Transpose, RejectsWrongPermutations) {
  const Value x = floats({2, 2}, {1, 2, 3, 4});
  const auto with = [&](std::vector<std::int64_t> perm) {
    return [&x, perm] { run_op("Transpose", attributes({{"perm", perm}}), {x}); };
  };
  expect_error(with({0, 0}), "twice");
  expect_error(with({0}), "rank 2");
  expect_error(with({0, 5}), "outside");
}

struct SliceCase {
  const char* name;
  std::int64_t size, start, end, step;
  std::vector<float> expected;
};

TEST(Slice, BoundsAndSteps) {
  const SliceCase cases[] = {
      {"inside", 5, 1, 4, 1, {1, 2, 3}},
      {"negative bounds", 5, -3, -1, 1, {2, 3}},
      {"to the end", 5, 2, kMax, 1, {2, 3, 4}},
      {"start beyond", 5, 9, kMax, 1, {}},
      {"before the start", 5, -100, 2, 1, {0, 1}},
      {"step 2", 5, 0, 5, 2, {0, 2, 4}},
      {"huge step", 5, 1, 5, kMax, {1}},
      {"backwards", 5, -1, kMin, -1, {4, 3, 2, 1, 0}},
      {"backwards by 2", 5, 3, 0, -2, {3, 1}},
      {"backwards from before the start", 5, -100, kMin, -1, {0}},
      {"smallest step", 5, 4, kMin, kMin, {4}},
      {"empty", 5, 3, 3, 1, {}},
      {"of nothing", 0, 0, 5, 1, {}},
      {"backwards of nothing", 0, -1, kMin, -1, {}},
  };
  for (const SliceCase& c : cases) {
    const auto out = run_op("Slice", {},
                            {floats({c.size}, counting(c.size)), int_vector({c.start}), int_vector({c.end}), Value(),
                             int_vector({c.step})});
    expect_equal(out[0], floats({static_cast<std::int64_t>(c.expected.size())}, c.expected), c.name);
  }
}

TEST(Slice, NamedAxesOfAMatrix) {
  const Value x = floats({2, 3}, {0, 1, 2, 3, 4, 5});
  const Value bounds = int_vector({1}), ends = int_vector({3});
  expect_equal(run_op("Slice", {}, {x, bounds, ends, int_vector({-1})})[0], floats({2, 2}, {1, 2, 4, 5}));
  expect_error([&] { run_op("Slice", {}, {x, bounds, ends, int_vector({2})}); }, "axis 2");
  expect_error([&] { run_op("Slice", {}, {x, bounds, ends, int_vector({0}), int_vector({0})}); }, "step of 0");
  expect_error([&] { run_op("Slice", {}, {x, bounds, ends, int_vector({0, 1})}); }, "one length");
}

TEST(Concat, AlongEachAxisAndWithNothing) {
  const Value a = floats({1, 2}, {1, 2}), b = floats({1, 2}, {3, 4}), nothing = floats({0, 2}, {});
  expect_equal(run_op("Concat", attributes({{"axis", std::int64_t{0}}}), {a, nothing, b})[0],
               floats({2, 2}, {1, 2, 3, 4}));
  expect_equal(run_op("Concat", attributes({{"axis", std::int64_t{-1}}}), {a, b})[0], floats({1, 4}, {1, 2, 3, 4}));
  expect_error([&] { run_op("Concat", attributes({{"axis", std::int64_t{1}}}), {a, nothing}); }, "equal");
  expect_error([&] { run_op("Concat", attributes({{"axis", std::int64_t{0}}}), {a, ints({1, 2}, {1, 2})}); },
               "element type");
}

TEST(Split, SizesEqualPartsAndRest) {
  const Value x = floats({2, 5}, counting(10));
  const auto sized = run_op("Split", attributes({{"axis", std::int64_t{1}}}), {x, int_vector({1, 0, 4})}, 3);
  expect_equal(sized[0], floats({2, 1}, {0, 5}));
  expect_equal(sized[1], floats({2, 0}, {}));
  expect_equal(sized[2], floats({2, 4}, {1, 2, 3, 4, 6, 7, 8, 9}));
  const auto parts = run_op("Split", attributes({{"axis", std::int64_t{1}}, {"num_outputs", std::int64_t{2}}}), {x}, 2);
  expect_equal(parts[0], floats({2, 3}, {0, 1, 2, 5, 6, 7}));
  expect_equal(parts[1], floats({2, 2}, {3, 4, 8, 9}));
  expect_error([&] { run_op("Split", attributes({{"axis", std::int64_t{1}}}), {x, int_vector({2, 2})}, 2); }, "equal");
}

struct PadCase {
  const char* name;
  const char* mode;
  std::vector<std::int64_t> pads;
  std::vector<float> expected;
};

TEST(Pad, ModesOnAVector) {
  const PadCase cases[] = {
      {"constant", "constant", {2, 1}, {9, 9, 0, 1, 2, 9}},
      {"cropped", "constant", {-1, 1}, {1, 2, 9}},
      {"cropped on both sides", "constant", {-1, -1}, {1}},
      {"edge", "edge", {2, 1}, {0, 0, 0, 1, 2, 2}},
      {"reflect", "reflect", {2, 2}, {2, 1, 0, 1, 2, 1, 0}},
      {"reflected again", "reflect", {5, 0}, {1, 0, 1, 2, 1, 0, 1, 2}},
      {"wrap", "wrap", {2, 4}, {1, 2, 0, 1, 2, 0, 1, 2, 0}},
  };
  for (const PadCase& c : cases) {
    const auto out = run_op("Pad", attributes({{"mode", std::string(c.mode)}}),
                            {floats({3}, {0, 1, 2}), int_vector(c.pads), floats({}, {9})});
    expect_equal(out[0], floats({static_cast<std::int64_t>(c.expected.size())}, c.expected), c.name);
  }
}

TEST(Pad, AxesPackedAndErrors) {
  expect_equal(run_op("Pad", {}, {floats({1, 2}, {1, 2}), int_vector({1, 0}), Value(), int_vector({-1})})[0],
               floats({1, 3}, {0, 1, 2}));
  expect_equal(run_op("Pad", {}, {packed(ElementType::kInt4, {3}, {1, 2, 15}), int_vector({1, 1})})[0],
               packed(ElementType::kInt4, {5}, {0, 1, 2, 15, 0}));
  expect_error(
      [] { run_op("Pad", attributes({{"mode", std::string("edge")}}), {floats({0}, {}), int_vector({1, 0})}); },
      "nothing to repeat");
  expect_error([] { run_op("Pad", {}, {floats({2}, {1, 2}), int_vector({-2, -1})}); }, "dimension of -1");
  expect_error(
      [] { run_op("Pad", attributes({{"mode", std::string("mirror")}}), {floats({2}, {1, 2}), int_vector({0, 0})}); },
      "mirror");
}

TEST(Tile, RepeatsBlocks) {
  expect_equal(run_op("Tile", {}, {floats({2, 2}, {1, 2, 3, 4}), int_vector({2, 3})})[0],
               floats({4, 6}, {1, 2, 1, 2, 1, 2, 3, 4, 3, 4, 3, 4, 1, 2, 1, 2, 1, 2, 3, 4, 3, 4, 3, 4}));
  expect_equal(run_op("Tile", {}, {floats({2}, {1, 2}), int_vector({0})})[0], floats({0}, {}));
  expect_equal(run_op("Tile", {}, {strings({1, 2}, {"a", "b"}), int_vector({2, 1})})[0],
               strings({2, 2}, {"a", "b", "a", "b"}));
}

TEST(Trilu, UpperLowerAndFarDiagonals) {
  const Value x = ints({2, 3}, {1, 2, 3, 4, 5, 6});
  const auto trilu = [&](std::int64_t upper, std::int64_t k) {
    return run_op("Trilu", attributes({{"upper", upper}}), {x, ints({}, {k})})[0];
  };
  expect_equal(trilu(1, 0), ints({2, 3}, {1, 2, 3, 0, 5, 6}));
  expect_equal(trilu(0, 0), ints({2, 3}, {1, 0, 0, 4, 5, 0}));
  expect_equal(trilu(1, 2), ints({2, 3}, {0, 0, 3, 0, 0, 0}));
  expect_equal(trilu(1, kMax), ints({2, 3}, {0, 0, 0, 0, 0, 0}));
  expect_equal(trilu(0, kMin), ints({2, 3}, {0, 0, 0, 0, 0, 0}));
  expect_equal(trilu(0, kMax), x);
}

TEST(DepthToSpace, UndoesSpaceToDepth) {
  const Value x = floats({2, 3, 4, 6}, counting(144));
  const auto deep = run_op("SpaceToDepth", attributes({{"blocksize", std::int64_t{2}}}), {x});
  EXPECT_EQ(deep[0].tensor().shape().to_string(), "[2,12,2,3]");
  expect_equal(run_op("DepthToSpace", attributes({{"blocksize", std::int64_t{2}}}), {deep[0]})[0], x);
  expect_error([&] { run_op("DepthToSpace", attributes({{"blocksize", std::int64_t{2}}}), {x}); }, "equal");
}

TEST(ReverseSequence, ChecksLengths) {
  const Value x = ints({3, 2}, {1, 2, 3, 4, 5, 6});
  expect_equal(run_op("ReverseSequence", {}, {x, int_vector({2, 3})})[0], ints({3, 2}, {3, 6, 1, 4, 5, 2}));
  expect_error([&] { run_op("ReverseSequence", {}, {x, int_vector({4, 0})}); }, "4");
}

TEST(CenterCropPad, CropsAndPadsAtOnce) {
  expect_equal(run_op("CenterCropPad", {}, {floats({3, 2}, {1, 2, 3, 4, 5, 6}), int_vector({1, 5})})[0],
               floats({1, 5}, {0, 3, 4, 0, 0}));
}

}  // namespace
}  // namespace sardonyx::provider::cpu
