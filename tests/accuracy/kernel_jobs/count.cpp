#include "tests/accuracy/kernel_jobs/count.h"

#include <fmt/format.h>

#include <cctype>
#include <iterator>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/analysis.h"
#include "tests/accuracy/verdict.h"

namespace lockstep::accuracy {

namespace {

constexpr std::size_t kFalseExamples = 3;

// The ranks that a sentence begins with: "rank 3 …", "ranks 2 and 3 …"; none of another sentence.
std::vector<std::int32_t> named_first(const std::string& sentence) {
  std::vector<std::int32_t> ranks;
  if (!sentence.starts_with("rank")) return ranks;
  std::istringstream words(sentence);
  std::string word;
  for (words >> word; words >> word;) {
    if (std::isdigit(static_cast<unsigned char>(word.front())) != 0)
      ranks.push_back(std::stoi(word));
    else if (word != "and")
      break;
  }
  return ranks;
}

// Those that uneven work's evidence says to take longer for as much of it.
std::vector<std::int32_t> slower_for_as_much(const analyzer::Finding& finding) {
  for (const std::string& line : finding.evidence)
    if (line.find("for as much work") != std::string::npos) return named_first(line);
  return {};
}

// An accusation, if there is one: what is false is mostly that.
std::string telling_title(const analyzer::Report& report) {
  for (const analyzer::Finding& finding : report.findings)
    if (accuses(finding)) return finding.title;
  return report.findings.empty() ? "nothing is found" : report.findings.front().title;
}

}  // namespace

WorkVerdict judge_work(const analyzer::Report& report, const WorkCase& planted) {
  const auto is_planted = [&](std::int32_t rank) { return rank >= planted.ranks - planted.late; };
  std::set<std::int32_t> named;
  bool says_work = planted.is_hidden || planted.work == Work::even;
  WorkVerdict verdict;
  const auto say = [&](Work work, bool of_planted = true) {
    (of_planted && planted.work == work ? says_work : verdict.false_work) = true;
  };
  for (const analyzer::Finding& finding : report.findings) {
    if (finding.code == "uneven_batches") {
      say(Work::uneven);
      for (const std::int32_t rank : slower_for_as_much(finding))
        is_planted(rank) ? void(named.insert(rank)) : void(verdict.wrongly_accused = true);
    }
    if (finding.code == "jitter") {
      const std::vector<std::int32_t> early = named_first(finding.title);
      if (!early.empty() && !(planted.is_early && early == std::vector<std::int32_t>{planted.ranks - 1}))
        verdict.false_work = true;
      else if (!early.empty() && finding.remedy.starts_with("give "))
        say(Work::less);
    }
    if (!accuses(finding)) continue;
    const bool is_late = finding.rank && is_planted(*finding.rank);
    if (is_late) named.insert(*finding.rank);
    verdict.wrongly_accused = verdict.wrongly_accused || !is_late;
    if (finding.reason == "more_work") say(Work::more, is_late);
    if (finding.reason == "other_kernels") say(Work::besides, is_late);
  }
  // Where work is uneven and a GPU slow besides, that rank is enough.
  const bool is_enough = planted.work == Work::uneven && planted.late > 0;
  const bool says_who = std::ssize(named) == planted.late;
  verdict.is_right = says_who && (says_work || is_enough) && !verdict.false_work && !verdict.wrongly_accused;
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
      Random random = Random::of_job(seed + results.size(), index);
      const Result<analyzer::Analysis> analysis =
          analyzer::analyze(planted.make(random, planted.ranks), options);
      if (!analysis.ok()) return Error{fmt::format("{}: {}", planted.what, analysis.error().message)};
      const analyzer::Report& report = analysis.value().report;
      if (look) look(report);
      const WorkVerdict verdict = judge_work(report, planted);
      const bool is_false = verdict.false_work || verdict.wrongly_accused;
      if (is_false && result.examples.size() < kFalseExamples)
        result.examples.push_back(fmt::format("job {}: {}", index, telling_title(report)));
      if (!is_false && !verdict.is_right)
        result.misses.push_back(fmt::format("job {}: {}", index, telling_title(report)));
      ++result.jobs;
      result.right += verdict.is_right ? 1 : 0;
      result.false_work += verdict.false_work ? 1 : 0;
      result.wrongly_accused += verdict.wrongly_accused ? 1 : 0;
    }
  }
  return results;
}

}  // namespace lockstep::accuracy
