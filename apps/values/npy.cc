#include "apps/values/npy.h"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cstring>
#include <vector>

#include "apps/values/convert.h"
#include "apps/values/unicode.h"
#include "base/fail.h"

static_assert(std::endian::native == std::endian::little);

namespace sardonyx::values {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr std::size_t kMostHeader = 1u << 16;
constexpr std::size_t kMostRank = 64;  // NumPy's own limit

struct Header {
  std::string descr;
  bool fortran_order = false;
  Shape shape;
  std::size_t data_at = 0;
};

/// Reads the dictionary literal that NumPy writes: {'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }
class HeaderParser {
 public:
  HeaderParser(std::string_view text, const std::string& where) : text_(text), where_(where) {}

  Header parse() {
    Header header;
    bool seen[3] = {};
    expect('{');
    while (!accept('}')) {
      const std::string key = quoted();
      expect(':');
      if (key == "descr") {
        header.descr = descr();
        seen[0] = true;
      } else if (key == "fortran_order") {
        header.fortran_order = boolean();
        seen[1] = true;
      } else if (key == "shape") {
        header.shape = tuple();
        seen[2] = true;
      } else {
        broken("an unknown key");
      }
      if (!accept(',')) {
        expect('}');
        break;
      }
    }
    if (!seen[0] || !seen[1] || !seen[2]) broken("a key is missing");
    return header;
  }

 private:
  [[noreturn]] void broken(std::string_view what) const {
    fail(ErrorCode::kInvalidArgument,
         "{}: expected a NumPy header with 'descr', 'fortran_order' and 'shape', but {} at byte {} of it", where_, what,
         at_);
  }
  void skip_space() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t')) ++at_;
  }
  bool accept(char c) {
    skip_space();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  void expect(char c) {
    if (!accept(c)) broken(std::string("'") + c + "' is missing");
  }
  std::string quoted() {
    skip_space();
    if (at_ >= text_.size() || (text_[at_] != '\'' && text_[at_] != '"')) broken("a quoted text is missing");
    const std::size_t end = text_.find(text_[at_], at_ + 1);
    if (end == std::string_view::npos) broken("a quoted text doesn't end");
    std::string out(text_.substr(at_ + 1, end - at_ - 1));
    at_ = end + 1;
    return out;
  }
  std::string descr() {
    skip_space();
    if (at_ < text_.size() && text_[at_] == '[') {
      fail(ErrorCode::kUnsupported,
           "{}: expected numbers or strings, found an array of records; save its columns apart", where_);
    }
    return quoted();
  }
  bool boolean() {
    skip_space();
    for (const auto& [word, value] : {std::pair{"True", true}, {"False", false}}) {
      if (text_.substr(at_).starts_with(word)) {
        at_ += std::strlen(word);
        return value;
      }
    }
    broken("True or False is missing");
  }
  Shape tuple() {
    Shape shape;
    expect('(');
    while (!accept(')')) {
      if (shape.rank() == kMostRank) broken("there are too many dimensions");
      shape.push_back(number());
      accept('L');  // Python 2
      if (!accept(',')) {
        expect(')');
        break;
      }
    }
    return shape;
  }
  std::int64_t number() {
    skip_space();
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
    if (error != std::errc() || value < 0) broken("a dimension is no number");
    at_ = static_cast<std::size_t>(end - text_.data());
    return value;
  }

  std::string_view text_;
  const std::string& where_;
  std::size_t at_ = 0;
};

std::size_t little_endian(std::string_view bytes) {
  std::size_t value = 0;
  for (std::size_t i = bytes.size(); i-- > 0;) value = value << 8 | static_cast<unsigned char>(bytes[i]);
  return value;
}

Header read_header(std::string_view content, const std::string& where) {
  if (content.size() < 10 || !content.starts_with(kMagic)) {
    fail(ErrorCode::kInvalidArgument, "{}: expected a NumPy .npy file, but it doesn't begin as one", where);
  }
  const int version = content[6];
  if (version < 1 || version > 3)
    fail(ErrorCode::kUnsupported, "{}: .npy version {} is not known (1, 2 and 3 are)", where, version);
  const std::size_t digits = version == 1 ? 2 : 4;
  if (content.size() < 8 + digits) fail(ErrorCode::kInvalidArgument, "{}: the .npy file ends in its header", where);
  const std::size_t length = little_endian(content.substr(8, digits));
  if (length > kMostHeader || length > content.size() - 8 - digits) {
    fail(ErrorCode::kInvalidArgument,
         "{}: the .npy header claims {} bytes, but the file has {} (and at most {} are read)", where, length,
         content.size() - 8 - digits, kMostHeader);
  }
  Header header = HeaderParser(content.substr(8 + digits, length), where).parse();
  header.data_at = 8 + digits + length;
  return header;
}

struct NamedType {
  std::string_view descr;  ///< without the byte order
  ElementType type;
};
constexpr std::array<NamedType, 16> kTypes = {{
    {"f4", ElementType::kFloat32},
    {"f8", ElementType::kFloat64},
    {"f2", ElementType::kFloat16},
    {"b1", ElementType::kBool},
    {"i1", ElementType::kInt8},
    {"i2", ElementType::kInt16},
    {"i4", ElementType::kInt32},
    {"i8", ElementType::kInt64},
    {"u1", ElementType::kUInt8},
    {"u2", ElementType::kUInt16},
    {"u4", ElementType::kUInt32},
    {"u8", ElementType::kUInt64},
    {"c8", ElementType::kComplex64},
    {"c16", ElementType::kComplex128},
    {"?", ElementType::kBool},
    {"B", ElementType::kUInt8},
}};

void swap_bytes(char* data, std::size_t size, std::size_t unit) {
  for (std::size_t at = 0; at + unit <= size; at += unit) std::reverse(data + at, data + at + unit);
}

void check_size(std::string_view data, std::size_t expected, const Shape& shape, const std::string& where) {
  if (data.size() != expected) {
    fail(ErrorCode::kInvalidArgument, "{}: shape {} takes {} bytes of data, but the file holds {}", where,
         shape.to_string(), expected, data.size());
  }
}

/// Copies elements of `unit` bytes from column-major to row-major order.
template <typename Copy>
void for_each_fortran(const Shape& shape, Copy&& copy) {
  const std::int64_t n = shape.num_elements();
  std::vector<std::int64_t> index(shape.rank(), 0), stride(shape.rank(), 1);
  for (std::size_t i = 1; i < shape.rank(); ++i) stride[i] = stride[i - 1] * shape[i - 1];
  std::int64_t from = 0;
  for (std::int64_t to = 0; to < n; ++to) {
    copy(to, from);
    for (std::size_t axis = shape.rank(); axis-- > 0;) {
      from += stride[axis];
      if (++index[axis] < shape[axis]) break;
      from -= stride[axis] * shape[axis];
      index[axis] = 0;
    }
  }
}

Tensor parse_numbers(const Header& header, ElementType type, char order, std::string_view data,
                     const std::string& where) {
  const std::size_t unit = static_cast<std::size_t>(bit_width(type)) / 8;
  check_size(data, byte_size(type, header.shape.num_elements()), header.shape, where);
  Tensor tensor(type, header.shape);
  char* to = static_cast<char*>(tensor.view().data_ptr);
  if (header.fortran_order && header.shape.rank() > 1) {
    for_each_fortran(header.shape, [&](std::int64_t t, std::int64_t f) {
      std::memcpy(to + static_cast<std::size_t>(t) * unit, data.data() + static_cast<std::size_t>(f) * unit, unit);
    });
  } else if (!data.empty()) {
    std::memcpy(to, data.data(), data.size());
  }
  if (type == ElementType::kBool) {
    for (std::size_t i = 0; i < data.size(); ++i) to[i] = to[i] != 0 ? 1 : 0;
  }
  if (order == '>') swap_bytes(to, data.size(), is_complex(type) ? unit / 2 : unit);
  return tensor;
}

std::string parse_text(std::string_view cell, bool unicode, char order, const std::string& where) {
  std::string out;
  if (!unicode) {
    const std::size_t end = cell.find_last_not_of('\0');
    return end == std::string_view::npos ? out : std::string(cell.substr(0, end + 1));
  }
  std::size_t length = cell.size() / 4;
  const auto code_at = [&](std::size_t i) {
    std::uint32_t code;
    std::memcpy(&code, cell.data() + 4 * i, 4);
    return order == '>' ? __builtin_bswap32(code) : code;
  };
  while (length > 0 && code_at(length - 1) == 0) --length;
  for (std::size_t i = 0; i < length; ++i) {
    if (!append_utf8(out, code_at(i))) {
      fail(ErrorCode::kInvalidArgument, "{}: a string holds {:#x}, which is no Unicode character", where, code_at(i));
    }
  }
  return out;
}

Tensor parse_strings(const Header& header, bool unicode, std::size_t width, char order, std::string_view data,
                     const std::string& where) {
  const std::size_t cell = unicode ? width * 4 : width;
  const std::size_t count = static_cast<std::size_t>(header.shape.num_elements());
  if (cell != 0 && count > data.size() / cell) check_size(data, data.size() + 1, header.shape, where);
  if (cell == 0 && count > kMostHeader) {
    fail(ErrorCode::kInvalidArgument, "{}: {} empty strings without data are more than is believed", where, count);
  }
  check_size(data, count * cell, header.shape, where);
  Tensor tensor(ElementType::kString, header.shape);
  std::string* to = tensor.mutable_data<std::string>();
  for_each_fortran(header.fortran_order ? header.shape : Shape{static_cast<std::int64_t>(count)},
                   [&](std::int64_t t, std::int64_t f) {
                     to[t] = parse_text(data.substr(static_cast<std::size_t>(f) * cell, cell), unicode, order, where);
                   });
  return tensor;
}

std::string header_text(const std::string& descr, const Shape& shape) {
  std::string dims;
  for (std::int64_t dim : shape) dims += std::to_string(dim) + ", ";
  if (shape.rank() > 1) dims.resize(dims.size() - 2);
  if (shape.rank() == 1) dims.resize(dims.size() - 1);
  std::string text = "{'descr': '" + descr + "', 'fortran_order': False, 'shape': (" + dims + "), }";
  const std::size_t fixed = kMagic.size() + 4;
  text.append(63 - (fixed + text.size()) % 64, ' ');  // the data begins at a multiple of 64, as NumPy's own files do
  text += '\n';
  std::string out(kMagic);
  out += {'\x01', '\0', static_cast<char>(text.size() & 0xff), static_cast<char>(text.size() >> 8)};
  return out + text;
}

std::string format_strings(const Tensor& tensor) {
  std::vector<std::u32string> cells;
  std::size_t width = 1;
  for (const std::string& text : tensor.span<std::string>()) {
    std::u32string cell;
    if (!decode_utf8(text, cell)) {
      fail(ErrorCode::kInvalidArgument, "a string of the tensor isn't UTF-8, which .npy can't hold; write .pb instead");
    }
    width = std::max(width, cell.size());
    cells.push_back(std::move(cell));
  }
  std::string out = header_text("<U" + std::to_string(width), tensor.shape());
  for (std::u32string& cell : cells) {
    cell.resize(width, U'\0');
    out.append(reinterpret_cast<const char*>(cell.data()), width * 4);
  }
  return out;
}

}  // namespace

Tensor parse_npy(std::string_view content, const std::string& where) {
  const Header header = read_header(content, where);
  std::string_view descr = header.descr;
  char order = '<';
  if (!descr.empty() && std::string_view("<>|=").find(descr[0]) != std::string_view::npos) {
    order = descr[0];
    descr.remove_prefix(1);
  }
  const std::string_view data = content.substr(header.data_at);
  for (const NamedType& known : kTypes) {
    if (descr == known.descr) return parse_numbers(header, known.type, order, data, where);
  }
  if (descr.size() > 1 && (descr[0] == 'U' || descr[0] == 'S')) {
    std::size_t width = 0;
    const auto [end, error] = std::from_chars(descr.data() + 1, descr.data() + descr.size(), width);
    if (error == std::errc() && end == descr.data() + descr.size() && width < (1u << 30)) {
      return parse_strings(header, descr[0] == 'U', width, order, data, where);
    }
  }
  fail(ErrorCode::kUnsupported,
       "{}: element type '{}' is not one that models take; save numbers, booleans or strings{}", where, header.descr,
       descr == "O" ? " (objects are pickled code, which is never run; use dtype=str for strings)" : "");
}

std::string format_npy(const Tensor& tensor) {
  if (tensor.type() == ElementType::kString) return format_strings(tensor);
  const Tensor plain = convert(tensor, numpy_type(tensor.type()));
  for (const NamedType& known : kTypes) {
    if (known.type != plain.type()) continue;
    const std::string order = bit_width(plain.type()) == 8 ? "|" : "<";
    std::string out = header_text(order + std::string(known.descr), plain.shape());
    out.append(reinterpret_cast<const char*>(plain.view().bytes()), plain.num_bytes());
    return out;
  }
  fail(ErrorCode::kInternal, "no NumPy type for {}", name(tensor.type()));
}

}  // namespace sardonyx::values
