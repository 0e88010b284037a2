#include "provider/cpu/ops/fourier.h"

#include <algorithm>

#include "kernels/math/double_math.h"

namespace sardonyx::provider::cpu {
namespace {

constexpr std::size_t kLargestRadix = 31;
constexpr double kPi = 3.14159265358979323846;

template <typename C>
C times(const C& a, const C& b) {
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}

/// Prime factors up to kLargestRadix, fours for pairs of twos, a single two first; what remains is returned.
std::size_t factorize(std::size_t n, std::vector<std::size_t>& factors) {
  for (; n % 4 == 0; n /= 4) factors.push_back(4);
  if (n % 2 == 0) {
    factors.insert(factors.begin(), 2);
    n /= 2;
  }
  for (std::size_t p = 3; p <= kLargestRadix; p += 2) {
    for (; n % p == 0; n /= p) factors.push_back(p);
  }
  return n;
}

template <typename C>
void butterfly2(C* x) {
  const C a = x[0];
  x[0] = a + x[1];
  x[1] = a - x[1];
}

template <typename C>
void butterfly4(C* x) {
  const C a = x[0] + x[2], b = x[0] - x[2], c = x[1] + x[3], d = x[1] - x[3];
  const C turned{d.imag(), -d.real()};  // -i d
  x[0] = a + c;
  x[1] = b + turned;
  x[2] = a - c;
  x[3] = b - turned;
}

/// The transform of an odd number of points by sums and differences of x[r] and x[radix - r]. roots[k * step] is e^(-2
/// pi i k / radix).
template <typename C>
void butterfly_odd(C* x, std::size_t radix, const C* roots, std::size_t step) {
  using Real = typename C::value_type;
  C sum[kLargestRadix / 2 + 1], difference[kLargestRadix / 2 + 1], out[kLargestRadix];
  const std::size_t half = radix / 2;
  out[0] = x[0];
  for (std::size_t r = 1; r <= half; ++r) {
    sum[r] = x[r] + x[radix - r];
    difference[r] = x[r] - x[radix - r];
    out[0] += sum[r];
  }
  for (std::size_t q = 1; q <= half; ++q) {
    C even = x[0];
    Real odd_real = 0, odd_imag = 0;
    for (std::size_t r = 1; r <= half; ++r) {
      const C root = roots[q * r % radix * step];
      even += C(root.real() * sum[r].real(), root.real() * sum[r].imag());
      odd_real += root.imag() * difference[r].imag();
      odd_imag += root.imag() * difference[r].real();
    }
    out[q] = {even.real() - odd_real, even.imag() + odd_imag};
    out[radix - q] = {even.real() + odd_real, even.imag() - odd_imag};
  }
  std::copy(out, out + radix, x);
}

}  // namespace

std::complex<double> root_of_unity(std::int64_t k, std::int64_t n) {
  // Whole quarters of a turn are taken off exactly, so that the rest is small and symmetric points get equal values.
  k %= n;
  if (k < 0) k += n;
  const auto octant = static_cast<std::int64_t>(static_cast<__int128>(k) * 8 / n);
  const std::int64_t quarter = (octant + 1) / 2;
  const auto rest = static_cast<double>(static_cast<__int128>(k) * 4 - static_cast<__int128>(quarter) * n);
  const double angle = kPi / 2 * rest / static_cast<double>(n);
  const double c = kernels::double_math::cos_small(angle), s = kernels::double_math::sin_small(angle);
  switch (quarter % 4) {
    case 0: return {c, s};
    case 1: return {-s, c};
    case 2: return {-c, -s};
    default: return {s, -c};
  }
}

template <typename Real>
FourierTransform<Real>::FourierTransform(std::size_t length) : length_(length), scratch_(length) {
  const auto n = static_cast<std::int64_t>(length);
  if (factorize(std::max<std::size_t>(length, 1), factors_) == 1) {
    for (std::int64_t k = 0; k < n; ++k) roots_.emplace_back(root_of_unity(-k, n));
    return;
  }
  // k n = (k^2 + n^2 - (k - n)^2) / 2 turns the sum into a convolution with a chirp.
  for (std::int64_t k = 0; k < n; ++k) {
    const auto square = static_cast<std::int64_t>(static_cast<__int128>(k) * k % (2 * n));
    chirp_.emplace_back(root_of_unity(-square, 2 * n));
  }
  std::size_t padded = 1;
  while (padded < 2 * length - 1) padded *= 2;
  padded_.emplace_back(padded);
  kernel_spectrum_.assign(padded, {});
  kernel_spectrum_[0] = std::conj(chirp_[0]);
  for (std::size_t k = 1; k < length; ++k) kernel_spectrum_[k] = kernel_spectrum_[padded - k] = std::conj(chirp_[k]);
  std::vector<Complex> scratch(padded);
  padded_[0].run(kernel_spectrum_.data(), scratch.data(), false);
  scratch_ = 2 * padded;
}

template <typename Real>
void FourierTransform<Real>::run(Complex* data, Complex* scratch, bool inverse) const {
  if (length_ <= 1) return;
  const auto conjugate = [&] {
    for (std::size_t i = 0; i < length_; ++i) data[i] = std::conj(data[i]);
  };
  if (inverse) conjugate();
  padded_.empty() ? mixed_radix(data, scratch) : bluestein(data, scratch);
  if (inverse) conjugate();
}

/// Decimation in frequency between two buffers, which leaves the result in order (Stockham).
template <typename Real>
void FourierTransform<Real>::mixed_radix(Complex* data, Complex* scratch) const {
  Complex *from = data, *to = scratch;
  std::size_t done = 1;  // product of the factors behind us
  for (const std::size_t radix : factors_) {
    const std::size_t rest = length_ / (done * radix);
    for (std::size_t k = 0; k < done; ++k) {
      for (std::size_t i = 0; i < rest; ++i) {
        Complex x[kLargestRadix];
        for (std::size_t p = 0; p < radix; ++p) x[p] = from[i + rest * (p + radix * k)];
        if (radix == 2) {
          butterfly2(x);
        } else if (radix == 4) {
          butterfly4(x);
        } else {
          butterfly_odd(x, radix, roots_.data(), length_ / radix);
        }
        to[i + rest * k] = x[0];
        for (std::size_t q = 1; q < radix; ++q)
          to[i + rest * (k + done * q)] = i == 0 ? x[q] : times(x[q], roots_[q * i * done]);
      }
    }
    done *= radix;
    std::swap(from, to);
  }
  if (from != data) std::copy(from, from + length_, data);
}

template <typename Real>
void FourierTransform<Real>::bluestein(Complex* data, Complex* scratch) const {
  const std::size_t padded = padded_[0].length();
  Complex* signal = scratch;
  for (std::size_t i = 0; i < length_; ++i) signal[i] = times(data[i], chirp_[i]);
  std::fill(signal + length_, signal + padded, Complex());
  padded_[0].run(signal, scratch + padded, false);
  for (std::size_t i = 0; i < padded; ++i) signal[i] = times(signal[i], kernel_spectrum_[i]);
  padded_[0].run(signal, scratch + padded, true);
  for (std::size_t i = 0; i < length_; ++i) data[i] = times(signal[i], chirp_[i]) / static_cast<Real>(padded);
}

template class FourierTransform<float>;
template class FourierTransform<double>;

}  // namespace sardonyx::provider::cpu
