#include "kernels/transpose/transpose.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <vector>

namespace sardonyx::kernels {
namespace {

std::vector<std::uint8_t> expected(const std::vector<std::uint8_t>& x, const std::vector<std::int64_t>& dims,
                                   const std::vector<int>& permutation, std::size_t size) {
  std::vector<std::uint8_t> y(x.size());
  std::vector<std::int64_t> out_dims;
  for (int axis : permutation) out_dims.push_back(dims[static_cast<std::size_t>(axis)]);
  for (std::size_t i = 0; i < x.size() / size; ++i) {
    std::vector<std::int64_t> at(dims.size());
    std::size_t rest = i;
    for (std::size_t axis = dims.size(); axis-- > 0;) {
      at[static_cast<std::size_t>(permutation[axis])] = static_cast<std::int64_t>(rest) % out_dims[axis];
      rest /= static_cast<std::size_t>(out_dims[axis]);
    }
    std::int64_t from = 0;
    for (std::size_t axis = 0; axis < dims.size(); ++axis) from = from * dims[axis] + at[axis];
    std::memcpy(y.data() + i * size, x.data() + static_cast<std::size_t>(from) * size, size);
  }
  return y;
}

TEST(Transpose, EveryPermutationAndElementSize) {
  ThreadPool pool(3);
  const std::vector<std::vector<std::int64_t>> shapes = {{}, {5}, {3, 7}, {33, 65}, {130, 40}, {2, 3, 4}, {5, 1, 16}, {17, 2, 33}, {0, 3},
                                                         {2, 3, 4, 5}, {3, 16, 2, 32}, {2, 1, 3, 2, 5}};
  for (const auto& dims : shapes) {
    std::vector<int> permutation(dims.size());
    std::iota(permutation.begin(), permutation.end(), 0);
    const auto count = static_cast<std::size_t>(std::accumulate(dims.begin(), dims.end(), std::int64_t{1}, std::multiplies<>()));
    do {
      for (std::size_t size : {1, 2, 3, 4, 8, 16}) {
        std::vector<std::uint8_t> x(count * size), y(count * size, 0xee);
        for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<std::uint8_t>(i * 37 + i / 251);
        transpose(x.data(), dims.data(), permutation.data(), dims.size(), size, y.data(), size == 4 ? Parallel{&pool, 3} : Parallel{});
        ASSERT_EQ(y, expected(x, dims, permutation, size)) << "rank " << dims.size() << " size " << size;
      }
    } while (std::next_permutation(permutation.begin(), permutation.end()));
  }
}

}  // namespace
}  // namespace sardonyx::kernels
