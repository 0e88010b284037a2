#include <algorithm>

#include "kernels/quant/quant.h"
#include "provider/cpu/convert.h"
#include "provider/cpu/families.h"
#include "provider/cpu/quant_layout.h"

namespace sardonyx::provider::cpu {
namespace {

constexpr std::size_t kMaxRun = QuantLayout::kMaxRun;

/// Scales or zero points of one run: `count` values, or the one value repeated.
template <typename W>
void load_run(const TensorView* values, std::size_t offset, std::size_t step, std::size_t count, W* out) {
  if (!values) {
    std::fill_n(out, count, W(0));
  } else if (step == 1) {
    load_elements(*values, offset, count, out);
  } else {
    load_elements(*values, offset, 1, out);
    std::fill_n(out + 1, count - 1, out[0]);
  }
}

void check_zero_point(const TensorView* zero, const TensorView& scale) {
  if (!zero || zero->num_elements() == scale.num_elements()) return;
  fail(ErrorCode::kInvalidArgument, "scale and zero point must have one shape, found {} and {}",
       scale.shape.to_string(), zero->shape.to_string());
}

/// The bounds of an integer type that quantisation saturates to.
struct Range {
  float low, high;
};
Range range_of(ElementType type) {
  const int bits = bit_width(type);
  const auto span = static_cast<float>(1 << bits);
  return is_signed_integer(type) ? Range{-span / 2, span / 2 - 1} : Range{0, span - 1};
}

/// Nearest integer, halves to even, of a value within +-2^22.
float round_small(float x) { return (x + 0x1.8p23f) - 0x1.8p23f; }

class QuantizeKernel final : public Kernel {
 public:
  explicit QuantizeKernel(const NodeDesc& node)
      : axis_(node.attributes->get_int("axis", 1)),
        block_size_(node.attributes->get_int("block_size", 0)),
        saturate_(node.attributes->get_int("saturate", 1) != 0) {
    const std::int64_t precision = node.attributes->get_int("precision", 0);
    precision_ = is_element_type(precision) ? static_cast<ElementType>(precision) : node.input_type(1);
  }

  void run(RunContext& context) const override {
    const TensorView &x = context.input(0), &scale = context.input(1), &y = context.output(0);
    const TensorView* zero = context.has_input(2) ? &context.input(2) : nullptr;
    check_zero_point(zero, scale);
    const QuantLayout layout(x.shape, scale.shape, axis_, block_size_);
    const bool fast = x.type == ElementType::kFloat32 && precision_ == ElementType::kFloat32 &&
                      bit_width(y.type) == 8 && is_integer(y.type);
    layout.for_each_run(context.parallel,
                        [&](std::size_t begin, std::size_t count, std::size_t offset, std::size_t step) {
                          if (fast && step == 0) return quantize_run(x, scale, zero, y, begin, count, offset);
                          QuantLayout::cut(begin, count, offset, step,
                                           [&](std::size_t from, std::size_t n, std::size_t at, std::size_t by) {
                                             quantize_piece(x, scale, zero, y, from, n, at, by);
                                           });
                        });
  }

 private:
  /// float32 to bytes by one scale.
  static void quantize_run(const TensorView& x, const TensorView& scale, const TensorView* zero, const TensorView& y,
                           std::size_t begin, std::size_t count, std::size_t offset) {
    float factor = 0;
    std::int64_t shift = 0;
    load_elements(scale, offset, 1, &factor);
    if (zero) load_elements(*zero, offset, 1, &shift);
    const auto zero_point = static_cast<std::int32_t>(shift);
    const float* in = x.data<float>() + begin;
    if (y.type == ElementType::kUInt8)
      kernels::quantize(in, count, factor, zero_point, y.mutable_data<std::uint8_t>() + begin);
    else
      kernels::quantize(in, count, factor, zero_point, y.mutable_data<std::int8_t>() + begin);
  }

  void quantize_piece(const TensorView& x, const TensorView& scale, const TensorView* zero, const TensorView& y,
                      std::size_t begin, std::size_t count, std::size_t offset, std::size_t step) const {
    alignas(64) float quotients[kMaxRun], zeros[kMaxRun];
    const bool in_double = x.type == ElementType::kInt32 || precision_ == ElementType::kFloat64;
    if (in_double)
      divide<double>(x, scale, begin, count, offset, step, quotients);
    else
      divide<float>(x, scale, begin, count, offset, step, quotients);
    load_run(zero, offset, step, count, zeros);
    if (is_integer(y.type)) {
      round_and_saturate(quotients, zeros, count, range_of(y.type));
      store_integers(quotients, y, begin, count);
    } else {
      for (std::size_t i = 0; i < count; ++i) quotients[i] += zeros[i];
      store_elements(quotients, y, begin, count, {.saturate = saturate_});
    }
  }

  /// x / scale, rounded to the precision asked for.
  template <typename W>
  void divide(const TensorView& x, const TensorView& scale, std::size_t begin, std::size_t count, std::size_t offset,
              std::size_t step, float* out) const {
    alignas(64) W values[kMaxRun], scales[kMaxRun];
    load_elements(x, begin, count, values);
    load_run(&scale, offset, step, count, scales);
    for (std::size_t i = 0; i < count; ++i) out[i] = static_cast<float>(values[i] / scales[i]);
    if (precision_ == ElementType::kFloat16) {
      for (std::size_t i = 0; i < count; ++i) out[i] = static_cast<float>(Half(out[i]));
    } else if (precision_ == ElementType::kBFloat16) {
      for (std::size_t i = 0; i < count; ++i) out[i] = static_cast<float>(BFloat16(out[i]));
    }
  }

  /// round(q) + zero within the range; NaN becomes the lowest.
  static void round_and_saturate(float* q, const float* zeros, std::size_t count, Range range) {
    for (std::size_t i = 0; i < count; ++i) {
      const float low = range.low - zeros[i], high = range.high - zeros[i];
      const float raised = q[i] > low ? q[i] : low;
      q[i] = round_small(raised < high ? raised : high) + zeros[i];
    }
  }

  static void store_integers(const float* values, const TensorView& y, std::size_t begin, std::size_t count) {
    if (y.type == ElementType::kUInt8) {
      std::uint8_t* out = y.mutable_data<std::uint8_t>() + begin;
      for (std::size_t i = 0; i < count; ++i) out[i] = static_cast<std::uint8_t>(static_cast<std::int32_t>(values[i]));
    } else if (y.type == ElementType::kInt8) {
      std::int8_t* out = y.mutable_data<std::int8_t>() + begin;
      for (std::size_t i = 0; i < count; ++i) out[i] = static_cast<std::int8_t>(static_cast<std::int32_t>(values[i]));
    } else {
      store_elements(values, y, begin, count);
    }
  }

  std::int64_t axis_, block_size_;
  bool saturate_;
  ElementType precision_;
};

class DequantizeKernel final : public Kernel {
 public:
  explicit DequantizeKernel(const NodeDesc& node)
      : axis_(node.attributes->get_int("axis", 1)), block_size_(node.attributes->get_int("block_size", 0)) {}

  void run(RunContext& context) const override {
    const TensorView &x = context.input(0), &scale = context.input(1), &y = context.output(0);
    const TensorView* zero = context.has_input(2) ? &context.input(2) : nullptr;
    check_zero_point(zero, scale);
    const QuantLayout layout(x.shape, scale.shape, axis_, block_size_);
    layout.for_each_run(
        context.parallel, [&](std::size_t begin, std::size_t count, std::size_t offset, std::size_t step) {
          if (step == 0 && y.type == ElementType::kFloat32 && dequantize_run(x, scale, zero, y, begin, count, offset))
            return;
          QuantLayout::cut(begin, count, offset, step,
                           [&](std::size_t from, std::size_t n, std::size_t at, std::size_t by) {
                             dequantize_piece(x, scale, zero, y, from, n, at, by);
                           });
        });
  }

 private:
  /// int8, uint8 or int32 to float32 by one scale; false for other types.
  static bool dequantize_run(const TensorView& x, const TensorView& scale, const TensorView* zero, const TensorView& y,
                             std::size_t begin, std::size_t count, std::size_t offset) {
    if (!type_in(x.type, {ElementType::kInt8, ElementType::kUInt8}) && (x.type != ElementType::kInt32 || zero))
      return false;
    float factor = 0;
    std::int64_t shift = 0;
    load_elements(scale, offset, 1, &factor);
    if (zero) load_elements(*zero, offset, 1, &shift);
    const auto zero_point = static_cast<std::int32_t>(shift);
    float* out = y.mutable_data<float>() + begin;
    if (x.type == ElementType::kInt8)
      kernels::dequantize(x.data<std::int8_t>() + begin, count, factor, zero_point, out);
    else if (x.type == ElementType::kUInt8)
      kernels::dequantize(x.data<std::uint8_t>() + begin, count, factor, zero_point, out);
    else
      kernels::dequantize(x.data<std::int32_t>() + begin, count, factor, zero_point, out);
    return true;
  }

  static void dequantize_piece(const TensorView& x, const TensorView& scale, const TensorView* zero,
                               const TensorView& y, std::size_t begin, std::size_t count, std::size_t offset,
                               std::size_t step) {
    alignas(64) float values[kMaxRun], scales[kMaxRun];
    load_run(&scale, offset, step, count, scales);
    load_centred(x, zero, begin, count, offset, step, values);
    for (std::size_t i = 0; i < count; ++i) values[i] *= scales[i];
    if (y.type == ElementType::kFloat32)
      std::copy_n(values, count, y.mutable_data<float>() + begin);
    else
      store_elements(values, y, begin, count);
  }

  /// x - zero, rounded once to float.
  static void load_centred(const TensorView& x, const TensorView* zero, std::size_t begin, std::size_t count,
                           std::size_t offset, std::size_t step, float* out) {
    if (x.type == ElementType::kInt32 && zero) {
      std::int64_t values[kMaxRun], zeros[kMaxRun];
      load_elements(x, begin, count, values);
      load_run(zero, offset, step, count, zeros);
      for (std::size_t i = 0; i < count; ++i) out[i] = static_cast<float>(values[i] - zeros[i]);
      return;
    }
    load_elements(x, begin, count, out);
    if (!zero) return;
    alignas(64) float zeros[kMaxRun];
    load_run(zero, offset, step, count, zeros);
    for (std::size_t i = 0; i < count; ++i) out[i] -= zeros[i];
  }

  std::int64_t axis_, block_size_;
};

/// uint8 with one scale for the whole tensor, chosen so that zero has an exact code.
class DynamicQuantizeKernel final : public Kernel {
 public:
  explicit DynamicQuantizeKernel(const NodeDesc&) {}
  void run(RunContext& context) const override {
    const TensorView& x = context.input(0);
    const auto count = static_cast<std::size_t>(x.num_elements());
    const kernels::QuantizationParameters found =
        context.wants_output(0)
            ? kernels::dynamic_quantize(x.data<float>(), count, context.output(0).mutable_data<std::uint8_t>(),
                                        context.parallel)
            : kernels::uint8_parameters(kernels::min_max_with_zero(x.data<float>(), count, context.parallel));
    if (context.wants_output(1)) *context.output(1).mutable_data<float>() = found.scale;
    if (context.wants_output(2))
      *context.output(2).mutable_data<std::uint8_t>() = static_cast<std::uint8_t>(found.zero_point);
  }
};

bool is_real_float(ElementType type) {
  return type_in(type,
                 {ElementType::kFloat32, ElementType::kFloat16, ElementType::kBFloat16, ElementType::kFloat8E8M0});
}

Support supports_quantize(const NodeDesc& node) {
  if (!is_real_float(node.input_type(0)) && node.input_type(0) != ElementType::kInt32) return decline_type(node, 0);
  return is_real_float(node.input_type(1)) || node.input_type(1) == ElementType::kInt32 ? Support::accept()
                                                                                        : decline_type(node, 1);
}
Support supports_dequantize(const NodeDesc& node) {
  if (bit_width(node.input_type(0)) > 32 || node.input_type(0) == ElementType::kString) return decline_type(node, 0);
  return is_real_float(node.input_type(1)) ? Support::accept() : decline_type(node, 1);
}
Support supports_dynamic(const NodeDesc& node) {
  return node.input_type(0) == ElementType::kFloat32 ? Support::accept() : decline_type(node, 0);
}

}  // namespace

void add_quantize_kernels(KernelTable& table) {
  table.push_back({"", "QuantizeLinear", supports_quantize, make<QuantizeKernel>});
  table.push_back({"", "DequantizeLinear", supports_dequantize, make<DequantizeKernel>});
  table.push_back({"com.microsoft", "QuantizeLinear", supports_quantize, make<QuantizeKernel>});
  table.push_back({"com.microsoft", "DequantizeLinear", supports_dequantize, make<DequantizeKernel>});
  table.push_back({"", "DynamicQuantizeLinear", supports_dynamic, make<DynamicQuantizeKernel>});
  add_qlinear_elementwise_kernels(table);
}

}  // namespace sardonyx::provider::cpu
