#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "provider/cpu/kernel_list.h"

namespace sardonyx::provider::cpu {

/// `text` cut at white space, none of which is kept (Python's str.split()). After `max_split` cuts the rest stays
/// whole, with its trailing white space. Negative: no limit. Pieces point into `text`.
void split_white_space(std::string_view text, std::int64_t max_split, std::vector<std::string_view>& pieces);

/// `text` cut at each `delimiter`, which must not be empty; two in a row give an empty piece.
void split_at(std::string_view text, std::string_view delimiter, std::int64_t max_split,
              std::vector<std::string_view>& pieces);

void add_tf_idf_kernels(KernelTable& table);            ///< tfidf.cc
void add_string_case_kernels(KernelTable& table);       ///< string_case.cc: StringNormalizer
void add_string_tokenizer_kernels(KernelTable& table);  ///< string_tokenizer.cc: com.microsoft.Tokenizer

}  // namespace sardonyx::provider::cpu
