#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <fmt/core.h>
#include <memory>
#include <nlohmann/json.hpp>

#include "apps/cli/commands.h"
#include "apps/cli/session_options.h"
#include "apps/cli/terminal.h"
#include "apps/values/json_value.h"
#include "base/fail.h"
#include "base/file_mapping.h"
#include "text/pipeline/text_classifier.h"

namespace sardonyx::cli {
namespace {

using nlohmann::json;
using pipeline::Classification;
using pipeline::TextClassifier;

struct ClassifyCommand {
  std::string folder;
  std::vector<std::string> texts, files;
  pipeline::ClassifierOptions options;
  bool json = false, all = false;
};

/// Texts of one batch: enough to share runs, few enough to see results early.
constexpr std::size_t kBatch = 64;

/// Calls take(line) for each line without its end, "\r\n" included.
template <typename Take>
void for_each_line(std::string_view text, Take&& take) {
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    take(line);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
}

class Classifying {
 public:
  Classifying(const TextClassifier& classifier, const ClassifyCommand& command)
      : classifier_(classifier), command_(command) {}

  void add(std::string_view text) {
    texts_.emplace_back(text);
    if (texts_.size() == kBatch) flush();
  }

  void flush() {
    if (texts_.empty()) return;
    const std::vector<Classification> results = classifier_.classify(texts_);
    for (std::size_t i = 0; i < results.size(); ++i)
      command_.json ? print_json(results[i]) : print_text(texts_[i], results[i]);
    std::fflush(stdout);
    done_ += texts_.size();
    progress_.show(fmt::format("{} texts", done_));
    texts_.clear();
  }

 private:
  std::vector<std::size_t> ranking(const Classification& result) const {
    std::vector<std::size_t> order(result.scores.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return result.scores[a] > result.scores[b]; });
    if (!command_.all) order.resize(1);
    return order;
  }

  void print_json(const Classification& result) const {
    json root = {{"label", classifier_.labels()[result.best()]},
                 {"score", values::short_double(result.scores[result.best()])},
                 {"tokens", result.tokens},
                 {"truncated", result.truncated}};
    if (command_.all) {
      for (const std::size_t label : ranking(result)) {
        root["scores"].push_back(
            {{"label", classifier_.labels()[label]}, {"score", values::short_double(result.scores[label])}});
      }
    }
    fmt::print("{}\n", root.dump(-1, ' ', false, json::error_handler_t::replace));
  }

  void print_text(const std::string& text, const Classification& result) const {
    std::string line;
    for (const std::size_t label : ranking(result)) {
      line += fmt::format("{:<16} {:.4f}  ", classifier_.labels()[label], result.scores[label]);
    }
    const std::string note =
        result.truncated ? fmt::format(" [the first {} of {} tokens]", result.used_tokens, result.tokens) : "";
    fmt::print("{}{}{}\n", output_style().bold(line), text, output_style().dim(note));
  }

  const TextClassifier& classifier_;
  const ClassifyCommand& command_;
  std::vector<std::string> texts_;
  std::size_t done_ = 0;
  Progress progress_;
};

void classify_standard_input(Classifying& classifying) {
  char* line = nullptr;
  std::size_t size = 0;
  ssize_t length = 0;
  while ((length = getline(&line, &size, stdin)) >= 0) {
    for_each_line(std::string_view(line, static_cast<std::size_t>(length)),
                  [&](std::string_view text) { classifying.add(text); });
  }
  std::free(line);
}

void classify(const ClassifyCommand& command) {
  const TextClassifier classifier = TextClassifier::load(command.folder, command.options);
  Classifying classifying(classifier, command);
  for (const std::string& text : command.texts) classifying.add(text);
  for (const std::string& file : command.files) {
    if (file == "-") {
      classify_standard_input(classifying);
      continue;
    }
    const FileMapping mapping(file);
    for_each_line(mapping.text(), [&](std::string_view text) { classifying.add(text); });
  }
  if (command.texts.empty() && command.files.empty()) classify_standard_input(classifying);
  classifying.flush();
}

}  // namespace

void add_classify(CLI::App& app, Outcome&) {
  auto command = std::make_shared<ClassifyCommand>();
  CLI::App* sub = app.add_subcommand("classify", "Classify texts with a model folder");
  sub->footer(
      "Texts come from the command line, from files (one a line), or from standard input.\n\n"
      "Examples:\n"
      "  sardonyx classify models/sentiment \"What a lovely day.\"\n"
      "  sardonyx classify models/sentiment --file reviews.txt --json\n"
      "  cat reviews.txt | sardonyx classify models/sentiment --all\n");
  sub->add_option("folder", command->folder, "Model folder: model.onnx, config.json, tokenizer.json")
      ->required()
      ->type_name("FOLDER");
  sub->add_option("texts", command->texts, "Texts to classify")->type_name("TEXT");
  sub->add_option("-f,--file", command->files, "File of texts, one a line; - is standard input")
      ->type_name("FILE")
      ->allow_extra_args(false);
  sub->add_flag("--all", command->all, "Give every label's score, best first");
  sub->add_flag("--json", command->json, "Print one JSON object per text");
  sub->add_option("--model-file", command->options.model_file, "The ONNX file in the folder, where it isn't model.onnx")
      ->type_name("FILE");
  sub->add_option("--max-length", command->options.max_length,
                  "Cut texts at this many tokens, below the model's own limit");
  add_session_options(*sub, command->options.session);
  sub->callback([command] { classify(*command); });
}

}  // namespace sardonyx::cli
