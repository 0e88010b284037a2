#include "apps/values/random_value.h"

#include <cmath>
#include <complex>

#include "apps/values/elements.h"
#include "base/fail.h"

namespace sardonyx::values {
namespace {

/// SplitMix64 (Steele, Lea, Flood 2014): the same numbers on every machine, unlike the standard library's
/// distributions.
class Generator {
 public:
  Generator(std::string_view name, std::uint64_t seed) : state_(seed) {
    for (const char c : name) state_ = next() ^ static_cast<unsigned char>(c);
  }
  std::uint64_t next() {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
  }
  double uniform() { return static_cast<double>(next() >> 11) * 0x1p-53; }
  /// Box and Muller 1958.
  double normal() { return std::sqrt(-2 * std::log(1 - uniform())) * std::cos(2 * 3.14159265358979323846 * uniform()); }

 private:
  std::uint64_t state_;
};

double integer_for(std::string_view name, ElementType type, Generator& generator) {
  if (type == ElementType::kBool || name.find("mask") != std::string_view::npos) return 1;
  if (name.find("type") != std::string_view::npos) return 0;
  const double limit = std::min(100.0, highest_integer(type) + 1);
  return std::floor(generator.uniform() * limit);
}

}  // namespace

Tensor random_tensor(std::string_view name, ElementType type, const Shape& shape, std::uint64_t seed) {
  Tensor tensor(type, shape);
  Generator generator(name, seed);
  const std::int64_t n = tensor.num_elements();
  for (std::int64_t i = 0; i < n; ++i) {
    if (type == ElementType::kString) {
      tensor.mutable_data<std::string>()[i] = "word" + std::to_string(generator.next() % 100);
    } else if (type == ElementType::kComplex64) {
      static_cast<std::complex<float>*>(tensor.view().data_ptr)[i] =
          std::complex<float>(std::complex<double>(generator.normal(), 0));
    } else if (type == ElementType::kComplex128) {
      static_cast<std::complex<double>*>(tensor.view().data_ptr)[i] = {generator.normal(), generator.normal()};
    } else {
      set_element(tensor.view(), i, is_floating_point(type) ? generator.normal() : integer_for(name, type, generator));
    }
  }
  return tensor;
}

}  // namespace sardonyx::values
