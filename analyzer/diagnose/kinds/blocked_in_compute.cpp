// Ranks on CPUs that sleep or are blocked in the middle of a computation.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "analyzer/diagnose/finding_context.h"
#include "analyzer/diagnose/finding_kinds.h"
#include "analyzer/report/quantity.h"

namespace lockstep::analyzer {
namespace {

constexpr auto kRemedies = std::to_array<Remedy>(
    {{"the program",
      "no sleeping, locks, files or network reads in forward and backward; load and log on a thread beside"},
     {"Lockstep",
      "NVTX ranges around what the model does (docs/instrumentation.md) show in which of them it is"},
     {"the machine", "`py-spy dump --pid PID` names the line; memory that is swapped blocks as well"}});
constexpr Explanation kExplained{
    .meaning =
        "Inside forward, backward or the optimizer no thread of the rank ran, and none wanted a core: they "
        "slept, or waited for a lock, a file, or the network.",
    .found =
        "On CPUs, `off_cpu_ns` reaches 2 % of all ranks' time. It is named as one rank's where that one has "
        "four fifths of it.",
    .wrong =
        "The work was done by threads that Lockstep does not count to the rank's (a pool of another process, "
        "a device that no lane names).",
    .lost = "all of it",
    .remedies = kRemedies,
};
constexpr FindingKind kBlocked{
    .code = "blocked_in_compute",
    .title = "ranks sleep or are blocked in the middle of their computation",
    .cause = Cause::host_bound,
    .accounts = Accounts::yes,
    .accuses = Accused::job,
    .points_at = PointsAt::worst_step,
    .picture = Picture::cause,
    .explanation = &kExplained,
};
constexpr auto kKinds = std::to_array<const FindingKind*>({&kBlocked});

constexpr std::int64_t kPermille = 20;

void find_blocked(const FindingContext& context, std::vector<Finding>& findings) {
  const std::vector<RankReport>& ranks = context.report.ranks;
  const auto off = [](const RankReport& rank) {
    return rank.measures.known ? rank.measures.off_cpu_ns.value_or(0) : 0;
  };
  std::int64_t lost = 0;
  for (const RankReport& rank : ranks) lost += off(rank);
  if (lost == 0 || !context.is_worth(lost, kPermille)) return;
  const RankReport& most = *std::max_element(
      ranks.begin(), ranks.end(), [&](const RankReport& a, const RankReport& b) { return off(a) < off(b); });
  Finding finding = kBlocked.make();
  finding.title = kBlocked.title;
  if (ranks.size() > 1 && off(most) >= lost - lost / 5) {
    finding.title = fmt::format("rank {} sleeps or is blocked in the middle of its computation", most.rank);
    finding.rank = most.rank;
    finding.accuses = Accused::rank;
  }
  finding.evidence = {fmt::format(
      "not on a core: none of its training threads ran or wanted to for {} on rank {}, {} of its time",
      format_duration(off(most)), most.rank, format_share(off(most), most.measures.window_ns))};
  finding.remedy =
      "look in forward and backward for time.sleep, locks, files and network reads; `py-spy dump --pid PID` "
      "names the line, NVTX ranges show it in the timeline";
  finding.lost_ns = lost;
  findings.push_back(std::move(finding));
}

}  // namespace

const FindingRule rules::blocked_in_compute{kKinds, find_blocked};

}  // namespace lockstep::analyzer
