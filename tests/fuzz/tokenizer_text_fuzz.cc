// Encodes arbitrary bytes with one small tokenizer of each kind: every text is encoded, or refused with an Error.

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "sardonyx/error.h"

#include "text/tokenizer/tokenizer.h"

namespace {

using sardonyx::text::Encoding;
using sardonyx::text::Tokenizer;

constexpr std::string_view kFiles[] = {
    R"({"normalizer": {"type": "BertNormalizer", "clean_text": true, "handle_chinese_chars": true, "strip_accents": true,
        "lowercase": true}, "pre_tokenizer": {"type": "BertPreTokenizer"},
        "model": {"type": "WordPiece", "unk_token": "u", "continuing_subword_prefix": "##", "max_input_chars_per_word": 20,
                  "vocab": {"u": 0, "a": 1, "##a": 2, "ab": 3, "##\u0301": 4}},
        "added_tokens": [{"id": 5, "content": " x", "single_word": true, "lstrip": true, "rstrip": true, "normalized": true,
                          "special": false}]})",
    R"({"normalizer": {"type": "NFKC"}, "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": true, "use_regex": true},
        "post_processor": {"type": "ByteLevel", "trim_offsets": true, "add_prefix_space": true},
        "model": {"type": "BPE", "unk_token": "u", "byte_fallback": true, "continuing_subword_prefix": "##",
                  "vocab": {"u": 0, "a": 1, "##a": 2, "a##a": 3, "aa": 4}, "merges": [["a", "##a"]]}})",
    R"({"normalizer": {"type": "Sequence", "normalizers": [{"type": "Nmt"}, {"type": "NFD"}, {"type": "StripAccents"},
        {"type": "Replace", "pattern": {"Regex": "\\s*"}, "content": "_"}]},
        "pre_tokenizer": {"type": "Sequence", "pretokenizers": [{"type": "UnicodeScripts"},
          {"type": "Metaspace", "replacement": "\u2581", "prepend_scheme": "first"}]},
        "model": {"type": "Unigram", "unk_id": 0, "byte_fallback": true, "vocab": [["u", 0.0], ["a", -1.0], ["\u2581", -2.0]]}})",
    R"({"normalizer": {"type": "Sequence", "normalizers": [{"type": "Prepend", "prepend": "\u2581"},
        {"type": "Replace", "pattern": {"String": " "}, "content": "\u2581"}]},
        "decoder": {"type": "Sequence", "decoders": [{"type": "ByteFallback"}, {"type": "Fuse"},
          {"type": "Strip", "content": " ", "start": 1, "stop": 0}]},
        "truncation": {"max_length": 5, "stride": 2, "strategy": "LongestFirst", "direction": "Left"},
        "padding": {"strategy": {"Fixed": 7}, "direction": "Left", "pad_to_multiple_of": 4, "pad_id": 0, "pad_type_id": 0,
                    "pad_token": "u"},
        "model": {"type": "BPE", "unk_token": "u", "byte_fallback": true, "fuse_unk": true, "ignore_merges": true,
                  "vocab": {"u": 0, "\u2581": 1, "a": 2, "\u2581a": 3, "<0x0A>": 4, "<0xC3>": 5, "<0xA9>": 6},
                  "merges": ["\u2581 a"]},
        "added_tokens": [{"id": 7, "content": "<x>", "single_word": false, "lstrip": true, "rstrip": true, "normalized": false,
                          "special": true}]})",
    R"({"pre_tokenizer": {"type": "Sequence", "pretokenizers": [
          {"type": "Split", "behavior": "MergedWithPrevious", "invert": false, "pattern": {"Regex":
           "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"}},
          {"type": "Digits", "individual_digits": true}, {"type": "Punctuation", "behavior": "MergedWithNext"},
          {"type": "FixedLength", "length": 3}]},
        "model": {"type": "WordLevel", "unk_token": "u", "vocab": {"u": 0, "a": 1}}})",
};

const std::vector<Tokenizer>& tokenizers() {
  static const std::vector<Tokenizer> kTokenizers = [] {
    std::vector<Tokenizer> all;
    for (std::string_view file : kFiles) all.push_back(Tokenizer::from_json(file));
    return all;
  }();
  return kTokenizers;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  for (const Tokenizer& tokenizer : tokenizers()) {
    try {
      const Encoding encoding = tokenizer.encode(text);
      // Every column has a row per token.
      if (encoding.tokens.size() != encoding.ids.size() || encoding.offsets.size() != encoding.ids.size())
        __builtin_trap();
      tokenizer.decode(encoding.ids, false);
    } catch (const sardonyx::Error&) {
    }
  }
  return 0;
}
