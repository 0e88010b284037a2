#include "provider/cpu/ops/exact_test_util.h"

namespace sardonyx::provider::cpu {
namespace {

Value sequence_of(std::vector<Value> items, ElementType type = ElementType::kFloat32) {
  return Sequence{type, std::move(items)};
}

std::string texts(const Value& sequence) {
  std::string out;
  for (const Value& item : sequence.sequence().items)
    out += std::to_string(static_cast<int>(*item.tensor().data<float>())) + " ";
  return out;
}

TEST(Sequence, InsertEraseAtLength) {
  const Value s = sequence_of({floats({1}, {1}), floats({1}, {2}), floats({1}, {3})}), x = floats({1}, {9});
  EXPECT_EQ(texts(run_op("SequenceInsert", {}, {s, x})[0]), "1 2 3 9 ");
  EXPECT_EQ(texts(run_op("SequenceInsert", {}, {s, x, ints({}, {0})})[0]), "9 1 2 3 ");
  EXPECT_EQ(texts(run_op("SequenceInsert", {}, {s, x, ints({}, {-1})})[0]), "1 2 9 3 ");
  EXPECT_EQ(texts(run_op("SequenceInsert", {}, {s, x, ints({}, {3})})[0]), "1 2 3 9 ");
  EXPECT_EQ(texts(run_op("SequenceErase", {}, {s})[0]), "1 2 ");
  EXPECT_EQ(texts(run_op("SequenceErase", {}, {s, ints({}, {-3})})[0]), "2 3 ");
  expect_equal(run_op("SequenceAt", {}, {s, tensor_of<std::int32_t>({}, {-1})})[0], floats({1}, {3}));
  expect_equal(run_op("SequenceLength", {}, {s})[0], ints({}, {3}));
  EXPECT_EQ(texts(run_op("SequenceConstruct", {}, {x, x})[0]), "9 9 ");
  EXPECT_EQ(run_op("SequenceEmpty", attributes({{"dtype", std::int64_t{7}}}), {})[0].sequence().element_type,
            ElementType::kInt64);
  EXPECT_EQ(texts(s), "1 2 3 ") << "inputs stay as they are";
}

TEST(Sequence, PositionsOutside) {
  const Value s = sequence_of({floats({1}, {1})}), empty = sequence_of({});
  expect_error([&] { run_op("SequenceAt", {}, {s, ints({}, {1})}); }, "position 1");
  expect_error([&] { run_op("SequenceAt", {}, {s, ints({}, {-2})}); }, "position -2");
  expect_error([&] { run_op("SequenceInsert", {}, {s, floats({1}, {2}), ints({}, {2})}); }, "position 2");
  expect_error([&] { run_op("SequenceErase", {}, {empty}); }, "nothing to erase");
  expect_error([&] { run_op("SequenceInsert", {}, {s, ints({1}, {2})}); }, "int64");
}

TEST(SplitToSequence, SizesAndSingles) {
  const Value x = floats({2, 3}, {0, 1, 2, 3, 4, 5});
  const auto parts = run_op("SplitToSequence", attributes({{"axis", std::int64_t{1}}}), {x, ints({}, {2})})[0];
  ASSERT_EQ(parts.sequence().items.size(), 2U);
  expect_equal(parts.sequence().items[0], floats({2, 2}, {0, 1, 3, 4}));
  expect_equal(parts.sequence().items[1], floats({2, 1}, {2, 5}));
  const auto rows = run_op("SplitToSequence", attributes({{"keepdims", std::int64_t{0}}}), {x})[0];
  expect_equal(rows.sequence().items[1], floats({3}, {3, 4, 5}));
  expect_error([&] { run_op("SplitToSequence", {}, {x, int_vector({1, 2})}); }, "add up");
  expect_error([&] { run_op("SplitToSequence", {}, {x, int_vector({1})}); }, "over");
  expect_error([&] { run_op("SplitToSequence", {}, {x, ints({}, {0})}); }, "parts of 0");
}

TEST(ConcatFromSequence, JoinsOrStacks) {
  const Value s = sequence_of({floats({1, 2}, {1, 2}), floats({1, 2}, {3, 4})});
  expect_equal(run_op("ConcatFromSequence", attributes({{"axis", std::int64_t{0}}}), {s})[0],
               floats({2, 2}, {1, 2, 3, 4}));
  const auto stacked =
      run_op("ConcatFromSequence", attributes({{"axis", std::int64_t{-1}}, {"new_axis", std::int64_t{1}}}), {s});
  expect_equal(stacked[0], floats({1, 2, 2}, {1, 3, 2, 4}));
  const Value uneven = sequence_of({floats({1, 2}, {1, 2}), floats({1, 1}, {3})});
  expect_error([&] { run_op("ConcatFromSequence", attributes({{"axis", std::int64_t{0}}}), {uneven}); }, "[1,1]");
  expect_error([&] { run_op("ConcatFromSequence", attributes({{"axis", std::int64_t{0}}}), {sequence_of({})}); },
               "empty");
}

TEST(Optional, HoldsAThingOrNothing) {
  const Value x = floats({1}, {5});
  expect_equal(run_op("Optional", {}, {x})[0], x);
  const graph::ValueType type = graph::ValueType::tensor(ElementType::kFloat32, {});
  EXPECT_TRUE(run_op("Optional", attributes({{"type", type}}), {})[0].is_none());
  EXPECT_TRUE(*run_op("OptionalHasElement", {}, {x})[0].tensor().data<bool>());
  EXPECT_FALSE(*run_op("OptionalHasElement", {}, {Value()})[0].tensor().data<bool>());
  expect_equal(run_op("OptionalGetElement", {}, {x})[0], x);
  expect_error([] { run_op("OptionalGetElement", {}, {Value()}); }, "nothing");
}

}  // namespace
}  // namespace sardonyx::provider::cpu
