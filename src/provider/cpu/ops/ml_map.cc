#include <algorithm>
#include <charconv>
#include <cstdint>
#include <numeric>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/fail.h"
#include "provider/cpu/ops/ml_scores.h"

namespace sardonyx::provider::cpu {
namespace {

/// A map for each row, from class labels to the row's scores.
class ZipMapKernel final : public Kernel {
 public:
  explicit ZipMapKernel(const NodeDesc& node) {
    if (const auto* names = node.attributes->strings("classlabels_strings"); names && !names->empty()) {
      keys_ = Tensor::from<std::string>({static_cast<std::int64_t>(names->size())}, *names);
    } else {
      const std::vector<std::int64_t> ints = node.attributes->get_ints("classlabels_int64s", {});
      keys_ = Tensor::from<std::int64_t>({static_cast<std::int64_t>(ints.size())}, ints);
    }
  }
  void run(RunContext& context) const override {
    const TensorView& x = context.input(0);
    const FeatureShape shape = feature_shape(x);
    if (shape.columns != keys_.num_elements())
      fail(ErrorCode::kInvalidArgument, "ZipMap has {} keys for {} columns", keys_.num_elements(), shape.columns);
    Sequence rows;
    for (std::int64_t row = 0; row < shape.rows; ++row) {
      Map map{keys_, {}};
      for (std::int64_t c = 0; c < shape.columns; ++c)
        map.values.emplace_back(Tensor::scalar<float>(x.data<float>()[row * shape.columns + c]));
      rows.items.emplace_back(std::move(map));
    }
    context.set_output(0, std::move(rows));
  }
  static Support supports(const NodeDesc& node) {
    return node.input_type(0) == ElementType::kFloat32 ? Support::accept() : decline_type(node, 0);
  }

 private:
  Tensor keys_;
};

/// One value of a map as another type.
template <typename To, typename From>
To convert(const From& value) {
  if constexpr (std::is_same_v<To, From>) {
    return value;
  } else if constexpr (std::is_same_v<To, std::string>) {
    return std::to_string(value);  // six digits after the point, as other runtimes write them
  } else if constexpr (std::is_same_v<From, std::string>) {
    To number{};
    const char* end = value.data() + value.size();
    const auto [rest, error] = std::from_chars(value.data(), end, number);
    if (error != std::errc() || rest != end)
      fail(ErrorCode::kInvalidArgument, "a map holds '{}', which is no number", value);
    return number;
  } else {
    if (!(value > -9.2e18F && value < 9.2e18F))
      fail(ErrorCode::kInvalidArgument, "a map holds {}, which no int64 can be", value);
    return static_cast<To>(value);
  }
}

/// A map's values in the order of its keys, or each at the place its key names.
class CastMapKernel final : public Kernel {
 public:
  explicit CastMapKernel(const NodeDesc& node)
      : sparse_(node.attributes->get_string("map_form", "DENSE") == "SPARSE"),
        length_(node.attributes->get_int("max_map", 1)),
        to_(node.output_type(0)) {
    if (sparse_ && (length_ < 0 || length_ > (std::int64_t{1} << 32)))
      fail(ErrorCode::kInvalidModel, "attribute 'max_map' is {}", length_);
  }
  void run(RunContext& context) const override {
    const Value value = context.input_value(0);
    const Map& map = value.map();
    if (map.keys.type() != ElementType::kInt64) fail(ErrorCode::kInvalidArgument, "CastMap's keys must be int64");
    const auto keys = map.keys.span<std::int64_t>();
    std::vector<std::size_t> order(keys.size());
    std::iota(order.begin(), order.end(), 0);
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return keys[a] < keys[b]; });
    if (!context.wants_output(0)) return;
    const std::int64_t length = sparse_ ? length_ : static_cast<std::int64_t>(keys.size());
    const TensorView& out = context.allocate_output(0, to_, {1, length});
    dispatch(Types<float, std::int64_t, std::string>{}, to_, "CastMap", [&]<typename To>() {
      To* data = out.mutable_data<To>();
      std::fill(data, data + length, missing<To>());
      for (std::size_t i = 0; i < order.size(); ++i) {
        const std::int64_t at = sparse_ ? keys[order[i]] : static_cast<std::int64_t>(i);
        if (at < 0 || at >= length) fail(ErrorCode::kInvalidArgument, "key {} is outside a map of {}", at, length);
        const Tensor& from = map.values[order[i]].tensor();
        dispatch(Types<float, std::string>{}, from.type(), "CastMap",
                 [&]<typename From>() { data[at] = convert<To, From>(*from.data<From>()); });
      }
    });
  }

 private:
  template <typename To>
  static To missing() {
    if constexpr (std::is_same_v<To, std::string>)
      return "0.f";
    else
      return To(0);
  }
  bool sparse_;
  std::int64_t length_;
  ElementType to_;
};

/// A map's values at the places where a vocabulary has their keys; zero elsewhere.
class DictVectorizerKernel final : public Kernel {
 public:
  explicit DictVectorizerKernel(const NodeDesc& node) {
    if (const auto* words = node.attributes->strings("string_vocabulary")) {
      for (std::size_t i = 0; i < words->size(); ++i) strings_.try_emplace((*words)[i], i);
    }
    const std::vector<std::int64_t> ints = node.attributes->get_ints("int64_vocabulary", {});
    for (std::size_t i = 0; i < ints.size(); ++i) ints_.try_emplace(ints[i], i);
  }
  void run(RunContext& context) const override {
    const Value value = context.input_value(0);
    const Map& map = value.map();
    const TensorView& out = context.output(0);
    dispatch(Types<float, double, std::int64_t, std::string>{}, out.type, "DictVectorizer", [&]<typename T>() {
      T* data = out.mutable_data<T>();
      std::fill(data, data + out.num_elements(), T());
      for (std::size_t i = 0; i < map.values.size(); ++i) {
        const Tensor& from = map.values[i].tensor();
        if (from.type() != out.type)
          fail(ErrorCode::kInvalidArgument, "a map's value is {}, expected {}", name(from.type()), name(out.type));
        const std::int64_t at = place(map.keys, i);
        if (at >= 0) data[at] = *from.data<T>();
      }
    });
  }

 private:
  std::int64_t place(const Tensor& keys, std::size_t i) const {
    if (keys.type() == ElementType::kString) {
      const auto it = strings_.find(keys.data<std::string>()[i]);
      return it == strings_.end() ? -1 : static_cast<std::int64_t>(it->second);
    }
    const auto it = ints_.find(keys.data<std::int64_t>()[i]);
    return it == ints_.end() ? -1 : static_cast<std::int64_t>(it->second);
  }
  std::unordered_map<std::string, std::size_t> strings_;
  std::unordered_map<std::int64_t, std::size_t> ints_;
};

}  // namespace

void add_ml_map_kernels(KernelTable& table) {
  table.push_back({"ai.onnx.ml", "ZipMap", ZipMapKernel::supports, make<ZipMapKernel>});
  table.push_back({"ai.onnx.ml", "CastMap", always, make<CastMapKernel>});
  table.push_back({"ai.onnx.ml", "DictVectorizer", always, make<DictVectorizerKernel>});
}

}  // namespace sardonyx::provider::cpu
