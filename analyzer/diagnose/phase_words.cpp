#include "analyzer/diagnose/phase_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/intervals/median.h"
#include "analyzer/report/quantity.h"

namespace lockstep::analyzer {

void name_other_total(const FindingContext& context, Spending spending, std::int64_t told_ns,
                      Finding& finding) {
  const AccountReport& account = context.report.account;
  const auto ranks = static_cast<std::int64_t>(account.ranks.size());
  const std::int64_t mean_ns = account.spent[spending] / ranks;
  constexpr std::int64_t kTheSame = 20;  // within a twentieth nobody wonders
  if (std::abs(mean_ns - told_ns) <= told_ns / kTheSame) return;
  const std::string mean = format_duration(mean_ns);
  if (ranks == 1) {
    finding.evidence.push_back(fmt::format("over the whole run it is {} (where the wall time went)", mean));
  } else if (!context.diagnosis.interruptions.whole_run || mean_ns > told_ns) {
    finding.evidence.push_back(fmt::format(
        "over the whole run it is {}, mean of the ranks (where the wall time went): that has what lies in other "
        "steps, too, before the steady ones, and what ranks wait for others in it",
        mean));
  } else {
    finding.evidence.push_back(fmt::format(
        "{} adds up the rank that took longest each time; the account of the whole run, in which each moment "
        "counts once, says {} (mean of the ranks)",
        format_duration(told_ns), mean));
  }
}

void say_who_takes_longest(const FindingContext& context, const PhaseInSteps& in_steps, Finding& finding) {
  constexpr std::int64_t kPercent = 100;
  const std::vector<std::int64_t>& own = in_steps.own_ns;
  if (own.size() < 2 || context.report.collectives.empty()) return;
  const auto longest = std::ranges::max_element(own);
  std::vector<std::int64_t> others(own);
  others.erase(others.begin() + (longest - own.begin()));
  const std::int64_t typical = lower_median(std::move(others)), beyond = *longest - typical;
  if (2 * beyond < typical ||
      kPercent * beyond < context.report.account.training_ns() / static_cast<std::int64_t>(own.size()))
    return;
  const std::int32_t rank = context.diagnosis.job.ranks[static_cast<std::size_t>(longest - own.begin())].rank;
  finding.evidence.push_back(fmt::format(
      "rank {} takes longest for it: {} outside of operations with others, the median of the others {}; they "
      "wait for it meanwhile",
      rank, format_duration(*longest), format_duration(typical)));
}

}  // namespace lockstep::analyzer
