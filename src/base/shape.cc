#include "sardonyx/shape.h"

#include <algorithm>
#include <vector>

#include "base/fail.h"

namespace sardonyx {

Shape::Shape(std::span<const std::int64_t> dims) : rank_(dims.size()) {
  if (rank_ > kInline) heap_ = new std::int64_t[rank_];
  std::copy(dims.begin(), dims.end(), data());
}

Shape::Shape(Shape&& other) noexcept : rank_(other.rank_) {
  if (rank_ > kInline) {
    heap_ = other.heap_;
    other.rank_ = 0;
  } else {
    std::copy_n(other.inline_, rank_, inline_);
  }
}

Shape& Shape::operator=(const Shape& other) {
  if (this == &other) return *this;
  if (rank_ > kInline || other.rank_ > kInline) return *this = Shape(other);
  rank_ = other.rank_;
  std::copy_n(other.inline_, rank_, inline_);
  return *this;
}

Shape& Shape::operator=(Shape&& other) noexcept {
  if (this == &other) return *this;
  if (rank_ > kInline) delete[] heap_;
  rank_ = other.rank_;
  if (rank_ > kInline) {
    heap_ = other.heap_;
    other.rank_ = 0;
  } else {
    std::copy_n(other.inline_, rank_, inline_);
  }
  return *this;
}

Shape::~Shape() {
  if (rank_ > kInline) delete[] heap_;
}

void Shape::push_back(std::int64_t dim) { resize(rank_ + 1, dim); }

void Shape::resize(std::size_t rank, std::int64_t fill) {
  if (rank <= kInline && rank_ <= kInline) {
    std::fill(inline_ + std::min(rank_, rank), inline_ + rank, fill);
    rank_ = rank;
    return;
  }
  std::vector<std::int64_t> dims(begin(), end());
  dims.resize(rank, fill);
  *this = Shape(std::span<const std::int64_t>(dims));
}

std::int64_t Shape::num_elements() const { return product(0, rank_); }

std::int64_t Shape::product(std::size_t from, std::size_t to) const {
  std::int64_t total = 1;
  bool overflow = false;
  for (std::size_t i = from; i < to; ++i) {
    const std::int64_t dim = data()[i];
    if (dim < 0) fail(ErrorCode::kInvalidArgument, "dimension {} of shape {} is negative", i, to_string());
    if (dim == 0) return 0;
    overflow |= __builtin_mul_overflow(total, dim, &total);
  }
  if (overflow) fail(ErrorCode::kResourceExhausted, "the number of elements of shape {} overflows", to_string());
  return total;
}

bool Shape::operator==(const Shape& other) const { return std::equal(begin(), end(), other.begin(), other.end()); }

std::string Shape::to_string() const {
  std::string text = "[";
  for (std::size_t i = 0; i < rank_; ++i) text += (i ? "," : "") + std::to_string(data()[i]);
  return text + "]";
}

}  // namespace sardonyx
