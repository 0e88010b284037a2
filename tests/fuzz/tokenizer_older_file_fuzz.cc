// Loads arbitrary bytes as a tokenizer file of the older kinds and, where that works, uses what comes of it: nothing
// but an Error may come out. The first byte says which kind.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "sardonyx/error.h"

#include "text/tokenizer/load/older_files.h"
#include "text/tokenizer/load/sentence_piece.h"

namespace {

using sardonyx::text::TokenizerParts;

TokenizerParts parse(std::uint8_t kind, std::string_view content) {
  if (kind % 4 == 0) return sardonyx::text::parse_sentence_piece(content);
  if (kind % 4 == 1) return sardonyx::text::parse_vocab_txt(content, kind >= 128);
  const std::size_t cut = std::min(content.find('\0'), content.size());
  return sardonyx::text::parse_vocab_and_merges(content.substr(0, cut),
                                                content.substr(std::min(cut + 1, content.size())));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  try {
    const TokenizerParts parts = parse(data[0], std::string_view(reinterpret_cast<const char*>(data) + 1, size - 1));
    sardonyx::text::AlignedText text("Hello,  w\xC3\xB6rld \xE2\x96\x81\xE4\xB8\xAD\xE6\x96\x87 1", 0);
    if (parts.normalizer) parts.normalizer->normalize(text);
    std::vector<sardonyx::text::ModelToken> tokens;
    if (!text.text().empty()) parts.model->tokenize(text.text(), 0, tokens);
    std::vector<std::string> strings;
    for (const auto& token : tokens) strings.emplace_back(parts.model->id_to_token(token.id).value_or(""));
    if (parts.decoder) parts.decoder->decode(std::move(strings));
  } catch (const sardonyx::Error&) {
  }
  return 0;
}
