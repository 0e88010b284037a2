// Loads arbitrary bytes as a tokenizer.json and, where that works, uses the tokenizer: nothing but an Error may come
// out.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "sardonyx/error.h"

#include "text/tokenizer/tokenizer.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    const auto tokenizer =
        sardonyx::text::Tokenizer::from_json(std::string_view(reinterpret_cast<const char*>(data), size));
    const auto encoding =
        tokenizer.encode("Hello, w\xC3\xB6rld! \xE4\xB8\xAD\xE6\x96\x87 <mask>  123's", "second text");
    tokenizer.decode(encoding.ids);
  } catch (const sardonyx::Error&) {
  }
  return 0;
}
