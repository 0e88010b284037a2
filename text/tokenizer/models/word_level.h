#pragma once

#include <string>
#include <utility>

#include "text/tokenizer/models/model.h"
#include "text/tokenizer/models/vocabulary.h"

namespace sardonyx::text {

/// Every piece is one token, or the unknown one.
class WordLevel : public Model {
 public:
  WordLevel(Vocabulary vocabulary, std::string unk_token)
      : vocabulary_(std::move(vocabulary)), unk_token_(std::move(unk_token)), unk_id_(vocabulary_.find(unk_token_)) {}

  std::string_view type() const override { return "WordLevel"; }
  void tokenize(std::string_view piece, std::uint32_t base, std::vector<ModelToken>& out) const override;
  std::optional<std::uint32_t> token_to_id(std::string_view token) const override {
    return vocabulary_.find_optional(token);
  }
  std::optional<std::string_view> id_to_token(std::uint32_t id) const override { return vocabulary_.token(id); }
  std::size_t vocab_size() const override { return vocabulary_.size(); }

 private:
  Vocabulary vocabulary_;
  std::string unk_token_;
  std::uint32_t unk_id_;
};

}  // namespace sardonyx::text
