#include <cmath>
#include <cstdint>

#include "provider/cpu/broadcast.h"
#include "provider/cpu/families.h"
#include "provider/cpu/ops/saturate.h"

namespace sardonyx::provider::cpu {
namespace {

using Bytes = Types<std::int8_t, std::uint8_t>;

/// Scale and zero point of a whole tensor.
struct Codes {
  float scale = 1, zero = 0;

  template <typename T>
  float decode(T code) const {
    return (static_cast<float>(code) - zero) * scale;
  }
  template <typename T>
  T encode(float value) const {
    return saturate_round<T>(std::nearbyint(value / scale) + zero);
  }
};

template <typename T>
Codes codes_of(const RunContext& context, std::size_t scale, std::size_t zero) {
  if (context.input(scale).num_elements() != 1) {
    fail(ErrorCode::kInvalidArgument, "a scale must be one value, found shape {}",
         context.input(scale).shape.to_string());
  }
  Codes codes{*context.input(scale).data<float>(), 0};
  if (context.has_input(zero)) codes.zero = static_cast<float>(*context.input(zero).data<T>());
  return codes;
}

/// Inputs a, a_scale, a_zero_point, b, b_scale, b_zero_point, c_scale, c_zero_point.
template <bool kProduct>
class QLinearBinaryKernel final : public Kernel {
 public:
  explicit QLinearBinaryKernel(const NodeDesc&) {}
  void run(RunContext& context) const override {
    dispatch(Bytes{}, context.input(0).type, "this operator", [&]<typename T>() {
      const Codes a = codes_of<T>(context, 1, 2), b = codes_of<T>(context, 4, 5), c = codes_of<T>(context, 6, 7);
      broadcast_binary<T, T, T>(context.parallel, context.input(0), context.input(3), context.output(0), [=](T x, T y) {
        const float left = a.decode(x), right = b.decode(y);
        return c.encode<T>(kProduct ? left * right : left + right);
      });
    });
  }
};

/// Inputs x, x_scale, x_zero_point, y_scale, y_zero_point: a byte has 256 values, so the function is a table.
template <typename Fn>
class QLinearUnaryKernel final : public Kernel {
 public:
  explicit QLinearUnaryKernel(const NodeDesc& node) : alpha_(node.attributes->get_float("alpha", 0.01f)) {}
  void run(RunContext& context) const override {
    const TensorView &x = context.input(0), &y = context.output(0);
    dispatch(Bytes{}, x.type, "this operator", [&]<typename T>() {
      const Codes in = codes_of<T>(context, 1, 2), out = codes_of<T>(context, 3, 4);
      T table[256];
      for (int i = 0; i < 256; ++i) table[i] = out.encode<T>(Fn{}(in.decode(static_cast<T>(i)), alpha_));
      const T* from = x.data<T>();
      T* to = y.mutable_data<T>();
      context.parallel.parallel_for(static_cast<std::size_t>(x.num_elements()), kElementChunk,
                                    [&](std::size_t begin, std::size_t end) {
                                      for (std::size_t i = begin; i < end; ++i)
                                        to[i] = table[static_cast<std::uint8_t>(from[i])];
                                    });
    });
  }

 private:
  float alpha_;
};

struct SigmoidFn {
  float operator()(float x, float) const { return static_cast<float>(1 / (1 + std::exp(-static_cast<double>(x)))); }
};
struct LeakyReluFn {
  float operator()(float x, float alpha) const { return x < 0 ? alpha * x : x; }
};

Support supports_bytes(const NodeDesc& node) {
  if (!is_one_of(Bytes{}, node.input_type(0))) return decline_type(node, 0);
  return node.input_type(1) == ElementType::kFloat32 ? Support::accept() : decline_type(node, 1);
}

}  // namespace

void add_qlinear_elementwise_kernels(KernelTable& table) {
  table.push_back({"com.microsoft", "QLinearAdd", supports_bytes, make<QLinearBinaryKernel<false>>});
  table.push_back({"com.microsoft", "QLinearMul", supports_bytes, make<QLinearBinaryKernel<true>>});
  table.push_back({"com.microsoft", "QLinearSigmoid", supports_bytes, make<QLinearUnaryKernel<SigmoidFn>>});
  table.push_back({"com.microsoft", "QLinearLeakyRelu", supports_bytes, make<QLinearUnaryKernel<LeakyReluFn>>});
}

}  // namespace sardonyx::provider::cpu
