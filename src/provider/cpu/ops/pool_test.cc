#include "provider/cpu/ops/op_test_util.h"

namespace sardonyx::provider::cpu {
namespace {

using namespace testing;  // NOLINT(google-build-using-namespace)
using Ints = std::vector<std::int64_t>;

struct PoolCase {
  const char* name;
  Ints in, kernel, strides, dilations, pads;  ///< two spatial axes; pads may be empty
  bool ceil = false;
};

const PoolCase kPoolCases[] = {
    {"2x2", {6, 6}, {2, 2}, {2, 2}, {1, 1}, {}},
    {"3x3 overlapping", {7, 5}, {3, 3}, {1, 1}, {1, 1}, {}},
    {"padded", {5, 5}, {3, 2}, {2, 1}, {1, 1}, {1, 0, 1, 1}},
    {"dilated", {9, 9}, {3, 2}, {1, 2}, {2, 3}, {}},
    {"ceil", {5, 6}, {2, 3}, {2, 2}, {1, 1}, {}, true},
    {"ceil, window in the padding left out", {4, 4}, {1, 1}, {3, 3}, {1, 1}, {0, 0, 2, 2}, true},
    {"ceil and padded", {6, 7}, {3, 3}, {2, 2}, {1, 1}, {1, 1, 1, 1}, true},
    {"one element", {1, 1}, {1, 1}, {1, 1}, {1, 1}, {}},
    {"wide", {2, 40}, {2, 3}, {1, 3}, {1, 1}, {}},
};

graph::Attributes attributes_of(const PoolCase& c) {
  graph::Attributes result =
      attributes({{"kernel_shape", c.kernel}, {"strides", c.strides}, {"dilations", c.dilations}});
  if (!c.pads.empty()) result.set("pads", c.pads);
  if (c.ceil) result.set("ceil_mode", std::int64_t{1});
  return result;
}

std::int64_t windows(const PoolCase& c, std::size_t axis) {
  const std::int64_t begin = c.pads.empty() ? 0 : c.pads[axis], end = c.pads.empty() ? 0 : c.pads[2 + axis];
  const double room = static_cast<double>(c.in[axis] + begin + end - (c.kernel[axis] - 1) * c.dilations[axis] - 1) /
                      static_cast<double>(c.strides[axis]);
  auto count = static_cast<std::int64_t>(c.ceil ? std::ceil(room) : std::floor(room)) + 1;
  if (c.ceil && (count - 1) * c.strides[axis] >= c.in[axis] + begin) --count;
  return count;
}

/// The elements of every window of every plane: fn(values, positions in the plane, taps in the padded input) makes the
/// output.
template <typename Fn>
std::vector<double> for_windows(const PoolCase& c, const Tensor& x, Fn&& fn) {
  std::vector<double> result;
  const std::int64_t height = c.in[0], width = c.in[1];
  const auto pad = [&](std::size_t i) { return c.pads.empty() ? 0 : c.pads[i]; };
  for (std::int64_t plane = 0; plane < x.num_elements() / (height * width); ++plane) {
    for (std::int64_t row = 0; row < windows(c, 0); ++row) {
      for (std::int64_t column = 0; column < windows(c, 1); ++column) {
        std::vector<double> values;
        Ints positions;
        std::int64_t padded = 0;
        for (std::int64_t tap = 0; tap < c.kernel[0] * c.kernel[1]; ++tap) {
          const std::int64_t y = row * c.strides[0] - pad(0) + tap / c.kernel[1] * c.dilations[0];
          const std::int64_t z = column * c.strides[1] - pad(1) + tap % c.kernel[1] * c.dilations[1];
          padded += y < height + pad(2) && z < width + pad(3) ? 1 : 0;
          if (y < 0 || y >= height || z < 0 || z >= width) continue;
          values.push_back(element(x, (plane * height + y) * width + z));
          positions.push_back((plane * height + y) * width + z);
        }
        result.push_back(fn(values, positions, padded));
      }
    }
  }
  return result;
}

TEST(Pools, MatchTheirDefinitionsInEveryType) {
  for (const PoolCase& c : kPoolCases) {
    SCOPED_TRACE(c.name);
    const Tensor x = random_floats({2, 3, c.in[0], c.in[1]}, 1);
    const Shape y = {2, 3, windows(c, 0), windows(c, 1)};
    const auto sum = [](const std::vector<double>& v) {
      double s = 0;
      for (double e : v) s += e;
      return s;
    };
    expect_in_all_types("MaxPool", attributes_of(c), {x}, y,
                        for_windows(c, x, [](const auto& v, const auto&, std::int64_t) {
                          return *std::max_element(v.begin(), v.end());
                        }));
    expect_in_all_types("AveragePool", attributes_of(c), {x}, y,
                        for_windows(c, x, [&](const auto& v, const auto&, std::int64_t) {
                          return sum(v) / static_cast<double>(v.size());
                        }));
    graph::Attributes padded = attributes_of(c);
    padded.set("count_include_pad", std::int64_t{1});
    expect_in_all_types(
        "AveragePool", padded, {x}, y,
        for_windows(c, x, [&](const auto& v, const auto&, std::int64_t n) { return sum(v) / static_cast<double>(n); }));
    for (std::int64_t p : {1, 2, 3}) {
      graph::Attributes lp = attributes_of(c);
      lp.set("p", p);
      const auto norm = [&](const std::vector<double>& v, const Ints&, std::int64_t) {
        double s = 0;
        for (double e : v) s += std::pow(std::abs(e), static_cast<double>(p));
        return std::pow(s, 1.0 / static_cast<double>(p));
      };
      expect_in_all_types("LpPool", lp, {x}, y, for_windows(c, x, norm));
    }
  }
}

TEST(MaxPool, IndicesOfTheFirstGreatest) {
  for (const PoolCase& c : kPoolCases) {
    SCOPED_TRACE(c.name);
    const Tensor x = random_floats({2, 2, c.in[0], c.in[1]}, 2);
    const auto outputs = run("MaxPool", attributes_of(c), {x}, 2);
    const auto first = [](const std::vector<double>& v, const Ints& at, std::int64_t) {
      return static_cast<double>(at[static_cast<std::size_t>(std::max_element(v.begin(), v.end()) - v.begin())]);
    };
    expect_values(outputs[1], {2, 2, windows(c, 0), windows(c, 1)}, for_windows(c, x, first), 0);
    graph::Attributes transposed = attributes_of(c);
    transposed.set("storage_order", std::int64_t{1});
    const std::int64_t height = c.in[0], width = c.in[1];
    const auto column_major = [&](const std::vector<double>& v, const Ints& at, std::int64_t n) {
      const auto i = static_cast<std::int64_t>(first(v, at, n));
      return static_cast<double>(i / (height * width) * height * width + i % width * height + i / width % height);
    };
    expect_values(run("MaxPool", transposed, {x}, 2)[1], {2, 2, windows(c, 0), windows(c, 1)},
                  for_windows(c, x, column_major), 0);
  }
}

TEST(MaxPool, OtherTypesAndValues) {
  const auto attrs = attributes({{"kernel_shape", Ints{2}}});
  expect_values(run("MaxPool", attrs, {tensor<std::int8_t>({1, 1, 3}, {-128, -127, -3})})[0], {1, 1, 2}, {-127, -3}, 0);
  expect_values(run("MaxPool", attrs, {tensor<std::uint8_t>({1, 1, 3}, {255, 0, 1})})[0], {1, 1, 2}, {255, 1}, 0);
  const float nan = std::numeric_limits<float>::quiet_NaN(), inf = std::numeric_limits<float>::infinity();
  expect_values(run("MaxPool", attrs, {floats({1, 1, 4}, {nan, 1, -inf, -inf})})[0], {1, 1, 3}, {kNaN, 1, -kInfinity});
  expect_values(run("MaxPool", attrs, {floats({1, 1, 3}, {1, nan, 2})}, 2)[1], {1, 1, 2}, {1, 1}, 0);
  expect_values(run("MaxPool", attrs, {floats({0, 3, 4}, {})})[0], {0, 3, 3}, {});
}

TEST(Pools, Errors) {
  const Tensor x = random_floats({1, 1, 4, 4}, 1);
  expect_error(ErrorCode::kInvalidModel, "kernel_shape", "MaxPool", {}, {x});
  expect_error(ErrorCode::kInvalidModel, "kernel_shape", "AveragePool", attributes({{"kernel_shape", Ints{2}}}), {x});
  expect_error(ErrorCode::kInvalidModel, "does not fit", "MaxPool", attributes({{"kernel_shape", Ints{9, 9}}}), {x});
  expect_error(ErrorCode::kInvalidModel, "'p'", "LpPool",
               attributes({{"kernel_shape", Ints{2, 2}}, {"p", std::int64_t{0}}}), {x});
}

TEST(GlobalPools, EveryTypeAndSize) {
  for (std::int64_t n : {1, 15, 16, 17, 49, 5000}) {
    SCOPED_TRACE(n);
    const Tensor x = random_floats({2, 3, n}, 4);
    std::vector<double> mean(6, 0), greatest(6, -kInfinity), norm(6, 0);
    for (std::int64_t i = 0; i < 6 * n; ++i) {
      const double value = element(x, i);
      mean[static_cast<std::size_t>(i / n)] += value / static_cast<double>(n);
      greatest[static_cast<std::size_t>(i / n)] = std::max(greatest[static_cast<std::size_t>(i / n)], value);
      norm[static_cast<std::size_t>(i / n)] += value * value;
    }
    for (double& value : norm) value = std::sqrt(value);
    expect_in_all_types("GlobalAveragePool", {}, {x}, {2, 3, 1}, mean);
    expect_in_all_types("GlobalMaxPool", {}, {x}, {2, 3, 1}, greatest);
    expect_in_all_types("GlobalLpPool", {}, {x}, {2, 3, 1}, norm);
  }
  expect_values(run("GlobalAveragePool", {}, {floats({1, 1, 0}, {})})[0], {1, 1, 1}, {kNaN});
}

TEST(MaxUnpool, UndoesMaxPool) {
  const auto attrs = attributes({{"kernel_shape", Ints{2, 2}}, {"strides", Ints{2, 2}}});
  const Tensor x = floats({1, 1, 2, 4}, {1, 5, 2, 0, 3, 4, 8, 7});
  const auto pooled = run("MaxPool", attrs, {x}, 2);
  expect_values(run("MaxUnpool", attrs, {pooled[0], pooled[1]})[0], {1, 1, 2, 4}, {0, 5, 0, 0, 0, 0, 8, 0});
  expect_values(run("MaxUnpool", attrs, {pooled[0], pooled[1], ints({4}, {1, 1, 2, 5})})[0], {1, 1, 2, 5},
                {0, 5, 0, 0, 0, 0, 0, 8, 0, 0});
  expect_error(ErrorCode::kInvalidArgument, "index", "MaxUnpool", attrs,
               {floats({1, 1, 1, 1}, {1}), ints({1, 1, 1, 1}, {4})});
}

TEST(RoiAlign, AveragesInsideTheRegion) {
  const Tensor x = floats({1, 1, 2, 2}, {0, 1, 2, 3});
  const auto attrs = attributes(
      {{"coordinate_transformation_mode", std::string("output_half_pixel")}, {"sampling_ratio", std::int64_t{1}}});
  expect_in_all_types("RoiAlign", attrs, {x, floats({2, 4}, {0, 0, 1, 1, 0, 0, 1, 0}), ints({2}, {0, 0})}, {2, 1, 1, 1},
                      {1.5, 1.5});
  expect_error(ErrorCode::kInvalidArgument, "batch", "RoiAlign", attrs,
               {x, floats({1, 4}, {0, 0, 1, 1}), ints({1}, {1})});
  expect_values(run("RoiAlign", attrs, {x, floats({0, 4}, {}), ints({0}, {})})[0], {0, 1, 1, 1}, {});
}

TEST(MaxRoiPool, GreatestInEachBin) {
  const Tensor x = floats({1, 1, 2, 4}, {1, 2, 3, 4, 5, 6, 7, 8});
  const auto attrs = attributes({{"pooled_shape", Ints{1, 2}}});
  expect_in_all_types("MaxRoiPool", attrs, {x, floats({2, 5}, {0, 0, 0, 3, 1, 0, 1, 0, 2, 0})}, {2, 1, 1, 2},
                      {6, 8, 2, 3});
  expect_error(ErrorCode::kInvalidArgument, "batch", "MaxRoiPool", attrs, {x, floats({1, 5}, {-1, 0, 0, 1, 1})});
}

}  // namespace
}  // namespace sardonyx::provider::cpu
