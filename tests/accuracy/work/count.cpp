#include "tests/accuracy/work/count.h"

#include <fmt/format.h>

#include "analyzer/analysis.h"
#include "tests/accuracy/verdict.h"

namespace lockstep::accuracy {

WorkVerdict judge_work(const analyzer::Report& report, const WorkCase& planted) {
  bool late_accused = false, named_more = false, named_uneven = false;
  WorkVerdict verdict;
  for (const analyzer::Finding& finding : report.findings) {
    named_uneven = named_uneven || finding.code == "uneven_batches";
    if (!accuses(finding)) continue;
    const bool is_late = finding.rank && *finding.rank >= planted.ranks - planted.late;
    const bool is_more_work = finding.reason == "more_work";
    late_accused = late_accused || is_late;
    named_more = named_more || (is_late && is_more_work);
    verdict.wrongly_accused = verdict.wrongly_accused || !is_late;
    if (is_more_work && !(is_late && planted.work == Work::more)) verdict.false_work = true;
  }
  if (named_uneven && planted.work != Work::uneven) verdict.false_work = true;

  const bool says_who = planted.late == 0 || late_accused;
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
