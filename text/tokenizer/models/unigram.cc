#include "text/tokenizer/models/unigram.h"

#include <algorithm>
#include <fmt/core.h>
#include <limits>
#include <utility>

#include "base/fail.h"
#include "text/tokenizer/models/word_cache.h"
#include "text/tokenizer/utf8.h"

namespace sardonyx::text {

namespace {

constexpr double kUnknownPenalty = 10.0;

struct Part {
  std::uint32_t begin, end;
};

}  // namespace

Unigram::Unigram(std::span<const Trie::Entry> pieces, LargeVector<double> scores, const Options& options)
    : scores_(std::move(scores)),
      unk_id_(options.unk_id),
      byte_fallback_(options.byte_fallback),
      owner_(WordCache::new_owner()) {
  if (unk_id_ && *unk_id_ >= pieces.size()) {
    fail(ErrorCode::kInvalidModel, "tokenizer file: Unigram has unk_id {} but only {} pieces", *unk_id_, pieces.size());
  }
  if (options.reserved.empty()) {
    trie_ = Trie(pieces);
  } else {
    std::vector<Trie::Entry> found, reserved;
    for (const Trie::Entry& piece : pieces) (options.reserved[piece.second] ? reserved : found).push_back(piece);
    trie_ = Trie(found);
    reserved_ = Trie(reserved);
  }
  std::size_t bytes = 0;
  for (const auto& [piece, id] : pieces) bytes += piece.size();
  bytes_.resize(bytes);
  ends_.reserve(pieces.size());
  std::size_t end = 0;
  for (const auto& [piece, id] : pieces) {
    std::copy(piece.begin(), piece.end(), bytes_.data() + end);
    end += piece.size();
    ends_.push_back(static_cast<std::uint32_t>(end));
  }
  double lowest = std::numeric_limits<double>::infinity();
  for (std::size_t id = 0; id < scores_.size(); ++id) {
    if (options.reserved.empty() || !options.reserved[id]) lowest = std::min(lowest, scores_[id]);
  }
  unk_score_ = lowest - kUnknownPenalty;
  for (int byte = 0; byte < 256; ++byte) byte_ids_[byte] = find(fmt::format("<0x{:02X}>", byte));
}

std::uint32_t Unigram::find(std::string_view token) const {
  const std::uint32_t id = trie_.find(token);
  return id == Trie::kNone ? reserved_.find(token) : id;
}

std::optional<std::uint32_t> Unigram::token_to_id(std::string_view token) const {
  const std::uint32_t id = find(token);
  return id == Trie::kNone ? std::nullopt : std::optional(id);
}

std::optional<std::string_view> Unigram::id_to_token(std::uint32_t id) const {
  if (id >= ends_.size()) return std::nullopt;
  const std::uint32_t begin = id == 0 ? 0 : ends_[id - 1];
  return std::string_view(bytes_.data() + begin, ends_[id] - begin);
}

/// nodes[i] becomes the best way to reach byte i.
void Unigram::search(std::string_view piece, std::vector<Node>& nodes) const {
  nodes.assign(piece.size() + 1, Node());
  for (std::uint32_t begin = 0; begin < piece.size();) {
    const double score_here = nodes[begin].score;
    const std::size_t width = utf8_length(static_cast<unsigned char>(piece[begin]));
    const auto offer = [&](std::size_t end, double score, std::uint32_t id) {
      Node& node = nodes[end];
      if (node.begin == kUnreached || score > node.score) node = {score, id, begin};
    };
    bool has_single = false;
    trie_.for_each_prefix(piece.substr(begin), [&](std::size_t length, std::uint32_t id) {
      offer(begin + length, scores_[id] + score_here, id);
      has_single = has_single || length == width;
    });
    if (!has_single) {
      if (!unk_id_) {
        fail(ErrorCode::kInvalidModel,
             "the text has a character that Unigram does not know, and the tokenizer has no unk_id");
      }
      offer(begin + width, unk_score_ + score_here, *unk_id_);
    }
    begin += static_cast<std::uint32_t>(width);
  }
}

/// One token of the best path, or fused unknown characters: their text may still be a piece, or bytes.
void Unigram::append(std::string_view surface, std::uint32_t begin, std::vector<ModelToken>& out) const {
  const std::uint32_t end = begin + static_cast<std::uint32_t>(surface.size());
  if (const std::uint32_t id = trie_.find(surface); id != Trie::kNone) {
    out.push_back({id, begin, end, 0, false});
    return;
  }
  const auto has_id = [&](char c) { return byte_ids_[static_cast<unsigned char>(c)] != Trie::kNone; };
  if (byte_fallback_ && std::all_of(surface.begin(), surface.end(), has_id)) {
    for (char c : surface) out.push_back({byte_ids_[static_cast<unsigned char>(c)], begin, end, 0, false});
    return;
  }
  if (!unk_id_)
    fail(ErrorCode::kInvalidModel, "the text has characters that Unigram does not know, and there is no unk_id");
  out.push_back({*unk_id_, begin, end, 0, true});
}

void Unigram::tokenize(std::string_view piece, std::uint32_t base, std::vector<ModelToken>& out) const {
  const bool cacheable = WordCache::fits(piece);
  WordCache& cache = WordCache::of_thread();
  if (cacheable && cache.find(owner_, piece, base, out)) return;
  thread_local std::vector<Node> nodes;
  search(piece, nodes);
  const std::size_t first = out.size();
  // Backwards along the best path, then turned around.
  thread_local std::vector<Part> path;
  path.clear();
  bool fuses = false;
  for (auto end = static_cast<std::uint32_t>(piece.size()); end > 0; end = nodes[end].begin) {
    const bool is_unknown = unk_id_ && nodes[end].id == *unk_id_;
    if (is_unknown && fuses) {
      path.back().begin = nodes[end].begin;
    } else {
      path.push_back({nodes[end].begin, end});
    }
    fuses = is_unknown;
  }
  for (auto part = path.rbegin(); part != path.rend(); ++part) {
    append(piece.substr(part->begin, part->end - part->begin), base + part->begin, out);
  }
  if (cacheable) cache.store(owner_, piece, base, out, first);
  constexpr std::size_t kKeptNodes = 1 << 14;
  if (nodes.capacity() > kKeptNodes) std::vector<Node>().swap(nodes);
  if (path.capacity() > kKeptNodes) std::vector<Part>().swap(path);
}

}  // namespace sardonyx::text
