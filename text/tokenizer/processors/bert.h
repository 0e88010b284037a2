#pragma once

#include <vector>

#include "text/tokenizer/processors/post_processor.h"

namespace sardonyx::text {

/// BertProcessing: [CLS] A [SEP], and B [SEP] with type id 1.
class BertProcessor : public PostProcessor {
 public:
  BertProcessor(SpecialPiece cls, SpecialPiece sep) : cls_{std::move(cls)}, sep_{std::move(sep)} {}

  std::size_t added_tokens(bool is_pair) const override { return is_pair ? 3 : 2; }
  std::vector<Encoding> process(std::vector<Encoding> encodings, bool add_special_tokens) const override;
  std::optional<Frame> frame(bool is_pair, bool add_special_tokens) const override;

 private:
  std::vector<SpecialPiece> cls_, sep_;
};

/// RobertaProcessing: <s> A </s>, and </s> B </s>; all type ids are 0.
class RobertaProcessor : public PostProcessor {
 public:
  RobertaProcessor(SpecialPiece cls, SpecialPiece sep, bool trim_offsets, bool add_prefix_space)
      : cls_{std::move(cls)}, sep_{std::move(sep)}, trim_offsets_(trim_offsets), add_prefix_space_(add_prefix_space) {}

  std::size_t added_tokens(bool is_pair) const override { return is_pair ? 4 : 2; }
  std::vector<Encoding> process(std::vector<Encoding> encodings, bool add_special_tokens) const override;
  std::optional<Frame> frame(bool is_pair, bool add_special_tokens) const override;

 private:
  std::vector<SpecialPiece> cls_, sep_;
  bool trim_offsets_, add_prefix_space_;
};

}  // namespace sardonyx::text
