#include "text/tokenizer/decoders/word_piece.h"

#include <string_view>

#include "text/tokenizer/decoders/replace_all.h"

namespace sardonyx::text {

std::string clean_up(std::string text) {
  static constexpr std::pair<std::string_view, std::string_view> kRules[] = {
      {" .", "."},   {" ?", "?"},           {" !", "!"},   {" ,", ","},     {" ' ", "'"},    {" n't", "n't"},
      {" 'm", "'m"}, {" do not", " don't"}, {" 's", "'s"}, {" 've", "'ve"}, {" 're", "'re"},
  };
  for (const auto& [from, to] : kRules) text = replace_all(text, from, to);
  return text;
}

std::vector<std::string> WordPieceDecoder::decode(std::vector<std::string> tokens) const {
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    std::string& token = tokens[i];
    if (i != 0) token = token.starts_with(prefix_) ? token.substr(prefix_.size()) : " " + token;
    if (cleanup_) token = clean_up(std::move(token));
  }
  return tokens;
}

}  // namespace sardonyx::text
