#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "text/tokenizer/encoding.h"

namespace sardonyx::text {

enum class TruncationStrategy { kLongestFirst, kOnlyFirst, kOnlySecond };

/// How encodings are cut. `max_length` counts the special tokens that the post-processor adds.
struct Truncation {
  std::size_t max_length = 512;
  TruncationStrategy strategy = TruncationStrategy::kLongestFirst;
  std::size_t stride =
      0;  ///< tokens that neighbouring overflowing pieces share; less than max_length minus the specials
  Direction direction = Direction::kRight;
};

/// How encodings are filled up.
struct Padding {
  std::optional<std::size_t> fixed_length;  ///< unset: the longest encoding of the batch
  std::size_t multiple_of = 0;              ///< rounds the length up to a multiple; 0 leaves it alone
  Direction direction = Direction::kRight;
  std::uint32_t pad_id = 0;
  std::uint32_t pad_type_id = 0;
  std::string pad_token = "[PAD]";
};

/// A token matched in the text before the model sees it.
struct AddedToken {
  std::string content;
  bool single_word = false;  ///< matches only where no word character touches it
  bool lstrip = false;       ///< takes the whitespace on its left with it
  bool rstrip = false;       ///< takes the whitespace on its right with it
  bool normalized = true;    ///< matched in the normalized text, after being normalized itself
  bool special = false;      ///< left out by decode when asked

  bool operator==(const AddedToken&) const = default;
};

/// One text, or one text already split into words. Views: the caller keeps the bytes alive during the call.
class TextInput {
 public:
  TextInput(std::string_view text) : text_(text) {}                                    // NOLINT: implicit on purpose
  TextInput(const char* text) : text_(text) {}                                         // NOLINT
  TextInput(const std::string& text) : text_(text) {}                                  // NOLINT
  TextInput(std::span<const std::string_view> words) : words_(words), split_(true) {}  // NOLINT

  bool is_split() const { return split_; }
  std::string_view text() const { return text_; }
  std::span<const std::string_view> words() const { return words_; }

 private:
  std::string_view text_;
  std::span<const std::string_view> words_;
  bool split_ = false;
};

/// A text, or a pair of texts.
struct EncodeInput {
  EncodeInput(TextInput text) : first(text) {}           // NOLINT: implicit on purpose
  EncodeInput(std::string_view text) : first(text) {}    // NOLINT
  EncodeInput(const char* text) : first(text) {}         // NOLINT
  EncodeInput(const std::string& text) : first(text) {}  // NOLINT
  EncodeInput(TextInput text, TextInput pair) : first(text), second(pair) {}

  TextInput first;
  std::optional<TextInput> second;
};

/// What encode computes. The defaults give everything, as the tokenizer's file asks.
struct EncodeOptions {
  bool add_special_tokens = true;
  bool tokens = true;       ///< fill Encoding::tokens; off saves time where only ids matter
  bool overflowing = true;  ///< keep what truncation cuts off
  /// Where unset, the tokenizer's own truncation() and padding() apply, unless `use_defaults` is off.
  std::optional<Truncation> truncation = std::nullopt;
  std::optional<Padding> padding = std::nullopt;
  bool use_defaults = true;
};

/// What stands beside the tokenizer in its folder: tokenizer_config.json and special_tokens_map.json.
struct TokenizerConfig {
  std::optional<std::size_t> model_max_length;  ///< unset also where the file gives a "no limit" number
  std::optional<bool> do_lower_case;
  std::map<std::string, std::string> special_tokens;  ///< role ("pad_token", "cls_token", …) -> content
};

/// Text to token ids and back, as the Hugging Face `tokenizers` package does it for the same file.
///
/// All const members may be called from any number of threads at once; the others need exclusive access. Copies of a
/// tokenizer are not offered: share it.
///
/// Text must be valid UTF-8 of at most kMaxTextBytes bytes; anything else is an Error kInvalidArgument that names the
/// first wrong byte. Time and memory are linear in the text for a given tokenizer, whatever the text holds: at most 256
/// bytes per byte of normalized text while it is encoded, and BPE takes n log n time in the length of one word. Two
/// things are refused with an Error kResourceExhausted: a text that the normalizer makes longer than 2 GiB, and a
/// regular expression, other than the well-known ones, that takes more than ten million steps at one place; up to there
/// such expressions may take quadratic time.
class Tokenizer {
 public:
  static constexpr std::size_t kMaxTextBytes = std::size_t{1} << 30;

  /// Loads tokenizer.json, a SentencePiece .model, BERT's vocab.txt, or vocab.json with the merges.txt beside it,
  /// whichever the file is. Throws Error.
  static Tokenizer from_file(const std::string& path);
  /// Loads the tokenizer of a model folder: tokenizer.json, else the older files; and its configuration files.
  static Tokenizer from_folder(const std::string& path);
  /// Parses the text of a tokenizer.json.
  static Tokenizer from_json(std::string_view json);

  Tokenizer(Tokenizer&&) noexcept;
  Tokenizer& operator=(Tokenizer&&) noexcept;
  ~Tokenizer();

  Encoding encode(const EncodeInput& input, const EncodeOptions& options = {}) const;
  Encoding encode(TextInput text, TextInput pair, const EncodeOptions& options = {}) const;
  /// Padding applies over the whole batch. The inputs are shared among the threads of the process pool.
  std::vector<Encoding> encode_batch(std::span<const EncodeInput> inputs, const EncodeOptions& options = {}) const;

  /// Unknown ids are left out.
  std::string decode(std::span<const std::uint32_t> ids, bool skip_special_tokens = true) const;

  std::optional<std::uint32_t> token_to_id(std::string_view token) const;
  /// Added tokens that are matched normalized give their normalized form.
  std::optional<std::string> id_to_token(std::uint32_t id) const;
  std::size_t vocab_size(bool with_added_tokens = true) const;

  /// How many special tokens a text or a pair is given.
  std::size_t special_tokens_count(bool pair) const;

  /// Returns how many were new or changed. Existing contents keep their ids.
  std::size_t add_tokens(std::span<const AddedToken> tokens);
  /// Added tokens by id.
  std::vector<std::pair<std::uint32_t, AddedToken>> added_tokens() const;
  /// When on, special tokens in the text are split like any other text.
  void set_encode_special_tokens(bool on);

  const std::optional<Truncation>& truncation() const;
  /// Throws Error kInvalidArgument where the stride leaves no room.
  void set_truncation(std::optional<Truncation> truncation);
  const std::optional<Padding>& padding() const;
  void set_padding(std::optional<Padding> padding);

  const TokenizerConfig& config() const;
  /// Name of the model: "WordPiece", "BPE", "Unigram", "WordLevel".
  std::string_view model_type() const;

 private:
  struct Impl;
  explicit Tokenizer(std::unique_ptr<Impl> impl);

  std::unique_ptr<Impl> impl_;
};

}  // namespace sardonyx::text
