#pragma once

#include <string>

#include "text/tokenizer/load/json.h"
#include "text/tokenizer/pre_tokenizers/metaspace.h"

namespace sardonyx::text {

/// Metaspace as the file describes it, for the pre-tokenizer and the decoder alike.
struct Metaspace {
  std::string replacement;
  PrependScheme scheme = PrependScheme::kAlways;
  bool split = true;
};

Metaspace read_metaspace(json::Object object);

}  // namespace sardonyx::text
