#include "provider/cpu/ops/op_test_util.h"

namespace sardonyx::provider::cpu {
namespace {

using namespace testing;  // NOLINT(google-build-using-namespace)

using Text = std::string;

/// Resize of one row.
struct ResizeCase {
  const char* name;
  std::vector<float> x;
  float scale;  ///< 0: by size
  std::int64_t size;
  graph::Attributes attributes;
  std::vector<double> wanted;
};

TEST(Resize, CoordinatesAndFilters) {
  const ResizeCase cases[] = {
      {"nearest, half pixel", {1, 2}, 2, 0, {}, {1, 1, 2, 2}},
      {"nearest rounds halves down", {1, 2, 3, 4}, 0.5f, 0, {}, {1, 3}},
      {"nearest rounds halves up",
       {1, 2, 3, 4},
       0.5f,
       0,
       attributes({{"nearest_mode", Text("round_prefer_ceil")}}),
       {2, 4}},
      {"nearest floor, asymmetric",
       {1, 2, 3},
       2,
       0,
       attributes({{"nearest_mode", Text("floor")}, {"coordinate_transformation_mode", Text("asymmetric")}}),
       {1, 1, 2, 2, 3, 3}},
      {"nearest ceil, asymmetric",
       {1, 2, 3},
       2,
       0,
       attributes({{"nearest_mode", Text("ceil")}, {"coordinate_transformation_mode", Text("asymmetric")}}),
       {1, 2, 2, 3, 3, 3}},
      {"linear, half pixel", {0, 4}, 2, 0, attributes({{"mode", Text("linear")}}), {0, 1, 3, 4}},
      {"linear, align corners",
       {0, 4},
       0,
       5,
       attributes({{"mode", Text("linear")}, {"coordinate_transformation_mode", Text("align_corners")}}),
       {0, 1, 2, 3, 4}},
      {"linear, asymmetric",
       {0, 4},
       2,
       0,
       attributes({{"mode", Text("linear")}, {"coordinate_transformation_mode", Text("asymmetric")}}),
       {0, 2, 4, 4}},
      {"one output, PyTorch's half pixel",
       {5, 6, 7},
       0,
       1,
       attributes({{"mode", Text("linear")}, {"coordinate_transformation_mode", Text("pytorch_half_pixel")}}),
       {5}},
      {"one output, align corners",
       {5, 6, 7},
       0,
       1,
       attributes({{"mode", Text("linear")}, {"coordinate_transformation_mode", Text("align_corners")}}),
       {5}},
      {"linear with antialiasing",
       {1, 2, 3, 4},
       0.5f,
       0,
       attributes({{"mode", Text("linear")}, {"antialias", std::int64_t{1}}}),
       {1.625, 3.375}},
      {"cubic keeps a line",
       {0, 1, 2, 3, 4, 5},
       0,
       11,
       attributes({{"mode", Text("cubic")},
                   {"cubic_coeff_a", -0.5f},
                   {"coordinate_transformation_mode", Text("align_corners")},
                   {"exclude_outside", std::int64_t{0}}}),
       {0, 0.4375, 1, 1.5, 2, 2.5, 3, 3.5, 4, 4.5625, 5}},
      {"same size", {1, 2, 3}, 1, 0, attributes({{"mode", Text("cubic")}}), {1, 2, 3}},
  };
  for (const ResizeCase& c : cases) {
    SCOPED_TRACE(c.name);
    const auto n = static_cast<std::int64_t>(c.x.size()), m = static_cast<std::int64_t>(c.wanted.size());
    const std::vector<Value> inputs = {floats({1, n}, c.x), Value(),
                                       c.scale > 0 ? Value(floats({2}, {1, c.scale})) : Value(),
                                       c.scale > 0 ? Value() : Value(ints({2}, {1, c.size}))};
    expect_values(run("Resize", c.attributes, inputs)[0], {1, m}, c.wanted);
    graph::Attributes one_axis = c.attributes;  // the same along the outer of two axes
    one_axis.set("axes", std::vector<std::int64_t>{-2});
    const std::vector<Value> column = {floats({n, 1}, c.x), Value(),
                                       c.scale > 0 ? Value(floats({1}, {c.scale})) : Value(),
                                       c.scale > 0 ? Value() : Value(ints({1}, {c.size}))};
    expect_values(run("Resize", one_axis, column)[0], {m, 1}, c.wanted);
  }
}

TEST(Resize, EveryFloatType) {
  const Tensor x = random_floats({1, 2, 5, 7}, 1);
  for (const char* mode : {"nearest", "linear", "cubic"}) {
    const auto attrs = attributes({{"mode", Text(mode)}});
    const std::vector<double> wanted =
        elements(run("Resize", attrs, {x, Value(), Value(), ints({4}, {1, 2, 9, 4})})[0]);
    for (const FloatType& type : kFloatTypes) {
      SCOPED_TRACE(Text(mode) + " " + Text(name(type.type)));
      expect_values(run("Resize", attrs, {converted(x, type.type), Value(), Value(), ints({4}, {1, 2, 9, 4})})[0],
                    {1, 2, 9, 4}, wanted, type.tolerance);
    }
  }
}

TEST(Resize, IntegersRoundAndSaturateAndStringsMove) {
  const Tensor bytes = tensor<std::uint8_t>({4}, {0, 255, 255, 0});
  const auto cubic = run("Resize", attributes({{"mode", Text("cubic")}}), {bytes, Value(), floats({1}, {2})});
  for (double value : elements(cubic[0])) EXPECT_TRUE(value >= 0 && value <= 255);
  EXPECT_EQ(element(cubic[0].tensor(), 3), 255);
  Tensor words(ElementType::kString, {2});
  words.mutable_data<std::string>()[0] = "a";
  words.mutable_data<std::string>()[1] = "b";
  const auto moved = run("Resize", {}, {words, Value(), floats({1}, {2})});
  EXPECT_EQ(moved[0].tensor().data<std::string>()[1], "a");
  EXPECT_EQ(moved[0].tensor().data<std::string>()[2], "b");
}

TEST(Resize, AspectRatioRegionAndEmpty) {
  const Tensor x = random_floats({4, 8}, 2);
  EXPECT_EQ(run("Resize", attributes({{"keep_aspect_ratio_policy", Text("not_larger")}}),
                {x, Value(), Value(), ints({2}, {3, 5})})[0]
                .tensor()
                .shape()
                .to_string(),
            "[3,5]");
  EXPECT_EQ(run("Resize", attributes({{"keep_aspect_ratio_policy", Text("not_smaller")}}),
                {x, Value(), Value(), ints({2}, {3, 5})})[0]
                .tensor()
                .shape()
                .to_string(),
            "[3,6]");
  const auto crop = attributes({{"mode", Text("linear")},
                                {"coordinate_transformation_mode", Text("tf_crop_and_resize")},
                                {"extrapolation_value", 9.0f}});
  expect_values(run("Resize", crop, {floats({3}, {0, 10, 20}), floats({2}, {0.5f, 1.5f}), Value(), ints({1}, {3})})[0],
                {3}, {10, 20, 9});
  expect_values(run("Resize", {}, {floats({0, 2}, {}), Value(), floats({2}, {1, 2})})[0], {0, 4}, {});
}

TEST(Resize, Errors) {
  const Tensor x = random_floats({2, 2}, 1);
  expect_error(ErrorCode::kInvalidModel, "exactly one", "Resize", {}, {x});
  expect_error(ErrorCode::kInvalidModel, "exactly one", "Resize", {},
               {x, Value(), floats({2}, {1, 1}), ints({2}, {2, 2})});
  expect_error(ErrorCode::kInvalidModel, "positive", "Resize", {}, {x, Value(), floats({2}, {1, -1})});
  expect_error(ErrorCode::kInvalidModel, "one element for each", "Resize", {}, {x, Value(), floats({1}, {1})});
  expect_error(ErrorCode::kInvalidModel, "'mode'", "Resize", attributes({{"mode", Text("best")}}),
               {x, Value(), floats({2}, {1, 1})});
  expect_error(ErrorCode::kInvalidModel, "repeats", "Resize", attributes({{"axes", std::vector<std::int64_t>{1, -1}}}),
               {x, Value(), floats({2}, {1, 1})});
  expect_error(ErrorCode::kInvalidArgument, "roi", "Resize",
               attributes({{"coordinate_transformation_mode", Text("tf_crop_and_resize")}}),
               {x, Value(), floats({2}, {2, 2})});
}

TEST(GridSample, SamplesAtPositions) {
  const Tensor x = floats({1, 1, 1, 3}, {1, 2, 4});
  struct Case {
    const char* mode;
    const char* padding;
    std::int64_t align;
    float at;
    double wanted;
  };
  const Case cases[] = {
      {"linear", "zeros", 1, -1, 1},
      {"linear", "zeros", 1, 0.5f, 3},
      {"linear", "zeros", 1, 1.5f, 2},
      {"linear", "border", 1, 1.5f, 4},
      {"linear", "reflection", 1, 1.5f, 3},
      {"nearest", "zeros", 1, 0.9f, 4},
      {"nearest", "zeros", 1, 0.5f, 4},
      {"nearest", "zeros", 1, -0.5f, 1},
      {"nearest", "zeros", 1, 3, 0},
      {"linear", "zeros", 0, 0, 2},
      {"linear", "zeros", 0, -1, 0.5},
      {"linear", "border", 0, -1, 1},
      {"cubic", "border", 1, 0, 2},
      {"cubic", "zeros", 1, 50, 0},
      {"linear", "zeros", 1, std::numeric_limits<float>::quiet_NaN(), 0},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(Text(c.mode) + " " + c.padding + " " + std::to_string(c.at));
    const auto attrs =
        attributes({{"mode", Text(c.mode)}, {"padding_mode", Text(c.padding)}, {"align_corners", c.align}});
    expect_values(run("GridSample", attrs, {x, floats({1, 1, 1, 2}, {c.at, 0})})[0], {1, 1, 1, 1}, {c.wanted});
  }
  expect_in_all_types("GridSample", {}, {random_floats({2, 3, 4, 4}, 1), floats({2, 0, 2, 2}, {})}, {2, 3, 0, 2}, {});
  expect_error(ErrorCode::kInvalidModel, "mode", "GridSample", attributes({{"mode", Text("bilinear")}}),
               {x, floats({1, 1, 1, 2}, {0, 0})});
}

TEST(GridSample, TheIdentityGridGivesTheImage) {
  for (std::int64_t align : {0, 1}) {
    const auto attrs = attributes({{"align_corners", align}});
    const Tensor x = random_floats({2, 3, 4, 5}, 3), theta = floats({2, 2, 3}, {1, 0, 0, 0, 1, 0, 1, 0, 0, 0, 1, 0});
    const auto grid = run("AffineGrid", attrs, {theta, ints({4}, {2, 3, 4, 5})});
    EXPECT_EQ(grid[0].tensor().shape().to_string(), "[2,4,5,2]");
    for (const char* mode : {"linear", "nearest", "cubic"}) {
      graph::Attributes sample = attrs;
      sample.set("mode", Text(mode));
      sample.set("padding_mode", Text("border"));
      expect_values(run("GridSample", sample, {x, grid[0]})[0], {2, 3, 4, 5}, elements(x));
    }
    const Tensor volume = random_floats({1, 2, 3, 4, 2}, 4),
                 theta3 = floats({1, 3, 4}, {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0});
    const auto grid3 = run("AffineGrid", attrs, {theta3, ints({5}, {1, 2, 3, 4, 2})});
    expect_values(run("GridSample", attrs, {volume, grid3[0]})[0], {1, 2, 3, 4, 2}, elements(volume), 1e-4);
  }
}

TEST(NonMaxSuppression, PicksByScoreAndOverlap) {
  // Boxes 0 and 1 overlap by 3/5 of their union, 2 lies apart, 3 is 0 with corners swapped.
  const Tensor boxes = floats({1, 4, 4}, {0, 0, 1, 4, 0, 1, 1, 5, 5, 5, 6, 6, 1, 4, 0, 0});
  const auto pick = [&](std::vector<float> scores, std::int64_t count, float overlap, std::vector<Value> score = {}) {
    std::vector<Value> inputs = {boxes, floats({1, 1, 4}, std::move(scores)), ints({}, {count}), floats({}, {overlap})};
    inputs.insert(inputs.end(), score.begin(), score.end());
    return run("NonMaxSuppression", {}, inputs);
  };
  expect_values(pick({0.9f, 0.8f, 0.7f, 0.6f}, 9, 0.5f)[0], {2, 3}, {0, 0, 0, 0, 0, 2}, 0);
  expect_values(pick({0.9f, 0.8f, 0.7f, 0.6f}, 9, 0.61f)[0], {3, 3}, {0, 0, 0, 0, 0, 1, 0, 0, 2}, 0);
  expect_values(pick({0.5f, 0.5f, 0.5f, 0.5f}, 9, 1)[0], {4, 3}, {0, 0, 0, 0, 0, 1, 0, 0, 2, 0, 0, 3}, 0);
  expect_values(pick({0.1f, 0.2f, 0.9f, 0.3f}, 1, 0.5f)[0], {1, 3}, {0, 0, 2}, 0);
  expect_values(pick({0.9f, 0.8f, 0.7f, 0.6f}, 9, 0.5f, {floats({}, {0.7f})})[0], {1, 3}, {0, 0, 0}, 0);
  expect_values(pick({0.9f, 0.8f, 0.7f, 0.6f}, 0, 0.5f)[0], {0, 3}, {}, 0);
  expect_error(ErrorCode::kInvalidArgument, "iou_threshold", "NonMaxSuppression", {},
               {boxes, floats({1, 1, 4}, {1, 1, 1, 1}), ints({}, {1}), floats({}, {2})});
  expect_error(ErrorCode::kInvalidModel, "numbers of boxes", "NonMaxSuppression", {},
               {boxes, floats({1, 1, 3}, {1, 1, 1})});
}

}  // namespace
}  // namespace sardonyx::provider::cpu
