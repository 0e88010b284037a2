#pragma once

#include <utility>

#include "sardonyx/error.h"

namespace sardonyx::onnx {

/// Runs fn; an Error that leaves it gets the place that `place()` names.
template <typename Place, typename Fn>
decltype(auto) in_context(Place&& place, Fn&& fn) {
  try {
    return std::forward<Fn>(fn)();
  } catch (Error& error) {
    error.add_context(place());
    throw;
  }
}

}  // namespace sardonyx::onnx
