#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

namespace sardonyx::ops {

/// An Einsum equation with its ellipses spelled out for operands of known ranks: one label a dimension. Equal labels
/// are equal (or, for labels from an ellipsis, broadcast) dimensions.
struct EinsumEquation {
  using Labels = std::vector<int>;
  /// Labels from here on come from an ellipsis, right-aligned.
  static constexpr int kFirstEllipsis = 52;

  std::vector<Labels> inputs;
  Labels output;
  int num_labels = 0;  ///< labels are below this

  static bool is_ellipsis(int label) { return label >= kFirstEllipsis; }
};

/// Throws kInvalidModel for an equation that breaks the grammar or does not fit the operands.
EinsumEquation parse_einsum(std::string_view equation, std::span<const std::size_t> ranks);

}  // namespace sardonyx::ops
