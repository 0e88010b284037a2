#include <gtest/gtest.h>

#include "sardonyx/error.h"

#include "ops/infer_context.h"
#include "ops/op_list.h"

namespace sardonyx::ops {
namespace {

/// Infers one node over input types; the tests' models have no constants.
struct Inference {
  graph::SymbolTable symbols;
  std::vector<Constraint> constraints;

  std::vector<std::string> run(std::string_view op, const graph::Attributes& attributes,
                               const std::vector<ValueType>& inputs, std::size_t outputs = 1,
                               const std::vector<const Tensor*>& constants = {}) {
    std::vector<const Tensor*> all = constants;
    all.resize(inputs.size(), nullptr);
    const graph::NodeDesc node{"", op, "", &attributes, inputs, {}, all};
    InferContext context(node, outputs, symbols, &constraints);
    find_op("", op)->infer(context);
    std::vector<std::string> types;
    for (const ValueType& type : context.outputs()) types.push_back(type.to_string());
    return types;
  }
  Dim dim(const std::string& name) { return symbols.named(name); }
  ValueType floats(std::vector<Dim> dims) { return ValueType::tensor(ElementType::kFloat32, std::move(dims)); }
};

graph::Attributes attributes(std::initializer_list<std::pair<std::string, graph::Attribute>> items) {
  graph::Attributes result;
  for (const auto& [name, value] : items) result.set(name, value);
  return result;
}

using Ints = std::vector<std::int64_t>;
using Types = std::vector<std::string>;

TEST(ConvInference, SpatialSizesAreExpressions) {
  Inference in;
  const ValueType x = in.floats({in.dim("n"), 3, in.dim("h"), 224}), w = in.floats({64, 3, 7, 7});
  const auto attrs = attributes({{"strides", Ints{2, 2}}, {"pads", Ints{3, 3, 3, 3}}});
  EXPECT_EQ(in.run("Conv", attrs, {x, w}), Types{"float[n,64,floordiv(h+1,2),112]"});
  EXPECT_TRUE(in.constraints.empty());
  // The same expression whenever the same layer follows: shapes stay comparable.
  const auto same = attributes({{"pads", Ints{1, 1, 1, 1}}});
  EXPECT_EQ(in.run("Conv", same, {in.floats({1, 3, in.dim("h"), in.dim("w")}), in.floats({8, 3, 3, 3})}),
            Types{"float[1,8,h,w]"});
  EXPECT_EQ(in.run("Conv", same, {in.floats({1, in.dim("c"), 4, 4}), in.floats({8, 3, 3, 3})}),
            Types{"float[1,8,4,4]"});
  ASSERT_EQ(in.constraints.size(), 1u);  // c = 3 was assumed
}

TEST(ConvInference, UnknownRanks) {
  Inference in;
  const ValueType unknown = ValueType::unranked(ElementType::kFloat32);
  EXPECT_EQ(in.run("Conv", {}, {unknown, in.floats({8, 3, 3, 3})}), Types{unknown.to_string()});
  const auto known = in.run("Conv", attributes({{"kernel_shape", Ints{3, 3}}}), {in.floats({1, 3, 8, 8}), unknown});
  EXPECT_NE(known[0].find(",6,6]"), std::string::npos) << known[0];
}

TEST(PoolInference, WindowsAndGlobals) {
  Inference in;
  const ValueType x = in.floats({in.dim("n"), 8, in.dim("h"), 10});
  EXPECT_EQ(in.run("MaxPool", attributes({{"kernel_shape", Ints{2, 2}}, {"strides", Ints{2, 2}}}), {x}, 2),
            (Types{"float[n,8,floordiv(h,2),5]", "int64[n,8,floordiv(h,2),5]"}));
  EXPECT_EQ(in.run("GlobalAveragePool", {}, {x}), Types{"float[n,8,1,1]"});
}

TEST(RecurrentInference, BothLayouts) {
  Inference in;
  const ValueType x = in.floats({in.dim("s"), in.dim("b"), 3}), w = in.floats({2, 16, 3}), r = in.floats({2, 16, 4});
  const auto attrs = attributes({{"hidden_size", std::int64_t{4}}, {"direction", std::string("bidirectional")}});
  EXPECT_EQ(in.run("LSTM", attrs, {x, w, r}, 3), (Types{"float[s,2,b,4]", "float[2,b,4]", "float[2,b,4]"}));
  graph::Attributes batch_first = attrs;
  batch_first.set("layout", std::int64_t{1});
  EXPECT_EQ(in.run("LSTM", batch_first, {x, w, r}, 2), (Types{"float[s,b,2,4]", "float[s,2,4]"}));
}

TEST(AttentionInference, PastGrows) {
  Inference in;
  const Dim b = in.dim("b"), s = in.dim("s"), p = in.dim("p");
  const ValueType q = in.floats({b, s, 64}), past = in.floats({b, 2, p, 8});
  const auto attrs = attributes({{"q_num_heads", std::int64_t{8}}, {"kv_num_heads", std::int64_t{2}}});
  const ValueType kv = in.floats({b, s, 16});
  EXPECT_EQ(in.run("Attention", attrs, {q, kv, kv, ValueType{}, past, past}, 4),
            (Types{"float[b,s,64]", "float[b,2,s+p,8]", "float[b,2,s+p,8]", "float[b,8,s,s+p]"}));
}

TEST(ResizeInference, ScalesAndSizes) {
  Inference in;
  const ValueType x = in.floats({1, 3, in.dim("h"), in.dim("w")});
  const float two[] = {1, 1, 2, 2};
  const Tensor scales = Tensor::from<float>({4}, two);
  const ValueType vector = ValueType::tensor(ElementType::kFloat32, {4});
  EXPECT_EQ(in.run("Resize", {}, {x, ValueType{}, vector}, 1, {nullptr, nullptr, &scales}),
            Types{"float[1,3,2*h,2*w]"});
  ValueType sizes = ValueType::tensor(ElementType::kInt64, {2});
  sizes.values = std::vector<Dim>{in.dim("h") * 2, 7};
  EXPECT_EQ(in.run("Resize", attributes({{"axes", Ints{2, 3}}}), {x, ValueType{}, ValueType{}, sizes}),
            Types{"float[1,3,2*h,7]"});
}

TEST(NormInference, StatisticsKeepTheRank) {
  Inference in;
  const ValueType x = in.floats({in.dim("b"), in.dim("s"), 64}), scale = in.floats({64});
  EXPECT_EQ(in.run("LayerNormalization", {}, {x, scale}, 3), (Types{"float[b,s,64]", "float[b,s,1]", "float[b,s,1]"}));
  EXPECT_THROW(in.run("LayerNormalization", {}, {x, in.floats({32})}), Error);
  EXPECT_THROW(in.run("Softmax", attributes({{"axis", std::int64_t{3}}}), {x}), Error);
}

}  // namespace
}  // namespace sardonyx::ops
