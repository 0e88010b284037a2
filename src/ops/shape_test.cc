#include "ops/infer_test_util.h"

namespace sardonyx::ops {
namespace {

constexpr ElementType kF = ElementType::kFloat32, kI = ElementType::kInt64;

TEST(InferShape, IsTheDimensionsThemselves) {
  NodeInference infer;
  EXPECT_EQ(infer.run("Shape", {infer.type(kF, {"batch", "seq", "768"})}), "int64[3]");
  EXPECT_EQ(infer.values(), "batch seq 768");
  infer.run("Shape", {infer.type(kF, {"batch", "seq", "768"})}, with("start", std::int64_t{-2}));
  EXPECT_EQ(infer.values(), "seq 768");
  infer.run("Size", {infer.type(kF, {"batch", "3"})});
  EXPECT_EQ(infer.values(), "3*batch");
  EXPECT_EQ(infer.run("Shape", {ValueType::unranked(kF)}).substr(0, 6), "int64[");
}

TEST(InferReshape, HeadsOfAttention) {
  NodeInference infer;
  const Dim batch = infer.symbol("batch"), seq = infer.symbol("seq"), past = infer.symbol("past");
  const ValueType hidden = infer.type(kF, {"batch", "seq", "768"});
  EXPECT_EQ(infer.run("Reshape", {hidden, infer.vector({0, 0, 12, 64})}), "float[batch,seq,12,64]");
  EXPECT_EQ(infer.run("Reshape", {hidden, infer.vector({0, -1, 12, 64})}), "float[batch,seq,12,64]");
  EXPECT_EQ(infer.run("Reshape", {hidden, infer.vector({batch, seq, -1})}), "float[batch,seq,768]");
  EXPECT_EQ(infer.run("Reshape", {hidden, infer.vector({-1, 768})}), "float[batch*seq,768]");
  EXPECT_TRUE(infer.constraints.empty());
  // A sum of symbols divides out as a whole.
  const ValueType long_hidden = ValueType::tensor(kF, {batch, past + seq, 768});
  EXPECT_EQ(infer.run("Reshape", {long_hidden, infer.vector({-1, past + seq, 12, 64})}), "float[batch,seq+past,12,64]");
  EXPECT_TRUE(infer.constraints.empty());
}

TEST(InferReshape, RecordsWhatItAssumes) {
  NodeInference infer;
  EXPECT_EQ(infer.run("Reshape", {infer.type(kF, {"n"}), infer.vector({4, -1})}), "float[4,floordiv(n,4)]");
  ASSERT_EQ(infer.constraints.size(), 1U);
  EXPECT_EQ(infer.constraints[0].a.to_string(), "n");
  EXPECT_EQ(infer.run("Reshape", {ValueType::unranked(kF), infer.vector({4, -1})}).substr(0, 8), "float[4,");
  EXPECT_EQ(infer.run("Reshape", {infer.type(kF, {"n"}), infer.type(kI, {"2"})}).substr(0, 6), "float[");
  EXPECT_EQ(infer.outputs[0].rank(), 2U);
  EXPECT_FALSE((infer.run("Reshape", {infer.type(kF, {"n"}), infer.type(kI, {"k"})}), infer.outputs[0].has_rank));
}

TEST(InferShapeArithmetic, ValuesPassThrough) {
  NodeInference infer;
  const Dim batch = infer.symbol("batch"), seq = infer.symbol("seq");
  const ValueType shape = infer.vector({batch, seq, 768});
  EXPECT_EQ((infer.run("Gather", {shape, infer.scalar(1)}), infer.values()), "seq");
  EXPECT_EQ((infer.run("Gather", {shape, infer.vector({-1, 0})}), infer.values()), "768 batch");
  EXPECT_EQ((infer.run("Slice", {shape, infer.vector({1}), infer.vector({9223372036854775807})}), infer.values()),
            "seq 768");
  EXPECT_EQ((infer.run("Slice", {shape, infer.vector({-1}), infer.vector({-4}), infer.vector({0}), infer.vector({-1})}),
             infer.values()),
            "768 seq batch");
  EXPECT_EQ((infer.run("Unsqueeze", {infer.scalar(seq), infer.vector({0})}), infer.values()), "seq");
  EXPECT_EQ((infer.run("Squeeze", {infer.vector({seq}), infer.vector({0})}), infer.values()), "seq");
  EXPECT_EQ((infer.run("Concat", {infer.vector({batch}), infer.vector({-1, 64})}, with("axis", std::int64_t{0})),
             infer.values()),
            "batch -1 64");
  EXPECT_EQ((infer.run("Reshape", {infer.vector({seq}), infer.vector({-1})}), infer.values()), "seq");
  EXPECT_EQ((infer.run("Identity", {shape}), infer.values()), "batch seq 768");
  infer.run("Split", {shape, infer.vector({1, 2})}, {}, 2);
  EXPECT_EQ(infer.values(0), "batch");
  EXPECT_EQ(infer.values(1), "seq 768");
  EXPECT_EQ((infer.run("Expand", {infer.scalar(seq), infer.vector({2})}), infer.values()), "seq seq");
  EXPECT_EQ((infer.run("ConstantOfShape", {infer.vector({3})},
                       with("value", Tensor::from<std::int64_t>({1}, std::vector<std::int64_t>{-1}))),
             infer.values()),
            "-1 -1 -1");
  EXPECT_EQ((infer.run("Range", {infer.scalar(0), infer.scalar(3), infer.scalar(1)}), infer.values()), "0 1 2");
}

TEST(InferRange, LengthsAreExpressions) {
  NodeInference infer;
  const Dim past = infer.symbol("past"), seq = infer.symbol("seq");
  EXPECT_EQ(infer.run("Range", {infer.scalar(0), infer.scalar(seq), infer.scalar(1)}), "int64[seq]");
  EXPECT_EQ(infer.run("Range", {infer.scalar(past), infer.scalar(past + seq), infer.scalar(1)}), "int64[seq]");
  EXPECT_EQ(infer.run("Range", {infer.scalar(0), infer.scalar(seq), infer.scalar(2)}), "int64[ceildiv(seq,2)]");
  EXPECT_EQ(infer.run("Range", {infer.scalar(seq), infer.scalar(0), infer.scalar(-1)}), "int64[seq]");
}

TEST(InferExpand, SymbolsBroadcast) {
  NodeInference infer;
  const Dim batch = infer.symbol("batch"), seq = infer.symbol("seq");
  EXPECT_EQ(infer.run("Expand", {infer.type(kF, {"1", "1", "seq"}), infer.vector({batch, 1, seq})}),
            "float[batch,1,seq]");
  EXPECT_EQ(infer.run("ConstantOfShape", {infer.vector({batch, seq})}), "float[batch,seq]");
}

TEST(InferSqueeze, RankIsOpenOnlyWhereDimensionsAre) {
  NodeInference infer;
  EXPECT_EQ(infer.run("Squeeze", {infer.type(kF, {"1", "5", "1"})}), "float[5]");
  EXPECT_FALSE((infer.run("Squeeze", {infer.type(kF, {"1", "n"})}), infer.outputs[0].has_rank));
  EXPECT_EQ(infer.run("Squeeze", {infer.type(kF, {"1", "n"}), infer.vector({0})}), "float[n]");
  EXPECT_EQ(infer.run("Squeeze", {infer.type(kF, {"1", "n"}), infer.vector({-1})}), "float[1]");
  EXPECT_EQ(infer.constraints.size(), 1U);
  EXPECT_EQ((infer.run("Squeeze", {infer.type(kF, {"a", "b", "c"}), infer.type(kI, {"2"})}), infer.outputs[0].rank()),
            1U);
  EXPECT_EQ((infer.run("Unsqueeze", {infer.type(kF, {"a"}), infer.type(kI, {"2"})}), infer.outputs[0].rank()), 3U);
}

}  // namespace
}  // namespace sardonyx::ops
