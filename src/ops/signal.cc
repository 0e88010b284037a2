#include <string>
#include <utility>

#include "base/fail.h"
#include "graph/attribute.h"
#include "ops/infer_context.h"
#include "ops/op_list.h"

namespace sardonyx::ops {
namespace {

/// The single known value of an integer input, or a fresh symbol.
Dim value_or_fresh(InferContext& context, std::size_t input, const char* hint) {
  const auto values = context.values(input);
  if (!values || values->size() != 1) return context.fresh(hint);
  if ((*values)[0].is_constant() && (*values)[0].constant() < 0) {
    fail(ErrorCode::kInvalidModel, "input {} is a size and must not be negative, found {}", input,
         (*values)[0].constant());
  }
  return (*values)[0];
}

/// Complex numbers lie along the last axis: 1 for real input, 2 for complex.
void require_complex_axis(InferContext& context, const Dim& last) {
  const bool fits = !last.is_constant() || last.is(1) || last.is(2);
  context.require(fits, "the last dimension must be 1 (real) or 2 (complex), found " + last.to_string());
  if (last.is_constant()) return;
  context.same((last - Dim(1)) * (last - Dim(2)), 0,
               "0 and how far the last dimension is from 1, times how far from 2,");
}

void infer_dft(InferContext& context) {
  const ValueType& x = context.tensor(0);
  if (!x.has_rank) return context.set_unranked(0, x.element);
  if (x.rank() < 2) fail(ErrorCode::kInvalidModel, "DFT needs rank 2 or more, found {}", x.to_string());
  const bool inverse = context.attributes().get_int("inverse", 0) != 0,
             onesided = context.attributes().get_int("onesided", 0) != 0;
  require_complex_axis(context, x.dims.back());
  context.require(!(onesided && !inverse && x.dims.back().is(2)), "a one-sided DFT needs real input");
  context.require(!(onesided && inverse && x.dims.back().is(1)), "a one-sided inverse DFT needs complex input");
  std::optional<std::int64_t> given(-2);
  if (context.has_input(2)) {
    const auto values = context.int_values(2);
    given = values && values->size() == 1 ? std::optional((*values)[0]) : std::nullopt;
  }
  if (!given) return context.set_tensor(0, x.element, context.fresh_dims(x.rank(), "dft"));
  const std::size_t axis = context.axis(*given, x.rank());
  context.require(axis + 1 != x.rank(), "the last axis holds complex numbers: no DFT runs along it");
  Dim length = x.dims[axis];
  if (context.has_input(1)) {
    length = value_or_fresh(context, 1, "dft");
  } else if (inverse && onesided) {
    length = (x.dims[axis] - Dim(1)) * Dim(2);
  }
  std::vector<Dim> dims = x.dims;
  dims[axis] = onesided && !inverse ? floor_div(length, 2) + Dim(1) : length;
  dims.back() = onesided && inverse ? 1 : 2;
  context.set_tensor(0, x.element, std::move(dims));
}

void infer_stft(InferContext& context) {
  const ValueType& x = context.tensor(0);
  context.require_rank(0, 3);
  if (!x.has_rank) return context.set_tensor(0, x.element, context.fresh_dims(4, "stft"));
  require_complex_axis(context, x.dims[2]);
  Dim length = x.dims[1];
  if (context.has_input(3)) {
    length = value_or_fresh(context, 3, "frame");
    if (context.has_rank(2) && context.rank(2) == 1)
      length = context.same(length, context.dim(2, 0), "frame_length and the window");
  } else if (context.has_input(2)) {
    context.require_rank(2, 1);
    length = context.has_rank(2) ? context.dim(2, 0) : context.fresh("frame");
  }
  const Dim step = value_or_fresh(context, 1, "step");
  context.require(!step.is(0), "frame_step must be positive");
  const bool onesided = context.attributes().get_int("onesided", 1) != 0 && !x.dims[2].is(2);
  const Dim frames = max(floor_div(x.dims[1] - length, step) + Dim(1), 0);
  context.set_tensor(0, x.element, {x.dims[0], frames, onesided ? floor_div(length, 2) + Dim(1) : length, 2});
}

ElementType output_datatype(const InferContext& context) {
  const std::int64_t type = context.attributes().get_int("output_datatype", 1);
  context.require(is_element_type(type), "attribute 'output_datatype' is not an element type: " + std::to_string(type));
  return static_cast<ElementType>(type);
}

void infer_window(InferContext& context) {
  context.tensor(0);
  context.set_tensor(0, output_datatype(context), {value_or_fresh(context, 0, "window")});
}

void infer_mel_weights(InferContext& context) {
  const Dim bins = value_or_fresh(context, 0, "mel"), length = value_or_fresh(context, 1, "dft");
  context.set_tensor(0, output_datatype(context), {floor_div(length, 2) + Dim(1), bins});
}

}  // namespace

void add_signal_ops(OpTable& table) {
  table.push_back({"", "DFT", infer_dft, {.shape_inputs = mask({1, 2})}});
  table.push_back({"", "STFT", infer_stft, {.shape_inputs = mask({1, 3})}});
  for (const char* window : {"HannWindow", "HammingWindow", "BlackmanWindow"}) {
    table.push_back({"", window, infer_window, {.shape_inputs = mask({0})}});
  }
  table.push_back({"", "MelWeightMatrix", infer_mel_weights, {.shape_inputs = mask({0, 1})}});
}

}  // namespace sardonyx::ops
