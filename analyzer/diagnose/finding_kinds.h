// The table of all kinds of findings. finding_rules.def is the list that it is made of: a line for each file
// in kinds/.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "analyzer/diagnose/finding_kind.h"

namespace lockstep::analyzer {

// In the order of finding_rules.def.
std::span<const FindingRule* const> finding_rules();
// All kinds, in the order of their rules.
std::span<const FindingKind* const> finding_kinds();
// nullptr if no kind has that code.
const FindingKind* find_finding_kind(std::string_view code);

namespace rules {

#define LOCKSTEP_FINDING_RULE(name) extern const FindingRule name;
#include "analyzer/diagnose/finding_rules.def"

}  // namespace rules

}  // namespace lockstep::analyzer
