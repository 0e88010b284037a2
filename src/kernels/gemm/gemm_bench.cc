#include <benchmark/benchmark.h>
#include <vector>

#include "base/aligned.h"
#include "kernels/gemm/gemm.h"
#include "kernels/gemm/integer_gemm.h"
#include "kernels/simd/dispatch.h"

// Rates are multiply-adds times two per second. The weights of a run are spread over 170 MB, so that they stream from
// memory as a model's do; `hot` repeats one matrix.

namespace sardonyx::kernels {
namespace {

constexpr std::size_t kWeightFloats = std::size_t{42} << 20;

void run_gemm(benchmark::State& state, bool hot) {
  const auto m = static_cast<std::size_t>(state.range(0));
  const auto n = static_cast<std::size_t>(state.range(1));
  const auto k = static_cast<std::size_t>(state.range(2));
  const std::size_t size = packed_b_size(k, n);
  const std::size_t copies = hot ? 1 : std::max<std::size_t>(1, kWeightFloats / size);
  const AlignedArray<float> weights = make_aligned<float>(size * copies);
  std::vector<float> b(k * n, 0.01f), a(m * k, 0.5f), c(m * n), bias(n, 0.1f);
  std::vector<PackedB> packed;
  for (std::size_t i = 0; i < copies; ++i) {
    packed.push_back(pack_b(b.data(), static_cast<std::ptrdiff_t>(n), 1, k, n, weights.get() + i * size));
  }
  const AlignedArray<float> workspace = make_aligned<float>(gemm_workspace_size(m, n, k));
  GemmEpilogue epilogue;
  epilogue.bias = bias.data();
  const Parallel parallel{&ThreadPool::global(), static_cast<int>(state.range(3))};
  std::size_t next = 0;
  for (auto _ : state) {
    gemm(m, {a.data(), static_cast<std::ptrdiff_t>(k)}, packed[next], c.data(), n, epilogue, workspace.get(), parallel);
    next = next + 1 == copies ? 0 : next + 1;
    benchmark::DoNotOptimize(c.data());
  }
  state.counters["GFLOP/s"] =
      benchmark::Counter(2e-9 * static_cast<double>(m * n * k), benchmark::Counter::kIsIterationInvariantRate);
}

void gemm_cold(benchmark::State& state) { run_gemm(state, false); }
void gemm_hot(benchmark::State& state) { run_gemm(state, true); }

void integer_gemm_cold(benchmark::State& state) {
  const auto m = static_cast<std::size_t>(state.range(0));
  const auto n = static_cast<std::size_t>(state.range(1));
  const auto k = static_cast<std::size_t>(state.range(2));
  const std::size_t size = (packed_integer_b_size(k, n) + 63) / 64 * 64;
  const std::size_t copies = std::max<std::size_t>(1, kWeightFloats / size);
  const AlignedArray<std::byte> weights = make_aligned<std::byte>(size * copies);
  std::vector<std::int8_t> b(k * n, 3);
  std::vector<std::uint8_t> a(m * k, 130);
  std::vector<float> c(m * n), bias(n, 0.1f);
  std::vector<PackedIntegerB> packed;
  for (std::size_t i = 0; i < copies; ++i) {
    packed.push_back(pack_integer_b(b.data(), true, static_cast<std::ptrdiff_t>(n), 1, k, n, weights.get() + i * size));
  }
  const AlignedArray<std::byte> workspace = make_aligned<std::byte>(integer_gemm_workspace_size(m, n, k));
  IntegerEpilogue epilogue;
  epilogue.bias = bias.data();
  const std::int32_t zero = 128;
  const Parallel parallel{&ThreadPool::global(), static_cast<int>(state.range(3))};
  std::size_t next = 0;
  for (auto _ : state) {
    integer_gemm(m, {a.data(), false, k, {&zero, 0}}, packed[next], {}, IntegerOutput::kFloat, c.data(), n, epilogue,
                 workspace.get(), parallel);
    next = next + 1 == copies ? 0 : next + 1;
  }
  state.counters["GOP/s"] =
      benchmark::Counter(2e-9 * static_cast<double>(m * n * k), benchmark::Counter::kIsIterationInvariantRate);
}

/// Peak of one core: a tile whose operands stay in the first-level cache.
void gemm_peak(benchmark::State& state) {
  const std::size_t m = active_isa() >= Isa::kAvx512 ? 14 : active_isa() == Isa::kAvx2 ? 6 : 2;
  const std::size_t n = active_isa() >= Isa::kAvx512 ? 32 : 16, k = 200;
  const AlignedArray<float> packed = make_aligned<float>(packed_b_size(k, n));
  std::vector<float> b(k * n, 0.01f), a(m * k, 0.5f), c(m * n);
  const PackedB view = pack_b(b.data(), static_cast<std::ptrdiff_t>(n), 1, k, n, packed.get());
  for (auto _ : state) {
    for (int i = 0; i < 100; ++i) gemm(m, {a.data(), static_cast<std::ptrdiff_t>(k)}, view, c.data(), n, {}, nullptr);
  }
  state.counters["GFLOP/s"] =
      benchmark::Counter(200e-9 * static_cast<double>(m * n * k), benchmark::Counter::kIsIterationInvariantRate);
}

BENCHMARK(gemm_peak);
BENCHMARK(gemm_cold)
    ->ArgNames({"m", "n", "k", "threads"})
    ->ArgsProduct({{1, 4, 10, 30, 64, 128, 512}, {768}, {768}, {1}})
    ->ArgsProduct({{10, 30, 128, 512}, {3072}, {768}, {1}})
    ->ArgsProduct({{10, 30, 128, 512}, {768}, {3072}, {1}});
BENCHMARK(gemm_hot)->ArgNames({"m", "n", "k", "threads"})->ArgsProduct({{1, 10, 128}, {768}, {768}, {1}});
BENCHMARK(integer_gemm_cold)
    ->ArgNames({"m", "n", "k", "threads"})
    ->ArgsProduct({{1, 10, 30, 128}, {768}, {768, 3072}, {1}});

}  // namespace
}  // namespace sardonyx::kernels
