// Hosts with too few cores for their ranks.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "analyzer/diagnose/test_reports.h"

namespace lockstep::analyzer {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

// Steps of 1 ms; in each every rank computes, and a thread of it waits for a core for `waits` µs.
JobBuilder job_of(int ranks, Nanoseconds runs_us, Nanoseconds waits_us, const std::string& cores,
                  int steps = 4) {
  JobBuilder job;
  for (int rank = 0; rank < ranks; ++rank) {
    RankTrace& trace = job.rank(rank).trace();
    trace.device = "cpu";
    trace.host = "node0";
    trace.core_set = cores;
    trace.scheduling = {{0, 0, 0, 0, false}};
    for (int step = 0; step < steps; ++step) {
      const Nanoseconds begin = step * 1000 * us;
      job.rank(rank)
          .step(step, begin, begin + 999 * us)
          .compute(begin, begin + 900 * us)
          .launched(begin, begin);
      job.rank(rank)
          .all_reduce(begin + 900 * us, begin + 1000 * us)
          .launched(begin + 900 * us, begin + 900 * us);
      SchedulingPoint next = trace.scheduling.back();
      next.time += 1000 * us;
      next.on_cpu_ns += runs_us * us;
      next.runnable_ns += waits_us * us;
      next.waited_ns += waits_us * us;
      next.known = true;
      trace.scheduling.push_back(next);
    }
  }
  return job;
}

TEST(Findings, RanksThatShareTooFewCoresAreOneFindingOfTheirHost) {
  const Report report = report_of(job_of(8, 250, 400, "0-1"));
  const Finding shared = finding(report, "cores_shared");
  EXPECT_EQ(shared.title, "8 ranks of node0 share 2 cores");
  EXPECT_THAT(shared.evidence[0], HasSubstr("40.0 %"));
  EXPECT_THAT(shared.evidence[1], HasSubstr("want 5.2 cores"));
  EXPECT_EQ(shared.lost_ns, 8 * 4 * 400 * us);
  EXPECT_THAT(shared.remedy, HasSubstr("at most 2 ranks"));
  EXPECT_EQ(shared.accuses, Accused::host);
  EXPECT_EQ(shared.rank, std::nullopt);
  EXPECT_EQ(report.ranks[0].measures.run_queue_ns, 4 * 400 * us);
  EXPECT_EQ(report.steps[0].measures.run_queue_ns, 400 * us);
}

TEST(Findings, FewerThreadsHelpWhereThereAreCoresForAllRanks) {
  const Finding shared = finding(report_of(job_of(2, 2300, 700, "0-3")), "cores_shared");
  EXPECT_EQ(shared.title, "2 ranks of node0 share 4 cores");
  EXPECT_THAT(shared.remedy, HasSubstr("OMP_NUM_THREADS=2"));
}

TEST(Findings, CoresThatOthersHaveAreNotSharedByRanks) {
  const Finding shared = finding(report_of(job_of(2, 600, 300, "0-3")), "cores_shared");
  EXPECT_EQ(shared.title, "2 ranks of node0 wait for cores that other programs or threads have");
}

// Seen of a parameter server: one rank of three has an optimizer, and so steps. The others' waiting was
// counted all the same, and the loss was 145 % of that rank's time.
TEST(Findings, RanksWithoutStepsThatWaitForCoresAddNothingToTheLoss) {
  JobBuilder job = job_of(3, 250, 400, "0-1");
  for (const int rank : {1, 2}) job.rank(rank).trace().steps.clear();
  AnalysisOptions options;
  options.steady = true;
  const Finding shared = finding(checked_analysis(job.build(), options).report, "cores_shared");
  EXPECT_THAT(shared.title, HasSubstr("3 ranks of node0"));
  EXPECT_EQ(shared.lost_ns, 4 * 400 * us);
  EXPECT_LE(shared.lost_share, 0.41);
  EXPECT_THAT(shared.evidence[0], HasSubstr("of its time"));
  EXPECT_THAT(shared.evidence, Contains("2 of them have no steps: what they wait is not counted as lost"));
  const Finding of_all = finding(report_of(job_of(3, 250, 400, "0-1")), "cores_shared");
  EXPECT_THAT(of_all.evidence[0], HasSubstr("of the steps' time"));
  EXPECT_THAT(testing::PrintToString(of_all.evidence), Not(HasSubstr("not counted")));
}

// More to do is a fact, though nobody can tell whether it makes the rank late.
TEST(Findings, WhereCoresAreSharedTheRankThatRunsLongerIsAFact) {
  const auto evidence = [](Nanoseconds more, int steps, int of = 10) {
    JobBuilder job = job_of(2, 300, 400, "0-1", of);
    std::vector<SchedulingPoint>& looks = job.rank(1).trace().scheduling;
    for (std::size_t i = 1; i < looks.size(); ++i)
      looks[i].on_cpu_ns += std::min<std::int64_t>(static_cast<std::int64_t>(i), steps) * more * us;
    const Finding shared = finding(report_of(job), "cores_shared");
    EXPECT_EQ(shared.rank, std::nullopt);
    return testing::PrintToString(shared.evidence);
  };
  EXPECT_THAT(evidence(350, 10),
              HasSubstr("rank 1's training threads ran for 6.50 ms, those of the others for 3.00 ms"));
  EXPECT_THAT(evidence(150, 10), Not(HasSubstr("it has more to do")))
      << "half as much again: processes differ by that with the same work";
  EXPECT_THAT(evidence(900, 7), Not(HasSubstr("it has more to do"))) << "in seven steps of ten";
  // Seen of two healthy ranks in three steps.
  EXPECT_THAT(evidence(350, 3, 3), Not(HasSubstr("it has more to do"))) << "by chance";
  EXPECT_THAT(evidence(350, 9, 9), Not(HasSubstr("it has more to do"))) << "too few to judge anybody";
}

TEST(Findings, WhereCoresAreSharedARankOfAnotherHostIsNotCompared) {
  JobBuilder job = job_of(3, 300, 400, "0-1", 20);
  RankTrace& elsewhere = job.rank(2).trace();
  elsewhere.host = "node1";
  for (SchedulingPoint& look : elsewhere.scheduling) {
    look.on_cpu_ns *= 3;
    look.runnable_ns = look.waited_ns = 0;
  }
  const Finding shared = finding(report_of(job), "cores_shared");
  EXPECT_EQ(shared.title, "2 ranks of node0 wait for cores that other programs or threads have");
  EXPECT_THAT(testing::PrintToString(shared.evidence), Not(HasSubstr("it has more to do")));
}

TEST(Findings, WhereCoresAreSharedTheRankThatHasFewerIsAFact) {
  JobBuilder job = job_of(3, 300, 400, "0-1");
  EXPECT_THAT(testing::PrintToString(finding(report_of(job), "cores_shared").evidence),
              Not(HasSubstr("may use 1 core")));
  job.rank(2).trace().core_set = "1";
  EXPECT_THAT(finding(report_of(job), "cores_shared").evidence,
              Contains(HasSubstr("rank 2 may use 1 core alone, fewer than the others")));
}

// Seen of four ranks on two cores beside compilers: that other programs have the cores is half of it.
TEST(Findings, RanksThatAreMoreThanTheirCoresShareThemBesideOthersToo) {
  const Finding shared = finding(report_of(job_of(3, 300, 400, "0-1")), "cores_shared");
  EXPECT_EQ(shared.title, "3 ranks of node0 share 2 cores with other programs or threads");
  EXPECT_THAT(shared.remedy, HasSubstr("at most 2 ranks on this host"));
  EXPECT_THAT(shared.remedy, HasSubstr("And see what else runs there"));
}

// Seen of two ranks that were pinned to a core each, and another program beside: two findings of one title.
TEST(Findings, ARankWithCoresOfItsOwnIsNamedByItsNumber) {
  JobBuilder job = job_of(3, 300, 400, "0-1");
  job.rank(2).trace().core_set = "2";
  std::vector<std::string> titles;
  for (const Finding& finding : report_of(job).findings)
    if (finding.code == "cores_shared") {
      titles.push_back(finding.title);
      EXPECT_THAT(finding.evidence[1],
                  HasSubstr(titles.back().starts_with("rank 2") ? "its training threads want"
                                                                : "together their training threads want"));
    }
  EXPECT_THAT(titles, testing::UnorderedElementsAre(
                          "ranks 0, 1 of node0 wait for cores that other programs or threads have",
                          "rank 2 of node0 waits for a core that other programs or threads have"));
}

TEST(Findings, EnoughCoresAreNoFinding) {
  EXPECT_THAT(codes_of(report_of(job_of(2, 980, 10, "0-1")).findings), Not(Contains("cores_shared")));
}

}  // namespace
}  // namespace lockstep::analyzer
