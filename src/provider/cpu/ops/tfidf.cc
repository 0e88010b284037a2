#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/fail.h"
#include "graph/attribute.h"
#include "provider/cpu/dispatch.h"
#include "provider/cpu/ops/string.h"

namespace sardonyx::provider::cpu {
namespace {

/// The n-grams of a pool as a tree of tokens; tokens are numbers, strings being numbered first.
class NgramTree {
 public:
  static constexpr std::int32_t kRoot = 0, kNothing = -1;

  /// Makes the path and says that n-gram `index` ends there.
  void insert(const std::int64_t* tokens, std::size_t length, std::int64_t index) {
    std::int32_t node = kRoot;
    for (std::size_t i = 0; i < length; ++i) {
      const auto [it, added] = children_.try_emplace({node, tokens[i]}, static_cast<std::int32_t>(ngrams_.size()));
      if (added) ngrams_.push_back(-1);
      node = it->second;
    }
    ngrams_[static_cast<std::size_t>(node)] = index;
  }
  std::int32_t child(std::int32_t node, std::int64_t token) const {
    const auto it = children_.find({node, token});
    return it == children_.end() ? kNothing : it->second;
  }
  /// The n-gram that ends at a node, or -1.
  std::int64_t ngram(std::int32_t node) const { return ngrams_[static_cast<std::size_t>(node)]; }

 private:
  struct Edge {
    std::int32_t node;
    std::int64_t token;
    bool operator==(const Edge&) const = default;
  };
  struct HashEdge {
    std::size_t operator()(const Edge& edge) const {
      return (static_cast<std::size_t>(edge.token) * 0x9e3779b97f4a7c15U) ^
             (static_cast<std::size_t>(edge.node) * 0xc2b2ae3d27d4eb4fU);
    }
  };
  std::unordered_map<Edge, std::int32_t, HashEdge> children_;
  std::vector<std::int64_t> ngrams_{-1};
};

/// Counts which n-grams of a pool occur in each row, with up to max_skip_count tokens left out between neighbours.
class TfIdfKernel final : public Kernel {
 public:
  explicit TfIdfKernel(const NodeDesc& node) {
    const graph::Attributes& a = *node.attributes;
    min_length_ = a.get_int("min_gram_length");
    max_length_ = a.get_int("max_gram_length");
    max_skip_ = a.get_int("max_skip_count");
    mode_ = a.get_string("mode");
    if (mode_ != "TF" && mode_ != "IDF" && mode_ != "TFIDF")
      fail(ErrorCode::kInvalidModel, "attribute 'mode' must be TF, IDF or TFIDF, found {}", mode_);
    if (min_length_ < 1 || max_length_ < min_length_ || max_skip_ < 0) {
      fail(ErrorCode::kInvalidModel, "n-grams of {} to {} tokens with {} skips", min_length_, max_length_, max_skip_);
    }
    indexes_ = *a.ints("ngram_indexes");
    const auto* weights = a.floats("weights");
    if (weights) weights_ = *weights;
    const std::int64_t last = *std::max_element(indexes_.begin(), indexes_.end());
    if (weights && !weights->empty() && static_cast<std::int64_t>(weights->size()) <= last) {
      fail(ErrorCode::kInvalidModel, "there are {} weights for {} columns", weights->size(), last + 1);
    }
    build_tree(a);
  }

  void run(RunContext& context) const override {
    const TensorView &x = context.input(0), &y = context.output(0);
    const std::int64_t rows = x.shape.rank() == 2 ? x.shape[0] : 1,
                       width = x.num_elements() / std::max<std::int64_t>(1, rows);
    const std::int64_t columns = y.shape[y.shape.rank() - 1];
    float* out = y.mutable_data<float>();
    std::fill(out, out + y.num_elements(), 0.0F);
    context.parallel.parallel_for(static_cast<std::size_t>(rows), 16, [&](std::size_t begin, std::size_t end) {
      std::vector<std::int64_t> tokens(static_cast<std::size_t>(width)), counts(indexes_.size());
      for (auto row = static_cast<std::int64_t>(begin); row < static_cast<std::int64_t>(end); ++row) {
        read_row(x, row * width, tokens);
        std::fill(counts.begin(), counts.end(), 0);
        count(tokens, counts);
        write_row(counts, out + row * columns);
      }
    });
  }

  static Support supports(const NodeDesc& node) {
    const ElementType type = node.input_type(0);
    if (!type_in(type, {ElementType::kString, ElementType::kInt32, ElementType::kInt64})) return decline_type(node, 0);
    const bool strings = node.attributes->has("pool_strings");
    if (strings == (type == ElementType::kString)) return Support::accept();
    return Support::decline("TfIdfVectorizer's pool and input must both hold strings or both integers");
  }

 private:
  void build_tree(const graph::Attributes& a) {
    std::vector<std::int64_t> pool;
    if (const auto* strings = a.strings("pool_strings")) {
      for (const std::string& text : *strings)
        pool.push_back(vocabulary_.try_emplace(text, static_cast<std::int64_t>(vocabulary_.size())).first->second);
    } else if (const auto* numbers = a.ints("pool_int64s")) {
      pool = *numbers;
    }
    const std::vector<std::int64_t> starts = a.get_ints("ngram_counts", {});
    std::int64_t index = 0;
    for (std::size_t i = 0; i < starts.size(); ++i) {
      const std::int64_t length = static_cast<std::int64_t>(i) + 1;
      const std::int64_t end = i + 1 < starts.size() ? starts[i + 1] : static_cast<std::int64_t>(pool.size());
      if (starts[i] < 0 || end < starts[i] || end > static_cast<std::int64_t>(pool.size())) {
        fail(ErrorCode::kInvalidModel, "attribute 'ngram_counts' doesn't cut a pool of {} tokens", pool.size());
      }
      for (std::int64_t at = starts[i]; at + length <= end; at += length, ++index) {
        if (index >= static_cast<std::int64_t>(indexes_.size()))
          fail(ErrorCode::kInvalidModel, "the pool holds more n-grams than 'ngram_indexes'");
        if (indexes_[static_cast<std::size_t>(index)] < 0)
          fail(ErrorCode::kInvalidModel, "attribute 'ngram_indexes' must not be negative");
        if (length >= min_length_ && length <= max_length_)
          tree_.insert(pool.data() + at, static_cast<std::size_t>(length), index);
      }
    }
  }

  void read_row(const TensorView& x, std::int64_t from, std::vector<std::int64_t>& tokens) const {
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      const std::int64_t at = from + static_cast<std::int64_t>(i);
      if (x.type == ElementType::kString) {
        const auto it = vocabulary_.find(x.data<std::string>()[at]);
        tokens[i] = it == vocabulary_.end() ? -1 : it->second;
      } else {
        tokens[i] = x.type == ElementType::kInt64 ? x.data<std::int64_t>()[at] : x.data<std::int32_t>()[at];
      }
    }
  }

  void count(const std::vector<std::int64_t>& tokens, std::vector<std::int64_t>& counts) const {
    const auto n = static_cast<std::int64_t>(tokens.size());
    std::int64_t shortest = min_length_;
    for (std::int64_t step = 1; step <= max_skip_ + 1 && step <= std::max<std::int64_t>(n, 1); ++step) {
      for (std::int64_t start = 0; start < n; ++start) {
        std::int32_t node = NgramTree::kRoot;
        std::int64_t length = 0;
        for (std::int64_t at = start; at < n && length < max_length_; at += step) {
          node = tree_.child(node, tokens[static_cast<std::size_t>(at)]);
          if (node == NgramTree::kNothing) break;
          ++length;
          const std::int64_t ngram = tree_.ngram(node);
          if (ngram >= 0 && length >= shortest) ++counts[static_cast<std::size_t>(ngram)];
        }
      }
      // Single tokens have no gaps, so they count once and not for each number of skips.
      if (shortest == 1 && ++shortest > max_length_) break;
    }
  }

  /// Weights go by output column, as the standard's reference and other runtimes read the attribute; its text says by
  /// n-gram, which is the same where the columns are in the pool's order.
  void write_row(const std::vector<std::int64_t>& counts, float* out) const {
    for (std::size_t i = 0; i < counts.size(); ++i) {
      const auto column = static_cast<std::size_t>(indexes_[i]);
      const float weight = weights_.empty() || mode_ == "TF" ? 1.0F : weights_[column];
      const std::int64_t times = mode_ == "IDF" ? std::min<std::int64_t>(counts[i], 1) : counts[i];
      out[column] += static_cast<float>(times) * weight;
    }
  }

  std::int64_t min_length_ = 0, max_length_ = 0, max_skip_ = 0;
  std::string mode_;
  std::vector<std::int64_t> indexes_;
  std::vector<float> weights_;
  std::unordered_map<std::string, std::int64_t> vocabulary_;
  NgramTree tree_;
};

}  // namespace

void add_tf_idf_kernels(KernelTable& table) {
  table.push_back({"", "TfIdfVectorizer", TfIdfKernel::supports, make<TfIdfKernel>});
}

}  // namespace sardonyx::provider::cpu
