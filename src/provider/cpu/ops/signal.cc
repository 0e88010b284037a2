#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "graph/attribute.h"
#include "provider/cpu/dispatch.h"
#include "provider/cpu/kernel_list.h"
#include "provider/cpu/ops/element_mover.h"
#include "provider/cpu/ops/fourier.h"

namespace sardonyx::provider::cpu {
namespace {

template <typename C, typename T>
std::complex<C> read_complex(const T* at, std::int64_t components) {
  return {static_cast<C>(at[0]), components == 2 ? static_cast<C>(at[1]) : C(0)};
}

template <typename T, typename Value>
void write(T* at, Value value) {
  *at = T(static_cast<compute_type<T>>(value));
}

/// One signal among many in a tensor: elements `step` apart, each of `components` numbers.
class DftKernel final : public Kernel {
 public:
  explicit DftKernel(const NodeDesc& node)
      : inverse_(node.attributes->get_int("inverse", 0) != 0),
        onesided_(node.attributes->get_int("onesided", 0) != 0) {}

  void run(RunContext& context) const override {
    const TensorView &x = context.input(0), &y = context.output(0);
    const std::size_t rank = x.shape.rank();
    const std::size_t axis = normalized_axis(context.has_input(2) ? read_int(context.input(2)) : -2, rank);
    // All lengths but that of a one-sided forward transform show in the output's shape.
    std::int64_t length = y.shape[axis];
    if (onesided_ && !inverse_) length = context.has_input(1) ? read_int(context.input(1)) : x.shape[axis];
    if (y.num_elements() == 0) return;
    if (length < 1) fail(ErrorCode::kInvalidArgument, "a DFT of {} points", length);
    // Signals are transformed in double. Spectra go back in their own precision (16 bits: in float), as in the
    // standard's cases, whose expected values hold that rounding.
    dispatch(FloatTypes{}, x.type, "DFT", [&]<typename T>() {
      const auto n = static_cast<std::size_t>(length);
      inverse_ ? run_all<T>(context, x, y, axis, FourierTransform<compute_type<T>>(n))
               : run_all<T>(context, x, y, axis, FourierTransform<double>(n));
    });
  }

 private:
  template <typename T, typename C>
  void run_all(const RunContext& context, const TensorView& x, const TensorView& y, std::size_t axis,
               const FourierTransform<C>& transform) const {
    const std::size_t rank = x.shape.rank();
    const std::int64_t inner = x.shape.product(axis + 1, rank - 1), signals = x.shape.product(0, axis) * inner;
    const std::int64_t in_parts = x.shape[rank - 1], out_parts = y.shape[rank - 1];
    const auto length = static_cast<std::int64_t>(transform.length());
    const T* in = x.data<T>();
    T* out = y.mutable_data<T>();
    context.parallel.parallel_for(static_cast<std::size_t>(signals), 1, [&](std::size_t begin, std::size_t end) {
      std::vector<std::complex<C>> data(transform.length()), scratch(transform.scratch());
      for (auto s = static_cast<std::int64_t>(begin); s < static_cast<std::int64_t>(end); ++s) {
        const std::int64_t outer = s / inner, column = s % inner;
        const std::int64_t present = std::min(length, x.shape[axis]);
        std::fill(data.begin(), data.end(), std::complex<C>());
        for (std::int64_t i = 0; i < present; ++i) {
          data[static_cast<std::size_t>(i)] =
              read_complex<C>(in + ((outer * x.shape[axis] + i) * inner + column) * in_parts, in_parts);
        }
        if (inverse_ && onesided_) mirror(data, present);
        transform.run(data.data(), scratch.data(), inverse_);
        const C scale = inverse_ ? C(1) / static_cast<C>(length) : C(1);
        for (std::int64_t i = 0; i < y.shape[axis]; ++i) {
          T* at = out + ((outer * y.shape[axis] + i) * inner + column) * out_parts;
          write(at, data[static_cast<std::size_t>(i)].real() * scale);
          if (out_parts == 2) write(at + 1, data[static_cast<std::size_t>(i)].imag() * scale);
        }
      }
    });
  }

  /// Fills in the conjugate half of a real signal's spectrum from the first `present` entries.
  template <typename C>
  static void mirror(std::vector<std::complex<C>>& data, std::int64_t present) {
    const auto n = static_cast<std::int64_t>(data.size());
    const std::int64_t half = n / 2;
    for (std::int64_t i = half + 1; i < n; ++i)
      data[static_cast<std::size_t>(i)] = std::conj(data[static_cast<std::size_t>(n - i)]);
    data[0] = data[0].real();
    if (n % 2 == 0 && present > half)
      data[static_cast<std::size_t>(half)] = data[static_cast<std::size_t>(half)].real();
  }

  bool inverse_, onesided_;
};

class StftKernel final : public Kernel {
 public:
  explicit StftKernel(const NodeDesc&) {}
  void run(RunContext& context) const override {
    const TensorView &x = context.input(0), &y = context.output(0);
    const std::int64_t step = read_int(context.input(1));
    std::int64_t length = x.shape[1];
    if (context.has_input(2)) length = context.input(2).num_elements();
    if (context.has_input(3)) length = read_int(context.input(3));
    if (y.num_elements() == 0) return;
    if (step < 1 || length < 1)
      fail(ErrorCode::kInvalidArgument, "STFT with a step of {} and frames of {}", step, length);
    if (context.has_input(2) && context.input(2).num_elements() != length) {
      fail(ErrorCode::kInvalidArgument, "the window has {} samples, but a frame has {}",
           context.input(2).num_elements(), length);
    }
    dispatch(FloatTypes{}, x.type, "STFT", [&]<typename T>() {
      run_all<T>(context, x, y, step, FourierTransform<double>(static_cast<std::size_t>(length)));
    });
  }

 private:
  template <typename T>
  static void run_all(const RunContext& context, const TensorView& x, const TensorView& y, std::int64_t step,
                      const FourierTransform<double>& transform) {
    const std::int64_t frames = y.shape[1], bins = y.shape[2], parts = x.shape[2], samples = x.shape[1];
    const auto length = static_cast<std::int64_t>(transform.length());
    const T* in = x.data<T>();
    const T* window = context.has_input(2) ? context.input(2).data<T>() : nullptr;
    T* out = y.mutable_data<T>();
    context.parallel.parallel_for(
        static_cast<std::size_t>(x.shape[0] * frames), 4, [&](std::size_t begin, std::size_t end) {
          std::vector<std::complex<double>> data(transform.length()), scratch(transform.scratch());
          for (auto f = static_cast<std::int64_t>(begin); f < static_cast<std::int64_t>(end); ++f) {
            const T* frame = in + (f / frames * samples + f % frames * step) * parts;
            for (std::int64_t i = 0; i < length; ++i) {
              const double weight = window ? static_cast<double>(window[i]) : 1.0;
              data[static_cast<std::size_t>(i)] = read_complex<double>(frame + i * parts, parts) * weight;
            }
            transform.run(data.data(), scratch.data(), false);
            for (std::int64_t i = 0; i < bins; ++i) {
              write(out + (f * bins + i) * 2, data[static_cast<std::size_t>(i)].real());
              write(out + (f * bins + i) * 2 + 1, data[static_cast<std::size_t>(i)].imag());
            }
          }
        });
  }
};

/// a0 - a1 cos(2 pi i / n) + a2 cos(4 pi i / n), with n = size for periodic windows and size - 1 for symmetric ones.
class WindowKernel final : public Kernel {
 public:
  explicit WindowKernel(const NodeDesc& node) : periodic_(node.attributes->get_int("periodic", 1) != 0) {
    if (node.op_type == "HannWindow") {
      a0_ = a1_ = 0.5;
    } else if (node.op_type == "HammingWindow") {
      a0_ = 25.0 / 46.0;
      a1_ = 1 - a0_;
    } else {
      a0_ = 0.42;
      a1_ = 0.5;
      a2_ = 0.08;
    }
  }
  void run(RunContext& context) const override {
    const TensorView& out = context.output(0);
    const std::int64_t size = out.num_elements(), n = std::max<std::int64_t>(1, periodic_ ? size : size - 1);
    dispatch(NumberTypes{}, out.type, "a window", [&]<typename T>() {
      for (std::int64_t i = 0; i < size; ++i) {
        const double value = a0_ - a1_ * root_of_unity(i, n).real() + a2_ * root_of_unity(2 * i, n).real();
        write(out.mutable_data<T>() + i, std::max(value, 0.0));  // Blackman's ends come out a rounding error below 0
      }
    });
  }

 private:
  bool periodic_;
  double a0_ = 0, a1_ = 0, a2_ = 0;
};

double read_float(const TensorView& view) {
  double value = 0;
  dispatch(FloatTypes{}, view.type, "MelWeightMatrix",
           [&]<typename T>() { value = static_cast<double>(*view.data<T>()); });
  return value;
}

/// Triangles over spectrogram bins whose corners are evenly spaced on the mel scale, 2595 log10(1 + f / 700).
class MelWeightMatrixKernel final : public Kernel {
 public:
  explicit MelWeightMatrixKernel(const NodeDesc&) {}
  void run(RunContext& context) const override {
    const TensorView& out = context.output(0);
    const std::int64_t bins = out.shape[0], mels = out.shape[1];
    const std::int64_t dft_length = read_int(context.input(1)), rate = read_int(context.input(2));
    if (rate < 1) fail(ErrorCode::kInvalidArgument, "sample_rate must be positive, found {}", rate);
    const auto mel = [](double hertz) { return 2595 * std::log10(1 + hertz / 700); };
    const double low = mel(read_float(context.input(3))), high = mel(read_float(context.input(4)));
    std::vector<std::int64_t> corners;
    for (std::int64_t i = 0; i < mels + 2; ++i) {
      const double hertz =
          700 *
          (std::pow(10.0, (low + static_cast<double>(i) * (high - low) / static_cast<double>(mels + 2)) / 2595) - 1);
      const double corner = std::floor(static_cast<double>(dft_length + 1) * hertz / static_cast<double>(rate));
      if (!(corner >= 0 && corner < static_cast<double>(bins) + 1)) {
        fail(ErrorCode::kInvalidArgument, "{} Hz lies outside a spectrum of {} bins at a rate of {}", hertz, bins,
             rate);
      }
      corners.push_back(static_cast<std::int64_t>(corner));
    }
    dispatch(NumberTypes{}, out.type, "MelWeightMatrix", [&]<typename T>() {
      T* to = out.mutable_data<T>();
      std::fill(to, to + out.num_elements(), T(0));
      for (std::int64_t i = 0; i < mels; ++i) triangle(to + i, mels, bins, corners.data() + i);
    });
  }

 private:
  /// Column of the matrix: rises from corner[0] to 1 at corner[1], falls to corner[2].
  template <typename T>
  static void triangle(T* column, std::int64_t stride, std::int64_t bins, const std::int64_t* corner) {
    const std::int64_t left = corner[0], peak = corner[1], right = corner[2];
    const auto set = [&](std::int64_t bin, double value) {
      if (bin < bins) write(column + bin * stride, value);
    };
    if (peak == left) set(peak, 1);
    for (std::int64_t j = left; peak > left && j <= peak; ++j)
      set(j, static_cast<double>(j - left) / static_cast<double>(peak - left));
    for (std::int64_t j = peak; j < right; ++j)
      set(j, static_cast<double>(right - j) / static_cast<double>(right - peak));
  }
};

Support supports_float(const NodeDesc& node) {
  return is_one_of(FloatTypes{}, node.input_type(0)) ? Support::accept() : decline_type(node, 0);
}

Support supports_output(const NodeDesc& node) {
  if (is_one_of(NumberTypes{}, node.output_type(0))) return Support::accept();
  return Support::decline(std::string(node.op_type) + " has no kernel for an output of " +
                          std::string(name(node.output_type(0))));
}

}  // namespace

void add_signal_kernels(KernelTable& table) {
  table.push_back({"", "DFT", supports_float, make<DftKernel>});
  table.push_back({"", "STFT", supports_float, make<StftKernel>});
  for (const char* window : {"HannWindow", "HammingWindow", "BlackmanWindow"}) {
    table.push_back({"", window, supports_output, make<WindowKernel>});
  }
  table.push_back({"", "MelWeightMatrix", supports_output, make<MelWeightMatrixKernel>});
}

}  // namespace sardonyx::provider::cpu
