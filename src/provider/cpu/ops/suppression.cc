#include <algorithm>
#include <limits>
#include <vector>

#include "base/fail.h"
#include "provider/cpu/ops/image.h"

namespace sardonyx::provider::cpu {
namespace {

struct Box {
  float y_low, x_low, y_high, x_high;

  /// Corners in any order, or center, width and height.
  static Box read(const float* values, bool center) {
    if (center) {
      const float half_width = values[2] / 2, half_height = values[3] / 2;
      return {values[1] - half_height, values[0] - half_width, values[1] + half_height, values[0] + half_width};
    }
    return {std::min(values[0], values[2]), std::min(values[1], values[3]), std::max(values[0], values[2]),
            std::max(values[1], values[3])};
  }
  float area() const { return (x_high - x_low) * (y_high - y_low); }
};

/// Intersection over union above the threshold; boxes without area overlap nothing.
bool overlaps(const Box& a, const Box& b, float threshold) {
  const float width = std::min(a.x_high, b.x_high) - std::max(a.x_low, b.x_low);
  if (!(width > 0)) return false;
  const float height = std::min(a.y_high, b.y_high) - std::max(a.y_low, b.y_low);
  if (!(height > 0)) return false;
  const float intersection = width * height;
  const float united = a.area() + b.area() - intersection;
  if (intersection <= 0 || a.area() <= 0 || b.area() <= 0 || united <= 0) return false;
  return intersection / united > threshold;
}

/// Greedy selection by score, per batch item and class. Boxes of equal score come in index order.
class NonMaxSuppressionKernel final : public Kernel {
 public:
  explicit NonMaxSuppressionKernel(const NodeDesc& node)
      : center_(node.attributes->get_int("center_point_box", 0) != 0) {}

  void run(RunContext& context) const override {
    const TensorView &boxes = context.input(0), &scores = context.input(1);
    const Limits limits = read_limits(context);
    const std::int64_t classes = scores.shape[1], count = boxes.shape[1];
    std::vector<std::int64_t> selected;
    std::vector<std::int64_t> candidates;
    std::vector<Box> kept;
    for (std::int64_t item = 0; limits.per_class > 0 && item < scores.shape[0] * classes; ++item) {
      context.check_cancelled();
      const float* score = scores.data<float>() + item * count;
      candidates.clear();
      for (std::int64_t i = 0; i < count; ++i) {
        if (!limits.has_score || score[i] > limits.score) candidates.push_back(i);
      }
      std::stable_sort(candidates.begin(), candidates.end(),
                       [&](std::int64_t a, std::int64_t b) { return before(score[a], score[b]); });
      kept.clear();
      for (std::int64_t candidate : candidates) {
        if (static_cast<std::int64_t>(kept.size()) >= limits.per_class) break;
        const Box box = Box::read(boxes.data<float>() + (item / classes * count + candidate) * 4, center_);
        if (std::any_of(kept.begin(), kept.end(), [&](const Box& other) { return overlaps(box, other, limits.iou); }))
          continue;
        kept.push_back(box);
        selected.insert(selected.end(), {item / classes, item % classes, candidate});
      }
    }
    if (!context.wants_output(0)) return;
    const TensorView& out = context.allocate_output(0, {static_cast<std::int64_t>(selected.size() / 3), 3});
    std::copy(selected.begin(), selected.end(), out.mutable_data<std::int64_t>());
  }

 private:
  struct Limits {
    std::int64_t per_class = 0;
    float iou = 0, score = 0;
    bool has_score = false;
  };

  /// A strict weak order even with NaN, which comes last.
  static bool before(float a, float b) { return a > b || (b != b && a == a); }

  static Limits read_limits(const RunContext& context) {
    Limits limits;
    const auto given = [&](std::size_t i) { return context.has_input(i) && context.input(i).num_elements() > 0; };
    if (given(2)) limits.per_class = *context.input(2).data<std::int64_t>();
    if (given(3)) limits.iou = *context.input(3).data<float>();
    limits.has_score = given(4);
    if (limits.has_score) limits.score = *context.input(4).data<float>();
    if (!(limits.iou >= 0 && limits.iou <= 1))
      fail(ErrorCode::kInvalidArgument, "iou_threshold must be in [0, 1], found {}", limits.iou);
    return limits;
  }

  bool center_;
};

Support supports_suppression(const NodeDesc& node) {
  for (std::size_t i : {0, 1}) {
    if (node.input_type(i) != ElementType::kFloat32) return decline_type(node, i);
  }
  return Support::accept();
}

}  // namespace

void add_suppression_kernels(KernelTable& table) {
  table.push_back({"", "NonMaxSuppression", supports_suppression, make<NonMaxSuppressionKernel>});
}

}  // namespace sardonyx::provider::cpu
