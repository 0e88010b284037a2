#include "provider/cpu/ops/op_test_util.h"

namespace sardonyx::provider::cpu {
namespace {

using namespace testing;  // NOLINT(google-build-using-namespace)
using Ints = std::vector<std::int64_t>;

/// One convolution over up to three spatial axes.
struct ConvCase {
  const char* name;
  Ints x, w;  ///< [N, C, …], [M, C / group, …]
  std::int64_t group = 1;
  Ints strides, dilations, pads;
  std::string auto_pad = "NOTSET";
};

const ConvCase kConvCases[] = {
    {"pointwise", {2, 3, 4, 5}, {4, 3, 1, 1}},
    {"3x3", {1, 3, 6, 5}, {2, 3, 3, 3}},
    {"padded on one side", {1, 2, 5, 5}, {3, 2, 3, 3}, 1, {}, {}, {0, 1, 2, 0}},
    {"strided", {1, 2, 9, 8}, {3, 2, 3, 2}, 1, {2, 3}, {}, {1, 1, 1, 1}},
    {"windows side by side", {2, 3, 6, 8}, {4, 3, 2, 2}, 1, {2, 2}},
    {"windows side by side, by four", {1, 2, 6, 12}, {3, 2, 3, 4}, 1, {3, 4}},
    {"windows side by side, one output", {1, 1, 40, 30}, {3, 1, 2, 2}, 1, {2, 2}},
    {"dilated", {1, 2, 9, 9}, {1, 2, 3, 3}, 1, {1, 1}, {2, 3}},
    {"grouped", {2, 4, 5, 5}, {6, 2, 3, 3}, 2, {}, {}, {1, 1, 1, 1}},
    {"depthwise", {1, 5, 7, 7}, {5, 1, 3, 3}, 5, {2, 2}, {}, {1, 1, 1, 1}},
    {"depthwise with a multiplier", {1, 3, 5, 5}, {6, 1, 3, 3}, 3},
    {"many channels", {1, 35, 3, 3}, {5, 35, 2, 2}},
    {"wide row", {1, 1, 2, 300}, {2, 1, 1, 5}, 1, {}, {}, {0, 2, 0, 2}},
    {"1-D", {2, 3, 17}, {4, 3, 5}, 1, {2}, {2}, {3, 4}},
    {"3-D", {1, 2, 4, 5, 3}, {3, 2, 2, 3, 2}, 1, {2, 1, 1}, {}, {1, 0, 1, 0, 1, 0}},
    {"same upper", {1, 1, 7, 8}, {1, 1, 3, 4}, 1, {2, 2}, {}, {}, "SAME_UPPER"},
    {"same lower", {1, 1, 7, 8}, {1, 1, 3, 4}, 1, {2, 3}, {}, {}, "SAME_LOWER"},
    {"valid", {1, 1, 7, 8}, {1, 1, 3, 4}, 1, {2, 3}, {}, {}, "VALID"},
    {"kernel inside the padding", {1, 1, 1, 1}, {1, 1, 3, 3}, 1, {}, {}, {3, 3, 3, 3}},
    {"no batch", {0, 2, 4, 4}, {3, 2, 3, 3}},
    {"no channels", {1, 0, 4, 4}, {3, 0, 3, 3}},
};

Shape shape_of(const Ints& dims) { return Shape(std::span<const std::int64_t>(dims)); }

graph::Attributes attributes_of(const ConvCase& c) {
  graph::Attributes result;
  result.set("group", c.group);
  result.set("auto_pad", c.auto_pad);
  if (!c.strides.empty()) result.set("strides", c.strides);
  if (!c.dilations.empty()) result.set("dilations", c.dilations);
  if (!c.pads.empty()) result.set("pads", c.pads);
  return result;
}

/// Sizes of a case, filled up to three spatial axes with leading ones.
struct Plan {
  Ints in{1, 1, 1}, kernel{1, 1, 1}, out{1, 1, 1}, stride{1, 1, 1}, dilation{1, 1, 1}, pad{0, 0, 0};
  Shape y;

  explicit Plan(const ConvCase& c) {
    const std::size_t rank = c.x.size() - 2, first = 3 - rank;
    y = {c.x[0], c.w[0]};
    for (std::size_t i = 0; i < rank; ++i) {
      const std::size_t a = first + i;
      in[a] = c.x[i + 2];
      kernel[a] = c.w[i + 2];
      if (!c.strides.empty()) stride[a] = c.strides[i];
      if (!c.dilations.empty()) dilation[a] = c.dilations[i];
      const std::int64_t extent = (kernel[a] - 1) * dilation[a] + 1;
      std::int64_t begin = c.pads.empty() ? 0 : c.pads[i], end = c.pads.empty() ? 0 : c.pads[rank + i];
      if (c.auto_pad.starts_with("SAME")) {
        const std::int64_t total =
            std::max<std::int64_t>(0, ((in[a] + stride[a] - 1) / stride[a] - 1) * stride[a] + extent - in[a]);
        begin = c.auto_pad == "SAME_UPPER" ? total / 2 : total - total / 2;
        end = total - begin;
      }
      pad[a] = begin;
      out[a] = (in[a] + begin + end - extent) / stride[a] + 1;
      y.push_back(out[a]);
    }
  }
};

/// Calls fn(weight element, input element) for every product of one output; all in row-major numbers.
template <typename Fn>
void for_each_product(const ConvCase& c, const Plan& p, std::int64_t n, std::int64_t m, std::int64_t o, Fn&& fn) {
  const std::int64_t channels = c.w[1], per_group = c.w[0] / c.group, taps = p.kernel[0] * p.kernel[1] * p.kernel[2];
  const Ints at = {o / (p.out[1] * p.out[2]), o / p.out[2] % p.out[1], o % p.out[2]};
  for (std::int64_t k = 0; k < channels * taps; ++k) {
    const Ints tap = {k % taps / (p.kernel[1] * p.kernel[2]), k / p.kernel[2] % p.kernel[1], k % p.kernel[2]};
    std::int64_t offset = n * c.x[1] + m / per_group * channels + k / taps;
    bool inside = true;
    for (std::size_t a = 0; a < 3; ++a) {
      const std::int64_t position = at[a] * p.stride[a] - p.pad[a] + tap[a] * p.dilation[a];
      inside &= position >= 0 && position < p.in[a];
      offset = offset * p.in[a] + position;
    }
    if (inside) fn(m * channels * taps + k, offset);
  }
}

template <typename Fn>
std::vector<double> sum_products(const ConvCase& c, const Plan& p, Fn&& product) {
  std::vector<double> y;
  const std::int64_t size = p.out[0] * p.out[1] * p.out[2];
  for (std::int64_t n = 0; n < c.x[0]; ++n) {
    for (std::int64_t m = 0; m < c.w[0]; ++m) {
      for (std::int64_t o = 0; o < size; ++o) {
        double total = 0;
        for_each_product(c, p, n, m, o, [&](std::int64_t w, std::int64_t x) { total += product(m, w, x); });
        y.push_back(total);
      }
    }
  }
  return y;
}

TEST(Conv, MatchesItsDefinitionInEveryType) {
  for (const ConvCase& c : kConvCases) {
    SCOPED_TRACE(c.name);
    const Plan plan(c);
    const Tensor x = random_floats(shape_of(c.x), 1), w = random_floats(shape_of(c.w), 2),
                 bias = random_floats({c.w[0]}, 3);
    std::vector<double> wanted = sum_products(
        c, plan, [&](std::int64_t, std::int64_t i, std::int64_t j) { return element(w, i) * element(x, j); });
    expect_in_all_types("Conv", attributes_of(c), {x, w}, plan.y, wanted);
    const std::int64_t size = plan.out[0] * plan.out[1] * plan.out[2];
    for (std::size_t i = 0; i < wanted.size(); ++i)
      wanted[i] += element(bias, static_cast<std::int64_t>(i) / size % c.w[0]);
    expect_in_all_types("Conv", attributes_of(c), {x, w, bias}, plan.y, wanted);
  }
}

TEST(Conv, RejectsWhatDoesNotFit) {
  struct Case {
    const char* name;
    Ints x, w;
    graph::Attributes attributes;
    const char* message;
  };
  const Case cases[] = {
      {"channels", {1, 3, 4, 4}, {2, 2, 3, 3}, {}, "channels"},
      {"group", {1, 4, 4, 4}, {3, 2, 3, 3}, attributes({{"group", std::int64_t{2}}}), "group"},
      {"no group", {1, 4, 4, 4}, {3, 2, 3, 3}, attributes({{"group", std::int64_t{0}}}), "group"},
      {"kernel too large", {1, 1, 2, 2}, {1, 1, 5, 5}, {}, "does not fit"},
      {"strides", {1, 1, 4, 4}, {1, 1, 3, 3}, attributes({{"strides", Ints{0, 1}}}), "strides"},
      {"too many strides", {1, 1, 4, 4}, {1, 1, 3, 3}, attributes({{"strides", Ints{1, 1, 1}}}), "strides"},
      {"negative padding", {1, 1, 4, 4}, {1, 1, 3, 3}, attributes({{"pads", Ints{-1, 0, 0, 0}}}), "pads"},
      {"kernel_shape", {1, 1, 4, 4}, {1, 1, 3, 3}, attributes({{"kernel_shape", Ints{2, 3}}}), "kernel_shape"},
      {"auto_pad", {1, 1, 4, 4}, {1, 1, 3, 3}, attributes({{"auto_pad", std::string("SOME")}}), "auto_pad"},
      {"rank", {4, 4}, {1, 1}, {}, "shape"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    expect_error(ErrorCode::kInvalidModel, c.message, "Conv", c.attributes,
                 {random_floats(shape_of(c.x), 1), random_floats(shape_of(c.w), 2)});
  }
}

/// The transposed convolution is the adjoint of the convolution: <conv(x, w), y> = <x, transposed(y, w)>.
TEST(ConvTranspose, IsTheAdjointOfConv) {
  std::vector<ConvCase> cases(std::begin(kConvCases), std::end(kConvCases));
  for (const ConvCase& c : kConvCases) {  // and with enough channels for matrix products
    cases.push_back(c);
    cases.back().x[1] *= 9, cases.back().w[1] *= 9, cases.back().w[0] *= 9;
  }
  for (const ConvCase& c : cases) {
    if (c.auto_pad != "NOTSET" || c.x[0] == 0 || c.x[1] == 0) continue;
    SCOPED_TRACE(std::string(c.name) + " with " + std::to_string(c.x[1]) + " channels");
    const Plan plan(c);
    const Tensor x = random_floats(shape_of(c.x), 1), w = random_floats(shape_of(c.w), 2), y = random_floats(plan.y, 3);
    graph::Attributes attrs = attributes_of(c);
    // Sizes that the stride rounds off come back as output padding.
    Ints missing;
    for (std::size_t a = 3 - (c.x.size() - 2); a < 3; ++a) {
      const std::size_t i = a - (3 - (c.x.size() - 2)), rank = c.x.size() - 2;
      const std::int64_t pads = c.pads.empty() ? 0 : c.pads[i] + c.pads[rank + i];
      missing.push_back(plan.in[a] -
                        ((plan.out[a] - 1) * plan.stride[a] + (plan.kernel[a] - 1) * plan.dilation[a] + 1 - pads));
    }
    attrs.set("output_padding", missing);
    const std::vector<double> forward = elements(run("Conv", attributes_of(c), {x, w})[0]);
    const std::vector<Value> back = run("ConvTranspose", attrs, {y, w});
    EXPECT_EQ(back[0].tensor().shape().to_string(), shape_of(c.x).to_string());
    const std::vector<double> backward = elements(back[0]);
    double left = 0, right = 0;
    for (std::size_t i = 0; i < forward.size(); ++i) left += forward[i] * element(y, static_cast<std::int64_t>(i));
    for (std::size_t i = 0; i < backward.size(); ++i) right += backward[i] * element(x, static_cast<std::int64_t>(i));
    EXPECT_NEAR(left, right, 1e-3 * (1 + std::abs(left)));
    const Tensor bias = random_floats(Shape({c.x[1]}), 4);
    const std::vector<double> shifted = elements(run("ConvTranspose", attrs, {y, w, bias})[0]);
    const std::size_t plane = shifted.size() / static_cast<std::size_t>(c.x[0] * c.x[1]);
    for (std::size_t i = 0; i < shifted.size(); ++i) {
      const auto channel = static_cast<std::int64_t>(i / plane) % c.x[1];
      ASSERT_NEAR(shifted[i], backward[i] + element(bias, channel), 1e-4 * (1 + std::abs(backward[i]))) << i;
    }
  }
}

TEST(ConvTranspose, PaddingFromTheOutputShape) {
  const Tensor x = floats({1, 1, 2}, {1, 2}), w = floats({1, 1, 3}, {1, 10, 100});
  expect_in_all_types("ConvTranspose", attributes({{"strides", Ints{2}}}), {x, w}, {1, 1, 5}, {1, 10, 102, 20, 200});
  expect_values(run("ConvTranspose", attributes({{"strides", Ints{2}}, {"output_shape", Ints{4}}}), {x, w})[0],
                {1, 1, 4}, {10, 102, 20, 200});
  expect_values(
      run("ConvTranspose", attributes({{"strides", Ints{2}}, {"auto_pad", std::string("SAME_UPPER")}}), {x, w})[0],
      {1, 1, 4}, {1, 10, 102, 20});
  expect_values(
      run("ConvTranspose", attributes({{"strides", Ints{2}}, {"auto_pad", std::string("SAME_LOWER")}}), {x, w})[0],
      {1, 1, 4}, {10, 102, 20, 200});
  expect_error(ErrorCode::kInvalidModel, "padding", "ConvTranspose", attributes({{"pads", Ints{9, 9}}}), {x, w});
}

TEST(ConvInteger, ExactAtTheEnds) {
  const ConvCase c{"", {1, 4, 3, 3}, {2, 4, 3, 3}};
  const Plan plan(c);
  for (int x_zero : {0, 255}) {
    for (int w_zero : {-128, 127}) {
      const Tensor x =
          tensor<std::uint8_t>({1, 4, 3, 3}, std::vector<std::uint8_t>(36, static_cast<std::uint8_t>(255 - x_zero)));
      const Tensor w = tensor<std::int8_t>({2, 4, 3, 3}, std::vector<std::int8_t>(72, w_zero < 0 ? 127 : -128));
      const double product = (255.0 - 2 * x_zero) * (w_zero < 0 ? 255 : -255);
      const auto y =
          run("ConvInteger", {},
              {x, w, tensor<std::uint8_t>({}, {static_cast<std::uint8_t>(x_zero)}),
               tensor<std::int8_t>({2}, {static_cast<std::int8_t>(w_zero), static_cast<std::int8_t>(w_zero)})});
      expect_values(y[0], {1, 2, 1, 1}, {36 * product, 36 * product}, 0);
    }
  }
}

TEST(ConvInteger, PaddingIsTheZeroPoint) {
  const Tensor x = tensor<std::uint8_t>({1, 1, 2}, {7, 9}), w = tensor<std::uint8_t>({1, 1, 3}, {1, 2, 3});
  expect_values(run("ConvInteger", attributes({{"pads", Ints{1, 1}}}), {x, w, tensor<std::uint8_t>({}, {7})})[0],
                {1, 1, 2}, {6, 4}, 0);
  expect_error(ErrorCode::kInvalidModel, "w_zero_point", "ConvInteger", {},
               {x, w, Value(), tensor<std::uint8_t>({2}, {0, 0})});
}

/// evaluate_node takes every input for a constant, so wide layers run as packed products and narrow ones directly.
TEST(ConvInteger, MatchesItsDefinitionBothWays) {
  for (const ConvCase& c : kConvCases) {
    for (std::int64_t widen : {1, 9}) {
      ConvCase wide = c;
      wide.x[1] *= widen, wide.w[1] *= widen, wide.w[0] *= widen;
      SCOPED_TRACE(std::string(c.name) + " x" + std::to_string(widen));
      const Plan plan(wide);
      const Tensor x_floats = random_floats(shape_of(wide.x), 1), w_floats = random_floats(shape_of(wide.w), 2);
      Tensor x(ElementType::kUInt8, x_floats.shape()), w(ElementType::kInt8, w_floats.shape());
      for (std::int64_t i = 0; i < x.num_elements(); ++i)
        x.mutable_data<std::uint8_t>()[i] = static_cast<std::uint8_t>(element(x_floats, i) * 64 + 128);
      for (std::int64_t i = 0; i < w.num_elements(); ++i)
        w.mutable_data<std::int8_t>()[i] = static_cast<std::int8_t>(element(w_floats, i) * 64);
      std::vector<std::int8_t> zeros;
      for (std::int64_t m = 0; m < wide.w[0]; ++m) zeros.push_back(static_cast<std::int8_t>(m % 7 - 3));
      const std::vector<double> wanted = sum_products(wide, plan, [&](std::int64_t m, std::int64_t i, std::int64_t j) {
        return (element(w, i) - zeros[static_cast<std::size_t>(m)]) * (element(x, j) - 100);
      });
      expect_values(run("ConvInteger", attributes_of(wide),
                        {x, w, tensor<std::uint8_t>({}, {100}), tensor<std::int8_t>({wide.w[0]}, zeros)})[0],
                    plan.y, wanted, 0);
    }
  }
}

TEST(QLinearConv, RoundsHalvesToEvenAndSaturates) {
  const auto scalar = [](float v) { return floats({}, {v}); };
  const Tensor zero = tensor<std::uint8_t>({}, {0});
  const auto convolve = [&](float y_scale, std::uint8_t y_zero, std::vector<std::int32_t> bias) {
    const Tensor x = tensor<std::uint8_t>({1, 1, 4}, {1, 3, 5, 200}), w = tensor<std::int8_t>({1, 1, 1}, {2});
    return run("QLinearConv", {},
               {x, scalar(1), zero, w, scalar(1), tensor<std::int8_t>({}, {0}), scalar(y_scale),
                tensor<std::uint8_t>({}, {y_zero}), tensor<std::int32_t>({1}, std::move(bias))});
  };
  expect_values(convolve(4, 0, {0})[0], {1, 1, 4}, {0, 2, 2, 100}, 0);
  expect_values(convolve(1, 10, {0})[0], {1, 1, 4}, {12, 16, 20, 255}, 0);
  expect_values(convolve(1, 10, {-100})[0], {1, 1, 4}, {0, 0, 0, 255}, 0);
}

TEST(DeformConv, WithoutOffsetsIsConv) {
  for (const ConvCase& c : kConvCases) {
    if (c.auto_pad != "NOTSET" || c.x[0] == 0 || c.x[1] == 0) continue;
    SCOPED_TRACE(c.name);
    const Plan plan(c);
    const std::int64_t taps = plan.kernel[0] * plan.kernel[1] * plan.kernel[2],
                       rank = static_cast<std::int64_t>(c.x.size()) - 2;
    Shape offsets = plan.y, mask = plan.y;
    offsets[1] = taps * rank;
    mask[1] = taps;
    const Tensor x = random_floats(shape_of(c.x), 1), w = random_floats(shape_of(c.w), 2);
    const Tensor zeros = floats(offsets, std::vector<float>(static_cast<std::size_t>(offsets.num_elements()), 0));
    const Tensor halves = floats(mask, std::vector<float>(static_cast<std::size_t>(mask.num_elements()), 0.5f));
    std::vector<double> wanted = elements(run("Conv", attributes_of(c), {x, w})[0]);
    expect_values(run("DeformConv", attributes_of(c), {x, w, zeros})[0], plan.y, wanted, 1e-4);
    for (double& value : wanted) value /= 2;
    expect_values(run("DeformConv", attributes_of(c), {x, w, zeros, Value(), halves})[0], plan.y, wanted, 1e-4);
  }
}

TEST(DeformConv, InterpolatesBetweenElements) {
  const Tensor x = floats({1, 1, 1, 3}, {10, 20, 40}), w = floats({1, 1, 1, 1}, {1});
  const auto sample = [&](std::vector<float> along_x) {
    std::vector<float> offsets = {0, 0, 0};
    offsets.insert(offsets.end(), along_x.begin(), along_x.end());
    return run("DeformConv", {}, {x, w, floats({1, 2, 1, 3}, offsets)});
  };
  expect_values(sample({0.5f, 0.25f, 0.5f})[0], {1, 1, 1, 3}, {15, 25, 20});
  expect_values(sample({-0.5f, 100, std::numeric_limits<float>::quiet_NaN()})[0], {1, 1, 1, 3}, {5, 0, 0});
}

TEST(Col2Im, AddsOverlappingBlocks) {
  const Tensor columns = floats({1, 2, 3}, {1, 2, 3, 10, 20, 30});
  expect_in_all_types("Col2Im", {}, {columns, ints({1}, {4}), ints({1}, {2})}, {1, 1, 4}, {1, 12, 23, 30});
  expect_values(run("Col2Im", attributes({{"pads", Ints{1, 1}}}), {columns, ints({1}, {2}), ints({1}, {2})})[0],
                {1, 1, 2}, {12, 23});
  expect_error(ErrorCode::kInvalidArgument, "expected [N, C*2, 4]", "Col2Im", {},
               {columns, ints({1}, {5}), ints({1}, {2})});
}

TEST(CausalConvWithState, ContinuesFromItsState) {
  const Tensor x = random_floats({2, 3, 7}, 1), w = random_floats({3, 1, 4}, 2), bias = random_floats({3}, 3);
  for (const char* activation : {"none", "silu"}) {
    const auto attrs = attributes({{"activation", std::string(activation)}});
    const auto whole = run("CausalConvWithState", attrs, {x, w, bias}, 2);
    const auto part = [&](std::int64_t begin, std::int64_t end) {
      std::vector<float> values;
      for (std::int64_t line = 0; line < 6; ++line) {
        for (std::int64_t i = begin; i < end; ++i) values.push_back(x.data<float>()[line * 7 + i]);
      }
      return floats({2, 3, end - begin}, values);
    };
    const auto first = run("CausalConvWithState", attrs, {part(0, 2), w, bias}, 2);
    const auto second = run("CausalConvWithState", attrs, {part(2, 7), w, bias, first[1]}, 2);
    std::vector<double> joined;
    for (std::int64_t line = 0; line < 6; ++line) {
      for (std::int64_t i = 0; i < 2; ++i) joined.push_back(element(first[0].tensor(), line * 2 + i));
      for (std::int64_t i = 0; i < 5; ++i) joined.push_back(element(second[0].tensor(), line * 5 + i));
    }
    expect_values(whole[0], {2, 3, 7}, joined, 0);
    EXPECT_TRUE(identical(whole[1].tensor().view(), second[1].tensor().view()));
  }
  expect_error(ErrorCode::kInvalidModel, "activation", "CausalConvWithState",
               attributes({{"activation", std::string("relu")}}), {x, w});
}

}  // namespace
}  // namespace sardonyx::provider::cpu
