#pragma once

#include <array>
#include <cstddef>

#include "provider/cpu/dispatch.h"
#include "provider/kernel.h"

namespace sardonyx::provider::cpu {

/// Lets a kernel written for float and double run on float16 and bfloat16: 16-bit inputs are read as float copies, and
/// outputs are computed in float and rounded once at the end. Tensors of float and double are used where they lie.
///
///   Binding bind(const BindContext& c) const override { return {WideIo::workspace_bytes(c)}; }
///   void run(RunContext& c) const override {
///     WideIo io(c, c.workspace());
///     dispatch_wide(c.input(0).type, "Softmax", [&]<typename T>() { softmax(io.input<T>(0), io.output<T>(0)); });
///     io.store();
///   }
class WideIo {
 public:
  /// Workspace for float copies of all 16-bit inputs and outputs.
  static std::size_t workspace_bytes(const BindContext& context);

  /// `memory` holds workspace_bytes() bytes, aligned to 64.
  WideIo(const RunContext& context, std::byte* memory) : context_(context), next_(memory) {}

  /// Input i as T (float or double), or null when it was left out. Each input is to be asked for once.
  template <typename T>
  const T* input(std::size_t i) {
    return context_.has_input(i) ? static_cast<const T*>(read(context_.input(i), element_type_of<T>)) : nullptr;
  }
  /// Where output i is to be written as T, or null when it is not wanted. Valid until store().
  template <typename T>
  T* output(std::size_t i) {
    return context_.wants_output(i) ? static_cast<T*>(write(context_.output(i), element_type_of<T>)) : nullptr;
  }
  /// Rounds the outputs that were computed in float into their 16-bit tensors.
  void store();

 private:
  static constexpr std::size_t kMaxOutputs = 8;
  struct Pending {
    const TensorView* tensor;
    const float* values;
  };

  const void* read(const TensorView& tensor, ElementType wanted);
  void* write(const TensorView& tensor, ElementType wanted);
  float* take(const TensorView& tensor);

  const RunContext& context_;
  std::byte* next_;
  std::array<Pending, kMaxOutputs> pending_{};
  std::size_t num_pending_ = 0;
};

/// Calls fn.template operator()<T>() with T = double for float64, float for the other floating-point types of
/// FloatTypes.
template <typename Fn>
void dispatch_wide(ElementType type, std::string_view op, Fn&& fn) {
  switch (type) {
    case ElementType::kFloat64: return fn.template operator()<double>();
    case ElementType::kFloat32:
    case ElementType::kFloat16:
    case ElementType::kBFloat16: return fn.template operator()<float>();
    default: fail(ErrorCode::kUnsupported, "{} has no kernel for {}", op, name(type));
  }
}

/// `supports` of operators whose inputs 0 … are of one of FloatTypes (decides by input 0).
graph::Support supports_float(const graph::NodeDesc& node);

inline constexpr std::size_t kWorkspaceAlignment = 64;
constexpr std::size_t align_workspace(std::size_t bytes) {
  return (bytes + kWorkspaceAlignment - 1) / kWorkspaceAlignment * kWorkspaceAlignment;
}

}  // namespace sardonyx::provider::cpu
