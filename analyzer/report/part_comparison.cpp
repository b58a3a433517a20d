#include "analyzer/report/part_comparison.h"

#include <fmt/format.h>

#include <algorithm>

#include "analyzer/report/quantity.h"

namespace lockstep::analyzer {

std::string name_of(const ComparedPart& part, const ComparedParts& all) {
  if (part.is_rest) return "the rest";
  if (!part.module.empty()) return part.module;
  const bool has_modules = std::any_of(all.rows.begin(), all.rows.end(),
                                       [](const ComparedPart& row) { return !row.module.empty(); });
  if (has_modules) return "in no module";
  return part.operation.empty() ? "in no operator" : part.operation;
}

std::string describe_difference(const ComparedPart& part, const ComparedParts& all) {
  if (all.steps <= 0) return "";
  const std::string change = format_change(part.excess_ns() / all.steps);
  const std::string relative = format_relative_change(part.others_ns, part.own_ns);
  return relative.empty() ? change : fmt::format("{} ({})", change, relative);
}

}  // namespace lockstep::analyzer
