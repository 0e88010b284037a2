#include "text/tokenizer/tokenizer.h"

#include <algorithm>
#include <utility>

#include "base/fail.h"
#include "base/thread_pool.h"
#include "text/tokenizer/encoding_ops.h"
#include "text/tokenizer/impl.h"
#include "text/tokenizer/load/files.h"
#include "text/tokenizer/models/bpe.h"
#include "text/tokenizer/pre_tokenizers/basic.h"
#include "text/tokenizer/pre_tokenizers/byte_level.h"

namespace sardonyx::text {

Tokenizer::Tokenizer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Tokenizer::Tokenizer(Tokenizer&&) noexcept = default;
Tokenizer& Tokenizer::operator=(Tokenizer&&) noexcept = default;
Tokenizer::~Tokenizer() = default;

namespace {

/// Where the last pre-tokenizer is ByteLevel and the model can read bytes, the detour over their printable names is
/// saved.
void connect_bytes(TokenizerParts& parts) {
  PreTokenizer* last = parts.pre_tokenizer.get();
  while (auto* sequence = dynamic_cast<SequencePreTokenizer*>(last)) last = sequence->last();
  auto* byte_level = dynamic_cast<ByteLevelPreTokenizer*>(last);
  auto* bpe = dynamic_cast<Bpe*>(parts.model.get());
  if (byte_level != nullptr && bpe != nullptr && bpe->read_bytes()) byte_level->keep_bytes();
}

template <typename Impl>
std::unique_ptr<Impl> assemble_impl(TokenizerParts parts) {
  auto impl = std::make_unique<Impl>();
  impl->parts = std::move(parts);
  connect_bytes(impl->parts);
  const std::vector<AddedToken> tokens = std::move(impl->parts.added_tokens);
  impl->added.add(tokens, *impl->parts.model, impl->parts.normalizer.get());
  return impl;
}

}  // namespace

Tokenizer Tokenizer::from_json(std::string_view json) {
  return Tokenizer(assemble_impl<Impl>(parse_tokenizer_json(json, json.size())));
}

Tokenizer Tokenizer::from_file(const std::string& path) {
  try {
    return Tokenizer(assemble_impl<Impl>(load_tokenizer_file(path)));
  } catch (Error& error) {
    error.add_context("tokenizer file '" + path + "'");
    throw;
  }
}

Tokenizer Tokenizer::from_folder(const std::string& path) {
  LoadedFolder folder = load_tokenizer_folder(path);
  auto impl = assemble_impl<Impl>(std::move(folder.parts));
  impl->config = std::move(folder.config);
  return Tokenizer(std::move(impl));
}

Encoding Tokenizer::encode(const EncodeInput& input, const EncodeOptions& options) const {
  Encoding encoding = impl_->encode(input, options);
  if (const auto& padding = impl_->padding_for(options)) pad(std::span(&encoding, 1), *padding);
  return encoding;
}

Encoding Tokenizer::encode(TextInput text, TextInput pair, const EncodeOptions& options) const {
  return encode(EncodeInput(text, pair), options);
}

std::vector<Encoding> Tokenizer::encode_batch(std::span<const EncodeInput> inputs, const EncodeOptions& options) const {
  std::vector<Encoding> encodings(inputs.size());
  ThreadPool& pool = ThreadPool::global();
  constexpr std::size_t kChunk = 4;
  pool.parallel_for(inputs.size(), kChunk, pool.threads(), [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) encodings[i] = impl_->encode(inputs[i], options);
  });
  if (const auto& padding = impl_->padding_for(options)) pad(encodings, *padding);
  return encodings;
}

std::string Tokenizer::decode(std::span<const std::uint32_t> ids, bool skip_special_tokens) const {
  std::vector<std::string> tokens;
  tokens.reserve(ids.size());
  for (std::uint32_t id : ids) {
    std::optional<std::string> token = id_to_token(id);
    if (!token || (skip_special_tokens && impl_->added.is_special(*token))) continue;
    tokens.push_back(std::move(*token));
  }
  std::string result;
  if (impl_->parts.decoder) {
    for (const std::string& piece : impl_->parts.decoder->decode(std::move(tokens))) result += piece;
    return result;
  }
  for (const std::string& token : tokens) {
    if (&token != tokens.data()) result += ' ';
    result += token;
  }
  return result;
}

std::optional<std::uint32_t> Tokenizer::token_to_id(std::string_view token) const {
  const auto id = impl_->added.token_to_id(token);
  return id ? id : impl_->parts.model->token_to_id(token);
}

std::optional<std::string> Tokenizer::id_to_token(std::uint32_t id) const {
  if (const std::string* token = impl_->added.id_to_token(id)) return *token;
  const auto token = impl_->parts.model->id_to_token(id);
  return token ? std::optional<std::string>(*token) : std::nullopt;
}

std::size_t Tokenizer::vocab_size(bool with_added_tokens) const {
  const std::size_t size = impl_->parts.model->vocab_size();
  return with_added_tokens ? size + impl_->added.size_beyond(*impl_->parts.model) : size;
}

std::size_t Tokenizer::special_tokens_count(bool pair) const {
  return impl_->parts.post_processor ? impl_->parts.post_processor->added_tokens(pair) : 0;
}

std::size_t Tokenizer::add_tokens(std::span<const AddedToken> tokens) {
  return impl_->added.add(tokens, *impl_->parts.model, impl_->parts.normalizer.get());
}

std::vector<std::pair<std::uint32_t, AddedToken>> Tokenizer::added_tokens() const {
  const auto& tokens = impl_->added.by_id();
  return {tokens.begin(), tokens.end()};
}

void Tokenizer::set_encode_special_tokens(bool on) { impl_->added.set_encode_special_tokens(on); }

const std::optional<Truncation>& Tokenizer::truncation() const { return impl_->parts.truncation; }

void Tokenizer::set_truncation(std::optional<Truncation> truncation) {
  if (truncation && truncation->stride + special_tokens_count(false) > truncation->max_length) {
    fail(ErrorCode::kInvalidArgument,
         "truncation stride {} is more than the {} tokens that max_length {} leaves beside {} specials",
         truncation->stride, truncation->max_length - std::min(truncation->max_length, special_tokens_count(false)),
         truncation->max_length, special_tokens_count(false));
  }
  impl_->parts.truncation = truncation;
}

const std::optional<Padding>& Tokenizer::padding() const { return impl_->parts.padding; }
void Tokenizer::set_padding(std::optional<Padding> padding) { impl_->parts.padding = std::move(padding); }
const TokenizerConfig& Tokenizer::config() const { return impl_->config; }
std::string_view Tokenizer::model_type() const { return impl_->parts.model->type(); }

}  // namespace sardonyx::text
