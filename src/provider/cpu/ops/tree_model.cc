#include "provider/cpu/ops/tree_model.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <utility>

#include "base/fail.h"
#include "graph/attribute.h"
#include "provider/cpu/dispatch.h"

namespace sardonyx::provider::cpu {
namespace {

constexpr std::int64_t kMostFeatures = std::int64_t{1} << 30;

std::vector<double> numbers(const Tensor& tensor) {
  std::vector<double> out;
  dispatch(Types<float, double, Half, std::uint8_t>{}, tensor.type(), "a tree ensemble", [&]<typename T>() {
    for (const T& value : tensor.span<T>()) out.push_back(static_cast<double>(value));
  });
  return out;
}

/// Attributes of one length each.
class Columns {
 public:
  explicit Columns(const graph::Attributes& attributes) : attributes_(attributes) {}

  std::vector<std::int64_t> ints(const std::string& name) const { return attributes_.get_ints(name, {}); }
  /// The floats `name`, or the tensor `name`_as_tensor.
  std::vector<double> floats(const std::string& name) const {
    if (const Tensor* tensor = attributes_.tensor(name + "_as_tensor")) return numbers(*tensor);
    const auto* given = attributes_.floats(name);
    return given ? std::vector<double>(given->begin(), given->end()) : std::vector<double>();
  }
  std::vector<double> tensor(const std::string& name) const {
    const Tensor* given = attributes_.tensor(name);
    return given ? numbers(*given) : std::vector<double>();
  }
  template <typename T>
  static const std::vector<T>& sized(const std::vector<T>& list, std::size_t size, const char* name) {
    if (list.size() != size)
      fail(ErrorCode::kInvalidModel, "attribute '{}' has {} elements, expected {}", name, list.size(), size);
    return list;
  }

 private:
  const graph::Attributes& attributes_;
};

std::int32_t checked(std::int64_t index, std::size_t size, const char* what) {
  if (index < 0 || index >= static_cast<std::int64_t>(size))
    fail(ErrorCode::kInvalidModel, "a tree names {} {} of {}", what, index, size);
  return static_cast<std::int32_t>(index);
}

std::int32_t checked_feature(std::int64_t feature, TreeModel& model) {
  checked(feature, kMostFeatures, "feature");
  model.features = std::max(model.features, feature + 1);
  return static_cast<std::int32_t>(feature);
}

/// Throws where following branches could go on for ever.
void require_no_circle(const TreeModel& model) {
  enum : std::uint8_t { kNew, kOpen, kDone };
  std::vector<std::uint8_t> state(model.nodes.size(), kNew);
  std::vector<std::int32_t> path;
  for (const std::int32_t root : model.roots) {
    if (root >= 0) path.push_back(root);
    while (!path.empty()) {
      const auto at = static_cast<std::size_t>(path.back());
      if (state[at] != kNew) {
        state[at] = kDone;
        path.pop_back();
        continue;
      }
      state[at] = kOpen;
      for (const std::int32_t next : {model.nodes[at].if_true, model.nodes[at].if_false}) {
        if (next < 0) continue;
        if (state[static_cast<std::size_t>(next)] == kOpen)
          fail(ErrorCode::kInvalidModel, "the branches of a tree form a circle at node {}", next);
        if (state[static_cast<std::size_t>(next)] == kNew) path.push_back(next);
      }
    }
  }
}

TreeModel::Mode parse_mode(const std::string& text) {
  constexpr const char* kNames[] = {"BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ", "BRANCH_NEQ"};
  for (int i = 0; i < 6; ++i) {
    if (text == kNames[i]) return static_cast<TreeModel::Mode>(i);
  }
  fail(ErrorCode::kInvalidModel, "a tree node has the unknown mode '{}'", text);
}

/// Sets of members, divided by NaN, in the order of the nodes that test membership.
void read_member_sets(TreeModel& model, const std::vector<double>& values) {
  std::size_t at = 0;
  for (TreeModel::Node& node : model.nodes) {
    if (node.mode != TreeModel::Mode::kMember) continue;
    if (at >= values.size()) fail(ErrorCode::kInvalidModel, "attribute 'membership_values' has too few sets");
    std::vector<double> set;
    for (; at < values.size() && !std::isnan(values[at]); ++at) set.push_back(values[at]);
    ++at;
    std::sort(set.begin(), set.end());
    node.members = static_cast<std::int32_t>(model.member_sets.size());
    model.member_sets.push_back(std::move(set));
  }
}

using NodeKey = std::pair<std::int64_t, std::int64_t>;  // tree, node

/// Leaves in the old form: rows of mode LEAF, with the votes that name them.
std::map<NodeKey, std::int32_t> read_leaves(const Columns& columns, const std::string& prefix, TreeModel& model,
                                            const std::vector<NodeKey>& leaves) {
  const std::string tree = prefix + "_treeids", node = prefix + "_nodeids", target = prefix + "_ids",
                    weight = prefix + "_weights";
  const auto trees = columns.ints(tree), nodes = columns.ints(node), targets = columns.ints(target);
  const auto weights = columns.floats(weight);
  Columns::sized(trees, targets.size(), tree.c_str());
  Columns::sized(nodes, targets.size(), node.c_str());
  Columns::sized(weights, targets.size(), weight.c_str());
  std::map<NodeKey, std::vector<TreeModel::Vote>> votes;
  for (std::size_t i = 0; i < targets.size(); ++i) {
    votes[{trees[i], nodes[i]}].push_back(
        {checked(targets[i], static_cast<std::size_t>(model.targets), "target"), weights[i]});
  }
  std::map<NodeKey, std::int32_t> leaf_of;
  for (const NodeKey& key : leaves) {
    if (!leaf_of.try_emplace(key, static_cast<std::int32_t>(model.leaf_begins.size())).second)
      fail(ErrorCode::kInvalidModel, "node {} of tree {} appears twice", key.second, key.first);
    model.leaf_begins.push_back(model.votes.size());
    const auto it = votes.find(key);
    if (it != votes.end()) model.votes.insert(model.votes.end(), it->second.begin(), it->second.end());
  }
  model.leaf_begins.push_back(model.votes.size());
  return leaf_of;
}

/// The rows of the old form, which name each other by tree and node id.
struct OldNodes {
  std::vector<std::int64_t> trees, ids, features, if_true, if_false, missing;
  std::vector<double> values;
  std::vector<std::string> modes;

  OldNodes(const graph::Attributes& attributes, const Columns& columns) {
    ids = columns.ints("nodes_nodeids");
    trees = Columns::sized(columns.ints("nodes_treeids"), ids.size(), "nodes_treeids");
    features = Columns::sized(columns.ints("nodes_featureids"), ids.size(), "nodes_featureids");
    if_true = Columns::sized(columns.ints("nodes_truenodeids"), ids.size(), "nodes_truenodeids");
    if_false = Columns::sized(columns.ints("nodes_falsenodeids"), ids.size(), "nodes_falsenodeids");
    values = Columns::sized(columns.floats("nodes_values"), ids.size(), "nodes_values");
    missing = columns.ints("nodes_missing_value_tracks_true");
    if (!missing.empty()) Columns::sized(missing, ids.size(), "nodes_missing_value_tracks_true");
    if (const auto* given = attributes.strings("nodes_modes")) modes = *given;
    Columns::sized(modes, ids.size(), "nodes_modes");
  }
  bool is_leaf(std::size_t i) const { return modes[i] == "LEAF"; }
};

}  // namespace

bool TreeModel::is_member(std::int32_t set, double x) const {
  const std::vector<double>& members = member_sets[static_cast<std::size_t>(set)];
  return x == x && std::binary_search(members.begin(), members.end(), x);
}

TreeModel read_tree_ensemble(const NodeDesc& desc) {
  const Columns columns(*desc.attributes);
  TreeModel model;
  model.targets = desc.attributes->get_int("n_targets", 1);
  const auto leaf_targets = columns.ints("leaf_targetids");
  const auto leaf_weights = Columns::sized(columns.tensor("leaf_weights"), leaf_targets.size(), "leaf_weights");
  for (std::size_t i = 0; i < leaf_targets.size(); ++i) {
    model.leaf_begins.push_back(i);
    model.votes.push_back(
        {checked(leaf_targets[i], static_cast<std::size_t>(model.targets), "target"), leaf_weights[i]});
  }
  model.leaf_begins.push_back(leaf_targets.size());

  const auto features = columns.ints("nodes_featureids");
  const std::size_t n = features.size();
  const auto modes = Columns::sized(columns.tensor("nodes_modes"), n, "nodes_modes");
  const auto splits = Columns::sized(columns.tensor("nodes_splits"), n, "nodes_splits");
  const auto if_true = Columns::sized(columns.ints("nodes_truenodeids"), n, "nodes_truenodeids");
  const auto if_false = Columns::sized(columns.ints("nodes_falsenodeids"), n, "nodes_falsenodeids");
  const auto true_leafs = Columns::sized(columns.ints("nodes_trueleafs"), n, "nodes_trueleafs");
  const auto false_leafs = Columns::sized(columns.ints("nodes_falseleafs"), n, "nodes_falseleafs");
  const auto missing = columns.ints("nodes_missing_value_tracks_true");
  if (!missing.empty()) Columns::sized(missing, n, "nodes_missing_value_tracks_true");
  const auto branch = [&](std::int64_t target, bool is_leaf) {
    return is_leaf ? ~checked(target, leaf_targets.size(), "leaf") : checked(target, n, "node");
  };
  for (std::size_t i = 0; i < n; ++i) {
    if (!(modes[i] >= 0 && modes[i] <= 6))
      fail(ErrorCode::kInvalidModel, "a tree node has the unknown mode {}", modes[i]);
    TreeModel::Node node;
    node.mode = static_cast<TreeModel::Mode>(static_cast<int>(modes[i]));
    node.value = splits[i];
    node.feature = checked_feature(features[i], model);
    node.if_true = branch(if_true[i], true_leafs[i] != 0);
    node.if_false = branch(if_false[i], false_leafs[i] != 0);
    node.missing_is_true = !missing.empty() && missing[i] != 0;
    model.nodes.push_back(node);
  }
  for (const std::int64_t root : columns.ints("tree_roots")) model.roots.push_back(checked(root, n, "root"));
  read_member_sets(model, columns.tensor("membership_values"));
  require_no_circle(model);
  return model;
}

TreeModel read_old_tree_ensemble(const NodeDesc& desc, const char* votes, std::int64_t targets) {
  const Columns columns(*desc.attributes);
  const OldNodes old(*desc.attributes, columns);
  TreeModel model;
  model.targets = targets;
  std::vector<NodeKey> leaves;
  std::map<NodeKey, std::int32_t> places;
  for (std::size_t i = 0; i < old.ids.size(); ++i) {
    const NodeKey key{old.trees[i], old.ids[i]};
    if (old.is_leaf(i)) {
      leaves.push_back(key);
    } else if (!places.try_emplace(key, static_cast<std::int32_t>(places.size())).second) {
      fail(ErrorCode::kInvalidModel, "node {} of tree {} appears twice", key.second, key.first);
    }
  }
  for (const auto& [key, leaf] : read_leaves(columns, votes, model, leaves)) places[key] = ~leaf;
  const auto find = [&](std::int64_t tree, std::int64_t id) {
    const auto it = places.find({tree, id});
    if (it == places.end()) fail(ErrorCode::kInvalidModel, "tree {} has no node {}", tree, id);
    return it->second;
  };
  for (std::size_t i = 0; i < old.ids.size(); ++i) {
    if (i == 0 || old.trees[i] != old.trees[i - 1]) model.roots.push_back(find(old.trees[i], old.ids[i]));
    if (old.is_leaf(i)) continue;
    TreeModel::Node node;
    node.mode = parse_mode(old.modes[i]);
    node.value = old.values[i];
    node.feature = checked_feature(old.features[i], model);
    node.if_true = find(old.trees[i], old.if_true[i]);
    node.if_false = find(old.trees[i], old.if_false[i]);
    node.missing_is_true = !old.missing.empty() && old.missing[i] != 0;
    model.nodes.push_back(node);
  }
  require_no_circle(model);
  return model;
}

}  // namespace sardonyx::provider::cpu
