#include "ops/einsum.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>

#include "base/fail.h"
#include "ops/families.h"

namespace sardonyx::ops {
namespace {

constexpr int kEllipsis = -1;

[[noreturn]] void bad_equation(std::string_view equation, const std::string& why) {
  fail(ErrorCode::kInvalidModel, "Einsum equation '{}': {}", equation, why);
}

/// One term's labels; an ellipsis is kEllipsis.
std::vector<int> parse_term(std::string_view term, std::string_view equation) {
  std::vector<int> labels;
  bool ellipsis = false;
  for (std::size_t i = 0; i < term.size(); ++i) {
    const char c = term[i];
    if (c >= 'A' && c <= 'Z') {
      labels.push_back(c - 'A');
    } else if (c >= 'a' && c <= 'z') {
      labels.push_back(26 + c - 'a');
    } else if (c == '.' && term.substr(i, 3) == "..." && !ellipsis) {
      labels.push_back(kEllipsis);
      ellipsis = true;
      i += 2;
    } else {
      bad_equation(equation, std::string("expected letters and at most one ellipsis in a term, found '") + c + "'");
    }
  }
  return labels;
}

/// Replaces the ellipsis by the last `count` of `max_count` ellipsis labels.
void expand(std::vector<int>& labels, std::size_t count, std::size_t max_count) {
  const auto at = std::find(labels.begin(), labels.end(), kEllipsis);
  if (at == labels.end()) return;
  std::vector<int> dims;
  for (std::size_t i = max_count - count; i < max_count; ++i)
    dims.push_back(EinsumEquation::kFirstEllipsis + static_cast<int>(i));
  labels.insert(labels.erase(at), dims.begin(), dims.end());
}

/// Without "->": the ellipsis, then all labels that occur once, in alphabetical order (capitals first).
std::vector<int> implicit_output(const std::vector<std::vector<int>>& inputs) {
  std::array<int, EinsumEquation::kFirstEllipsis> times{};
  for (const auto& term : inputs) {
    for (int label : term) {
      if (label >= 0) ++times[static_cast<std::size_t>(label)];
    }
  }
  std::vector<int> output{kEllipsis};
  for (int label = 0; label < EinsumEquation::kFirstEllipsis; ++label) {
    if (times[static_cast<std::size_t>(label)] == 1) output.push_back(label);
  }
  return output;
}

void check_output(const EinsumEquation& parsed, std::string_view equation) {
  std::vector<int> sorted = parsed.output;
  std::sort(sorted.begin(), sorted.end());
  if (std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end())
    bad_equation(equation, "the output names a label twice");
  for (int label : parsed.output) {
    const bool known = std::any_of(parsed.inputs.begin(), parsed.inputs.end(), [&](const auto& term) {
      return std::find(term.begin(), term.end(), label) != term.end();
    });
    if (!known) bad_equation(equation, "the output names a label that no input has");
  }
}

void infer_einsum(InferContext& context) {
  const std::string& equation = context.attributes().get_string("equation");
  std::vector<std::size_t> ranks;
  for (std::size_t i = 0; i < context.num_inputs(); ++i) {
    if (context.tensor(i).element != context.element(0)) {
      fail(ErrorCode::kInvalidModel, "all inputs must have one element type, found {} and {}", name(context.element(0)),
           name(context.element(i)));
    }
    if (!context.has_rank(i)) return context.set_unranked(0, context.element(0));
    ranks.push_back(context.rank(i));
  }
  const EinsumEquation parsed = parse_einsum(equation, ranks);
  std::vector<std::optional<Dim>> sizes(static_cast<std::size_t>(parsed.num_labels));
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    for (std::size_t d = 0; d < ranks[i]; ++d) {
      const int label = parsed.inputs[i][d];
      std::optional<Dim>& size = sizes[static_cast<std::size_t>(label)];
      // One stretches, as in NumPy, whether or not the label comes from an ellipsis.
      size = size ? context.broadcast(*size, context.dim(i, d)) : context.dim(i, d);
    }
  }
  std::vector<Dim> dims;
  for (int label : parsed.output) dims.push_back(*sizes[static_cast<std::size_t>(label)]);
  context.set_tensor(0, context.element(0), std::move(dims));
}

}  // namespace

EinsumEquation parse_einsum(std::string_view equation, std::span<const std::size_t> ranks) {
  std::string text;
  for (char c : equation) {
    if (c != ' ') text += c;
  }
  const std::size_t arrow = text.find("->");
  const std::string left = text.substr(0, arrow);
  EinsumEquation parsed;
  for (std::size_t begin = 0; begin <= left.size();) {
    const std::size_t comma = std::min(left.find(',', begin), left.size());
    parsed.inputs.push_back(parse_term(std::string_view(left).substr(begin, comma - begin), equation));
    begin = comma + 1;
  }
  if (parsed.inputs.size() != ranks.size()) {
    bad_equation(equation, "it has " + std::to_string(parsed.inputs.size()) + " terms for " +
                               std::to_string(ranks.size()) + " inputs");
  }
  parsed.output = arrow == std::string::npos ? implicit_output(parsed.inputs)
                                             : parse_term(std::string_view(text).substr(arrow + 2), equation);

  std::vector<std::size_t> ellipses(ranks.size(), 0);
  std::size_t longest = 0;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    const auto& term = parsed.inputs[i];
    const bool has_ellipsis = std::find(term.begin(), term.end(), kEllipsis) != term.end();
    const std::size_t named = term.size() - (has_ellipsis ? 1 : 0);
    if (has_ellipsis ? ranks[i] < named : ranks[i] != named) {
      bad_equation(equation,
                   "term " + std::to_string(i) + " does not fit an input of rank " + std::to_string(ranks[i]));
    }
    ellipses[i] = ranks[i] - named;
    longest = std::max(longest, ellipses[i]);
  }
  for (std::size_t i = 0; i < ranks.size(); ++i) expand(parsed.inputs[i], ellipses[i], longest);
  expand(parsed.output, longest, longest);
  parsed.num_labels = EinsumEquation::kFirstEllipsis + static_cast<int>(longest);
  check_output(parsed, equation);
  return parsed;
}

void add_einsum_op(OpTable& table) { table.push_back({"", "Einsum", infer_einsum, {}}); }

}  // namespace sardonyx::ops
