#include "analyzer/report/lacking_steps.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "analyzer/model/warns_of.h"
#include "analyzer/report/quantity.h"
#include "analyzer/report/text_sections.h"

namespace lockstep::analyzer {
namespace {

// "only 5 of 60 steps of", "only 5 to 12 of 60 steps of"; "none of 55 steady steps of".
std::string counts_of(const LackingSteps& lacking, const char* steps) {
  const auto [least, most] = std::minmax_element(
      lacking.ranks.begin(), lacking.ranks.end(),
      [](const LackingSteps::Rank& a, const LackingSteps::Rank& b) { return a.steps < b.steps; });
  const std::string known =
      most->steps == 0 ? "none"
      : least->steps == most->steps
          ? "only " + format_count(least->steps)
          : fmt::format("only {} to {}", format_count(least->steps), format_count(most->steps));
  return fmt::format("{} of {} {} of", known, format_count(lacking.all), steps);
}

// What is recorded already, where that is enough: steps next to each other that all ranks have.
std::string what_would_tell(const LackingSteps& lacking, const Report& report) {
  const std::int64_t needed = report.lateness.steps_needed;
  const std::vector<std::int64_t>& common = lacking.common;
  const auto count = static_cast<std::int64_t>(common.size());
  if (!report.some_ranks_only && needed > 0 && count >= needed && common.back() - common.front() + 1 == count)
    return fmt::format(" Over the {} that all ranks have, `lockstep analyze --steps {}:{}` would tell.",
                       format_count(count), common.front(), common.back());
  const bool have_none = std::ranges::all_of(lacking.ranks, [](const auto& rank) { return rank.steps == 0; });
  const char* const begin = have_none ? " A rank that trains nothing makes none; else record" : " Record";
  return needed > 0  ? fmt::format("{} at least {} steps that all ranks have.", begin, format_count(needed))
         : have_none ? " A rank that trains nothing makes none."
                     : " A record of the same steps of all ranks would tell.";
}

}  // namespace

bool LackingSteps::has(std::int32_t rank) const {
  return std::ranges::any_of(ranks, [rank](const Rank& one) { return one.rank == rank; });
}

LackingSteps ranks_lacking_steps(const Report& report) {
  LackingSteps lacking;
  if (report.ranks_present.size() < 2 || warns_of(report.warnings, kStepsApart)) return lacking;
  std::map<std::int64_t, std::size_t> ranks_by_step;
  std::map<std::int32_t, std::int64_t> own;
  for (const StepReport& step : report.steps) {
    if (report.steady && !std::ranges::binary_search(report.steady->steps, step.step)) continue;
    ++ranks_by_step[step.step];
    ++own[step.rank];
  }
  lacking.all = static_cast<std::int64_t>(ranks_by_step.size());
  for (const RankReport& rank : report.ranks)
    if (!rank.damaged && own[rank.rank] * 10 < lacking.all * 9)
      lacking.ranks.push_back({rank.rank, own[rank.rank]});
  for (const auto& [step, ranks] : ranks_by_step)
    if (ranks == report.ranks.size()) lacking.common.push_back(step);
  return lacking;
}

LackingStepsWords words_for(const LackingSteps& lacking, const Report& report) {
  const bool is_one = lacking.ranks.size() == 1;
  std::vector<std::int32_t> ranks;
  for (const LackingSteps::Rank& rank : lacking.ranks) ranks.push_back(rank.rank);
  const std::string names = name_ranks(ranks);
  // Of two ranks the other one can't be judged either: there is nobody to compare it with.
  const bool others_are_judged = report.lateness.can_tell;
  LackingStepsWords words;
  words.what = others_are_judged
                   ? fmt::format("Whether {} {} late can't be told", names, is_one ? "is" : "are")
                   : "Who is late can't be told";
  const bool are_steady = report.steady && !report.steady->left_out.empty();
  const std::string whose = !others_are_judged ? names : is_one ? "it" : "each";
  if (lacking.all == 1)
    words.why = fmt::format(": the only {} of {} is not known.", are_steady ? "steady step" : "step", whose);
  else
    words.why = fmt::format(
        ": {} {} {} known.", counts_of(lacking, are_steady ? "steady steps" : "steps"), whose,
        std::ranges::all_of(lacking.ranks, [](const auto& rank) { return rank.steps <= 1; }) ? "is" : "are");
  words.why += what_would_tell(lacking, report);
  return words;
}

}  // namespace lockstep::analyzer
