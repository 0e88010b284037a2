#include "graph/graph_edit.h"

#include <chrono>
#include <gtest/gtest.h>

namespace sardonyx::graph {
namespace {

Node node(std::string op, std::vector<ValueId> inputs, std::vector<ValueId> outputs) {
  Node result;
  result.op_type = std::move(op);
  result.inputs = std::move(inputs);
  result.outputs = std::move(outputs);
  return result;
}

/// x → Identity → ... → Identity → y
struct Chain {
  explicit Chain(std::size_t length) {
    ValueId last = graph.add_input("x", {});
    values.push_back(last);
    for (std::size_t i = 0; i < length; ++i) {
      const ValueId next = graph.add_value("v" + std::to_string(i));
      nodes.push_back(graph.add_node(node("Identity", {last}, {next})).id);
      values.push_back(last = next);
    }
    graph.add_output(last, "y");
  }
  Graph graph;
  std::vector<ValueId> values;
  std::vector<NodeId> nodes;
};

TEST(GraphEdit, NothingHappensBeforeCommit) {
  Chain chain(2);
  GraphEdit edit(chain.graph);
  edit.replace_uses(chain.values[1], chain.values[0]);
  edit.remove(chain.nodes[0]);
  EXPECT_EQ(chain.graph.order().size(), 2U);
  EXPECT_EQ(chain.graph.node(chain.nodes[1]).inputs[0], chain.values[1]);
  EXPECT_EQ(edit.resolve(chain.values[1]), chain.values[0]);
  EXPECT_TRUE(edit.commit());
  EXPECT_EQ(chain.graph.order(), std::vector<NodeId>{chain.nodes[1]});
  EXPECT_EQ(chain.graph.node(chain.nodes[1]).inputs[0], chain.values[0]);
  EXPECT_EQ(chain.graph.producer(chain.values[1]), nullptr);
  EXPECT_FALSE(edit.commit()) << "there is nothing left to do";
}

TEST(GraphEdit, ReplacementsFollowOneAnother) {
  for (const bool forwards : {true, false}) {
    Chain chain(5);
    GraphEdit edit(chain.graph);
    for (std::size_t i = 0; i < 5; ++i) {
      const std::size_t at = forwards ? i : 4 - i;
      edit.replace_uses(chain.values[at + 1], chain.values[at]);
      edit.remove(chain.nodes[at]);
    }
    edit.commit();
    EXPECT_TRUE(chain.graph.order().empty());
    EXPECT_EQ(chain.graph.outputs[0], chain.values[0]);
  }
}

TEST(GraphEdit, AnInsertedNodeTakesOverTheOutputsOfRemovedOnes) {
  Chain chain(3);
  GraphEdit edit(chain.graph);
  const NodeId first =
      edit.insert_before(chain.nodes[1], node("Relu", {chain.values[0]}, {chain.graph.add_value("new")})).id;
  const NodeId second =
      edit.insert_before(chain.nodes[1], node("Abs", {chain.graph.node(first).outputs[0]}, {chain.values[2]})).id;
  edit.remove(chain.nodes[0]);
  edit.remove(chain.nodes[1]);
  edit.commit();
  EXPECT_EQ(chain.graph.order(), (std::vector<NodeId>{first, second, chain.nodes[2]}));
  EXPECT_EQ(chain.graph.producer(chain.values[2])->op_type, "Abs");
  EXPECT_EQ(chain.graph.node(chain.nodes[0]).id, kNoNode);
}

TEST(GraphEdit, ManyChangesCostOneWalk) {
  constexpr std::size_t kLength = 200'000;
  Chain chain(kLength);
  const auto start = std::chrono::steady_clock::now();
  GraphEdit edit(chain.graph);
  for (std::size_t i = 0; i < kLength; ++i) {
    edit.replace_uses(chain.values[i + 1], chain.values[i]);
    edit.remove(chain.nodes[i]);
  }
  edit.commit();
  EXPECT_EQ(chain.graph.outputs[0], chain.values[0]);
  // A walk for every change would take minutes.
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(10));
}

}  // namespace
}  // namespace sardonyx::graph
