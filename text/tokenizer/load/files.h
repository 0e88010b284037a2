#pragma once

#include <string>

#include "text/tokenizer/load/parts.h"

namespace sardonyx::text {

/// The parts of a tokenizer in one file, whichever kind it is. Throws Error.
TokenizerParts load_tokenizer_file(const std::string& path);

struct LoadedFolder {
  TokenizerParts parts;
  TokenizerConfig config;
};

/// The tokenizer of a model folder with its configuration files. Throws Error kNotFound where no known file is there.
LoadedFolder load_tokenizer_folder(const std::string& path);

}  // namespace sardonyx::text
