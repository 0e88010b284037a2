#pragma once

#include <cstddef>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "text/tokenizer/processors/post_processor.h"

namespace sardonyx::text {

/// Moves an offset inwards past the spaces (Ġ or whitespace) at the ends of its token's string. `is_first` is whether
/// the token is the first of its encoding.
void trim_offset(std::string_view token, bool is_first, bool add_prefix_space, Offset& offset);
/// The same for all tokens of an encoding, both kinds of offsets. Needs Encoding::tokens.
void trim_offsets(Encoding& encoding, bool add_prefix_space);

/// ByteLevel as a post-processor: trims offsets only.
class ByteLevelProcessor : public PostProcessor {
 public:
  ByteLevelProcessor(bool trim_offsets, bool add_prefix_space)
      : trim_offsets_(trim_offsets), add_prefix_space_(add_prefix_space) {}

  std::size_t added_tokens(bool) const override { return 0; }
  std::vector<Encoding> process(std::vector<Encoding> encodings, bool add_special_tokens) const override;
  std::optional<Frame> frame(bool is_pair, bool add_special_tokens) const override;

 private:
  bool trim_offsets_, add_prefix_space_;
};

/// Post-processors one after the other.
class SequenceProcessor : public PostProcessor {
 public:
  explicit SequenceProcessor(std::vector<std::unique_ptr<PostProcessor>> steps) : steps_(std::move(steps)) {}

  std::size_t added_tokens(bool is_pair) const override;
  std::vector<Encoding> process(std::vector<Encoding> encodings, bool add_special_tokens) const override;
  std::optional<Frame> frame(bool is_pair, bool add_special_tokens) const override;

 private:
  std::vector<std::unique_ptr<PostProcessor>> steps_;
};

}  // namespace sardonyx::text
