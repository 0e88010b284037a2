#include "graph/dim.h"

#include <gtest/gtest.h>

namespace sardonyx::graph {
namespace {

TEST(Dim, PolynomialsCompareEqual) {
  SymbolTable symbols;
  const Dim batch = symbols.named("batch"), sequence = symbols.named("sequence");
  EXPECT_EQ(batch * sequence * Dim(12) * Dim(64), sequence * Dim(768) * batch);
  EXPECT_EQ((batch + Dim(1)) * Dim(2) - batch - batch, Dim(2));
  EXPECT_NE(batch, sequence);
  EXPECT_EQ(floor_div(batch * sequence * Dim(768), sequence * Dim(64)), batch * Dim(12));
  EXPECT_EQ(symbols.named("batch"), batch);
}

TEST(Dim, Functions) {
  SymbolTable symbols;
  const Dim n = symbols.named("n");
  EXPECT_EQ(broadcast(n, Dim(1)), n);
  EXPECT_EQ(broadcast(Dim(1), n), n);
  EXPECT_EQ(broadcast(n, Dim(5)), Dim(5));
  EXPECT_EQ(broadcast(n, min(n, Dim(512))), n);
  EXPECT_EQ(broadcast(min(n, Dim(512)), n), n);
  EXPECT_TRUE((n * n + min(n, Dim(4))).is_never_negative());
  EXPECT_FALSE((n - Dim(1)).is_never_negative());
  EXPECT_EQ(min(n + Dim(1), n), n);
  EXPECT_EQ(max(n + Dim(1), n), n + Dim(1));
  const std::int64_t values[] = {7};
  EXPECT_EQ(floor_div(n, Dim(2)).evaluate(values), 3);
  EXPECT_EQ(ceil_div(n, Dim(2)).evaluate(values), 4);
  EXPECT_EQ(floor_div(Dim(0) - n, Dim(2)).evaluate(values), -4);
  EXPECT_EQ(scale(n, 1.5).evaluate(values), 10);
  EXPECT_EQ((n * n - Dim(3)).evaluate(values), 46);
}

TEST(Dim, SubstituteSimplifies) {
  SymbolTable symbols;
  const Dim a = symbols.named("a"), b = symbols.named("b");
  const std::optional<Dim> replacement[] = {Dim(1), std::nullopt};
  EXPECT_EQ(broadcast(a, b).substitute(replacement), b);
  EXPECT_EQ((a * b + a).substitute(replacement), b + Dim(1));
}

}  // namespace
}  // namespace sardonyx::graph
