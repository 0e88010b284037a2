#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

namespace sardonyx::graph {

using SymbolId = std::int32_t;

/// One dimension, or one element of a small integer tensor, before running: an integer expression over named symbols.
///
/// Kept canonical (a polynomial with sorted terms over symbols and irreducible functions), so that two expressions that
/// are the same polynomial compare equal. Immutable and cheap to copy. An unknown dimension is a fresh symbol, never a
/// hole.
class Dim {
 public:
  Dim(std::int64_t value = 0) : constant_(value) {}  // NOLINT(google-explicit-constructor)
  static Dim symbol(SymbolId id, const std::string& name);

  bool is_constant() const { return !poly_; }
  /// The value of a constant; an assertion otherwise.
  std::int64_t constant() const;
  bool is(std::int64_t value) const { return is_constant() && constant_ == value; }
  /// The symbol when the expression is just one symbol.
  std::optional<SymbolId> as_symbol() const;

  /// Whether it is 0 or more whatever its symbols are worth, as far as signs alone show; symbols are sizes, so never
  /// negative.
  bool is_never_negative() const;

  friend Dim operator+(const Dim& a, const Dim& b);
  friend Dim operator-(const Dim& a, const Dim& b);
  friend Dim operator*(const Dim& a, const Dim& b);
  friend bool operator==(const Dim& a, const Dim& b);

  /// Adds the ids of all symbols it mentions.
  void collect_symbols(std::vector<SymbolId>& out) const;
  /// Its value where symbol s is worth values[s]. Overflow and division by zero throw kInvalidArgument.
  std::int64_t evaluate(std::span<const std::int64_t> values) const;
  /// The same expression with symbols replaced: replacement[s] where s < replacement.size() and it is set.
  Dim substitute(std::span<const std::optional<Dim>> replacement) const;

  std::string to_string() const;  ///< "batch*sequence+2"; equal expressions give equal strings
  /// How much there is to it: the length of to_string(), 0 for a constant.
  std::size_t complexity() const;

  struct Atom;
  struct Poly;

 private:
  explicit Dim(std::shared_ptr<const Poly> poly);
  friend struct DimBuilder;

  std::int64_t constant_ = 0;
  std::shared_ptr<const Poly> poly_;
};

/// Division rounding towards minus infinity, exact where the divisor divides every term.
Dim floor_div(const Dim& a, const Dim& b);
/// Division rounding up.
Dim ceil_div(const Dim& a, const Dim& b);
Dim min(const Dim& a, const Dim& b);
Dim max(const Dim& a, const Dim& b);
/// The result of broadcasting two dimensions that are known to be compatible: b where a is 1, else a.
Dim broadcast(const Dim& a, const Dim& b);
/// floor(a * factor), as Resize and Upsample have it.
Dim scale(const Dim& a, double factor);

/// Hands out symbols. Ids are dense from 0.
class SymbolTable {
 public:
  /// The symbol of this name, made at first use.
  Dim named(const std::string& name);
  /// A new symbol nothing is known about; `hint` goes into its name.
  Dim fresh(const std::string& hint = "u");
  /// Forgets all symbols from `size` on. No expression may mention them any more.
  void truncate(std::size_t size);
  std::size_t size() const { return names_.size(); }
  const std::string& name(SymbolId id) const { return names_[static_cast<std::size_t>(id)]; }

 private:
  std::vector<std::string> names_;
  std::unordered_map<std::string, SymbolId> ids_;
};

}  // namespace sardonyx::graph
