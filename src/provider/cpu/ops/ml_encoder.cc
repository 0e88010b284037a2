#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <type_traits>
#include <unordered_map>
#include <vector>

#include "base/fail.h"
#include "provider/cpu/ops/ml_scores.h"

namespace sardonyx::provider::cpu {
namespace {

using LabelTypes = Types<std::string, std::int64_t, float, std::int32_t, std::int16_t, double>;

/// Floats are looked up by their bits, with one pattern for all NaNs and one for both zeros.
template <typename T>
auto lookup_key(const T& value) {
  if constexpr (std::is_floating_point_v<T>) {
    using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
    Bits bits = 0;
    const T plain = std::isnan(value) ? std::numeric_limits<T>::quiet_NaN() : value == 0 ? T(0) : value;
    std::memcpy(&bits, &plain, sizeof(bits));
    return bits;
  } else {
    return value;
  }
}

/// Calls fn.template operator()<T>(list) with the attribute that holds keys or values: `prefix` + "_tensor",
/// "_strings", ….
template <typename Fn>
void with_list(const NodeDesc& node, const std::string& prefix, Fn&& fn) {
  const graph::Attributes& a = *node.attributes;
  if (const auto* strings = a.strings(prefix + "_strings")) return fn(*strings);
  if (const auto* ints = a.ints(prefix + "_int64s")) return fn(*ints);
  if (const auto* floats = a.floats(prefix + "_floats")) return fn(*floats);
  const Tensor* tensor = a.tensor(prefix + "_tensor");
  if (!tensor) fail(ErrorCode::kInvalidModel, "LabelEncoder has none of its {}_* attributes", prefix);
  dispatch(LabelTypes{}, tensor->type(), "LabelEncoder",
           [&]<typename T>() { fn(std::vector<T>(tensor->data<T>(), tensor->data<T>() + tensor->num_elements())); });
}

/// What a key that is not there maps to.
template <typename V>
V default_value(const NodeDesc& node) {
  const graph::Attributes& a = *node.attributes;
  if (const Tensor* tensor = a.tensor("default_tensor")) {
    if (tensor->type() != element_type_of<V> || tensor->num_elements() != 1)
      fail(ErrorCode::kInvalidModel, "attribute 'default_tensor' must hold one {}", name(element_type_of<V>));
    return *tensor->data<V>();
  }
  if constexpr (std::is_same_v<V, std::string>) return a.get_string("default_string", "_Unused");
  if constexpr (std::is_integral_v<V>) return static_cast<V>(a.get_int("default_int64", -1));
  if constexpr (std::is_floating_point_v<V>) return static_cast<V>(a.get_float("default_float", -0.0F));
}

template <typename K, typename V>
class LabelEncoderKernel final : public Kernel {
 public:
  LabelEncoderKernel(const NodeDesc& node, const std::vector<K>& keys, const std::vector<V>& values)
      : default_(default_value<V>(node)) {
    if (keys.size() != values.size())
      fail(ErrorCode::kInvalidModel, "LabelEncoder has {} keys and {} values", keys.size(), values.size());
    for (std::size_t i = 0; i < keys.size(); ++i) table_.insert_or_assign(lookup_key(keys[i]), values[i]);
  }
  void run(RunContext& context) const override {
    const TensorView& x = context.input(0);
    const K* in = x.data<K>();
    V* out = context.output(0).mutable_data<V>();
    for (std::int64_t i = 0; i < x.num_elements(); ++i) {
      const auto it = table_.find(lookup_key(in[i]));
      out[i] = it == table_.end() ? default_ : it->second;
    }
  }

 private:
  std::unordered_map<decltype(lookup_key(K())), V> table_;
  V default_;
};

std::unique_ptr<Kernel> make_label_encoder(const NodeDesc& node) {
  std::unique_ptr<Kernel> kernel;
  with_list(node, "keys", [&](const auto& keys) {
    with_list(node, "values", [&](const auto& values) {
      using K = typename std::decay_t<decltype(keys)>::value_type;
      using V = typename std::decay_t<decltype(values)>::value_type;
      kernel = std::make_unique<LabelEncoderKernel<K, V>>(node, keys, values);
    });
  });
  return kernel;
}

Support supports_label_encoder(const NodeDesc& node) {
  const graph::Attributes& a = *node.attributes;
  const Tensor* tensor = a.tensor("keys_tensor");
  const ElementType keys = a.strings("keys_strings") ? ElementType::kString
                           : a.ints("keys_int64s")   ? ElementType::kInt64
                           : a.floats("keys_floats") ? ElementType::kFloat32
                           : tensor                  ? tensor->type()
                                                     : ElementType::kUndefined;
  if (keys == node.input_type(0) && is_one_of(LabelTypes{}, keys)) return Support::accept();
  return Support::decline("LabelEncoder's keys are " + std::string(name(keys)) + ", but its input is " +
                          std::string(name(node.input_type(0))));
}

/// Strings to integers or back, by pairs.
class CategoryMapperKernel final : public Kernel {
 public:
  explicit CategoryMapperKernel(const NodeDesc& node)
      : default_int_(node.attributes->get_int("default_int64", -1)),
        default_string_(node.attributes->get_string("default_string", "_Unused")) {
    const auto* ints = node.attributes->ints("cats_int64s");
    const auto* strings = node.attributes->strings("cats_strings");
    if (!ints || !strings || ints->size() != strings->size())
      fail(ErrorCode::kInvalidModel, "CategoryMapper needs as many 'cats_int64s' as 'cats_strings'");
    for (std::size_t i = 0; i < ints->size(); ++i) {
      to_int_.insert_or_assign((*strings)[i], (*ints)[i]);
      to_string_.insert_or_assign((*ints)[i], (*strings)[i]);
    }
  }
  void run(RunContext& context) const override {
    const TensorView &x = context.input(0), &y = context.output(0);
    for (std::int64_t i = 0; i < x.num_elements(); ++i) {
      if (x.type == ElementType::kString) {
        const auto it = to_int_.find(x.data<std::string>()[i]);
        y.mutable_data<std::int64_t>()[i] = it == to_int_.end() ? default_int_ : it->second;
      } else {
        const auto it = to_string_.find(x.data<std::int64_t>()[i]);
        y.mutable_data<std::string>()[i] = it == to_string_.end() ? default_string_ : it->second;
      }
    }
  }

 private:
  std::int64_t default_int_;
  std::string default_string_;
  std::unordered_map<std::string, std::int64_t> to_int_;
  std::unordered_map<std::int64_t, std::string> to_string_;
};

class OneHotEncoderKernel final : public Kernel {
 public:
  explicit OneHotEncoderKernel(const NodeDesc& node) : zeros_(node.attributes->get_int("zeros", 1) != 0) {
    if (const auto* ints = node.attributes->ints("cats_int64s"); ints && !ints->empty()) {
      for (std::size_t i = 0; i < ints->size(); ++i)
        int_index_.insert_or_assign((*ints)[i], static_cast<std::int64_t>(i));
      count_ = static_cast<std::int64_t>(ints->size());
    } else if (const auto* strings = node.attributes->strings("cats_strings")) {
      for (std::size_t i = 0; i < strings->size(); ++i)
        string_index_.insert_or_assign((*strings)[i], static_cast<std::int64_t>(i));
      count_ = static_cast<std::int64_t>(strings->size());
    }
  }
  void run(RunContext& context) const override {
    const TensorView& x = context.input(0);
    float* out = context.output(0).mutable_data<float>();
    std::fill(out, out + x.num_elements() * count_, 0.0F);
    dispatch(Types<std::string, std::int64_t, std::int32_t, float, double>{}, x.type, "OneHotEncoder",
             [&]<typename T>() {
               const T* in = x.data<T>();
               for (std::int64_t i = 0; i < x.num_elements(); ++i) {
                 const std::int64_t at = index_of(in[i]);
                 if (at >= 0) out[i * count_ + at] = 1;
                 if (at < 0 && !zeros_)
                   fail(ErrorCode::kInvalidArgument, "element {} is none of the {} categories", i, count_);
               }
             });
  }
  static Support supports(const NodeDesc& node) {
    const auto* ints = node.attributes->ints("cats_int64s");
    const bool strings = !(ints && !ints->empty());
    const ElementType type = node.input_type(0);
    if (strings ? type == ElementType::kString : is_one_of(FeatureTypes{}, type)) return Support::accept();
    return Support::decline("OneHotEncoder's categories and its input of " + std::string(name(type)) + " don't match");
  }

 private:
  template <typename T>
  std::int64_t index_of(const T& value) const {
    if constexpr (std::is_same_v<T, std::string>) {
      const auto it = string_index_.find(value);
      return it == string_index_.end() ? -1 : it->second;
    } else {
      if constexpr (std::is_floating_point_v<T>) {
        if (!(std::fabs(value) < T(9e18))) return -1;  // NaN and what no int64 holds
      }
      const auto it = int_index_.find(static_cast<std::int64_t>(value));
      return it == int_index_.end() ? -1 : it->second;
    }
  }
  bool zeros_;
  std::int64_t count_ = 0;
  std::unordered_map<std::int64_t, std::int64_t> int_index_;
  std::unordered_map<std::string, std::int64_t> string_index_;
};

}  // namespace

void add_ml_encoder_kernels(KernelTable& table) {
  table.push_back({"ai.onnx.ml", "LabelEncoder", supports_label_encoder, make_label_encoder});
  table.push_back({"ai.onnx.ml", "CategoryMapper", always, make<CategoryMapperKernel>});
  table.push_back({"ai.onnx.ml", "OneHotEncoder", OneHotEncoderKernel::supports, make<OneHotEncoderKernel>});
}

}  // namespace sardonyx::provider::cpu
