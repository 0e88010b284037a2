#include "text/tokenizer/processors/post_processor.h"

#include "text/tokenizer/encoding_ops.h"

namespace sardonyx::text {

void set_type_ids(Encoding& encoding, std::uint32_t type_id) { encoding.type_ids.assign(encoding.size(), type_id); }

void set_sequence(Encoding& encoding, std::uint32_t sequence) {
  set_sequence_range(encoding, {sequence, 0, static_cast<std::uint32_t>(encoding.size())});
}

}  // namespace sardonyx::text
