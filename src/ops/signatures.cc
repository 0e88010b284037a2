#include "ops/signatures.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <string>
#include <tuple>
#include <vector>

#include "base/fail.h"
#include "ops/op_list.h"
#include "ops/signatures_data.h"

namespace sardonyx::ops {
namespace {

using graph::ValueType;
using ElementMask = std::uint32_t;

constexpr ElementMask bit(ElementType type) { return ElementMask{1} << static_cast<int>(type); }

/// A set of types, by what holds the elements.
struct TypeSet {
  ElementMask tensors = 0, sequences = 0, optionals = 0, optional_sequences = 0;
  bool maps = false;
  std::vector<std::string> spelled;
};

struct CheckedPort {
  TypeSet types;
  int variable = -1;        ///< which type variable, or -1 for a fixed type
  bool homogeneous = true;  ///< a variadic's inputs have one type
  std::size_t least = 1;    ///< how many a variadic takes at least
};

struct Row {
  Signature signature;
  std::vector<CheckedPort> inputs, outputs;
};

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    const std::size_t at = std::min(text.find(separator), text.size());
    parts.push_back(text.substr(0, at));
    text.remove_prefix(std::min(at + 1, text.size()));
  }
  return parts;
}

int number(std::string_view text) {
  int value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

/// What stands between `prefix` and the closing parenthesis, if the type is of that form.
bool unwrap(std::string_view& type, std::string_view prefix) {
  if (!type.starts_with(prefix)) return false;
  type.remove_prefix(prefix.size());
  type.remove_suffix(1);
  return true;
}

ElementMask element_bit(std::string_view spelled) {
  for (int i = 1; i < kElementTypeCount; ++i) {
    if (name(static_cast<ElementType>(i)) == spelled) return bit(static_cast<ElementType>(i));
  }
  fail(ErrorCode::kInternal, "the signature table names an unknown element type '{}'", spelled);
}

void add_type(TypeSet& set, std::string_view spelled) {
  set.spelled.emplace_back(spelled);
  const bool optional = unwrap(spelled, "optional(");
  const bool sequence = unwrap(spelled, "seq(");
  if (spelled.starts_with("map(") || spelled.starts_with("sparse_tensor(")) {
    set.maps = true;
    return;
  }
  if (!unwrap(spelled, "tensor(")) fail(ErrorCode::kInternal, "the signature table has an unknown type '{}'", spelled);
  const ElementMask element = element_bit(spelled);
  if (optional)
    (sequence ? set.optional_sequences : set.optionals) |= element;
  else
    (sequence ? set.sequences : set.tensors) |= element;
}

TypeSet parse_set(std::string_view text) {
  TypeSet set;
  for (std::string_view type : split(text, ' ')) add_type(set, type);
  return set;
}

void parse_ports(std::string_view text, const Signature& signature, const std::vector<TypeSet>& sets,
                 const std::vector<int>& variable_sets, std::vector<Port>& ports, std::vector<CheckedPort>& checked) {
  for (std::string_view item : split(text, ' ')) {
    const std::size_t colon = item.find(':');
    std::string_view type = item.substr(colon + 1);
    Port port{.name = std::string(item.substr(0, colon))};
    CheckedPort check;
    if (type.ends_with('?')) {
      port.kind = Port::Kind::kOptional;
      type.remove_suffix(1);
    } else if (const std::size_t mark = type.find_first_of("*~"); mark != std::string_view::npos) {
      port.kind = Port::Kind::kVariadic;
      check.homogeneous = type[mark] == '*';
      check.least = static_cast<std::size_t>(number(type.substr(mark + 1)));
      type = type.substr(0, mark);
    }
    port.type = std::string(type);
    for (std::size_t i = 0; i < signature.type_variables.size(); ++i) {
      if (signature.type_variables[i].name == type) check.variable = static_cast<int>(i);
    }
    if (check.variable >= 0)
      check.types = sets[static_cast<std::size_t>(variable_sets[static_cast<std::size_t>(check.variable)])];
    else
      check.types = parse_set(type);
    ports.push_back(std::move(port));
    checked.push_back(std::move(check));
  }
}

Row parse_row(std::string_view text, const std::vector<TypeSet>& sets) {
  std::array<std::string_view, 8> fields;
  for (std::string_view& field : fields) {
    const std::size_t at = std::min(text.find('|'), text.size());
    field = text.substr(0, at);
    text.remove_prefix(std::min(at + 1, text.size()));
  }
  Row row;
  Signature& signature = row.signature;
  signature.domain = fields[0];
  signature.name = fields[1];
  signature.since_version = number(fields[2]);
  signature.deprecated = !fields[3].empty();
  std::vector<int> variable_sets;
  for (std::string_view variable : split(fields[6], ' ')) {
    const std::size_t equals = variable.find('=');
    variable_sets.push_back(number(variable.substr(equals + 1)));
    signature.type_variables.push_back(
        {std::string(variable.substr(0, equals)), sets[static_cast<std::size_t>(variable_sets.back())].spelled});
  }
  parse_ports(fields[4], signature, sets, variable_sets, signature.inputs, row.inputs);
  parse_ports(fields[5], signature, sets, variable_sets, signature.outputs, row.outputs);
  for (std::string_view attribute : split(fields[7], ' ')) {
    const std::size_t colon = attribute.find(':');
    const bool required = attribute.ends_with('!');
    const std::string_view kind = attribute.substr(colon + 1, attribute.size() - colon - 1 - (required ? 1 : 0));
    signature.attributes.push_back({std::string(attribute.substr(0, colon)), std::string(kind), required});
  }
  return row;
}

auto key(const Row& row) {
  return std::tuple<std::string_view, std::string_view>(row.signature.domain, row.signature.name);
}

const std::vector<Row>& table() {
  static const std::vector<Row> rows = [] {
    std::vector<TypeSet> sets;
    for (const char* const* text = kTypeSets; *text; ++text) sets.push_back(parse_set(*text));
    std::vector<Row> parsed;
    for (const char* const* text = kSignatureRows; *text; ++text) parsed.push_back(parse_row(*text, sets));
    std::sort(parsed.begin(), parsed.end(), [](const Row& a, const Row& b) { return key(a) < key(b); });
    return parsed;
  }();
  return rows;
}

const Row* find_row(std::string_view domain, std::string_view op) {
  const std::vector<Row>& rows = table();
  const auto wanted = std::tuple(domain, op);
  const auto it =
      std::lower_bound(rows.begin(), rows.end(), wanted, [](const Row& row, const auto& k) { return key(row) < k; });
  return it != rows.end() && key(*it) == wanted ? &*it : nullptr;
}

bool holds(ElementMask mask, const ValueType* type) {
  if (!type || type->is_none() || type->element == ElementType::kUndefined) return mask != 0;
  return (mask & bit(type->element)) != 0;
}

/// Whether a type may be in the set; what is not known may be.
bool allows(const TypeSet& set, const ValueType& type) {
  const ValueType* inner = type.inner.get();
  switch (type.kind) {
    case ValueType::Kind::kNone: return true;
    case ValueType::Kind::kTensor: return holds(set.tensors | set.optionals, &type);
    case ValueType::Kind::kMap: return set.maps;
    case ValueType::Kind::kSequence:
      return (inner && inner->kind == ValueType::Kind::kMap) ? set.maps
                                                             : holds(set.sequences | set.optional_sequences, inner);
    case ValueType::Kind::kOptional:
      if (inner && inner->kind == ValueType::Kind::kSequence)
        return holds(set.optional_sequences | set.sequences, inner->inner.get());
      return inner && !inner->is_none() ? holds(set.optionals | set.tensors, inner)
                                        : (set.optionals | set.optional_sequences) != 0;
  }
  return false;
}

std::string join(const std::vector<std::string>& parts) {
  std::string text;
  for (const std::string& part : parts) {
    std::string_view shown = part;
    if (part.starts_with("tensor(")) shown = std::string_view(part).substr(7, part.size() - 8);
    if (!text.empty()) text += ", ";
    text += shown;
  }
  return text;
}

void check_count(const Row& row, std::size_t inputs, std::size_t outputs) {
  const Signature& signature = row.signature;
  const bool open_inputs = !signature.inputs.empty() && signature.inputs.back().kind == Port::Kind::kVariadic;
  if (!open_inputs && inputs > signature.inputs.size()) {
    fail(ErrorCode::kInvalidModel, "{} takes at most {} inputs, found {}", signature.name, signature.inputs.size(),
         inputs);
  }
  const bool open_outputs = !signature.outputs.empty() && signature.outputs.back().kind == Port::Kind::kVariadic;
  if (!open_outputs && outputs > signature.outputs.size()) {
    fail(ErrorCode::kInvalidModel, "{} has at most {} outputs, found {}", signature.name, signature.outputs.size(),
         outputs);
  }
  for (std::size_t i = 0; i < signature.inputs.size(); ++i) {
    const Port& port = signature.inputs[i];
    const std::size_t needed = port.kind == Port::Kind::kRequired   ? i + 1
                               : port.kind == Port::Kind::kVariadic ? i + row.inputs[i].least
                                                                    : 0;
    if (inputs < needed)
      fail(ErrorCode::kInvalidModel, "{} needs at least {} inputs, found {}", signature.name, needed, inputs);
  }
}

constexpr std::size_t kMaxVariables = 16;

/// What the first input of each type variable was.
struct Bindings {
  std::array<int, kMaxVariables> input;
  Bindings() { input.fill(-1); }
};

void check_input(const Row& row, const graph::NodeDesc& node, std::size_t i, Bindings& bindings) {
  const Signature& signature = row.signature;
  const std::size_t at = std::min(i, signature.inputs.size() - 1);
  const Port& port = signature.inputs[at];
  const CheckedPort& check = row.inputs[at];
  const ValueType& type = node.inputs[i];
  if (type.is_none()) {
    if (port.kind == Port::Kind::kRequired)
      fail(ErrorCode::kInvalidModel, "input {} ({}) of {} is required and left out", i, port.name, signature.name);
    return;
  }
  if (!allows(check.types, type)) {
    fail(ErrorCode::kInvalidModel, "input {} ({}) of {} must be one of {}; found {}", i, port.name, signature.name,
         join(check.types.spelled), type.to_string());
  }
  if (check.variable < 0 || !check.homogeneous || static_cast<std::size_t>(check.variable) >= kMaxVariables ||
      !type.is_tensor())
    return;
  int& first = bindings.input[static_cast<std::size_t>(check.variable)];
  if (first < 0) {
    first = static_cast<int>(i);
    return;
  }
  const ValueType& other = node.inputs[static_cast<std::size_t>(first)];
  if (other.element == type.element || other.element == ElementType::kUndefined ||
      type.element == ElementType::kUndefined)
    return;
  fail(ErrorCode::kInvalidModel, "inputs {} and {} of {} must have one element type ({}), found {} and {}", first, i,
       signature.name, signature.type_variables[static_cast<std::size_t>(check.variable)].name, other.to_string(),
       type.to_string());
}

/// The kind of an attribute in ONNX's spelling, by its place in the variant.
std::string_view kind_of(const graph::Attribute& attribute) {
  static constexpr std::string_view kKinds[] = {"int",           "float", "string", "tensor",  "graph",   "type_proto",
                                                "sparse_tensor", "ints",  "floats", "strings", "tensors", "graphs"};
  static_assert(std::size(kKinds) == std::variant_size_v<graph::Attribute>);
  return kKinds[attribute.index()];
}

void check_attributes(const Signature& signature, const graph::Attributes& attributes) {
  std::size_t required = 0;
  for (const auto& [name, value] : attributes) {
    if (name.starts_with('_')) continue;
    const auto known = std::find_if(signature.attributes.begin(), signature.attributes.end(),
                                    [&](const auto& info) { return info.name == name; });
    if (known == signature.attributes.end())
      fail(ErrorCode::kInvalidModel, "{} has no attribute '{}'", signature.name, name);
    if (known->type != kind_of(value)) {
      fail(ErrorCode::kInvalidModel, "attribute '{}' of {} must be of kind {}, found {}", name, signature.name,
           known->type, kind_of(value));
    }
    required += known->required ? 1 : 0;
  }
  const auto wanted = std::count_if(signature.attributes.begin(), signature.attributes.end(),
                                    [](const auto& info) { return info.required; });
  if (static_cast<std::size_t>(wanted) == required) return;
  for (const auto& info : signature.attributes) {
    if (info.required && !attributes.has(info.name))
      fail(ErrorCode::kInvalidModel, "{} needs attribute '{}' ({})", signature.name, info.name, info.type);
  }
}

}  // namespace

const Signature* find_signature(std::string_view domain, std::string_view op) {
  const Row* row = find_row(domain, op);
  return row ? &row->signature : nullptr;
}

void check_signature(const graph::NodeDesc& node, std::size_t num_outputs) {
  const Row* row = find_row(node.domain, node.op_type);
  if (!row) return;
  const std::size_t inputs = node.inputs.size() - node.captures;
  check_count(*row, inputs, num_outputs);
  Bindings bindings;
  for (std::size_t i = 0; i < inputs; ++i) check_input(*row, node, i, bindings);
  if (node.attributes) check_attributes(row->signature, *node.attributes);
}

}  // namespace sardonyx::ops
