#include "ops/infer_test_util.h"

namespace sardonyx::ops {
namespace {

constexpr ElementType kF = ElementType::kFloat32;

TEST(InferSlice, BoundsThatAreSizes) {
  NodeInference infer;
  const Dim past = infer.symbol("past"), seq = infer.symbol("seq");
  const auto slice = [&](const ValueType& data, const Dim& start, const Dim& end, std::int64_t step = 1) {
    return infer.run("Slice",
                     {data, infer.vector({start}), infer.vector({end}), infer.vector({0}), infer.vector({step})});
  };
  const ValueType n = infer.type(kF, {"n"}), table = infer.type(kF, {"1024"}),
                  all = ValueType::tensor(kF, {past + seq});
  EXPECT_EQ(slice(n, 0, 9223372036854775807), "float[n]");
  EXPECT_EQ(slice(n, 0, -1), "float[max(n-1,0)]");
  EXPECT_EQ(slice(table, 0, seq), "float[min(seq,1024)]");
  EXPECT_EQ(slice(all, past, past + seq), "float[seq]");
  EXPECT_EQ(slice(all, past, 2147483647), "float[seq]");
  EXPECT_EQ(slice(n, -1, -9223372036854775807, -1), "float[n]");
  EXPECT_EQ(slice(n, 0, 9223372036854775807, 2), "float[ceildiv(n,2)]");
  EXPECT_EQ(slice(table, 1000, 2000), "float[24]");
  // The sign of seq - past is open, so the length is.
  EXPECT_EQ(slice(n, seq - past, 5).substr(0, 12), "float[slice#");
}

TEST(InferConcat, AddsAlongTheAxis) {
  NodeInference infer;
  EXPECT_EQ(
      infer.run("Concat", {infer.type(kF, {"batch", "12", "past", "64"}), infer.type(kF, {"batch", "12", "seq", "64"})},
                with("axis", std::int64_t{2})),
      "float[batch,12,seq+past,64]");
  EXPECT_TRUE(infer.constraints.empty());
  infer.run("Concat", {infer.type(kF, {"a", "1"}), infer.type(kF, {"b", "1"})}, with("axis", std::int64_t{1}));
  EXPECT_EQ(infer.constraints.size(), 1U);
  expect_infer_error(
      [&] {
        infer.run("Concat", {infer.type(kF, {"2", "1"}), infer.type(kF, {"3", "1"})}, with("axis", std::int64_t{1}));
      },
      "2 and the other 3");
}

TEST(InferSplit, PartsOfSymbols) {
  NodeInference infer;
  infer.run("Split", {infer.type(kF, {"n", "6"})}, with("axis", std::int64_t{1}), 4);
  EXPECT_EQ(infer.outputs[0].to_string(), "float[n,2]");
  EXPECT_EQ(infer.outputs[3].to_string(), "float[n,0]");
  infer.run("Split", {infer.type(kF, {"n"})}, {}, 2);
  EXPECT_EQ(infer.outputs[0].to_string(), "float[ceildiv(n,2)]");
  infer.run("Split", {ValueType::tensor(kF, {infer.symbol("n") * Dim(3)})}, {}, 3);
  EXPECT_EQ(infer.outputs[2].to_string(), "float[n]");
  expect_infer_error([&] { infer.run("Split", {infer.type(kF, {"6"}), infer.vector({3, 4})}, {}, 2); }, "equal");
}

TEST(InferMovement, OthersOverSymbols) {
  NodeInference infer;
  const Dim n = infer.symbol("n");
  EXPECT_EQ(infer.run("Transpose", {infer.type(kF, {"a", "b", "c"})}), "float[c,b,a]");
  EXPECT_EQ(infer.run("Transpose", {infer.type(kF, {"a", "b", "c"})}, with("perm", std::vector<std::int64_t>{0, 2, 1})),
            "float[a,c,b]");
  EXPECT_EQ(infer.run("Pad", {infer.type(kF, {"n"}), infer.vector({1, 2})}), "float[n+3]");
  EXPECT_EQ(infer.run("Tile", {infer.type(kF, {"n", "2"}), infer.vector({3, n})}), "float[3*n,2*n]");
  EXPECT_EQ(infer.run("DepthToSpace", {infer.type(kF, {"n", "8", "h", "w"})}, with("blocksize", std::int64_t{2})),
            "float[n,2,2*h,2*w]");
  EXPECT_EQ(
      infer.run("Gather", {infer.type(kF, {"vocabulary", "768"}), infer.type(ElementType::kInt64, {"batch", "seq"})}),
      "float[batch,seq,768]");
  EXPECT_EQ(infer.run("GatherND", {infer.type(kF, {"a", "b", "c"}), infer.type(ElementType::kInt64, {"k", "2"})}),
            "float[k,c]");
  EXPECT_EQ(infer.run("OneHot", {infer.type(ElementType::kInt64, {"n"}), infer.scalar(5), infer.type(kF, {"2"})}),
            "float[n,5]");
  EXPECT_EQ(infer.run("NonZero", {infer.type(kF, {"a", "b"})}).substr(0, 9), "int64[2,n");
}

}  // namespace
}  // namespace sardonyx::ops
