#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "base/fail.h"
#include "provider/cpu/ops/element_mover.h"
#include "provider/cpu/ops/gather.h"
#include "provider/cpu/ops/ml_scores.h"

namespace sardonyx::provider::cpu {
namespace {

class BinarizerKernel final : public Kernel {
 public:
  explicit BinarizerKernel(const NodeDesc& node) : threshold_(node.attributes->get_float("threshold", 0)) {}
  void run(RunContext& context) const override {
    const TensorView &x = context.input(0), &y = context.output(0);
    dispatch(FeatureTypes{}, x.type, "Binarizer", [&]<typename T>() {
      const T* in = x.data<T>();
      std::transform(in, in + x.num_elements(), y.mutable_data<T>(),
                     [&](T value) { return T(static_cast<double>(value) > threshold_ ? 1 : 0); });
    });
  }

 private:
  double threshold_;
};

/// Replaces one value (NaN included) by others, one for each column or one for all.
class ImputerKernel final : public Kernel {
 public:
  explicit ImputerKernel(const NodeDesc& node) {
    const graph::Attributes& a = *node.attributes;
    if (const auto* floats = a.floats("imputed_value_floats"); floats && !floats->empty()) {
      values_.assign(floats->begin(), floats->end());
      replaced_ = a.get_float("replaced_value_float", 0);
    } else {
      ints_ = a.get_ints("imputed_value_int64s", {});
      replaced_int_ = a.get_int("replaced_value_int64", 0);
    }
    if (values_.empty() && ints_.empty()) fail(ErrorCode::kInvalidModel, "Imputer has no imputed values");
  }
  void run(RunContext& context) const override {
    const TensorView &x = context.input(0), &y = context.output(0);
    const std::int64_t width = x.shape.rank() == 0 ? 1 : x.shape[x.shape.rank() - 1];
    const auto choices = static_cast<std::int64_t>(std::max(values_.size(), ints_.size()));
    if (choices != 1 && choices != width)
      fail(ErrorCode::kInvalidArgument, "{} imputed values for {} columns", choices, width);
    dispatch(FeatureTypes{}, x.type, "Imputer", [&]<typename T>() {
      const T* in = x.data<T>();
      T* out = y.mutable_data<T>();
      for (std::int64_t i = 0; i < x.num_elements(); ++i) {
        const auto column = static_cast<std::size_t>(choices == 1 ? 0 : i % width);
        out[i] = matches(in[i]) ? replacement<T>(column) : in[i];
      }
    });
  }

 private:
  template <typename T>
  bool matches(T value) const {
    if constexpr (std::is_integral_v<T>) {
      return ints_.empty() ? static_cast<double>(value) == replaced_ : value == replaced_int_;
    } else {
      if (!ints_.empty()) return value == static_cast<T>(replaced_int_);
      return std::isnan(replaced_) ? std::isnan(value) : value == static_cast<T>(replaced_);
    }
  }
  template <typename T>
  T replacement(std::size_t column) const {
    if (!ints_.empty()) return static_cast<T>(ints_[column]);
    if constexpr (std::is_integral_v<T>) {
      if (!(std::fabs(values_[column]) < 2e9))
        fail(ErrorCode::kInvalidArgument, "imputed value {} doesn't fit {}", values_[column], name(element_type_of<T>));
    }
    return static_cast<T>(values_[column]);
  }
  std::vector<double> values_;
  std::vector<std::int64_t> ints_;
  double replaced_ = 0;
  std::int64_t replaced_int_ = 0;
};

/// Divides each row by its largest element, the sum of its magnitudes, or its length; where that is zero the row stays.
class NormalizerKernel final : public Kernel {
 public:
  explicit NormalizerKernel(const NodeDesc& node) : norm_(node.attributes->get_string("norm", "MAX")) {
    if (norm_ != "MAX" && norm_ != "L1" && norm_ != "L2")
      fail(ErrorCode::kInvalidModel, "attribute 'norm' must be MAX, L1 or L2, found {}", norm_);
  }
  void run(RunContext& context) const override {
    const TensorView& x = context.input(0);
    const std::int64_t width = x.shape.rank() == 0 ? 1 : x.shape[x.shape.rank() - 1];
    if (width == 0) return;
    float* out = context.output(0).mutable_data<float>();
    dispatch(FeatureTypes{}, x.type, "Normalizer", [&]<typename T>() {
      const T* in = x.data<T>();
      const auto rows = static_cast<std::size_t>(x.num_elements() / width);
      context.parallel.parallel_for(rows, std::max<std::size_t>(1, kElementChunk / static_cast<std::size_t>(width)),
                                    [&](std::size_t begin, std::size_t end) {
                                      for (std::size_t row = begin; row < end; ++row) {
                                        const T* from = in + row * static_cast<std::size_t>(width);
                                        float* to = out + row * static_cast<std::size_t>(width);
                                        const double divisor = size_of(from, width);
                                        for (std::int64_t i = 0; i < width; ++i)
                                          to[i] =
                                              static_cast<float>(divisor == 0 ? static_cast<double>(from[i])
                                                                              : static_cast<double>(from[i]) / divisor);
                                      }
                                    });
    });
  }

 private:
  template <typename T>
  double size_of(const T* row, std::int64_t n) const {
    double largest = static_cast<double>(row[0]), sum = 0;
    for (std::int64_t i = 0; i < n; ++i) {
      const auto value = static_cast<double>(row[i]);
      largest = std::max(largest, value);
      sum += norm_ == "L1" ? std::fabs(value) : value * value;
    }
    return norm_ == "MAX" ? largest : norm_ == "L1" ? sum : std::sqrt(sum);
  }
  std::string norm_;
};

/// (x - offset) * scale, by column or with one pair for all.
class ScalerKernel final : public Kernel {
 public:
  explicit ScalerKernel(const NodeDesc& node) {
    const auto read = [&](const char* name, float fallback) {
      const auto* given = node.attributes->floats(name);
      return given && !given->empty() ? *given : std::vector<float>{fallback};
    };
    offset_ = read("offset", 0);
    scale_ = read("scale", 1);
  }
  void run(RunContext& context) const override {
    const TensorView& x = context.input(0);
    const auto width = static_cast<std::size_t>(x.shape.rank() == 0 ? 1 : x.shape[x.shape.rank() - 1]);
    for (const auto* list : {&offset_, &scale_}) {
      if (list->size() != 1 && list->size() != width)
        fail(ErrorCode::kInvalidArgument, "Scaler has {} numbers for {} columns", list->size(), width);
    }
    float* out = context.output(0).mutable_data<float>();
    dispatch(FeatureTypes{}, x.type, "Scaler", [&]<typename T>() {
      const T* in = x.data<T>();
      for (std::size_t i = 0; i < static_cast<std::size_t>(x.num_elements()); ++i) {
        const float offset = offset_[offset_.size() == 1 ? 0 : i % width],
                    scale = scale_[scale_.size() == 1 ? 0 : i % width];
        out[i] = (static_cast<float>(in[i]) - offset) * scale;
      }
    });
  }

 private:
  std::vector<float> offset_, scale_;
};

/// Columns named by a list of indices.
class ArrayFeatureExtractorKernel final : public ElementMover {
 public:
  explicit ArrayFeatureExtractorKernel(const NodeDesc&) {}
  void move(RunContext& context) const override {
    const TensorView &x = context.input(0), &indices = context.input(1), &y = context.output(0);
    const std::int64_t width = x.shape[x.shape.rank() - 1], count = indices.num_elements();
    const std::int64_t* index = indices.data<std::int64_t>();
    for (std::int64_t i = 0; i < count; ++i) {
      if (index[i] < 0 || index[i] >= width)
        fail(ErrorCode::kInvalidArgument, "feature {} of {} is asked for", index[i], width);
    }
    dispatch_width(x.type, "ArrayFeatureExtractor", [&]<typename T>() {
      const T* in = static_cast<const T*>(x.data_ptr);
      T* out = static_cast<T*>(y.data_ptr);
      for (std::int64_t row = 0; row < x.shape.product(0, x.shape.rank() - 1); ++row) {
        for (std::int64_t i = 0; i < count; ++i) *out++ = in[row * width + index[i]];
      }
    });
  }
};

/// Matrices side by side, each cut or filled up with zeros to its stated width.
class FeatureVectorizerKernel final : public Kernel {
 public:
  explicit FeatureVectorizerKernel(const NodeDesc& node) : sizes_(node.attributes->get_ints("inputdimensions", {})) {}
  void run(RunContext& context) const override {
    const TensorView& y = context.output(0);
    const std::int64_t total = y.shape[1];
    float* out = y.mutable_data<float>();
    std::fill(out, out + y.num_elements(), 0.0F);
    std::int64_t column = 0;
    for (std::size_t i = 0; i < context.num_inputs(); ++i) {
      const TensorView& x = context.input(i);
      const FeatureShape shape = feature_shape(x);
      const std::int64_t width = i < sizes_.size() ? sizes_[i] : shape.columns;
      dispatch(FeatureTypes{}, x.type, "FeatureVectorizer", [&]<typename T>() {
        const T* in = x.data<T>();
        for (std::int64_t row = 0; row < shape.rows; ++row) {
          for (std::int64_t c = 0; c < std::min(width, shape.columns); ++c)
            out[row * total + column + c] = static_cast<float>(in[row * shape.columns + c]);
        }
      });
      column += width;
    }
  }
  static Support supports(const NodeDesc& node) {
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      if (!is_one_of(FeatureTypes{}, node.input_type(i))) return decline_type(node, i);
    }
    return Support::accept();
  }

 private:
  std::vector<std::int64_t> sizes_;
};

}  // namespace

void add_ml_kernels(KernelTable& table) {
  constexpr const char* kMl = "ai.onnx.ml";
  table.push_back({kMl, "Binarizer", supports_features, make<BinarizerKernel>});
  table.push_back({kMl, "Imputer", supports_features, make<ImputerKernel>});
  table.push_back({kMl, "Normalizer", supports_features, make<NormalizerKernel>});
  table.push_back({kMl, "Scaler", supports_features, make<ScalerKernel>});
  table.push_back({kMl, "ArrayFeatureExtractor", always, make<ArrayFeatureExtractorKernel>});
  table.push_back({kMl, "FeatureVectorizer", FeatureVectorizerKernel::supports, make<FeatureVectorizerKernel>});
  add_ml_linear_kernels(table);
  add_ml_svm_kernels(table);
  add_ml_tree_kernels(table);
  add_ml_encoder_kernels(table);
  add_ml_map_kernels(table);
}

}  // namespace sardonyx::provider::cpu
