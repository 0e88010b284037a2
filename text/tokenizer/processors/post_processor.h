#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "text/tokenizer/encoding.h"

namespace sardonyx::text {

/// A special token as a post-processor puts it.
struct SpecialPiece {
  std::uint32_t id = 0;
  std::string token;
};

/// The plain outcome of a post-processor: special tokens and texts in order. Where a processor can be put so, encodings
/// are written once, in their final form.
struct Frame {
  struct Part {
    std::uint32_t sequence = 0;  ///< which text, where `specials` is null
    std::uint32_t type_id = 0;
    const std::vector<SpecialPiece>* specials = nullptr;
  };
  std::vector<Part> parts;
  bool sets_ranges = true;        ///< whether sequence ranges are recorded
  bool trims_offsets = false;     ///< whether offsets lose the spaces at their ends
  bool add_prefix_space = false;  ///< with trims_offsets: a first single space is the tokenizer's own
};

/// What adds special tokens to encodings.
class PostProcessor {
 public:
  virtual ~PostProcessor() = default;

  virtual std::size_t added_tokens(bool is_pair) const = 0;
  /// One encoding per text in, any number out, which the caller merges.
  virtual std::vector<Encoding> process(std::vector<Encoding> encodings, bool add_special_tokens) const = 0;
  /// The same for texts without overflowing pieces, or nothing where only `process` can say.
  virtual std::optional<Frame> frame(bool is_pair, bool add_special_tokens) const = 0;
};

/// Sets all type ids of the encoding itself (not of its overflowing pieces).
void set_type_ids(Encoding& encoding, std::uint32_t type_id);
/// Makes the whole encoding the given sequence, besides the ranges it has.
void set_sequence(Encoding& encoding, std::uint32_t sequence);

}  // namespace sardonyx::text
