#pragma once

#include <string>
#include <string_view>

#include "text/tokenizer/tokenizer.h"

namespace sardonyx::text {

/// Adds what tokenizer_config.json or special_tokens_map.json says; what `config` has already is overwritten. `name` is
/// what messages call the file. Throws Error kInvalidModel where the text is not a JSON object.
void read_tokenizer_config(std::string_view text, const std::string& name, TokenizerConfig& config);

}  // namespace sardonyx::text
