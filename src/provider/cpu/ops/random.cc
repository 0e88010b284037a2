#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <random>

#include "provider/cpu/convert.h"
#include "provider/cpu/families.h"
#include "provider/cpu/ops/axis_view.h"

namespace sardonyx::provider::cpu {
namespace {

/// A stream of random numbers that is a function of (seed, position), so that it is the same however it is cut among
/// threads.
class RandomStream {
 public:
  explicit RandomStream(std::uint64_t seed) : seed_(mix(seed + kStep)) {}

  std::uint64_t bits(std::uint64_t position) const { return mix(seed_ + position * kStep); }
  /// In [0, 1), a multiple of 2^-53.
  double uniform(std::uint64_t position) const { return static_cast<double>(bits(position) >> 11) * 0x1p-53; }
  /// Standard normal, by Box and Muller's transform of two numbers.
  double normal(std::uint64_t position) const {
    const double radius = std::sqrt(-2 * std::log(1 - uniform(2 * position)));
    return radius * std::cos(6.283185307179586476925 * uniform(2 * position + 1));
  }

 private:
  static constexpr std::uint64_t kStep = 0x9e3779b97f4a7c15;

  /// Steele, Lea and Flood's SplitMix64 finaliser.
  static std::uint64_t mix(std::uint64_t z) {
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }

  std::uint64_t seed_;
};

/// Where a node's numbers come from: with a `seed` attribute every run draws the same ones, without one every run
/// others.
class RandomSource {
 public:
  explicit RandomSource(const NodeDesc& node) : seeded_(node.attributes->has("seed")) {
    if (seeded_) {
      seed_ = std::bit_cast<std::uint32_t>(node.attributes->get_float("seed"));
    } else {
      std::random_device device;
      seed_ = static_cast<std::uint64_t>(device()) << 32 | device();
    }
  }
  RandomStream stream() const {
    if (seeded_) return RandomStream(seed_);
    return RandomStream(seed_ + runs_.fetch_add(1, std::memory_order_relaxed) * 0x2545f4914f6cdd1d);
  }

 private:
  bool seeded_;
  std::uint64_t seed_ = 0;
  mutable std::atomic<std::uint64_t> runs_{0};
};

/// y[i] = fn(i) for every element.
template <typename Fn>
void fill(const Parallel& parallel, const TensorView& y, Fn fn) {
  parallel.parallel_for(static_cast<std::size_t>(y.num_elements()), kElementChunk,
                        [&](std::size_t begin, std::size_t end) {
                          constexpr std::size_t kBlock = 256;
                          double block[kBlock];
                          for (std::size_t i = begin; i < end; i += kBlock) {
                            const std::size_t count = std::min(kBlock, end - i);
                            for (std::size_t j = 0; j < count; ++j) block[j] = fn(i + j);
                            store_elements(block, y, i, count);
                          }
                        });
}

class UniformKernel final : public Kernel {
 public:
  explicit UniformKernel(const NodeDesc& node)
      : source_(node), low_(node.attributes->get_float("low", 0.0f)), high_(node.attributes->get_float("high", 1.0f)) {}
  void run(RunContext& context) const override {
    const RandomStream stream = source_.stream();
    const double low = low_, span = static_cast<double>(high_) - low;
    fill(context.parallel, context.output(0), [&](std::size_t i) { return low + span * stream.uniform(i); });
  }

 private:
  RandomSource source_;
  float low_, high_;
};

class NormalKernel final : public Kernel {
 public:
  explicit NormalKernel(const NodeDesc& node)
      : source_(node),
        mean_(node.attributes->get_float("mean", 0.0f)),
        scale_(node.attributes->get_float("scale", 1.0f)) {}
  void run(RunContext& context) const override {
    const RandomStream stream = source_.stream();
    const double mean = mean_, scale = scale_;
    fill(context.parallel, context.output(0), [&](std::size_t i) { return mean + scale * stream.normal(i); });
  }

 private:
  RandomSource source_;
  float mean_, scale_;
};

class BernoulliKernel final : public Kernel {
 public:
  explicit BernoulliKernel(const NodeDesc& node) : source_(node) {}
  void run(RunContext& context) const override {
    const RandomStream stream = source_.stream();
    const TensorView& p = context.input(0);
    fill(context.parallel, context.output(0), [&](std::size_t i) {
      double probability = 0;
      load_elements(p, i, 1, &probability);
      return stream.uniform(i) < probability ? 1.0 : 0.0;
    });
  }

 private:
  RandomSource source_;
};

/// Classes drawn by unnormalised log probabilities, [batch, classes] -> [batch, samples].
class MultinomialKernel final : public Kernel {
 public:
  explicit MultinomialKernel(const NodeDesc& node) : source_(node) {}

  Binding bind(const BindContext& shapes) const override {
    return {.workspace_bytes = static_cast<std::size_t>(shapes.inputs[0]->num_elements()) * sizeof(double)};
  }

  void run(RunContext& context) const override {
    const TensorView &x = context.input(0), &y = context.output(0);
    const auto batch = static_cast<std::size_t>(x.shape[0]), classes = static_cast<std::size_t>(x.shape[1]);
    const auto samples = static_cast<std::size_t>(y.shape[1]);
    if (batch * samples == 0) return;
    if (classes == 0)
      fail(ErrorCode::kInvalidArgument, "Multinomial has no classes to draw from: input shape {}", x.shape.to_string());
    const RandomStream stream = source_.stream();
    auto* memory = reinterpret_cast<double*>(context.workspace());
    context.parallel.parallel_for(batch, chunk_of(classes + samples), [&](std::size_t begin, std::size_t end) {
      for (std::size_t b = begin; b < end; ++b) {
        double* sums = memory + b * classes;
        load_elements(x, b * classes, classes, sums);
        accumulate(sums, classes);
        for (std::size_t s = 0; s < samples; ++s) {
          const double wanted = stream.uniform(b * samples + s) * sums[classes - 1];
          const auto drawn = static_cast<std::int64_t>(std::upper_bound(sums, sums + classes - 1, wanted) - sums);
          store_elements(&drawn, y, b * samples + s, 1);
        }
      }
    });
  }

 private:
  /// Log probabilities become running sums of probabilities, up to a factor.
  static void accumulate(double* values, std::size_t count) {
    const double greatest = *std::max_element(values, values + count);
    double total = 0;
    for (std::size_t i = 0; i < count; ++i) {
      total += std::exp(values[i] - greatest);
      values[i] = total;
    }
  }

  RandomSource source_;
};

}  // namespace

void add_random_kernels(KernelTable& table) {
  table.push_back({"", "RandomUniform", always, make<UniformKernel>});
  table.push_back({"", "RandomUniformLike", always, make<UniformKernel>});
  table.push_back({"", "RandomNormal", always, make<NormalKernel>});
  table.push_back({"", "RandomNormalLike", always, make<NormalKernel>});
  table.push_back({"", "Bernoulli", always, make<BernoulliKernel>});
  table.push_back({"", "Multinomial", always, make<MultinomialKernel>});
}

}  // namespace sardonyx::provider::cpu
