#include <benchmark/benchmark.h>
#include <vector>

#include "base/aligned.h"
#include "kernels/conv/conv.h"

namespace sardonyx::kernels {
namespace {

/// Layers of ResNet-50 and MobileNetV2: channels in, size, channels out, kernel, stride, groups.
void convolution(benchmark::State& state) {
  ConvShape s;
  s.in_channels = static_cast<std::size_t>(state.range(0));
  s.in_height = s.in_width = static_cast<std::size_t>(state.range(1));
  s.out_channels = static_cast<std::size_t>(state.range(2));
  s.kernel_height = s.kernel_width = static_cast<std::size_t>(state.range(3));
  s.stride_y = s.stride_x = static_cast<std::size_t>(state.range(4));
  s.groups = static_cast<std::size_t>(state.range(5));
  s.pad_top = s.pad_left = s.pad_bottom = s.pad_right = s.kernel_height / 2;
  const std::size_t weights = s.out_channels * s.in_channels / s.groups * s.kernel_height * s.kernel_width;
  std::vector<float> x(s.in_channels * s.in_height * s.in_width, 0.5f), w(weights, 0.25f), bias(s.out_channels, 0.1f);
  std::vector<float> y(s.out_channels * s.out_height() * s.out_width());
  const AlignedArray<float> packed = make_aligned<float>(packed_conv_weights_size(s));
  pack_conv_weights(s, w.data(), packed.get());
  const AlignedArray<float> workspace = make_aligned<float>(conv_workspace_size(s, 1));
  ConvEpilogue epilogue;
  epilogue.bias = bias.data();
  epilogue.activation = Unary::kRelu;
  for (auto _ : state) conv(s, x.data(), packed.get(), y.data(), epilogue, workspace.get());
  const double work = 2e-9 * static_cast<double>(weights * s.out_height() * s.out_width());
  state.counters["GFLOP/s"] = benchmark::Counter(work, benchmark::Counter::kIsIterationInvariantRate);
}

BENCHMARK(convolution)
    ->ArgNames({"in", "size", "out", "kernel", "stride", "groups"})
    ->Args({3, 224, 64, 7, 2, 1})
    ->Args({64, 56, 64, 1, 1, 1})
    ->Args({64, 56, 64, 3, 1, 1})
    ->Args({64, 56, 256, 1, 1, 1})
    ->Args({256, 56, 128, 1, 1, 1})
    ->Args({128, 56, 128, 3, 2, 1})
    ->Args({128, 28, 128, 3, 1, 1})
    ->Args({512, 28, 128, 1, 1, 1})
    ->Args({256, 14, 256, 3, 1, 1})
    ->Args({1024, 14, 256, 1, 1, 1})
    ->Args({512, 7, 512, 3, 1, 1})
    ->Args({2048, 7, 512, 1, 1, 1})
    ->Args({512, 7, 2048, 1, 1, 1})
    ->Args({96, 112, 96, 3, 2, 96})
    ->Args({144, 56, 144, 3, 1, 144})
    ->Args({192, 28, 192, 3, 1, 192})
    ->Args({384, 14, 384, 3, 1, 384})
    ->Args({960, 7, 960, 3, 1, 960})
    ->Args({24, 56, 144, 1, 1, 1})
    ->Args({384, 14, 64, 1, 1, 1})
    ->Args({96, 160, 24, 3, 1, 1})
    ->Args({3, 640, 16, 3, 2, 1})
    ->Args({16, 320, 32, 1, 1, 1})
    ->Args({48, 160, 12, 1, 1, 1})
    ->Args({12, 160, 96, 1, 1, 1});

}  // namespace
}  // namespace sardonyx::kernels
