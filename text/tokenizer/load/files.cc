#include "text/tokenizer/load/files.h"

#include <filesystem>

#include "base/fail.h"
#include "base/file_mapping.h"
#include "text/tokenizer/load/config.h"
#include "text/tokenizer/load/older_files.h"
#include "text/tokenizer/load/sentence_piece.h"

namespace sardonyx::text {

namespace {

bool exists(const std::string& path) { return std::filesystem::exists(path); }

/// A mapping is readable up to the end of its last page.
std::size_t readable_bytes(const FileMapping& file) {
  constexpr std::size_t kPage = 4096;  // the smallest there is
  return (file.size() + kPage - 1) / kPage * kPage;
}

/// merges.txt stands beside vocab.json.
std::string merges_beside(const std::string& vocab_path) {
  return (std::filesystem::path(vocab_path).parent_path() / "merges.txt").string();
}

TokenizerParts load_file(const std::string& path, bool lowercase) {
  const FileMapping file(path);
  const std::string_view content = file.text();
  if (path.ends_with("vocab.json")) return parse_vocab_and_merges(content, FileMapping(merges_beside(path)).text());
  if (path.ends_with(".txt")) return parse_vocab_txt(content, lowercase);
  if (path.ends_with(".model") || looks_like_sentence_piece(content)) return parse_sentence_piece(content);
  return parse_tokenizer_json(content, readable_bytes(file));
}

}  // namespace

TokenizerParts load_tokenizer_file(const std::string& path) { return load_file(path, true); }

namespace {

void read_config(const std::string& path, TokenizerConfig& config) {
  if (exists(path)) read_tokenizer_config(FileMapping(path).text(), path, config);
}

}  // namespace

LoadedFolder load_tokenizer_folder(const std::string& path) {
  LoadedFolder folder;
  read_config(path + "/special_tokens_map.json", folder.config);
  read_config(path + "/tokenizer_config.json", folder.config);
  for (const char* name : {"tokenizer.json", "sentencepiece.bpe.model", "spiece.model", "tokenizer.model", "spm.model",
                           "vocab.txt", "vocab.json"}) {
    const std::string file = path + "/" + name;
    if (!exists(file)) continue;
    try {
      folder.parts = load_file(file, folder.config.do_lower_case.value_or(true));
    } catch (Error& error) {
      error.add_context("tokenizer file '" + file + "'");
      throw;
    }
    return folder;
  }
  fail(ErrorCode::kNotFound,
       "'{}' holds no tokenizer: expected tokenizer.json, a SentencePiece .model, vocab.txt, or vocab.json and "
       "merges.txt",
       path);
}

}  // namespace sardonyx::text
