#include "analyzer/diagnose/finding_context.h"

#include <fmt/format.h>

#include <algorithm>

#include "analyzer/diagnose/finding_kinds.h"
#include "analyzer/intervals/time_math.h"
#include "analyzer/report/quantity.h"

namespace lockstep::analyzer {
namespace {

constexpr std::int64_t kLeftOverPermille = 50;

}  // namespace

std::int64_t FindingContext::total(Cause cause) const {
  std::int64_t sum = 0;
  for (const RankReport& rank : report.ranks) {
    if (rank.measures.known) sum = saturating_add(sum, rank.measures.partition[cause]);
  }
  return sum;
}

bool FindingContext::is_worth(std::int64_t lost_ns, std::int64_t permille) const {
  return lost_ns > 0 && static_cast<double>(lost_ns) * 1000 >=
                            static_cast<double>(all_windows_ns) * static_cast<double>(permille);
}

std::string FindingContext::evidence_of(Cause cause) const {
  const RankReport *least = nullptr, *most = nullptr;
  for (const RankReport& rank : report.ranks) {
    if (!rank.measures.known) continue;
    const std::int64_t ns = rank.measures.partition[cause];
    if (least == nullptr || ns < least->measures.partition[cause]) least = &rank;
    if (most == nullptr || ns > most->measures.partition[cause]) most = &rank;
  }
  if (least == most)
    return fmt::format("{} of {}", format_duration(total(cause)), format_duration(all_windows_ns));
  return fmt::format("most on rank {}: {}; least on rank {}: {}", most->rank,
                     format_duration(most->measures.partition[cause]), least->rank,
                     format_duration(least->measures.partition[cause]));
}

std::int64_t FindingContext::coverable_transfer() const {
  std::int64_t sum = 0;
  for (const RankReport& rank : report.ranks) {
    const Measures& measures = rank.measures;
    if (!measures.known) continue;
    sum = saturating_add(sum, std::min(measures.partition[Cause::transfer], measures.compute_alone_ns()));
  }
  return sum;
}

Finding FindingContext::all_of_its_cause(const FindingKind& kind) const {
  Finding finding = kind.make();
  finding.evidence.push_back(evidence_of(*kind.cause));
  finding.lost_ns = total(*kind.cause);
  return finding;
}

bool FindingContext::is_left_over(const std::vector<Finding>& findings, Cause cause, std::int64_t lost_ns,
                                  bool between_hosts) const {
  if (!is_worth(lost_ns, kLeftOverPermille)) return false;
  std::int64_t explained = 0;
  for (const Finding& finding : findings) {
    const FindingKind* const kind = find_finding_kind(finding.code);
    if (finding.cause != cause || kind == nullptr) continue;
    if (kind->accounts == Accounts::yes || (kind->accounts == Accounts::within_hosts && !between_hosts))
      explained = saturating_add(explained, finding.lost_ns);
  }
  return explained < lost_ns - lost_ns / 2;
}

}  // namespace lockstep::analyzer
