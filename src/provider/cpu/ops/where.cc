#include <algorithm>
#include <cstring>
#include <limits>

#include "provider/cpu/broadcast.h"
#include "provider/cpu/families.h"

namespace sardonyx::provider::cpu {
namespace {

template <typename T>
void where(const RunContext& context) {
  const TensorView &condition = context.input(0), &x = context.input(1), &y = context.input(2),
                   &out = context.output(0);
  const Broadcast<3> walk(out.shape, {&condition.shape, &x.shape, &y.shape});
  const auto* pick = static_cast<const std::uint8_t*>(condition.data_ptr);
  const auto* from_x = static_cast<const T*>(x.data_ptr);
  const auto* from_y = static_cast<const T*>(y.data_ptr);
  auto* to = static_cast<T*>(out.data_ptr);
  const auto [step_c, step_x, step_y] = walk.inner_strides();
  walk.for_each_run(context.parallel, [&](std::int64_t at, const auto& offset, std::int64_t count) {
    const std::uint8_t* c = pick + offset[0];
    const T* a = from_x + offset[1];
    const T* b = from_y + offset[2];
    T* z = to + at;
    if (step_c == 0) {
      const T* source = *c ? a : b;
      const std::int64_t step = *c ? step_x : step_y;
      for (std::int64_t i = 0; i < count; ++i) z[i] = source[i * step];
    } else if (step_x == 1 && step_y == 1) {
      for (std::int64_t i = 0; i < count; ++i) z[i] = c[i] ? a[i] : b[i];
    } else if (step_x == 1) {
      const T fill = *b;
      for (std::int64_t i = 0; i < count; ++i) z[i] = c[i] ? a[i] : fill;
    } else {
      const T fill = *a;
      for (std::int64_t i = 0; i < count; ++i) z[i] = c[i] ? fill : b[i * step_y];
    }
  });
}

class WhereKernel final : public Kernel {
 public:
  explicit WhereKernel(const NodeDesc&) {}
  void run(RunContext& context) const override {
    dispatch_width(context.output(0).type, "Where", [&]<typename T>() { where<T>(context); });
  }
};

Support supports_where(const NodeDesc& node) {
  return is_sub_byte(node.input_type(1)) ? decline_type(node, 1) : Support::accept();
}

/// min(high, max(x, low)): high wins where low is above it, NaN stays.
class ClipKernel final : public Kernel {
 public:
  explicit ClipKernel(const NodeDesc&) {}
  void run(RunContext& context) const override {
    const TensorView &x = context.input(0), &y = context.output(0);
    dispatch(NumberTypes{}, x.type, "Clip", [&]<typename T>() {
      using C = compute_type<T>;
      using Limits = std::numeric_limits<C>;
      const C lowest = Limits::has_infinity ? -Limits::infinity() : Limits::lowest();
      const C highest = Limits::has_infinity ? Limits::infinity() : Limits::max();
      const C low = context.has_input(1) ? static_cast<C>(*context.input(1).data<T>()) : lowest;
      const C high = context.has_input(2) ? static_cast<C>(*context.input(2).data<T>()) : highest;
      const T* in = x.data<T>();
      T* out = y.mutable_data<T>();
      context.parallel.parallel_for(static_cast<std::size_t>(x.num_elements()), kElementChunk,
                                    [&](std::size_t begin, std::size_t end) {
                                      for (std::size_t i = begin; i < end; ++i) {
                                        const C value = static_cast<C>(in[i]);
                                        const C raised = value < low ? low : value;
                                        out[i] = T(raised > high ? high : raised);
                                      }
                                    });
    });
  }
};

Support supports_clip(const NodeDesc& node) {
  return is_one_of(NumberTypes{}, node.input_type(0)) ? Support::accept() : decline_type(node, 0);
}

}  // namespace

void add_where_kernels(KernelTable& table) {
  table.push_back({"", "Where", supports_where, make<WhereKernel>});
  table.push_back({"", "Clip", supports_clip, make<ClipKernel>});
}

}  // namespace sardonyx::provider::cpu
