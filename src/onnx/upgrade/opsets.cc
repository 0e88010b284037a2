#include "onnx/upgrade/opsets.h"

#include "base/fail.h"

namespace sardonyx::onnx {
namespace {

struct DomainRow {
  std::string_view domain;
  std::int64_t newest;
};

// As ONNX 1.22 has them.
constexpr DomainRow kDomains[] = {
    {"", 27}, {"ai.onnx.ml", 5}, {"ai.onnx.training", 1}, {"ai.onnx.preview", 1}, {"ai.onnx.preview.training", 1},
};

}  // namespace

std::int64_t newest_opset(std::string_view domain) {
  for (const DomainRow& row : kDomains) {
    if (row.domain == domain) return row.newest;
  }
  return 0;
}

void check_opset(std::string_view domain, std::int64_t version) {
  if (version < 1) fail(ErrorCode::kInvalidModel, "opset '{}' is imported in version {}", domain, version);
  const std::int64_t newest = newest_opset(domain);
  if (newest != 0 && version > newest) {
    fail(ErrorCode::kUnsupported,
         "the model needs version {} of the operators of '{}'; the newest that this build knows is {}. Export the "
         "model for "
         "that version, or use a newer build",
         version, domain.empty() ? "ai.onnx" : domain, newest);
  }
}

}  // namespace sardonyx::onnx
