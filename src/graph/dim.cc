#include "graph/dim.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <utility>

#include "base/fail.h"

namespace sardonyx::graph {

enum class DimFunction : std::uint8_t { kSymbol, kFloorDiv, kCeilDiv, kMin, kMax, kBroadcast, kScale };

/// What a polynomial's products are made of: a symbol, or a function that no polynomial expresses.
struct Dim::Atom {
  DimFunction function;
  SymbolId symbol = -1;
  Dim a, b;
  double factor = 0;
  std::string key;  ///< equal for equal atoms
};

namespace {

using AtomPtr = std::shared_ptr<const Dim::Atom>;

struct Term {
  std::int64_t coefficient = 0;
  std::vector<AtomPtr> atoms;  // sorted by key; repeated for powers

  std::string key() const {
    std::string text;
    for (const AtomPtr& atom : atoms) text += (text.empty() ? "" : "*") + atom->key;
    return text;
  }
};

bool by_key(const AtomPtr& a, const AtomPtr& b) { return a->key < b->key; }

std::int64_t checked_mul(std::int64_t a, std::int64_t b) {
  std::int64_t out = 0;
  if (__builtin_mul_overflow(a, b, &out))
    fail(ErrorCode::kInvalidArgument, "a size expression overflows: {} * {}", a, b);
  return out;
}

std::int64_t checked_add(std::int64_t a, std::int64_t b) {
  std::int64_t out = 0;
  if (__builtin_add_overflow(a, b, &out))
    fail(ErrorCode::kInvalidArgument, "a size expression overflows: {} + {}", a, b);
  return out;
}

std::int64_t floor_div_int(std::int64_t a, std::int64_t b) {
  if (b == 0) fail(ErrorCode::kInvalidArgument, "a size expression divides {} by zero", a);
  if (b == -1) return checked_mul(a, -1);
  const std::int64_t q = a / b;
  return q - ((a % b != 0) && ((a < 0) != (b < 0)) ? 1 : 0);
}

std::int64_t ceil_div_int(std::int64_t a, std::int64_t b) {
  const std::int64_t q = floor_div_int(a, b);
  return q * b == a ? q : q + 1;
}

std::int64_t scale_int(std::int64_t a, double factor) {
  const double product = std::floor(static_cast<double>(a) * factor);
  if (!(std::abs(product) < 9e18)) fail(ErrorCode::kInvalidArgument, "a size of {} * {} is out of range", a, factor);
  return static_cast<std::int64_t>(product);
}

}  // namespace

struct Dim::Poly {
  std::vector<Term> terms;  // sorted by key, coefficients not zero; the constant term has no atoms and comes first
  std::string key;
};

Dim::Dim(std::shared_ptr<const Poly> poly) : poly_(std::move(poly)) {}

/// Makes canonical expressions out of terms and atoms.
struct DimBuilder {
  static std::vector<Term> terms_of(const Dim& dim) {
    if (dim.poly_) return dim.poly_->terms;
    if (dim.constant_ == 0) return {};
    return {Term{dim.constant_, {}}};
  }

  static Dim from_terms(std::vector<Term> terms) {
    std::vector<std::pair<std::string, Term>> keyed;
    keyed.reserve(terms.size());
    for (Term& term : terms) {
      std::string key = term.key();
      keyed.emplace_back(std::move(key), std::move(term));
    }
    std::stable_sort(keyed.begin(), keyed.end(), [](const auto& x, const auto& y) { return x.first < y.first; });
    auto poly = std::make_shared<Dim::Poly>();
    for (auto& [key, term] : keyed) {
      if (!poly->terms.empty() && poly->terms.back().key() == key) {
        poly->terms.back().coefficient = checked_add(poly->terms.back().coefficient, term.coefficient);
      } else {
        if (!poly->terms.empty() && poly->terms.back().coefficient == 0) poly->terms.pop_back();
        poly->terms.push_back(std::move(term));
      }
    }
    if (!poly->terms.empty() && poly->terms.back().coefficient == 0) poly->terms.pop_back();
    if (poly->terms.empty()) return Dim(0);
    if (poly->terms.size() == 1 && poly->terms[0].atoms.empty()) return Dim(poly->terms[0].coefficient);
    poly->key = text_of(poly->terms);
    return Dim(std::shared_ptr<const Dim::Poly>(std::move(poly)));
  }

  static std::string text_of(const std::vector<Term>& terms) {
    std::string text;
    for (auto it = terms.rbegin(); it != terms.rend(); ++it) {  // the constant last
      const std::string factors = it->key();
      std::string piece = factors.empty()        ? std::to_string(it->coefficient)
                          : it->coefficient == 1 ? factors
                                                 : std::to_string(it->coefficient) + "*" + factors;
      if (!text.empty() && piece[0] != '-') text += '+';
      text += piece;
    }
    return text;
  }

  static Dim from_atom(DimFunction function, const Dim& a, const Dim& b, double factor = 0) {
    static constexpr const char* kNames[] = {"", "floordiv", "ceildiv", "min", "max", "broadcast", "scale"};
    auto atom = std::make_shared<Dim::Atom>(Dim::Atom{function, -1, a, b, factor, {}});
    atom->key = std::string(kNames[static_cast<int>(function)]) + "(" + a.to_string() + "," +
                (function == DimFunction::kScale ? std::to_string(factor) : b.to_string()) + ")";
    return from_terms({Term{1, {std::move(atom)}}});
  }

  /// a / b when b is one term that divides each of a's exactly.
  static std::optional<Dim> divide_exactly(const Dim& a, const Dim& b) {
    const std::vector<Term> divisor = terms_of(b);
    if (divisor.size() != 1 || divisor[0].coefficient == -1) return std::nullopt;  // the least integer has no negative
    std::vector<Term> quotient;
    for (Term term : terms_of(a)) {
      if (term.coefficient % divisor[0].coefficient != 0) return std::nullopt;
      term.coefficient /= divisor[0].coefficient;
      for (const AtomPtr& atom : divisor[0].atoms) {
        auto it =
            std::find_if(term.atoms.begin(), term.atoms.end(), [&](const AtomPtr& x) { return x->key == atom->key; });
        if (it == term.atoms.end()) return std::nullopt;
        term.atoms.erase(it);
      }
      quotient.push_back(std::move(term));
    }
    return from_terms(std::move(quotient));
  }

  /// Whether `small` is min(large, c) for a c of 1 or more: broadcasting the two gives `large`, which is 1 only when
  /// both are.
  static bool is_at_most(const Dim& small, const Dim& large) {
    if (!small.poly_ || small.poly_->terms.size() != 1) return false;
    const Term& term = small.poly_->terms[0];
    if (term.coefficient != 1 || term.atoms.size() != 1 || term.atoms[0]->function != DimFunction::kMin) return false;
    const Dim &a = term.atoms[0]->a, &b = term.atoms[0]->b;
    return (a == large && b.is_constant() && b.constant() >= 1) || (b == large && a.is_constant() && a.constant() >= 1);
  }

  static std::int64_t evaluate(const Dim::Atom& atom, std::span<const std::int64_t> values) {
    if (atom.function == DimFunction::kSymbol) return values[static_cast<std::size_t>(atom.symbol)];
    const std::int64_t a = atom.a.evaluate(values);
    const std::int64_t b = atom.b.evaluate(values);
    return apply(atom.function, a, b, atom.factor);
  }

  static std::int64_t apply(DimFunction function, std::int64_t a, std::int64_t b, double factor) {
    switch (function) {
      case DimFunction::kFloorDiv: return floor_div_int(a, b);
      case DimFunction::kCeilDiv: return ceil_div_int(a, b);
      case DimFunction::kMin: return std::min(a, b);
      case DimFunction::kMax: return std::max(a, b);
      case DimFunction::kBroadcast: return a == 1 ? b : a;
      case DimFunction::kScale: return scale_int(a, factor);
      case DimFunction::kSymbol: break;
    }
    return 0;
  }

  static Dim apply(DimFunction function, const Dim& a, const Dim& b, double factor) {
    switch (function) {
      case DimFunction::kFloorDiv: return floor_div(a, b);
      case DimFunction::kCeilDiv: return ceil_div(a, b);
      case DimFunction::kMin: return min(a, b);
      case DimFunction::kMax: return max(a, b);
      case DimFunction::kBroadcast: return broadcast(a, b);
      case DimFunction::kScale: return scale(a, factor);
      case DimFunction::kSymbol: break;
    }
    return a;
  }
};

Dim Dim::symbol(SymbolId id, const std::string& name) {
  auto atom = std::make_shared<Atom>(Atom{DimFunction::kSymbol, id, {}, {}, 0, name});
  return DimBuilder::from_terms({Term{1, {std::move(atom)}}});
}

std::size_t Dim::complexity() const { return poly_ ? poly_->key.size() : 0; }

std::int64_t Dim::constant() const {
  assert(is_constant());
  return constant_;
}

std::optional<SymbolId> Dim::as_symbol() const {
  if (!poly_ || poly_->terms.size() != 1) return std::nullopt;
  const Term& term = poly_->terms[0];
  if (term.coefficient != 1 || term.atoms.size() != 1 || term.atoms[0]->function != DimFunction::kSymbol)
    return std::nullopt;
  return term.atoms[0]->symbol;
}

bool Dim::is_never_negative() const {
  if (!poly_) return constant_ >= 0;
  const auto never_negative = [](const AtomPtr& atom) {
    const bool a = atom->a.is_never_negative(), b = atom->b.is_never_negative();
    switch (atom->function) {
      case DimFunction::kSymbol: return true;
      case DimFunction::kMax: return a || b;
      case DimFunction::kScale: return a && atom->factor >= 0;
      default: return a && b;
    }
  };
  return std::all_of(poly_->terms.begin(), poly_->terms.end(), [&](const Term& term) {
    return term.coefficient >= 0 && std::all_of(term.atoms.begin(), term.atoms.end(), never_negative);
  });
}

Dim operator+(const Dim& a, const Dim& b) {
  if (a.is_constant() && b.is_constant()) return checked_add(a.constant_, b.constant_);
  std::vector<Term> terms = DimBuilder::terms_of(a);
  for (Term& term : DimBuilder::terms_of(b)) terms.push_back(std::move(term));
  return DimBuilder::from_terms(std::move(terms));
}

Dim operator-(const Dim& a, const Dim& b) { return a + b * Dim(-1); }

Dim operator*(const Dim& a, const Dim& b) {
  if (a.is_constant() && b.is_constant()) return checked_mul(a.constant_, b.constant_);
  if (a.is(1)) return b;
  if (b.is(1)) return a;
  std::vector<Term> terms;
  for (const Term& x : DimBuilder::terms_of(a)) {
    for (const Term& y : DimBuilder::terms_of(b)) {
      Term product{checked_mul(x.coefficient, y.coefficient), x.atoms};
      product.atoms.insert(product.atoms.end(), y.atoms.begin(), y.atoms.end());
      std::sort(product.atoms.begin(), product.atoms.end(), by_key);
      terms.push_back(std::move(product));
    }
  }
  return DimBuilder::from_terms(std::move(terms));
}

bool operator==(const Dim& a, const Dim& b) {
  if (a.is_constant() != b.is_constant()) return false;
  if (a.is_constant()) return a.constant_ == b.constant_;
  return a.poly_ == b.poly_ || a.poly_->key == b.poly_->key;
}

void Dim::collect_symbols(std::vector<SymbolId>& out) const {
  if (!poly_) return;
  for (const Term& term : poly_->terms) {
    for (const AtomPtr& atom : term.atoms) {
      if (atom->function == DimFunction::kSymbol) {
        out.push_back(atom->symbol);
      } else {
        atom->a.collect_symbols(out);
        atom->b.collect_symbols(out);
      }
    }
  }
}

std::int64_t Dim::evaluate(std::span<const std::int64_t> values) const {
  if (!poly_) return constant_;
  std::int64_t sum = 0;
  for (const Term& term : poly_->terms) {
    std::int64_t product = term.coefficient;
    for (const AtomPtr& atom : term.atoms) product = checked_mul(product, DimBuilder::evaluate(*atom, values));
    sum = checked_add(sum, product);
  }
  return sum;
}

Dim Dim::substitute(std::span<const std::optional<Dim>> replacement) const {
  if (!poly_) return *this;
  Dim sum(0);
  for (const Term& term : poly_->terms) {
    Dim product(term.coefficient);
    for (const AtomPtr& atom : term.atoms) {
      if (atom->function == DimFunction::kSymbol) {
        const auto id = static_cast<std::size_t>(atom->symbol);
        const bool replaced = id < replacement.size() && replacement[id].has_value();
        product = product * (replaced ? *replacement[id] : Dim::symbol(atom->symbol, atom->key));
      } else {
        product = product * DimBuilder::apply(atom->function, atom->a.substitute(replacement),
                                              atom->b.substitute(replacement), atom->factor);
      }
    }
    sum = sum + product;
  }
  return sum;
}

std::string Dim::to_string() const { return poly_ ? poly_->key : std::to_string(constant_); }

Dim floor_div(const Dim& a, const Dim& b) {
  if (a.is_constant() && b.is_constant()) return floor_div_int(a.constant(), b.constant());
  if (b.is(1)) return a;
  if (!b.is(0)) {
    if (auto exact = DimBuilder::divide_exactly(a, b)) return *exact;
  }
  return DimBuilder::from_atom(DimFunction::kFloorDiv, a, b);
}

Dim ceil_div(const Dim& a, const Dim& b) {
  if (a.is_constant() && b.is_constant()) return ceil_div_int(a.constant(), b.constant());
  if (b.is(1)) return a;
  if (!b.is(0)) {
    if (auto exact = DimBuilder::divide_exactly(a, b)) return *exact;
  }
  return DimBuilder::from_atom(DimFunction::kCeilDiv, a, b);
}

Dim min(const Dim& a, const Dim& b) {
  if ((b - a).is_never_negative()) return a;
  if ((a - b).is_never_negative()) return b;
  return DimBuilder::from_atom(DimFunction::kMin, a, b);
}

Dim max(const Dim& a, const Dim& b) {
  if ((a - b).is_never_negative()) return a;
  if ((b - a).is_never_negative()) return b;
  return DimBuilder::from_atom(DimFunction::kMax, a, b);
}

Dim broadcast(const Dim& a, const Dim& b) {
  if (a == b || b.is(1)) return a;
  if (a.is(1)) return b;
  if (DimBuilder::is_at_most(b, a)) return a;
  if (DimBuilder::is_at_most(a, b)) return b;
  if (a.is_constant()) return a;  // not 1, so b is 1 or the same
  if (b.is_constant()) return b;
  return DimBuilder::from_atom(DimFunction::kBroadcast, a, b);
}

Dim scale(const Dim& a, double factor) {
  if (factor == 1.0) return a;
  if (a.is_constant()) return scale_int(a.constant(), factor);
  if (factor == std::floor(factor) && std::abs(factor) < 1e9) return a * Dim(static_cast<std::int64_t>(factor));
  return DimBuilder::from_atom(DimFunction::kScale, a, Dim(0), factor);
}

Dim SymbolTable::named(const std::string& name) {
  const auto [known, is_new] = ids_.emplace(name, static_cast<SymbolId>(names_.size()));
  if (is_new) names_.push_back(name);
  return Dim::symbol(known->second, name);
}

Dim SymbolTable::fresh(const std::string& hint) {
  std::string name = hint + "#" + std::to_string(names_.size());
  while (ids_.contains(name)) name += "'";  // a file may use such names itself
  return named(name);
}

void SymbolTable::truncate(std::size_t size) {
  for (std::size_t i = size; i < names_.size(); ++i) ids_.erase(names_[i]);
  names_.resize(std::min(size, names_.size()));
}

}  // namespace sardonyx::graph
