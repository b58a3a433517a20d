// The clocks of hosts are too uncertain to say who was late.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/diagnose/clock_remedy.h"
#include "analyzer/diagnose/finding_context.h"
#include "analyzer/diagnose/finding_kinds.h"
#include "analyzer/report/quantity.h"
#include "base/time_math.h"

namespace lockstep::analyzer {
namespace {

constexpr auto kClockUncertainRemedies = std::to_array<Remedy>(
    {{"Lockstep", "`lockstep record` on every host: its recorders measure how far the clocks are apart"},
     {"the machine", "chrony or PTP on every host, against the same server"}});
constexpr Explanation kClockUncertainExplained{
    .meaning =
        "Most waiting between ranks on different clocks is in operations whose last arriver is within "
        "the clocks' error.",
    .found =
        "The ranks ran on several hosts or, where files name no host, on several clocks; and operations whose "
        "last arriver is by no more ahead than the clocks may be off have more than half of the waiting.",
    .wrong =
        "The clocks agree better than the ± of the evidence: `chronyc tracking`, or PTP's offsets, on every "
        "host while the job ran.",
    .remedies = kClockUncertainRemedies,
};
constexpr FindingKind kClockUncertain{
    .code = "clock_uncertain",
    .title = "the hosts' clocks are too uncertain to say who is waited for",
    .severity = SeverityRule::medium,
    .accuses = Accused::host,
    .explanation = &kClockUncertainExplained,
};
constexpr auto kClockUncertainKinds = std::to_array<const FindingKind*>({&kClockUncertain});

void find_uncertain_clocks(const FindingContext& context, std::vector<Finding>& findings) {
  std::int64_t nameless = 0, operations = 0, nameless_wait = 0, wait = 0, uncertainty = 0;
  std::set<std::string> hosts;
  std::set<std::uint32_t> clocks;
  for (const RankReport& rank : context.report.ranks) {
    hosts.insert(rank.host);
    clocks.insert(rank.clock.domain);
    uncertainty = std::max(uncertainty, rank.clock.uncertainty_ns);
  }
  // Files of PyTorch's profiler name no host: their clocks are told apart all the same.
  const bool hosts_known = hosts.size() > 1;
  if ((!hosts_known && clocks.size() < 2) || uncertainty == 0) return;
  for (const CollectiveReport& collective : context.report.collectives) {
    if (collective.wait_ns == 0) continue;
    ++operations;
    wait = saturating_add(wait, collective.wait_ns);
    if (collective.last_arriver) continue;
    ++nameless;
    nameless_wait = saturating_add(nameless_wait, collective.wait_ns);
  }
  if (nameless_wait * 2.0 <= static_cast<double>(wait)) return;
  Finding finding = kClockUncertain.make();
  finding.evidence = {
      fmt::format("in {} of {} operations with waiting the last arriver is within clock error ({} of {} of "
                  "the waiting)",
                  nameless, operations, format_duration(nameless_wait), format_duration(wait)),
      hosts_known
          ? fmt::format("{} hosts, clocks known to ± {}", hosts.size(), format_duration(uncertainty))
          : fmt::format("{} ranks on {} clocks, known to ± {}; on which hosts they ran is not recorded",
                        context.report.ranks.size(), clocks.size(), format_duration(uncertainty))};
  finding.remedy = kClockRemedy;
  findings.push_back(std::move(finding));
}

}  // namespace

const FindingRule rules::clock_uncertain{kClockUncertainKinds, find_uncertain_clocks};

}  // namespace lockstep::analyzer
