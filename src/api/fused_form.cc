#include "api/fused_form.h"

#include <cstdint>

#include "base/fail.h"
#include "ops/op_list.h"

namespace sardonyx::api {
namespace {

constexpr const char* kDomain = "ai.sardonyx";
constexpr const char* kFormat = "ai.sardonyx.fused.format";
constexpr const char* kOperators = "ai.sardonyx.fused.operators";
constexpr const char* kProviders = "ai.sardonyx.fused.providers";

/// Raised whenever an operator of ai.sardonyx changes its meaning without changing its name.
constexpr const char* kFormatVersion = "1";

/// FNV-1a over the names of the domain's operators: another list, another number.
std::string operator_list_hash() {
  std::uint64_t hash = 0xcbf29ce484222325ull;
  for (const ops::OpDef& op : ops::all_ops()) {
    if (op.domain != kDomain) continue;
    for (const char c : op.name) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ull;
    hash = (hash ^ 0xff) * 0x100000001b3ull;
  }
  return fmt::format("{:016x}", hash);
}

std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ",") + name;
  return text;
}

void require(const graph::Model& model, const char* key, const std::string& expected, const char* what) {
  const auto it = model.metadata.find(key);
  const std::string found = it == model.metadata.end() ? "nothing" : it->second;
  if (found == expected) return;
  fail(ErrorCode::kUnsupported, "this fused model can't be loaded: its stamp says {} {}, here it is {}; run 'sardonyx optimize --fused' on the original model again",
       what, found, expected);
}

}  // namespace

void stamp_fused(graph::Model& model, const std::vector<std::string>& providers) {
  model.metadata[kFormat] = kFormatVersion;
  model.metadata[kOperators] = operator_list_hash();
  model.metadata[kProviders] = joined(providers);
}

void check_stamp(const graph::Model& model, const std::vector<std::string>& providers) {
  if (!model.metadata.contains(kFormat)) return;
  require(model, kFormat, kFormatVersion, "format");
  require(model, kOperators, operator_list_hash(), "operator list");
  require(model, kProviders, joined(providers), "providers");
}

}  // namespace sardonyx::api
