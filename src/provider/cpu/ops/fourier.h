#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace sardonyx::provider::cpu {

/// e^(2 pi i k / n), the argument reduced exactly; the same on every machine.
std::complex<double> root_of_unity(std::int64_t k, std::int64_t n);

/// A discrete Fourier transform of one length in float or double arithmetic: mixed radix where all prime factors are
/// small, else Bluestein's convolution. Immutable after construction; threads may share it.
template <typename Real>
class FourierTransform {
 public:
  using Complex = std::complex<Real>;
  explicit FourierTransform(std::size_t length);

  std::size_t length() const { return length_; }
  /// Complex numbers of scratch that run() needs.
  std::size_t scratch() const { return scratch_; }
  /// data[k] <- sum of data[n] e^(-2 pi i k n / length), or with + where `inverse` (unscaled). In place.
  void run(Complex* data, Complex* scratch, bool inverse) const;

 private:
  void mixed_radix(Complex* data, Complex* scratch) const;
  void bluestein(Complex* data, Complex* scratch) const;

  std::size_t length_, scratch_ = 0;
  std::vector<std::size_t> factors_;
  std::vector<Complex> roots_;                    // e^(-2 pi i k / length)
  std::vector<Complex> chirp_, kernel_spectrum_;  // Bluestein only
  std::vector<FourierTransform> padded_;          // Bluestein: the power of two that carries the convolution
};

extern template class FourierTransform<float>;
extern template class FourierTransform<double>;

}  // namespace sardonyx::provider::cpu
