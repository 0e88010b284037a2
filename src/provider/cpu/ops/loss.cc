#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string>

#include "graph/attribute.h"
#include "kernels/math/double_math.h"
#include "provider/cpu/dispatch.h"
#include "provider/cpu/kernel_list.h"

namespace sardonyx::provider::cpu {
namespace {

/// What both losses share: scores [N, C, D] with D = d1 * d2 * …, a class for each [N, D], a weight for each class.
struct LossShape {
  std::int64_t batch, classes, inner;
};

LossShape loss_shape(const TensorView& scores) {
  return {scores.shape[0], scores.shape[1], scores.shape.product(2, scores.shape.rank())};
}

/// Picks -log p of each target and reduces. Sums run in double over [N, D] in order, so threads and batch don't matter.
class TargetLoss {
 public:
  explicit TargetLoss(const NodeDesc& node) : reduction_(node.attributes->get_string("reduction", "mean")) {
    if (node.attributes->has("ignore_index")) ignore_ = node.attributes->get_int("ignore_index");
  }

  /// log_prob(n, c, d) -> double; fills output 0.
  template <typename T, typename LogProb>
  void run(const RunContext& context, const LossShape& shape, const LogProb& log_prob) const {
    dispatch(Types<std::int64_t, std::int32_t>{}, context.input(1).type, "a loss's targets", [&]<typename Index>() {
      const T* weights = context.has_input(2) ? context.input(2).data<T>() : nullptr;
      const Index* target = context.input(1).data<Index>();
      T* out = context.output(0).mutable_data<T>();
      double total = 0, weight_total = 0;
      for (std::int64_t n = 0; n < shape.batch; ++n) {
        for (std::int64_t d = 0; d < shape.inner; ++d) {
          const std::int64_t c = target[n * shape.inner + d];
          double weight = 0, loss = 0;
          if (!ignore_ || c != *ignore_) {
            if (c < 0 || c >= shape.classes)
              fail(ErrorCode::kInvalidArgument, "target {} is outside {} classes", c, shape.classes);
            weight = weights ? static_cast<double>(weights[c]) : 1;
            loss = -log_prob(n, c, d) * weight;
          }
          if (reduction_ == "none") out[n * shape.inner + d] = T(static_cast<compute_type<T>>(loss));
          total += loss;
          weight_total += weight;
        }
      }
      if (reduction_ == "sum") *out = T(static_cast<compute_type<T>>(total));
      if (reduction_ == "mean") *out = T(static_cast<compute_type<T>>(total / weight_total));
    });
  }

 private:
  std::string reduction_;
  std::optional<std::int64_t> ignore_;
};

class NegativeLogLikelihoodKernel final : public Kernel {
 public:
  explicit NegativeLogLikelihoodKernel(const NodeDesc& node) : loss_(node) {}
  void run(RunContext& context) const override {
    const TensorView& x = context.input(0);
    const LossShape shape = loss_shape(x);
    dispatch(FloatTypes{}, x.type, "NegativeLogLikelihoodLoss", [&]<typename T>() {
      const T* data = x.data<T>();
      loss_.run<T>(context, shape, [&](std::int64_t n, std::int64_t c, std::int64_t d) {
        return static_cast<double>(data[(n * shape.classes + c) * shape.inner + d]);
      });
    });
  }

 private:
  TargetLoss loss_;
};

/// log softmax over the classes, in double, then the loss of it.
class SoftmaxCrossEntropyKernel final : public Kernel {
 public:
  explicit SoftmaxCrossEntropyKernel(const NodeDesc& node) : loss_(node) {}
  Binding bind(const BindContext& context) const override {
    const LossShape shape = loss_shape(*context.inputs[0]);
    return {static_cast<std::size_t>(shape.batch * shape.inner) * sizeof(double), nullptr};
  }
  void run(RunContext& context) const override {
    const TensorView& x = context.input(0);
    const LossShape shape = loss_shape(x);
    auto* log_sums = reinterpret_cast<double*>(context.workspace());
    dispatch(FloatTypes{}, x.type, "SoftmaxCrossEntropyLoss", [&]<typename T>() {
      const T* data = x.data<T>();
      const auto at = [&](std::int64_t n, std::int64_t c, std::int64_t d) {
        return static_cast<double>(data[(n * shape.classes + c) * shape.inner + d]);
      };
      for (std::int64_t i = 0; i < shape.batch * shape.inner; ++i)
        log_sums[i] = log_sum(at, i / shape.inner, i % shape.inner, shape.classes);
      const auto log_prob = [&](std::int64_t n, std::int64_t c, std::int64_t d) {
        return at(n, c, d) - log_sums[n * shape.inner + d];
      };
      loss_.run<T>(context, shape, log_prob);
      if (!context.wants_output(1)) return;
      T* out = context.output(1).mutable_data<T>();
      for (std::int64_t n = 0; n < shape.batch; ++n) {
        for (std::int64_t c = 0; c < shape.classes; ++c) {
          for (std::int64_t d = 0; d < shape.inner; ++d) *out++ = T(static_cast<compute_type<T>>(log_prob(n, c, d)));
        }
      }
    });
  }

 private:
  template <typename At>
  static double log_sum(const At& at, std::int64_t n, std::int64_t d, std::int64_t classes) {
    double largest = -std::numeric_limits<double>::infinity(), sum = 0;
    for (std::int64_t c = 0; c < classes; ++c) largest = std::max(largest, at(n, c, d));
    for (std::int64_t c = 0; c < classes; ++c) sum += kernels::double_math::exp(at(n, c, d) - largest);
    return std::isfinite(sum) && sum > 0 ? largest + kernels::double_math::log(sum)
                                         : std::numeric_limits<double>::quiet_NaN();
  }
  TargetLoss loss_;
};

/// Optimizer steps of ai.onnx.preview.training: inputs R (learning rate), T (step), then the parameters, their
/// gradients and their states, each kind for all parameters in turn.
enum class Optimizer { kMomentum, kNesterov, kAdagrad, kAdam };

class OptimizerKernel final : public Kernel {
 public:
  explicit OptimizerKernel(const NodeDesc& node) {
    const graph::Attributes& a = *node.attributes;
    norm_ = a.get_float("norm_coefficient", 0);
    epsilon_ = a.get_float("epsilon", 1e-6F);
    if (node.op_type == "Momentum") {
      const std::string& mode = a.get_string("mode");
      if (mode != "standard" && mode != "nesterov")
        fail(ErrorCode::kInvalidModel, "attribute 'mode' must be standard or nesterov, found {}", mode);
      kind_ = mode == "nesterov" ? Optimizer::kNesterov : Optimizer::kMomentum;
      alpha_ = a.get_float("alpha");
      beta_ = a.get_float("beta");
    } else if (node.op_type == "Adagrad") {
      kind_ = Optimizer::kAdagrad;
      decay_ = a.get_float("decay_factor", 0);
    } else {
      kind_ = Optimizer::kAdam;
      alpha_ = a.get_float("alpha", 0.9F);
      beta_ = a.get_float("beta", 0.999F);
      norm_post_ = a.get_float("norm_coefficient_post", 0);
    }
  }

  void run(RunContext& context) const override {
    const TensorView& rate_view = context.input(0);
    const double rate = rate_view.type == ElementType::kFloat32 ? *rate_view.data<float>() : *rate_view.data<double>();
    const std::int64_t step = *context.input(1).data<std::int64_t>();
    const std::size_t count = (context.num_inputs() - 2) / (kind_ == Optimizer::kAdam ? 4 : 3);
    for (std::size_t i = 0; i < count; ++i) {
      dispatch(Types<float, double>{}, context.input(2 + i).type, "a training optimizer",
               [&]<typename T>() { update<T>(context, i, count, rate, step); });
    }
  }

 private:
  template <typename T>
  void update(const RunContext& context, std::size_t i, std::size_t count, double rate, std::int64_t step) const {
    const auto in = [&](std::size_t kind) { return context.input(2 + kind * count + i).data<T>(); };
    const auto out = [&](std::size_t kind) {
      return context.wants_output(kind * count + i) ? context.output(kind * count + i).mutable_data<T>() : nullptr;
    };
    const auto n = static_cast<std::size_t>(context.input(2 + i).num_elements());
    const T *x = in(0), *g = in(1), *state = in(2), *second = kind_ == Optimizer::kAdam ? in(3) : nullptr;
    T *new_x = out(0), *new_state = out(1), *new_second = kind_ == Optimizer::kAdam ? out(2) : nullptr;
    const double adjusted = adjusted_rate(rate, step);
    const double fresh = step > 0 ? beta_ : 1.0;  // the first gradient counts in full
    for (std::size_t j = 0; j < n; ++j) {
      const double gradient = norm_ * static_cast<double>(x[j]) + static_cast<double>(g[j]);
      const Updated updated = one(x[j], gradient, state[j], second ? second[j] : T(0), adjusted, fresh);
      if (new_x) new_x[j] = static_cast<T>(updated.x);
      if (new_state) new_state[j] = static_cast<T>(updated.state);
      if (new_second) new_second[j] = static_cast<T>(updated.second);
    }
  }

  struct Updated {
    double x, state, second;
  };
  Updated one(double x, double gradient, double state, double second, double rate, double fresh) const {
    switch (kind_) {
      case Optimizer::kMomentum:
      case Optimizer::kNesterov: {
        const double velocity = alpha_ * state + fresh * gradient;
        return {x - rate * (kind_ == Optimizer::kMomentum ? velocity : gradient + alpha_ * velocity), velocity, 0};
      }
      case Optimizer::kAdagrad: {
        const double squares = state + gradient * gradient;
        return {x - rate * gradient / (std::sqrt(squares) + epsilon_), squares, 0};
      }
      case Optimizer::kAdam: break;
    }
    const double mean = alpha_ * state + (1 - alpha_) * gradient;
    const double squares = beta_ * second + (1 - beta_) * gradient * gradient;
    return {(1 - norm_post_) * (x - rate * mean / (std::sqrt(squares) + epsilon_)), mean, squares};
  }
  double adjusted_rate(double rate, std::int64_t step) const {
    if (kind_ == Optimizer::kAdagrad) return rate / (1 + static_cast<double>(step) * decay_);
    if (kind_ != Optimizer::kAdam || step <= 0) return rate;
    const auto t = static_cast<double>(step);
    return rate * std::sqrt(1 - std::pow(beta_, t)) / (1 - std::pow(alpha_, t));
  }

  Optimizer kind_ = Optimizer::kMomentum;
  double norm_ = 0, norm_post_ = 0, epsilon_ = 0, alpha_ = 0, beta_ = 0, decay_ = 0;
};

Support supports_loss(const NodeDesc& node) {
  if (!is_one_of(FloatTypes{}, node.input_type(0))) return decline_type(node, 0);
  return is_one_of(Types<std::int64_t, std::int32_t>{}, node.input_type(1)) ? Support::accept() : decline_type(node, 1);
}

Support supports_optimizer(const NodeDesc& node) {
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    const bool known =
        i == 1 ? node.input_type(i) == ElementType::kInt64 : is_one_of(Types<float, double>{}, node.input_type(i));
    if (!known) return decline_type(node, i);
  }
  return Support::accept();
}

}  // namespace

void add_loss_kernels(KernelTable& table) {
  constexpr const char* kTraining = "ai.onnx.preview.training";
  table.push_back({"", "NegativeLogLikelihoodLoss", supports_loss, make<NegativeLogLikelihoodKernel>});
  table.push_back({"", "SoftmaxCrossEntropyLoss", supports_loss, make<SoftmaxCrossEntropyKernel>});
  for (const char* op : {"Momentum", "Adagrad", "Adam"})
    table.push_back({kTraining, op, supports_optimizer, make<OptimizerKernel>});
}

}  // namespace sardonyx::provider::cpu
