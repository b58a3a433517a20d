#include "analyzer/diagnose/finding_kinds.h"

#include <algorithm>
#include <array>

namespace lockstep::analyzer {
namespace {

constexpr auto kRules = std::to_array<const FindingRule*>({
#define LOCKSTEP_FINDING_RULE(name) &rules::name,
#include "analyzer/diagnose/finding_rules.def"
});

}  // namespace

std::span<const FindingRule* const> finding_rules() {
  return kRules;
}

std::span<const FindingKind* const> finding_kinds() {
  static const std::vector<const FindingKind*> kAll = [] {
    std::vector<const FindingKind*> all;
    for (const FindingRule* rule : kRules) all.insert(all.end(), rule->kinds.begin(), rule->kinds.end());
    return all;
  }();
  return kAll;
}

const FindingKind* find_finding_kind(std::string_view code) {
  const std::span<const FindingKind* const> all = finding_kinds();
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const FindingKind* kind) { return kind->code == code; });
  return found == all.end() ? nullptr : *found;
}

}  // namespace lockstep::analyzer
