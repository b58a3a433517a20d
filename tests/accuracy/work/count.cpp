#include "tests/accuracy/work/count.h"

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <vector>

#include "analyzer/analysis.h"
#include "tests/accuracy/verdict.h"

namespace lockstep::accuracy {

namespace {

// Ranks that an evidence of uneven work says to take longer for as much of it.
std::vector<std::int32_t> slower_for_as_much(const analyzer::Finding& finding) {
  constexpr std::string_view kBegin = "besides, rank ";
  std::vector<std::int32_t> ranks;
  for (const std::string& line : finding.evidence)
    if (line.starts_with(kBegin)) ranks.push_back(std::stoi(line.substr(kBegin.size())));
  return ranks;
}

}  // namespace

WorkVerdict judge_work(const analyzer::Report& report, const WorkCase& planted) {
  const auto is_planted = [&](std::int32_t rank) { return rank >= planted.ranks - planted.late; };
  bool late_named = false, named_more = false, named_uneven = false;
  WorkVerdict verdict;
  for (const analyzer::Finding& finding : report.findings) {
    if (finding.code == "uneven_batches") {
      named_uneven = true;
      for (const std::int32_t rank : slower_for_as_much(finding))
        (is_planted(rank) ? late_named : verdict.wrongly_accused) = true;
    }
    if (!accuses(finding)) continue;
    const bool is_late = finding.rank && is_planted(*finding.rank);
    const bool is_more_work = finding.reason == "more_work";
    late_named = late_named || is_late;
    named_more = named_more || (is_late && is_more_work);
    verdict.wrongly_accused = verdict.wrongly_accused || !is_late;
    if (is_more_work && !(is_late && planted.work == Work::more)) verdict.false_work = true;
  }
  if (named_uneven && planted.work != Work::uneven) verdict.false_work = true;

  const bool says_who = planted.late == 0 || late_named;
  const bool says_work = planted.is_hidden || planted.work == Work::even ||
                         (planted.work == Work::more ? named_more : named_uneven || planted.late > 0);
  verdict.is_right = says_who && says_work && !verdict.false_work && !verdict.wrongly_accused;
  return verdict;
}

Result<std::vector<WorkResult>> count_work(std::int64_t jobs, std::uint64_t seed, const LookAtReport& look) {
  std::vector<WorkResult> results;
  for (const WorkCase& planted : work_cases()) {
    WorkResult& result = results.emplace_back();
    result.planted = planted;
    analyzer::AnalysisOptions options;
    options.keep_segments = false;
    options.steady = true;  // as `lockstep analyze`
    for (std::int64_t index = 0; index < jobs; ++index) {
      Random random = Random::of_job(seed, index);
      const Result<analyzer::Analysis> analysis =
          analyzer::analyze(planted.make(random, planted.ranks), options);
      if (!analysis.ok()) return Error{fmt::format("{}: {}", planted.what, analysis.error().message)};
      const analyzer::Report& report = analysis.value().report;
      if (look) look(report);
      const WorkVerdict verdict = judge_work(report, planted);
      ++result.jobs;
      result.right += verdict.is_right ? 1 : 0;
      result.false_work += verdict.false_work ? 1 : 0;
      result.wrongly_accused += verdict.wrongly_accused ? 1 : 0;
    }
  }
  return results;
}

}  // namespace lockstep::accuracy
