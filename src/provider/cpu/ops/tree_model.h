#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "provider/cpu/kernel_list.h"

namespace sardonyx::provider::cpu {

/// An ensemble of decision trees in one form, whichever operator described it.
struct TreeModel {
  enum class Mode : std::uint8_t { kLessOrEqual, kLess, kGreaterOrEqual, kGreater, kEqual, kNotEqual, kMember };

  struct Node {
    double value = 0;  ///< what the feature is compared with
    std::int32_t feature = 0;
    std::int32_t if_true = 0;  ///< a node, or ~leaf where negative
    std::int32_t if_false = 0;
    std::int32_t members = -1;  ///< kMember: which of `member_sets`
    Mode mode = Mode::kLessOrEqual;
    bool missing_is_true = false;  ///< NaN takes the true branch
  };
  struct Vote {
    std::int32_t target = 0;
    double weight = 0;
  };

  std::vector<Node> nodes;
  std::vector<std::int32_t> roots;       ///< a node, or ~leaf
  std::vector<std::size_t> leaf_begins;  ///< leaf i's votes are votes[leaf_begins[i]] to votes[leaf_begins[i + 1]]
  std::vector<Vote> votes;
  std::vector<std::vector<double>> member_sets;  ///< sorted
  std::int64_t targets = 0, features = 0;        ///< features: the largest index used, plus one

  /// Where a row ends in a tree.
  template <typename T>
  std::size_t leaf(std::int32_t at, const T* row) const {
    while (at >= 0) {
      const Node& node = nodes[static_cast<std::size_t>(at)];
      const auto x = static_cast<double>(row[node.feature]);
      at = holds(node, x) || (node.missing_is_true && x != x) ? node.if_true : node.if_false;
    }
    return static_cast<std::size_t>(~at);
  }

 private:
  bool holds(const Node& node, double x) const {
    switch (node.mode) {
      case Mode::kLessOrEqual: return x <= node.value;
      case Mode::kLess: return x < node.value;
      case Mode::kGreaterOrEqual: return x >= node.value;
      case Mode::kGreater: return x > node.value;
      case Mode::kEqual: return x == node.value;
      case Mode::kNotEqual: return x != node.value;
      case Mode::kMember: return is_member(node.members, x);
    }
    return false;
  }
  bool is_member(std::int32_t set, double x) const;
};

/// From TreeEnsemble's attributes. Throws kInvalidModel where indices leave their lists or branches form a circle.
TreeModel read_tree_ensemble(const NodeDesc& node);

/// From the attributes of TreeEnsembleRegressor (votes = "target") or TreeEnsembleClassifier ("class"), with `targets`
/// outputs.
TreeModel read_old_tree_ensemble(const NodeDesc& node, const char* votes, std::int64_t targets);

}  // namespace sardonyx::provider::cpu
