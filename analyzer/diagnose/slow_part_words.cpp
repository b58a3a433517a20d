#include "analyzer/diagnose/slow_part_words.h"

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/lateness/late_parts.h"
#include "analyzer/operators/slow_part.h"
#include "analyzer/report/quantity.h"

namespace lockstep::analyzer {
namespace {

// Nearly all of the excess: its amount would only say the same again.
constexpr double kAll = 0.95;
// Of what the parts in the table take longer together: who says less cannot say "all of it", or give amounts.
constexpr double kMostOfParts = 0.8;

std::string share_without_sign(std::int64_t part, std::int64_t whole) {
  std::string share = format_share(part, whole);
  if (share.ends_with(" %")) share.resize(share.size() - 2);
  return share;
}

std::string how_much_of_it(const SlowPart& slow, std::int64_t longer_in_parts_ns, const RankLateness& late) {
  const bool is_all = static_cast<double>(slow.excess_ns) >= kAll * static_cast<double>(late.cause_ns);
  // Else the table beside it says that much of it is elsewhere: waiting for a core is in its times.
  const std::int64_t said_ns = is_all ? slow.excess_ns : late.cause_ns;
  if (static_cast<double>(said_ns) < kMostOfParts * static_cast<double>(longer_in_parts_ns))
    return "above all";
  if (is_all) return "all of it";
  // As late_reason says how much longer: as a share, or as a time where the others hardly do it.
  if (late.others_ns < late.cause_ns / 4) return fmt::format("{} of it", format_duration(slow.excess_ns));
  return fmt::format("{} of them", share_without_sign(slow.excess_ns, late.others_ns));
}

std::string name_of(const SlowPart& slow) {
  if (slow.module.empty()) return fmt::format("`{}`", slow.operation);
  return fmt::format("`{}`", slow.module);
}

}  // namespace

bool say_where_it_computes(const FindingContext& context, const StepTable& steps, const RankLateness& late,
                           LateReason& reason) {
  PartComparison found = compare_parts(context.diagnosis.job,
                                       {late.rank, steps.ranks, steps.steps, late.others_ns, late.cause_ns});
  reason.parts = std::move(found.table);
  if (found.slow) {
    const SlowPart& slow = *found.slow;
    reason.doing += fmt::format(", {} in {}", how_much_of_it(slow, found.longer_ns, late), name_of(slow));
    std::string evidence = fmt::format(
        "{} computes for {} in a step there, for {} on the others (medians of {} steps)", name_of(slow),
        format_duration(slow.own_ns), format_duration(slow.others_ns), steps.steps.size());
    if (!slow.module.empty() && !slow.operation.empty())
      evidence += fmt::format("; most of the difference is in `{}`", slow.operation);
    if (slow.is_outside)
      evidence += "; most of the difference is in none of PyTorch's operators: in its own code";
    reason.evidence.push_back(std::move(evidence));
    return true;
  }
  if (found.alike)
    reason.evidence.push_back(
        fmt::format("no part of the model stands out: the middle half of them takes {} to {} longer",
                    format_share(found.least), format_share(found.most)));
  return false;
}

std::string parts_of_it_alone(const ComparedParts& parts, const RankLateness& late) {
  constexpr std::size_t kMostNames = 2;
  std::int64_t alone_ns = 0, shared_ns = 0, others_ns = 0;
  std::vector<std::string> names;
  for (const ComparedPart& part : parts.rows) {
    others_ns += part.others_ns;
    if (part.is_rest || part.others_ns > 0 || (part.module.empty() && part.operation.empty())) {
      shared_ns += part.own_ns;
    } else {
      alone_ns += part.own_ns;
      if (names.size() < kMostNames)
        names.push_back(fmt::format("`{}`", part.module.empty() ? part.operation : part.module));
    }
  }
  const double longer_ns = static_cast<double>(late.cause_ns) * static_cast<double>(parts.steps);
  // Else it is the same work under other names.
  if (names.empty() || 2 * shared_ns < others_ns || static_cast<double>(alone_ns) < kExplains * longer_ns)
    return "";
  return names.size() == 1 ? names.front() : names[0] + " and " + names[1];
}

}  // namespace lockstep::analyzer
