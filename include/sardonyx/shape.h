#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>

namespace sardonyx {

/// The dimensions of a tensor, outermost first. Rank 0 is a scalar. Up to kInline dimensions are stored in place, so that
/// copying the shapes of ordinary tensors never allocates.
class Shape {
 public:
  static constexpr std::size_t kInline = 8;

  Shape() = default;
  Shape(std::initializer_list<std::int64_t> dims) : Shape(std::span(dims.begin(), dims.size())) {}
  explicit Shape(std::span<const std::int64_t> dims);
  Shape(const Shape& other) : Shape(other.dims()) {}
  Shape(Shape&& other) noexcept;
  Shape& operator=(const Shape& other);
  Shape& operator=(Shape&& other) noexcept;
  ~Shape();

  std::size_t rank() const { return rank_; }
  std::int64_t operator[](std::size_t i) const { return data()[i]; }
  std::int64_t& operator[](std::size_t i) { return data()[i]; }
  const std::int64_t* begin() const { return data(); }
  const std::int64_t* end() const { return data() + rank_; }
  std::span<const std::int64_t> dims() const { return {data(), rank_}; }
  std::span<std::int64_t> dims() { return {data(), rank_}; }

  void push_back(std::int64_t dim);
  void resize(std::size_t rank, std::int64_t fill = 1);

  /// Product of the dimensions; 1 for a scalar. Throws kResourceExhausted when it overflows, kInvalidArgument when a
  /// dimension is negative.
  std::int64_t num_elements() const;
  /// Product of dimensions [from, to).
  std::int64_t product(std::size_t from, std::size_t to) const;

  bool operator==(const Shape& other) const;

  std::string to_string() const;  ///< "[2,3]"

 private:
  const std::int64_t* data() const { return rank_ > kInline ? heap_ : inline_; }
  std::int64_t* data() { return rank_ > kInline ? heap_ : inline_; }

  std::size_t rank_ = 0;
  union {
    std::int64_t inline_[kInline];
    std::int64_t* heap_;
  };
};

}  // namespace sardonyx
