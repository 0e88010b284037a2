#pragma once

#include <type_traits>
#include <utility>

namespace sardonyx {

template <typename Signature>
class FunctionRef;

/// Borrows a callable for the length of a call: two pointers, no allocation. The callable must outlive the reference, so
/// use it for parameters only.
template <typename R, typename... Args>
class FunctionRef<R(Args...)> {
 public:
  template <typename F>
    requires(!std::is_same_v<std::remove_cvref_t<F>, FunctionRef> && std::is_invocable_r_v<R, F&, Args...>)
  FunctionRef(F&& callable) noexcept  // NOLINT: implicit by design
      : object_(const_cast<void*>(reinterpret_cast<const void*>(&callable))), call_([](void* object, Args... args) -> R {
          return (*reinterpret_cast<std::remove_reference_t<F>*>(object))(std::forward<Args>(args)...);
        }) {}

  R operator()(Args... args) const { return call_(object_, std::forward<Args>(args)...); }

 private:
  void* object_;
  R (*call_)(void*, Args...);
};

}  // namespace sardonyx
