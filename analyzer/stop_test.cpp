// That an analysis which nobody waits for any more ends where it is: in each of its parts, and within them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analyzer/analysis.h"
#include "analyzer/diagnose/blame.h"
#include "analyzer/diagnose/findings.h"
#include "analyzer/diagnose/warnings.h"
#include "analyzer/metrics/bucket_overlap.h"
#include "analyzer/metrics/collectives.h"
#include "analyzer/metrics/counter_summary.h"
#include "analyzer/metrics/group_summary.h"
#include "analyzer/metrics/layer_summary.h"
#include "analyzer/metrics/pipeline_bubble.h"
#include "analyzer/metrics/wait_states.h"
#include "analyzer/model/check_job.h"
#include "analyzer/model/pipeline_job.h"
#include "analyzer/model/stopped.h"
#include "analyzer/test_analysis.h"

namespace lockstep::analyzer {
namespace {

using testing::HasSubstr;

// Two stages that exchange messages and meet in a collective, with a step and a counter: something to do for
// every part.
Job job_of_everything() {
  JobBuilder job;
  const std::uint32_t group = job.group("pipeline", {0, 1});
  const PipelinePlan plan{.stages = 2, .order = one_forward_one_backward(2, 4)};
  const Nanoseconds end = add_pipeline_step(job, group, plan);
  for (const int rank : {0, 1}) {
    job.rank(rank).all_reduce(end + 10 + 30 * rank, end + 60);
    job.rank(rank).step(1, plan.begin - 10, end + 100);
  }
  Job built = job.build();
  for (RankTrace& rank : built.ranks) {
    for (Activity& activity : rank.activities) activity.step = 0;
    rank.counters.push_back({"memory", {{plan.begin, 1}, {end, 2}}});
  }
  return built;
}

// What an analysis has come to when each of its parts begins.
struct Parts {
  Job job = job_of_everything();
  Analysis analysis = checked_analysis(job);
  Matching matching = match_communications(job);
  std::vector<PipelineRegion> regions = find_pipeline_regions(job, matching);
  std::vector<MatchWaits> waits;
  std::vector<RankWindows> windows;
  std::stop_token stopped = [] {
    std::stop_source source;
    source.request_stop();
    return source.get_token();
  }();

  Parts() {
    for (const Match& match : matching.matches) waits.push_back(compute_waits(job, matching, match));
    for (const RankTrace& rank : job.ranks) windows.push_back(find_windows(rank));
  }
  static bool every_step(std::optional<std::int64_t>) { return true; }
  static bool every_rank(std::int32_t) { return true; }
};

TEST(Stop, TheJobHasSomethingForEveryPart) {
  const Parts parts;
  const Report& report = parts.analysis.report;
  EXPECT_FALSE(report.collectives.empty());
  EXPECT_FALSE(report.steps.empty());
  EXPECT_FALSE(report.pipeline.empty());
  EXPECT_FALSE(report.layers.empty());
  EXPECT_FALSE(report.counters.empty());
  EXPECT_FALSE(report.blame.empty());
}

TEST(Stop, ProgressGoesFromNothingToAll) {
  std::vector<double> shares;
  AnalysisOptions options;
  options.progress = [&shares](double done) { shares.push_back(done); };
  (void)checked_analysis(job_of_everything(), options);
  ASSERT_GT(shares.size(), 10u);
  EXPECT_EQ(shares.front(), 0);
  EXPECT_EQ(shares.back(), 1);
  EXPECT_TRUE(std::is_sorted(shares.begin(), shares.end()));
}

TEST(Stop, WhereverItIsAskedToTheAnalysisEndsThere) {
  const Job job = job_of_everything();
  int parts = 0;
  AnalysisOptions counting;
  counting.progress = [&parts](double) { ++parts; };
  (void)checked_analysis(job, counting);
  for (int at = 1; at <= parts; ++at) {
    std::stop_source stop;
    int reached = 0;
    AnalysisOptions options;
    options.stop = stop.get_token();
    options.progress = [&](double) {
      if (++reached == at) stop.request_stop();
    };
    const Result<Analysis> analysis = analyze(job, options);
    ASSERT_FALSE(analysis.ok()) << at;
    EXPECT_THAT(analysis.error().message, HasSubstr("stopped"));
    EXPECT_EQ(reached, at) << "nothing more is begun";
  }
}

TEST(Stop, ATokenThatNobodyAsksChangesNothing) {
  const Job job = job_of_everything();
  const std::stop_source stop;
  AnalysisOptions options;
  options.stop = stop.get_token();
  const Report report = checked_analysis(job, options).report;
  EXPECT_EQ(report.collectives.size(), checked_analysis(job).report.collectives.size());
}

TEST(Stop, PartsThatWalkRanksLookBetweenThem) {
  const Parts p;
  EXPECT_THROW((void)check_job(p.job, p.stopped).ok(), Stopped);
  EXPECT_THROW((void)match_communications(p.job, Times::rule_out, p.stopped), Stopped);
  EXPECT_THROW((void)summarise_layers(p.job, Parts::every_step, p.stopped), Stopped);
  EXPECT_THROW((void)summarise_counters(p.job, Parts::every_step, p.stopped), Stopped);
}

TEST(Stop, PartsThatWalkOperationsLookBetweenThem) {
  const Parts p;
  const Report& report = p.analysis.report;
  EXPECT_THROW((void)find_pipeline_regions(p.job, p.matching, p.stopped), Stopped);
  EXPECT_THROW((void)find_delays(p.job, p.matching, p.waits, p.analysis.waits, {}, {}, p.stopped), Stopped);
  EXPECT_THROW((void)list_collectives(p.job, p.matching, p.waits, p.analysis.waits, {}, p.windows, 0,
                                      Parts::every_step, p.stopped),
               Stopped);
  EXPECT_THROW((void)summarise_wait_states(report, Parts::every_rank, p.stopped), Stopped);
  EXPECT_THROW((void)summarise_groups(report, p.stopped), Stopped);
  EXPECT_THROW((void)summarise_buckets(report, Parts::every_rank, p.stopped), Stopped);
  EXPECT_THROW(
      (void)measure_pipelines(p.job, p.matching, p.analysis.waits, p.regions, Parts::every_step, p.stopped),
      Stopped);
}

TEST(Stop, PartsThatJudgeLookBetweenTheirRules) {
  const Parts p;
  const Diagnosis diagnosis{p.job, p.matching, p.waits, p.analysis.collective_of, {}, {{}, {}}, {{}, {}}};
  Report report = p.analysis.report;
  EXPECT_THROW((void)assign_blame(diagnosis, report, p.stopped), Stopped);
  EXPECT_THROW(add_warnings(diagnosis, p.windows, report, p.stopped), Stopped);
  EXPECT_THROW(add_findings(diagnosis, report, p.stopped), Stopped);
}

}  // namespace
}  // namespace lockstep::analyzer
