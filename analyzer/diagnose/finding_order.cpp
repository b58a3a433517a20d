#include "analyzer/diagnose/finding_order.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <utility>

namespace lockstep::analyzer {
namespace {

bool is_note(const Finding& finding) {
  return finding.severity == "note";
}

bool brings_about(const Finding& first, const Finding& then, bool moves_by_short_cores) {
  if (is_note(first)) return false;
  if (then.topic == Topic::pipeline_bubble) return first.topic == Topic::heavy_stage;
  if (!moves_by_short_cores || then.cause != Cause::transfer || then.accuses == Accused::rank) return false;
  return first.topic == Topic::short_cores ||
         (first.accuses == Accused::rank && first.cause != Cause::transfer);
}

// What a finding stands at among those of its group: its own loss, or that of what brings it about.
struct Weight {
  std::int64_t lost_ns = 0;
  bool stands_behind = false;  // what has the same loss
};

Weight weight_of(const Finding& finding, const std::vector<Finding>& findings, bool moves_by_short_cores) {
  Weight weight{finding.lost_ns};
  for (const Finding& first : findings) {
    if (first.alarm != Alarm::none || first.share != finding.share || first.lost_ns > weight.lost_ns ||
        first.lost_ns < finding.lost_ns - finding.lost_ns / 2 ||
        !brings_about(first, finding, moves_by_short_cores))
      continue;
    weight = {first.lost_ns, true};
  }
  return weight;
}

int group_of(const Finding& finding, bool has_goodput) {
  if (finding.alarm != Alarm::none) return 0;
  return has_goodput && finding.share == Share::of_run ? 2 : 1;
}

}  // namespace

void order_findings(std::vector<Finding>& findings, const OrderContext& context) {
  const bool is_blamed = std::ranges::any_of(
      findings, [](const Finding& finding) { return finding.accuses == Accused::rank && !is_note(finding); });
  const bool moves_by_short_cores =
      context.is_moved_by_the_cores && std::ranges::any_of(findings, [](const Finding& finding) {
        return finding.topic == Topic::short_cores && !is_note(finding);
      });
  using Key = std::tuple<int, bool, std::int64_t, bool>;
  std::vector<std::pair<Key, std::size_t>> order;
  for (std::size_t i = 0; i < findings.size(); ++i) {
    const int group = group_of(findings[i], context.has_goodput);
    const Weight weight = group == 0 ? Weight() : weight_of(findings[i], findings, moves_by_short_cores);
    if (findings[i].cause == Cause::transfer && weight.stands_behind && weight.lost_ns < findings[i].lost_ns)
      findings[i].evidence.emplace_back(
          "it stands behind what costs less, since moving data takes longer where cores are short");
    order.emplace_back(Key(group, is_blamed && findings[i].is_note, -weight.lost_ns, weight.stands_behind),
                       i);
  }
  std::ranges::sort(order);
  std::vector<Finding> ordered;
  ordered.reserve(findings.size());
  for (const auto& [key, i] : order) ordered.push_back(std::move(findings[i]));
  findings = std::move(ordered);
}

}  // namespace lockstep::analyzer
