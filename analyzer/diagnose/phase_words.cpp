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

namespace {

// Once or twice some rank always takes longest.
bool is_mostly_longest(const PhaseInSteps& in_steps, const OwnOfPhase& own) {
  constexpr std::int64_t kLeast = 3;
  return own.longest_at >= kLeast && 4 * own.longest_at >= 3 * in_steps.places;
}

}  // namespace

void say_who_takes_longest(const FindingContext& context, const PhaseInSteps& in_steps, Finding& finding) {
  constexpr std::int64_t kPercent = 100;
  const std::vector<OwnOfPhase>& own = in_steps.own;
  if (own.size() < 2 || context.report.collectives.empty()) return;
  const auto longest = std::ranges::max_element(own, {}, &OwnOfPhase::ns);
  std::vector<std::int64_t> others;
  for (auto one = own.begin(); one != own.end(); ++one)
    if (one != longest) others.push_back(one->ns);
  const std::int64_t typical = lower_median(std::move(others)), beyond = longest->ns - typical;
  if (2 * beyond < typical ||
      kPercent * beyond < context.report.account.training_ns() / static_cast<std::int64_t>(own.size()) ||
      !is_mostly_longest(in_steps, *longest))
    return;
  const bool waits = std::ranges::any_of(own, [](const OwnOfPhase& one) { return one.core_wait_ns > 0; });
  const std::int32_t rank = context.diagnosis.job.ranks[static_cast<std::size_t>(longest - own.begin())].rank;
  finding.evidence.push_back(fmt::format(
      "rank {} takes longest for it: {} outside of operations with others{}, the median of the others {}; they "
      "wait for it meanwhile",
      rank, format_duration(longest->ns), waits ? " and without waiting for a core" : "",
      format_duration(typical)));
}

}  // namespace lockstep::analyzer
