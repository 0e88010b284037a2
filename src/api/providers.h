#pragma once

#include "runtime/placement.h"
#include "runtime/plan.h"
#include "sardonyx/session.h"

namespace sardonyx::api {

/// The session's providers: the CPU first, then the others as named, and the order they are asked in.
struct ChosenProviders {
  runtime::ProviderList list;
  runtime::PlacementOptions placement;
  std::vector<std::string> notes;  ///< providers that were left out under allow_fallback
};

/// Throws kInvalidArgument for a name that does not exist, and what the provider throws when it can't start.
ChosenProviders choose_providers(const SessionOptions& options);

}  // namespace sardonyx::api
