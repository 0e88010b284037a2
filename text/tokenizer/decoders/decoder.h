#pragma once

#include <string>
#include <vector>

namespace sardonyx::text {

/// One step that turns tokens back into text. The results are concatenated.
class Decoder {
 public:
  virtual ~Decoder() = default;
  virtual std::vector<std::string> decode(std::vector<std::string> tokens) const = 0;
};

}  // namespace sardonyx::text
