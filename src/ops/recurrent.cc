#include <string>

#include "ops/infer_context.h"
#include "ops/op_list.h"
#include "ops/require_type.h"

namespace sardonyx::ops {
namespace {

/// The sizes of a recurrent layer, gathered from whatever inputs are known.
struct Sizes {
  Dim sequence, batch, directions, hidden;
};

std::int64_t direction_count(const InferContext& context) {
  const std::string direction = context.attributes().get_string("direction", "forward");
  context.require(direction == "forward" || direction == "reverse" || direction == "bidirectional",
                  "attribute 'direction' must be forward, reverse or bidirectional, found '" + direction + "'");
  return direction == "bidirectional" ? 2 : 1;
}

Dim hidden_size(InferContext& context, std::int64_t gates) {
  const std::int64_t given = context.attributes().get_int("hidden_size", 0);
  context.require(given >= 0, "attribute 'hidden_size' must be positive, found " + std::to_string(given));
  if (!context.has_rank(2)) return given > 0 ? Dim(given) : context.fresh("hidden");
  Dim hidden = context.dim(2, 2);
  if (given > 0) hidden = context.same(given, hidden, "hidden_size and the last dimension of R");
  context.same(context.dim(2, 1), hidden * gates, "dimension 1 of R and gates times hidden_size");
  return hidden;
}

/// Input i, when given, must have these dimensions.
void require_dims(InferContext& context, std::size_t i, const std::vector<Dim>& wanted, const std::string& what) {
  if (!context.has_input(i)) return;
  context.require_rank(i, wanted.size());
  if (!context.has_rank(i)) return;
  for (std::size_t d = 0; d < wanted.size(); ++d) {
    context.same(wanted[d], context.dim(i, d),
                 "dimension " + std::to_string(d) + " of " + what + " and what the layer needs");
  }
}

Sizes layer_sizes(InferContext& context, std::int64_t gates) {
  const std::int64_t layout = context.attributes().get_int("layout", 0);
  context.require(layout == 0 || layout == 1, "attribute 'layout' must be 0 or 1, found " + std::to_string(layout));
  context.tensor(0);
  context.require_rank(0, 3);
  context.require_rank(1, 3);
  context.require_rank(2, 3);
  const bool one_type =
      context.element(0) == context.tensor(1).element && context.element(0) == context.tensor(2).element;
  context.require(one_type, "X, W and R must have one element type");
  require_type(context, 4, ElementType::kInt32);
  Sizes sizes;
  sizes.directions = direction_count(context);
  sizes.hidden = hidden_size(context, gates);
  const bool known = context.has_rank(0);
  sizes.sequence = known ? context.dim(0, layout == 0 ? 0 : 1) : context.fresh("sequence");
  sizes.batch = known ? context.dim(0, layout == 0 ? 1 : 0) : context.fresh("batch");
  const Dim input_size = known ? context.dim(0, 2) : context.has_rank(1) ? context.dim(1, 2) : context.fresh("input");
  require_dims(context, 1, {sizes.directions, sizes.hidden * gates, input_size}, "W");
  require_dims(context, 2, {sizes.directions, sizes.hidden * gates, sizes.hidden}, "R");
  require_dims(context, 3, {sizes.directions, sizes.hidden * (2 * gates)}, "B");
  require_dims(context, 4, {sizes.batch}, "sequence_lens");
  return sizes;
}

/// Inputs X, W, R, B, sequence_lens, initial_h; outputs Y and Y_h.
void infer_layer(InferContext& context, std::int64_t gates) {
  const Sizes sizes = layer_sizes(context, gates);
  const bool batch_first = context.attributes().get_int("layout", 0) == 1;
  const std::vector<Dim> state = batch_first ? std::vector<Dim>{sizes.batch, sizes.directions, sizes.hidden}
                                             : std::vector<Dim>{sizes.directions, sizes.batch, sizes.hidden};
  require_dims(context, 5, state, "initial_h");
  const ElementType type = context.element(0);
  context.set_tensor(0, type,
                     batch_first ? std::vector<Dim>{sizes.batch, sizes.sequence, sizes.directions, sizes.hidden}
                                 : std::vector<Dim>{sizes.sequence, sizes.directions, sizes.batch, sizes.hidden});
  context.set_tensor(1, type, state);
  if (gates == 4) {
    require_dims(context, 6, state, "initial_c");
    require_dims(context, 7, {sizes.directions, sizes.hidden * 3}, "P");
    context.set_tensor(2, type, state);
  }
}

void infer_lstm(InferContext& context) { infer_layer(context, 4); }
void infer_gru(InferContext& context) { infer_layer(context, 3); }
void infer_rnn(InferContext& context) { infer_layer(context, 1); }

}  // namespace

void add_recurrent_ops(OpTable& table) {
  table.push_back({"", "LSTM", infer_lstm, {}});
  table.push_back({"", "GRU", infer_gru, {}});
  table.push_back({"", "RNN", infer_rnn, {}});
}

}  // namespace sardonyx::ops
