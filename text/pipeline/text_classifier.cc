#include "text/pipeline/text_classifier.h"

#include <algorithm>
#include <chrono>
#include <optional>

#include "base/fail.h"
#include "base/numeric/numeric.h"
#include "text/pipeline/token_inputs.h"
#include "text/tokenizer/tokenizer.h"

namespace sardonyx::pipeline {
namespace {

/// Where neither the tokenizer nor the model says how long a text may be.
constexpr std::size_t kUsualMaxLength = 512;
/// Tokens of one run, so that a large batch doesn't take memory in proportion.
constexpr std::size_t kMostTokensPerRun = 8192;

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

std::size_t choose_max_length(const text::Tokenizer& tokenizer, const ModelConfig& config, const TokenInputs& inputs,
                              std::size_t asked) {
  std::optional<std::size_t> length;
  const auto limit = [&](std::optional<std::size_t> other) {
    if (other && *other > 0) length = length ? std::min(*length, *other) : *other;
  };
  limit(tokenizer.config().model_max_length);
  limit(config.max_length());
  if (!length) length = kUsualMaxLength;
  limit(inputs.fixed_length());
  if (asked > *length) {
    fail(ErrorCode::kInvalidArgument, "a maximum length of {} tokens was asked for, but the model takes at most {}",
         asked, *length);
  }
  limit(asked);
  if (*length <= tokenizer.special_tokens_count(false)) {
    fail(ErrorCode::kInvalidArgument, "a maximum length of {} tokens leaves no room beside the {} special ones",
         *length, tokenizer.special_tokens_count(false));
  }
  return *length;
}

/// The output that holds [batch, labels]: "logits" where there is one, else the first.
const PortInfo& find_logits(const std::vector<PortInfo>& outputs) {
  if (outputs.empty()) fail(ErrorCode::kInvalidModel, "expected an output of logits, but the model has no outputs");
  const auto named =
      std::find_if(outputs.begin(), outputs.end(), [](const PortInfo& port) { return port.name == "logits"; });
  const PortInfo& port = named == outputs.end() ? outputs.front() : *named;
  if ((port.has_rank && port.fixed.size() != 2) || !is_floating_point(port.element_type)) {
    fail(ErrorCode::kUnsupported, "expected a text classifier with an output of floats [batch, labels], but '{}' is {}",
         port.name, port.type);
  }
  return port;
}

float logit_at(const Tensor& logits, std::int64_t i) {
  switch (logits.type()) {
    case ElementType::kFloat32: return logits.data<float>()[i];
    case ElementType::kFloat64: return static_cast<float>(logits.data<double>()[i]);
    case ElementType::kFloat16: return static_cast<float>(logits.data<Half>()[i]);
    case ElementType::kBFloat16: return static_cast<float>(logits.data<BFloat16>()[i]);
    default: fail(ErrorCode::kUnsupported, "expected logits of 16 to 64 bit floats, found {}", name(logits.type()));
  }
}

}  // namespace

std::size_t Classification::best() const {
  return static_cast<std::size_t>(std::max_element(scores.begin(), scores.end()) - scores.begin());
}

struct TextClassifier::Impl {
  ModelFolder folder;
  text::Tokenizer tokenizer;
  Session session;
  TokenInputs inputs;
  std::string logits_name;
  std::size_t max_length = 0;
  std::optional<ClassificationHead> head;

  /// Encodes, cut to max_length; `whole` is how many tokens there were.
  text::Encoding encode(const std::string& text, std::size_t& whole) const {
    text::EncodeOptions options{.tokens = false, .overflowing = false, .use_defaults = false};
    text::Encoding encoding = tokenizer.encode(text, options);
    whole = encoding.size();
    if (whole > max_length) {
      options.truncation = text::Truncation{.max_length = max_length};
      encoding = tokenizer.encode(text, options);
    }
    if (encoding.empty()) fail(ErrorCode::kInvalidArgument, "the text has no tokens");
    return encoding;
  }

  /// The logits [batch, labels] of encodings of equal lengths.
  Tensor run(std::span<const text::Encoding* const> encodings, const RunOptions& options) const {
    const Tensor logits = session.run(inputs.make(encodings), std::span(&logits_name, 1), options).at(0).tensor();
    const std::size_t rows = logits.shape().rank() == 2 ? static_cast<std::size_t>(logits.shape()[0]) : 0;
    if (rows < encodings.size() || (head && static_cast<std::size_t>(logits.shape()[1]) != head->logits())) {
      fail(ErrorCode::kInvalidModel, "expected logits for {} texts, but output '{}' has shape {}", encodings.size(),
           logits_name, logits.shape().to_string());
    }
    return logits;
  }
};

TextClassifier TextClassifier::load(const std::filesystem::path& folder, const ClassifierOptions& options) {
  ModelFolder files = open_model_folder(folder, options.model_file);
  try {
    text::Tokenizer tokenizer = text::Tokenizer::from_folder(folder.string());
    Session session = Session::load(files.model, options.session);
    const std::optional<std::uint32_t> pad =
        tokenizer.padding() ? std::optional(tokenizer.padding()->pad_id) : std::nullopt;
    TokenInputs inputs(session.inputs(), files.config.pad_token_id.value_or(pad.value_or(0)));
    const PortInfo& logits = find_logits(session.outputs());
    auto impl = std::unique_ptr<Impl>(new Impl{.folder = std::move(files),
                                               .tokenizer = std::move(tokenizer),
                                               .session = std::move(session),
                                               .inputs = std::move(inputs),
                                               .logits_name = logits.name,
                                               .head = std::nullopt});
    impl->max_length = choose_max_length(impl->tokenizer, impl->folder.config, impl->inputs, options.max_length);
    // One run tells how many logits there are, warms up, and shows that the model runs at all.
    std::size_t whole = 0;
    const text::Encoding encoding = impl->encode("a", whole);
    const text::Encoding* const first = &encoding;
    const Tensor sample = impl->run(std::span(&first, 1), {});
    impl->head.emplace(impl->folder.config, static_cast<std::size_t>(sample.shape()[1]));
    return TextClassifier(std::move(impl));
  } catch (Error& error) {
    error.add_context("model folder '" + folder.string() + "'");
    throw;
  }
}

TextClassifier::TextClassifier(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
TextClassifier::TextClassifier(TextClassifier&&) noexcept = default;
TextClassifier& TextClassifier::operator=(TextClassifier&&) noexcept = default;
TextClassifier::~TextClassifier() = default;

const ClassificationHead& TextClassifier::head() const { return *impl_->head; }
std::size_t TextClassifier::max_length() const { return impl_->max_length; }
const Session& TextClassifier::session() const { return impl_->session; }

std::vector<Classification> TextClassifier::classify(std::span<const std::string> texts,
                                                     const ClassifyOptions& options) const {
  std::vector<Classification> results(texts.size());
  std::vector<text::Encoding> encodings;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const Clock::time_point start = Clock::now();
    encodings.push_back(impl_->encode(texts[i], results[i].tokens));
    results[i].tokenize_seconds = seconds_since(start);
    results[i].used_tokens = encodings[i].size();
    results[i].truncated = results[i].tokens > results[i].used_tokens;
  }
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    if (options.truncate || !results[i].truncated) order.push_back(i);
  }
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return encodings[a].size() < encodings[b].size(); });

  const std::size_t labels = impl_->head->logits();
  std::vector<const text::Encoding*> group;
  std::vector<float> row(labels);
  for (std::size_t begin = 0; begin < order.size(); begin += group.size()) {
    const std::size_t length = encodings[order[begin]].size();
    const std::size_t most = std::min(impl_->inputs.most_texts(), std::max<std::size_t>(1, kMostTokensPerRun / length));
    group.clear();
    for (std::size_t i = begin; i < order.size() && group.size() < most && encodings[order[i]].size() == length; ++i) {
      group.push_back(&encodings[order[i]]);
    }
    const Clock::time_point start = Clock::now();
    const Tensor logits = impl_->run(group, options.run);
    const double seconds = seconds_since(start);
    for (std::size_t i = 0; i < group.size(); ++i) {
      for (std::size_t label = 0; label < labels; ++label)
        row[label] = logit_at(logits, static_cast<std::int64_t>(i * labels + label));
      results[order[begin + i]].run_seconds = seconds;
      results[order[begin + i]].scores = impl_->head->scores(row);
    }
  }
  return results;
}

Classification TextClassifier::classify(const std::string& text, const ClassifyOptions& options) const {
  return classify(std::span(&text, 1), options).front();
}

}  // namespace sardonyx::pipeline
