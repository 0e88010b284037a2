#include "provider/cpu/reduce.h"

#include <cmath>
#include <limits>
#include <type_traits>

#include "kernels/reduce/reduce.h"
#include "provider/cpu/families.h"

namespace sardonyx::provider::cpu {
namespace {

using kernels::Reduction;

/// What a reduction computes in: float for 16-bit floats; integers wrap in their unsigned type.
template <typename T>
struct SumTypes {
  using In = T;
  using Compute = compute_type<T>;
  using Acc =
      typename std::conditional_t<std::is_integral_v<T>, std::make_unsigned<T>, std::type_identity<Compute>>::type;
};

template <typename T>
struct SumReducer : SumTypes<T> {
  using typename SumTypes<T>::Compute, typename SumTypes<T>::Acc;
  static Acc identity() { return 0; }
  static Acc map(Compute x, Compute) { return static_cast<Acc>(x); }
  static Acc combine(Acc a, Acc b) { return a + b; }
};
template <typename T>
struct AbsReducer : SumReducer<T> {
  using typename SumTypes<T>::Compute, typename SumTypes<T>::Acc;
  static Acc map(Compute x, Compute) {
    if constexpr (std::is_integral_v<T>)
      return x < Compute(0) ? Acc(0) - static_cast<Acc>(x) : static_cast<Acc>(x);
    else
      return std::abs(x);
  }
};
template <typename T>
struct SquareReducer : SumReducer<T> {
  using typename SumTypes<T>::Compute, typename SumTypes<T>::Acc;
  static Acc map(Compute x, Compute) { return static_cast<Acc>(x) * static_cast<Acc>(x); }
};
template <typename T>
struct ProdReducer : SumTypes<T> {
  using typename SumTypes<T>::Compute, typename SumTypes<T>::Acc;
  static Acc identity() { return 1; }
  static Acc map(Compute x, Compute) { return static_cast<Acc>(x); }
  static Acc combine(Acc a, Acc b) { return a * b; }
};
/// NaN wins.
template <typename T>
struct MaxReducer {
  using In = T;
  using Compute = compute_type<T>;
  using Acc = Compute;
  static Acc identity() {
    return std::numeric_limits<Acc>::has_infinity ? static_cast<Acc>(-std::numeric_limits<Acc>::infinity())
                                                  : std::numeric_limits<Acc>::lowest();
  }
  static Acc map(Compute x, Compute) { return x; }
  static Acc combine(Acc a, Acc b) { return a > b || a != a ? a : b; }
};
template <typename T>
struct MinReducer : MaxReducer<T> {
  using typename MaxReducer<T>::Acc;
  static Acc identity() {
    return std::numeric_limits<Acc>::has_infinity ? std::numeric_limits<Acc>::infinity()
                                                  : std::numeric_limits<Acc>::max();
  }
  static Acc combine(Acc a, Acc b) { return a < b || a != a ? a : b; }
};
/// exp(x - bias), for log-sum-exp; integers are computed in double.
template <typename T>
struct ExpReducer {
  using In = T;
  using Compute = std::conditional_t<std::is_integral_v<T>, double, compute_type<T>>;
  using Acc = Compute;
  static Acc identity() { return 0; }
  static Acc map(Compute x, Compute bias) { return std::exp(x - bias); }
  static Acc combine(Acc a, Acc b) { return a + b; }
};

/// A real-valued function of a sum, for element type T; integers are cut off.
template <typename T, typename Acc, typename Fn>
T through_float(Acc total, Fn fn) {
  if constexpr (std::is_integral_v<T>) {
    double value = 0;
    if constexpr (std::is_integral_v<Acc>)
      value = fn(static_cast<double>(static_cast<T>(total)));
    else
      value = fn(static_cast<double>(total));
    if (!(value > static_cast<double>(std::numeric_limits<T>::min()))) return std::numeric_limits<T>::min();
    return value < static_cast<double>(std::numeric_limits<T>::max()) ? static_cast<T>(value)
                                                                      : std::numeric_limits<T>::max();
  } else {
    return T(fn(total));
  }
}

/// What is done with a total, by operator. Called as finish<T>(total, count of elements folded).
struct AsIs {
  template <typename T, typename Acc>
  static T finish(Acc total, std::int64_t) {
    return T(total);
  }
};
struct DivideByCount {
  template <typename T, typename Acc>
  static T finish(Acc total, std::int64_t count) {
    if constexpr (std::is_integral_v<T>) {
      if (count == 0) fail(ErrorCode::kInvalidArgument, "ReduceMean: the mean of no integers is not defined");
      using Wide = std::conditional_t<std::is_unsigned_v<T>, std::uint64_t, std::int64_t>;
      return static_cast<T>(static_cast<Wide>(static_cast<T>(total)) / static_cast<Wide>(count));
    } else {
      return T(total / static_cast<Acc>(count));
    }
  }
};
struct SquareRoot {
  template <typename T, typename Acc>
  static T finish(Acc total, std::int64_t) {
    return through_float<T>(total, [](auto x) { return std::sqrt(x); });
  }
};
struct Logarithm {
  template <typename T, typename Acc>
  static T finish(Acc total, std::int64_t) {
    return through_float<T>(total, [](auto x) { return std::log(x); });
  }
};

using SumElementTypes = Types<float, double, Half, BFloat16, std::int32_t, std::int64_t, std::uint32_t, std::uint64_t>;
using OrderElementTypes = Types<float, double, Half, BFloat16, std::int8_t, std::uint8_t, std::int32_t, std::int64_t,
                                std::uint32_t, std::uint64_t, bool>;

/// What every reduction has: its axes and options.
class ReduceKernelBase : public Kernel {
 public:
  explicit ReduceKernelBase(const NodeDesc& node) : noop_(node.attributes->get_int("noop_with_empty_axes", 0) != 0) {}

 protected:
  ReduceLayout layout(const RunContext& context) const {
    bool flags[ReduceLayout::kMaxRank];
    const TensorView& x = context.input(0);
    return ReduceLayout(x.shape,
                        reduce_flags(x.shape, context.has_input(1) ? &context.input(1) : nullptr, noop_, flags));
  }

  /// Reduces float tensors of a simple layout in the kernels layer; false where it is not for them.
  static bool reduce_floats(const RunContext& context, const ReduceLayout& layout, Reduction reduction) {
    const TensorView& x = context.input(0);
    if (x.type != ElementType::kFloat32) return false;
    const auto simple = layout.simple();
    if (!simple) return false;
    kernels::reduce(reduction, x.data<float>(), static_cast<std::size_t>(simple->outer),
                    static_cast<std::size_t>(simple->n), static_cast<std::size_t>(simple->inner),
                    context.output(0).mutable_data<float>(), context.parallel);
    return true;
  }

 private:
  bool noop_;
};

/// `kFloat`: the same reduction in the kernels layer.
template <template <typename> typename Reducer, typename Finisher, typename List, Reduction kFloat>
class ReduceKernel final : public ReduceKernelBase {
 public:
  using ReduceKernelBase::ReduceKernelBase;
  void run(RunContext& context) const override {
    const ReduceLayout walk = layout(context);
    const TensorView& x = context.input(0);
    if (reduce_floats(context, walk, kFloat)) return;
    dispatch(List{}, x.type, "this reduction", [&]<typename T>() {
      using R = Reducer<T>;
      const std::int64_t count = walk.reduced.total;
      reduce<R>(context.parallel, x.data<T>(), walk, nullptr, context.output(0).mutable_data<T>(),
                [count](typename R::Acc total) { return Finisher::template finish<T>(total, count); });
    });
  }
};

/// Where sums of exp(x - shift) go: assigning a sum to sink[o] stores log(sum) + shift[o].
template <typename T, typename Compute>
struct LogSumSink {
  T* out;
  const Compute* shift;

  struct Element {
    T* to;
    Compute shift;
    void operator=(Compute total) {
      *to = through_float<T>(std::log(total) + shift, [](auto value) { return value; });
    }
  };
  Element operator[](std::size_t o) const { return {out + o, shift[o]}; }
};

/// log(sum(exp(x))), shifted by the maximum.
class LogSumExpKernel final : public ReduceKernelBase {
 public:
  using ReduceKernelBase::ReduceKernelBase;
  Binding bind(const BindContext& shapes) const override {
    return {.workspace_bytes = static_cast<std::size_t>(shapes.outputs[0]->num_elements()) * sizeof(double)};
  }
  void run(RunContext& context) const override {
    const ReduceLayout walk = layout(context);
    const TensorView& x = context.input(0);
    if (reduce_floats(context, walk, Reduction::kLogSumExp)) return;
    dispatch(SumElementTypes{}, x.type, "ReduceLogSumExp", [&]<typename T>() {
      using R = ExpReducer<T>;
      using Compute = typename R::Compute;
      auto* shift = reinterpret_cast<Compute*>(context.workspace());
      reduce<MaxReducer<T>>(context.parallel, x.data<T>(), walk, nullptr, shift, [](auto greatest) {
        const auto value = static_cast<Compute>(greatest);
        return std::isfinite(value) ? value : Compute(0);
      });
      const LogSumSink<T, Compute> sink{context.output(0).mutable_data<T>(), shift};
      reduce<R>(context.parallel, x.data<T>(), walk, shift, sink, [](Compute total) { return total; });
    });
  }
};

template <typename List>
Support supports_in(const NodeDesc& node) {
  return is_one_of(List{}, node.input_type(0)) ? Support::accept() : decline_type(node, 0);
}

template <template <typename> typename Reducer, typename Finisher, Reduction kFloat>
KernelEntry sum_entry(std::string_view name) {
  return {"", name, supports_in<SumElementTypes>, make<ReduceKernel<Reducer, Finisher, SumElementTypes, kFloat>>};
}

}  // namespace

void add_reduce_kernels(KernelTable& table) {
  table.push_back({"", "ReduceMax", supports_in<OrderElementTypes>,
                   make<ReduceKernel<MaxReducer, AsIs, OrderElementTypes, Reduction::kMax>>});
  table.push_back({"", "ReduceMin", supports_in<OrderElementTypes>,
                   make<ReduceKernel<MinReducer, AsIs, OrderElementTypes, Reduction::kMin>>});
  table.push_back(sum_entry<SumReducer, AsIs, Reduction::kSum>("ReduceSum"));
  table.push_back(sum_entry<SumReducer, DivideByCount, Reduction::kMean>("ReduceMean"));
  table.push_back(sum_entry<ProdReducer, AsIs, Reduction::kProd>("ReduceProd"));
  table.push_back(sum_entry<AbsReducer, AsIs, Reduction::kL1>("ReduceL1"));
  table.push_back(sum_entry<SquareReducer, SquareRoot, Reduction::kL2>("ReduceL2"));
  table.push_back(sum_entry<SumReducer, Logarithm, Reduction::kLogSum>("ReduceLogSum"));
  table.push_back(sum_entry<SquareReducer, AsIs, Reduction::kSumSquare>("ReduceSumSquare"));
  table.push_back({"", "ReduceLogSumExp", supports_in<SumElementTypes>, make<LogSumExpKernel>});
  add_arg_reduce_kernels(table);
  add_cumulative_kernels(table);
  add_top_k_kernels(table);
}

}  // namespace sardonyx::provider::cpu
