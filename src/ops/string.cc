#include <algorithm>
#include <string>
#include <utility>

#include "base/fail.h"
#include "graph/attribute.h"
#include "ops/infer_context.h"
#include "ops/op_list.h"

namespace sardonyx::ops {
namespace {

void require_strings(const InferContext& context, std::size_t input) {
  const ValueType& type = context.tensor(input);
  if (type.element != ElementType::kString) {
    fail(ErrorCode::kInvalidModel, "input {} must hold strings, but it is {}", input, type.to_string());
  }
}

void infer_string_concat(InferContext& context) {
  require_strings(context, 0);
  require_strings(context, 1);
  if (!context.has_rank(0) || !context.has_rank(1)) return context.set_unranked(0, ElementType::kString);
  context.set_tensor(0, ElementType::kString, context.broadcast(context.dims(0), context.dims(1)));
}

void infer_string_split(InferContext& context) {
  require_strings(context, 0);
  context.set_like(1, 0, ElementType::kInt64);
  if (!context.has_rank(0)) return context.set_unranked(0, ElementType::kString);
  std::vector<Dim> dims = context.dims(0);
  dims.push_back(context.fresh("parts"));
  context.set_tensor(0, ElementType::kString, std::move(dims));
}

void infer_string_normalizer(InferContext& context) {
  require_strings(context, 0);
  if (!context.has_rank(0)) return context.set_unranked(0, ElementType::kString);
  const std::size_t rank = context.rank(0);
  context.require(rank == 1 || rank == 2, "StringNormalizer takes strings of shape [C] or [1, C]");
  if (rank == 2) context.same(context.dim(0, 0), 1, "the first dimension of StringNormalizer's input and 1");
  std::vector<Dim> dims(rank, Dim(1));
  dims.back() = context.fresh("kept");
  context.set_tensor(0, ElementType::kString, std::move(dims));
}

void infer_regex_full_match(InferContext& context) {
  require_strings(context, 0);
  context.set_like(0, 0, ElementType::kBool);
}

void infer_tf_idf(InferContext& context) {
  const ValueType& x = context.tensor(0);
  const auto* indexes = context.attributes().ints("ngram_indexes");
  context.require(indexes && !indexes->empty(), "attribute 'ngram_indexes' is required and must not be empty");
  const std::int64_t largest = *std::max_element(indexes->begin(), indexes->end());
  context.require(largest >= 0 && largest < (std::int64_t{1} << 40),
                  "attribute 'ngram_indexes' holds an index out of range");
  if (!x.has_rank) return context.set_unranked(0, ElementType::kFloat32);
  context.require(x.rank() <= 2, "TfIdfVectorizer takes input of shape [C] or [N, C], found " + x.to_string());
  std::vector<Dim> dims{largest + 1};
  if (x.rank() == 2) dims.insert(dims.begin(), x.dims[0]);
  context.set_tensor(0, ElementType::kFloat32, std::move(dims));
}

void infer_tokenizer(InferContext& context) {
  require_strings(context, 0);
  if (!context.has_rank(0)) return context.set_unranked(0, ElementType::kString);
  context.require(context.rank(0) == 1 || context.rank(0) == 2, "Tokenizer takes strings of shape [C] or [N, C]");
  std::vector<Dim> dims = context.dims(0);
  dims.push_back(context.fresh("tokens"));
  context.set_tensor(0, ElementType::kString, std::move(dims));
}

}  // namespace

void add_string_ops(OpTable& table) {
  table.push_back({"", "StringConcat", infer_string_concat, {}});
  table.push_back({"", "StringSplit", infer_string_split, {.data_dependent = true}});
  table.push_back({"", "StringNormalizer", infer_string_normalizer, {.data_dependent = true}});
  table.push_back({"", "RegexFullMatch", infer_regex_full_match, {}});
  table.push_back({"", "TfIdfVectorizer", infer_tf_idf, {}});
  table.push_back({"com.microsoft", "Tokenizer", infer_tokenizer, {.data_dependent = true}});
}

}  // namespace sardonyx::ops
