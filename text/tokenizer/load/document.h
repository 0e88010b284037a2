#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "text/tokenizer/load/json.h"
#include "text/tokenizer/trie.h"

namespace sardonyx::text {

/// A tokenizer.json read in two ways: its small parts as a tree, and the tables of the model (`vocab` and `merges`),
/// which are nearly all of it, by a walk over the text, without a tree and mostly without copies.
///
/// Strings that the walks give are views, valid until the next call; the text must outlive the document. Everything
/// throws Error kInvalidModel where the text is not JSON or not of the shape that is asked for.
class Document {
 public:
  /// How many bytes after the text are read, whatever they hold.
  static constexpr std::size_t kPadding = simdjson::SIMDJSON_PADDING;

  /// `readable` bytes from the start of `text` may be read. Where these are not kPadding more than it has, it is
  /// copied. `name` is what messages call it.
  Document(std::string_view text, std::size_t readable, std::string_view name);
  Document(const Document&) = delete;
  Document& operator=(const Document&) = delete;

  /// The whole, but that `vocab` and `merges` of the member `model` are empty. Lives as long as the document.
  json::Object tree();

  using VisitId = std::function<void(std::string_view token, std::uint32_t id)>;
  /// The members of model.vocab, which must be ids.
  void visit_vocab(const VisitId& visit);
  /// The members of the document itself, which must be ids.
  void visit_ids(const VisitId& visit);
  struct ScoredPieces {
    LargeVector<Trie::Entry> pieces;  ///< each with its position
    LargeVector<double> scores;
  };
  /// model.vocab as [["piece", score], …]. Scores are read as the reference reads them.
  ScoredPieces scored_pieces();
  /// model.merges as ["a b", …] or [["a", "b"], …].
  std::vector<std::pair<std::string_view, std::string_view>> merges();

  std::size_t size() const { return text_.size(); }

 private:
  using Value = simdjson::ondemand::value;
  using RawString = simdjson::ondemand::raw_json_string;

  template <typename T>
  T get(simdjson::simdjson_result<T> result) const;
  [[noreturn]] void fail_with(simdjson::error_code error) const;
  simdjson::ondemand::object rewound();
  simdjson::ondemand::object rewound_model();
  void check_end();
  void append_member(simdjson::ondemand::field& member, std::string& out) const;
  void append_model(simdjson::ondemand::object model, std::string& out) const;
  void visit_ids_of(simdjson::ondemand::object map, const VisitId& visit);
  std::string_view between_quotes(RawString raw) const;
  std::string_view string(RawString raw);
  std::string_view string(Value& value, std::string_view where);
  double score(Value& value, std::string_view piece) const;

  std::string copy_;
  std::string_view text_;
  std::string_view name_;
  simdjson::ondemand::parser parser_;
  simdjson::ondemand::document document_;
  simdjson::dom::parser tree_parser_;
  std::unique_ptr<std::uint8_t[]> unescaped_;  ///< strings that had escapes, as long as the text
  std::uint8_t* unescaped_end_ = nullptr;      ///< null where nothing was unescaped since the last call
};

}  // namespace sardonyx::text
