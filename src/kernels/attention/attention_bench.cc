#include <benchmark/benchmark.h>
#include <vector>

#include "base/aligned.h"
#include "kernels/attention/attention.h"

namespace sardonyx::kernels {
namespace {

void self_attention(benchmark::State& state) {
  AttentionArguments a;
  a.heads = 12;
  a.queries = static_cast<std::size_t>(state.range(0));
  a.keys = static_cast<std::size_t>(state.range(1));
  a.head_dim = a.value_dim = 64;
  a.scale = 0.125f;
  std::vector<float> q(a.queries * 768, 0.1f), k(a.keys * 768, 0.2f), v(a.keys * 768, 0.3f), out(a.queries * 768);
  std::vector<float> mask(a.keys, 0.0f);
  a.q = q.data();
  a.k = k.data();
  a.v = v.data();
  a.out = out.data();
  a.q_strides = a.k_strides = a.v_strides = a.out_strides = {0, 64, 768};
  a.additive_mask = mask.data();
  const AlignedArray<float> workspace = make_aligned<float>(attention_workspace_size(a, 1));
  for (auto _ : state) attention(a, workspace.get());
  const double work = 4e-9 * 768 * static_cast<double>(a.queries * a.keys);
  state.counters["GFLOP/s"] = benchmark::Counter(work, benchmark::Counter::kIsIterationInvariantRate);
}

BENCHMARK(self_attention)
    ->ArgNames({"queries", "keys"})
    ->Args({10, 10})
    ->Args({30, 30})
    ->Args({128, 128})
    ->Args({512, 512})
    ->Args({1, 128})
    ->Args({1, 512});

}  // namespace
}  // namespace sardonyx::kernels
