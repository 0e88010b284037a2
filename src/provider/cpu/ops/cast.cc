#include <algorithm>
#include <cstring>
#include <string>

#include "kernels/quant/quant.h"
#include "provider/cpu/convert.h"
#include "provider/cpu/families.h"
#include "provider/cpu/number_text.h"

namespace sardonyx::provider::cpu {
namespace {

constexpr std::size_t kBlock = 512;

/// Elements [begin, end) through a wide type, block by block.
template <typename W>
void convert_range(const TensorView& x, const TensorView& y, std::size_t begin, std::size_t end,
                   const CastOptions& options) {
  W block[kBlock];
  for (std::size_t i = begin; i < end; i += kBlock) {
    const std::size_t count = std::min(kBlock, end - i);
    load_elements(x, i, count, block);
    store_elements(block, y, i, count, options);
  }
}

/// Pairs that models convert all the time, without the detour. Returns whether it was one.
bool convert_directly(const TensorView& x, const TensorView& y, std::size_t begin, std::size_t end) {
  const auto run = [&]<typename S, typename D>() {
    const S* in = x.data<S>();
    D* out = y.mutable_data<D>();
    for (std::size_t i = begin; i < end; ++i) out[i] = static_cast<D>(in[i]);
    return true;
  };
  using E = ElementType;
  if (x.type == E::kInt64 && y.type == E::kFloat32) return run.template operator()<std::int64_t, float>();
  if (x.type == E::kInt32 && y.type == E::kFloat32) return run.template operator()<std::int32_t, float>();
  if (x.type == E::kBool && y.type == E::kFloat32) return run.template operator()<bool, float>();
  if (x.type == E::kUInt8 && y.type == E::kFloat32) return run.template operator()<std::uint8_t, float>();
  if (x.type == E::kInt64 && y.type == E::kInt32) return run.template operator()<std::int64_t, std::int32_t>();
  if (x.type == E::kInt32 && y.type == E::kInt64) return run.template operator()<std::int32_t, std::int64_t>();
  if (x.type == E::kBool && y.type == E::kInt64) return run.template operator()<bool, std::int64_t>();
  const auto convert = [&]<typename S, typename D>() {
    kernels::convert(x.data<S>() + begin, end - begin, y.mutable_data<D>() + begin);
    return true;
  };
  if (x.type == E::kFloat16 && y.type == E::kFloat32) return convert.template operator()<Half, float>();
  if (x.type == E::kFloat32 && y.type == E::kFloat16) return convert.template operator()<float, Half>();
  if (x.type == E::kBFloat16 && y.type == E::kFloat32) return convert.template operator()<BFloat16, float>();
  if (x.type == E::kFloat32 && y.type == E::kBFloat16) return convert.template operator()<float, BFloat16>();
  return false;
}

void from_strings(const TensorView& x, const TensorView& y, const CastOptions& options) {
  const std::string* text = x.data<std::string>();
  const auto count = static_cast<std::size_t>(x.num_elements());
  for (std::size_t i = 0; i < count; ++i) {
    if (y.type == ElementType::kUInt64) {
      const std::uint64_t value = parse_uint64(text[i]);
      store_elements(&value, y, i, 1, options);
    } else if (is_integer(y.type) || y.type == ElementType::kBool) {
      const std::int64_t value = parse_int64(text[i]);
      store_elements(&value, y, i, 1, options);
    } else {
      const double value = parse_double(text[i]);
      store_elements(&value, y, i, 1, options);
    }
  }
}

void to_strings(const TensorView& x, const TensorView& y) {
  std::string* text = y.mutable_data<std::string>();
  const auto count = static_cast<std::size_t>(x.num_elements());
  dispatch_exact(x.type, [&]<typename W>() {
    for (std::size_t i = 0; i < count; ++i) {
      W value;
      load_elements(x, i, 1, &value);
      text[i] = x.type == ElementType::kBool ? (value != 0 ? "True" : "False") : number_text(value);
    }
  });
}

void cast(const RunContext& context, const CastOptions& options) {
  const TensorView &x = context.input(0), &y = context.output(0);
  const auto count = static_cast<std::size_t>(x.num_elements());
  if (count == 0) return;
  if (x.type == y.type) {
    if (x.type == ElementType::kString)
      std::copy_n(x.data<std::string>(), count, y.mutable_data<std::string>());
    else
      std::memcpy(y.data_ptr, x.data_ptr, x.num_bytes());
    return;
  }
  if (x.type == ElementType::kString) return from_strings(x, y, options);
  if (y.type == ElementType::kString) return to_strings(x, y);
  context.parallel.parallel_for(count, kElementChunk, [&](std::size_t begin, std::size_t end) {
    if (convert_directly(x, y, begin, end)) return;
    dispatch_exact(x.type, [&]<typename W>() { convert_range<W>(x, y, begin, end, options); });
  });
}

class CastKernel final : public Kernel {
 public:
  explicit CastKernel(const NodeDesc& node) {
    options_.saturate = node.attributes->get_int("saturate", 1) != 0;
    const std::string mode = node.attributes->get_string("round_mode", "up");
    options_.round_mode = mode == "down"      ? E8M0Rounding::kDown
                          : mode == "nearest" ? E8M0Rounding::kNearest
                                              : E8M0Rounding::kUp;
  }
  void run(RunContext& context) const override { cast(context, options_); }

 private:
  CastOptions options_;
};

class BitCastKernel final : public Kernel {
 public:
  explicit BitCastKernel(const NodeDesc&) {}
  void run(RunContext& context) const override {
    const TensorView &x = context.input(0), &y = context.output(0);
    if (y.data_ptr != x.data_ptr && x.num_elements() > 0) std::memcpy(y.data_ptr, x.data_ptr, x.num_bytes());
  }
};

Support supports_cast(const NodeDesc& node) {
  return is_complex(node.input_type(0)) ? decline_type(node, 0) : Support::accept();
}

}  // namespace

void add_cast_kernels(KernelTable& table) {
  table.push_back({"", "Cast", supports_cast, make<CastKernel>});
  table.push_back({"", "CastLike", supports_cast, make<CastKernel>});
  table.push_back({"", "BitCast", always, make<BitCastKernel>});
}

}  // namespace sardonyx::provider::cpu
