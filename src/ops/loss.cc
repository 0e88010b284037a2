#include <string>
#include <utility>

#include "base/fail.h"
#include "graph/attribute.h"
#include "ops/infer_context.h"
#include "ops/op_list.h"

namespace sardonyx::ops {
namespace {

/// Scores [N, C, d1, …] and targets [N, d1, …] fit; the loss has the targets' shape, or none when it is reduced.
void infer_class_loss(InferContext& context) {
  const ValueType &scores = context.tensor(0), &target = context.tensor(1);
  const std::string reduction = context.attributes().get_string("reduction", "mean");
  context.require(reduction == "none" || reduction == "sum" || reduction == "mean",
                  "attribute 'reduction' must be none, sum or mean, found " + reduction);
  if (scores.has_rank && scores.rank() < 2)
    fail(ErrorCode::kInvalidModel, "scores must have rank 2 or more, found {}", scores.to_string());
  std::vector<Dim> dims;
  if (scores.has_rank && target.has_rank) {
    context.require_rank(1, scores.rank() - 1);
    dims = target.dims;
    for (std::size_t i = 0; i < dims.size(); ++i) {
      dims[i] = context.same(dims[i], scores.dims[i == 0 ? 0 : i + 1], "dimensions of scores and targets");
    }
  }
  if (context.has_input(2)) {
    context.require_rank(2, 1);
    if (context.has_rank(2) && scores.has_rank)
      context.same(context.dim(2, 0), scores.dims[1], "the weights and the classes");
  }
  if (reduction != "none") {
    context.set_tensor(0, scores.element, {});
  } else if (scores.has_rank && target.has_rank) {
    context.set_tensor(0, scores.element, std::move(dims));
  } else {
    context.set_like(0, 1, scores.element);
  }
}

void infer_softmax_cross_entropy(InferContext& context) {
  infer_class_loss(context);
  context.set_like(1, 0);
}

void require_same_shape(InferContext& context, std::size_t a, std::size_t b) {
  const ValueType &x = context.tensor(a), &y = context.tensor(b);
  if (!x.has_rank || !y.has_rank) return;
  context.require(x.rank() == y.rank(), "a parameter and its gradient and moments must have one shape, found " +
                                            x.to_string() + " and " + y.to_string());
  for (std::size_t i = 0; i < x.rank(); ++i)
    context.same(x.dims[i], y.dims[i], "the shapes of a parameter, its gradient and moments");
}

/// Optimizers take R, T and groups of `Group` tensors a parameter (its value first, its gradient second), by kind, and
/// return the new values of all but the gradients.
template <std::size_t Group>
void infer_optimizer(InferContext& context) {
  const std::size_t given = context.num_inputs();
  if (given < 2 || (given - 2) % Group != 0) {
    fail(ErrorCode::kInvalidModel, "expected 2 inputs and {} for each parameter, found {}", Group, given);
  }
  const std::size_t count = (given - 2) / Group;
  for (std::size_t i = 0; i < count; ++i) {
    std::size_t output = i;
    for (std::size_t kind = 0; kind < Group; ++kind) {
      require_same_shape(context, 2 + i, 2 + kind * count + i);
      if (kind == 1) continue;
      context.set_like(output, 2 + kind * count + i);
      output += count;
    }
  }
}

/// Derivatives have the types of what they are taken by: the first inputs. The optimiser puts the nodes that compute
/// them in place.
void infer_gradient(InferContext& context) {
  const std::vector<std::string>* xs = context.attributes().strings("xs");
  for (std::size_t i = 0; xs && i < xs->size() && context.has_input(i); ++i) context.set_like(i, i);
}

}  // namespace

void add_loss_ops(OpTable& table) {
  constexpr const char* kTraining = "ai.onnx.preview.training";
  table.push_back({"", "NegativeLogLikelihoodLoss", infer_class_loss, {.mixes_batch = true}});
  table.push_back({"", "SoftmaxCrossEntropyLoss", infer_softmax_cross_entropy, {.mixes_batch = true}});
  table.push_back({kTraining, "Momentum", infer_optimizer<3>, {}});
  table.push_back({kTraining, "Adagrad", infer_optimizer<3>, {}});
  table.push_back({kTraining, "Adam", infer_optimizer<4>, {}});
  table.push_back({kTraining, "Gradient", infer_gradient, {}});
}

}  // namespace sardonyx::ops
