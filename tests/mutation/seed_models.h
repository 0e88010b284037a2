#pragma once

#include <string>
#include <vector>

namespace sardonyx::mutation {

struct SeedModel {
  std::string name;
  std::string bytes;
};

/// Small models that between them use what the reader knows: weights in every form, subgraphs with captures, functions,
/// old opsets, shape arithmetic, sequences, strings, quantised weights.
std::vector<SeedModel> seed_models();

}  // namespace sardonyx::mutation
