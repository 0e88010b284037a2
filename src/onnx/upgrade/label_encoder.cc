#include <numeric>

#include "base/fail.h"
#include "onnx/upgrade/upgrade_list.h"

namespace sardonyx::onnx {

/// In ai.onnx.ml 1 a label's number was its place in `classes_strings`, and the input's type said which way to go.
void upgrade_label_encoder(Upgrader& upgrader, Node node) {
  const std::vector<std::string>* classes = node.attributes.strings("classes_strings");
  if (!classes) fail(ErrorCode::kInvalidModel, "attribute 'classes_strings' is required and missing");
  const ElementType element = upgrader.element(node.input(0));
  if (element != ElementType::kString && element != ElementType::kInt64) {
    fail(ErrorCode::kInvalidModel, "LabelEncoder needs an input of strings or int64, but it is {}",
         upgrader.type(node.input(0)).to_string());
  }
  const bool is_string = element == ElementType::kString;
  std::vector<std::int64_t> numbers(classes->size());
  std::iota(numbers.begin(), numbers.end(), 0);
  const std::vector<std::string> strings = *classes;
  node.attributes.erase("classes_strings");
  node.attributes.erase(is_string ? "default_string" : "default_int64");
  node.attributes.set(is_string ? "keys_strings" : "values_strings", strings);
  node.attributes.set(is_string ? "values_int64s" : "keys_int64s", numbers);
  upgrader.emit(std::move(node));
}

}  // namespace sardonyx::onnx
