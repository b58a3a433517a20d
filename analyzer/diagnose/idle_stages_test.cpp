// A stage that does nothing while others wait for its messages.
#include "analyzer/diagnose/idle_stages.h"

#include <gtest/gtest.h>

#include <utility>

#include "analyzer/diagnose/job_lateness.h"
#include "analyzer/diagnose/outside_passes.h"
#include "analyzer/diagnose/test_reports.h"
#include "analyzer/model/pipeline_job.h"

namespace lockstep::analyzer {
namespace {

// Two equal stages, microbatches of 100 + 200 units, 1F1B, on CPUs. In every step rank 1 begins `idles` after
// rank 0, which sends its first microbatch at 100 and then waits until rank 1 is there.
constexpr int kSteps = 20;
struct Case {
  Nanoseconds idles = 0;
  bool does_something = false;  // rank 1 computes meanwhile, beside its passes
  bool other_too = false;       // and rank 0 as long, behind its passes
  int microbatches = 4;
  Nanoseconds first_slower_by = 0;  // each pass of stage 0
  Nanoseconds unit = us;
  const char* range = nullptr;  // what its host says that it does meanwhile
  bool loads = false;           // its data
};

Job job_with(const Case& of) {
  JobBuilder builder;
  const PipelinePlan plan{.stages = 2,
                          .order = one_forward_one_backward(2, of.microbatches),
                          .forward = 100 * of.unit,
                          .backward = 200 * of.unit,
                          .slow_stage = 0,
                          .slower_by = of.first_slower_by,
                          .idle_stage = 1,
                          .idles_for = of.idles};
  const std::uint32_t group = builder.group(plan.group, ranks_of(plan));
  Nanoseconds end = 0;
  for (int step = 0; step < kSteps; ++step) {
    const Nanoseconds begin = end;
    PipelinePlan of_step = plan;
    of_step.begin = begin + 10 * of.unit;
    end = add_pipeline_step(builder, group, of_step);
    if (of.other_too) builder.rank(0).compute(end, end + of.idles, "optimizer");
    end += (of.other_too ? of.idles : 0) + 10 * of.unit;
    for (const std::int32_t rank : ranks_of(plan)) builder.rank(rank).step(step, begin, end);
    const Nanoseconds works = of_step.begin + of.idles;
    if (of.does_something) builder.rank(1).compute(of_step.begin, works, "forward_other");
    if (of.loads) builder.rank(1).data_loading(of_step.begin, works);
    if (of.range != nullptr) builder.rank(1).host_range(of_step.begin, works, of.range);
  }
  Job job = builder.build();
  for (RankTrace& rank : job.ranks) {
    rank.device = "cpu";
    for (Activity& activity : rank.activities) activity.launch_begin = activity.launch_end = activity.begin;
  }
  return job;
}

TEST(IdleStages, AreThoseOfWhoseMessageOthersWaitMeanwhile) {
  const Job job = job_with({.idles = 150 * us});
  const Report report = report_of(job);
  const IdleStages idle = find_idle_stages(job, report);
  for (int step = 0; step < kSteps; ++step) {
    // Rank 0 has sent at 100 µs what rank 1 takes at 150 µs.
    EXPECT_EQ(idle.of_step.at({step, 1}).ns, 50 * us) << step;
    const auto of_first = idle.of_step.find({step, 0});
    EXPECT_TRUE(of_first == idle.of_step.end() || of_first->second.ns == 0) << step;
  }
  EXPECT_EQ(idle.of_message.size(), std::size_t{kSteps});
}

TEST(IdleStages, AreNoneWhereTheStageIsAtWorkOrOnSchedule) {
  for (const Job& job :
       {job_with({.idles = 150 * us, .does_something = true, .other_too = true}), job_with({})}) {
    const IdleStages idle = find_idle_stages(job, report_of(job));
    EXPECT_TRUE(idle.of_message.empty());
    for (const auto& [of, sums] : idle.of_step)
      EXPECT_EQ(sums.ns, 0) << "step " << of.first << ", rank " << of.second;
  }
}

// Work of one stage that no schedule of passes knows: an optimizer of its own, a loss.
TEST(IdleStages, ThatComputeBesideTheirPassesAndBeyondTheOthersAreLate) {
  const Job job = job_with({.idles = 400 * us, .does_something = true});
  const Report report = report_of(job);
  for (const auto& [of, sums] : find_idle_stages(job, report).of_step)
    EXPECT_EQ(sums.ns, 0) << "it computes: step " << of.first << ", rank " << of.second;
  const Finding late = finding(report, "straggler_persistent");
  EXPECT_EQ(late.rank, 1);
  EXPECT_EQ(late.reason, "computes_longer");
  EXPECT_THAT(late.title, testing::HasSubstr("rank 1 computes"));
}

// On busy cores it may wait for a core for as long as it computes more: then its threads have to have run
// more.
TEST(IdleStages, BesideTheirPassesCountWhereTheyWaitForCoresByWhatTheirThreadsRan) {
  for (const bool ran : {false, true}) {
    Job job = job_with({.idles = 400 * us, .does_something = true});
    for (RankTrace& rank : job.ranks) {
      SchedulingPoint first, last;
      last.time = rank.steps.back().end;
      last.on_cpu_ns = last.time / 2 + (ran && rank.rank == 1 ? kSteps * 300 * us : 0);
      last.runnable_ns = last.waited_ns = rank.rank == 1 ? kSteps * 500 * us : 0;
      rank.scheduling = {first, last};
    }
    EXPECT_EQ(computed_outside_passes(job, report_of(job)).contains(1), ran);
  }
}

TEST(IdleStages, ThatAllComputeAsMuchBesideTheirPassesAreOnSchedule) {
  const Report report = report_of(job_with({.idles = 400 * us, .does_something = true, .other_too = true}));
  EXPECT_THAT(codes_of(report.findings), testing::Not(testing::Contains("straggler_persistent")));
}

TEST(IdleStages, DoNotIdleWhileTheirThreadWaitsForAnOperationThatIsOver) {
  const Job job = job_with({.idles = 40'000 * us, .unit = 100 * us, .range = "wait for communication"});
  const IdleStages idle = find_idle_stages(job, report_of(job));
  for (const auto& [of, sums] : idle.of_step) EXPECT_EQ(sums.ns, 0) << "step " << of.first;
  EXPECT_THAT(codes_of(report_of(job).findings), testing::Not(testing::Contains("straggler_persistent")));
}

// What lies before the pipeline's region is the host's already.
TEST(IdleStages, AddToTheirHostsTimeWhatIsInTheRegionAlone) {
  const Job job = job_with({.idles = 400 * us});
  const Report report = report_of(job);
  std::vector<IntervalSet> regions(2);
  for (const StepMark& step : job.ranks[1].steps)
    for (IntervalSet& region : regions) region.append(step.begin + 210 * us, step.end);
  const StepTable table = table_of_steps(job, report, regions);
  ASSERT_EQ(table.steps.size(), std::size_t{kSteps});
  for (std::size_t step = 0; step < table.steps.size(); ++step) {
    EXPECT_EQ(table.idle(step, 1).ns, 300 * us);
    EXPECT_EQ(table.idle(step, 1).bubble_ns, 200 * us) << "from 200 to 400";
  }
}

TEST(IdleStages, AreNamedAndTheirBubbleIsSaidOnce) {
  const Report report = report_of(job_with({.idles = 400 * us}));
  const Finding late = finding(report, "straggler_persistent");
  EXPECT_EQ(late.rank, 1);
  EXPECT_EQ(late.reason, "host");
  EXPECT_THAT(late.title,
              testing::HasSubstr("rank 1 does something for 300 µs longer that the trace does not name"));
  EXPECT_THAT(late.evidence,
              testing::Contains(testing::HasSubstr(
                  "in a step it does something other than computing, loading data or communicating for ")));
  // Rank 0 waits for 200 µs, after its second forward pass, and rank 1 would be faster by 300 µs.
  EXPECT_EQ(late.lost_ns, kSteps * (200 + 300) * us);
  EXPECT_THAT(codes_of(report.findings), testing::Not(testing::Contains("pipeline_bubble")))
      << "of 24.0 ms the schedule costs 14.4 ms, and the late stage the rest";
}

TEST(IdleStages, AreLateAlsoWhereAnotherStageComputesLonger) {
  // Stage 0's first passes end at 114 and 228, and from then on it waits in the open until 400. What it
  // computes longer itself, 16 passes by 14, hides most of that from a comparison of what the ranks do.
  const Job job = job_with({.idles = 400 * us, .microbatches = 8, .first_slower_by = 14 * us});
  const Report report = report_of(job);
  const StepTable table = table_of_steps(job, report);
  for (std::size_t step = 0; step < table.steps.size(); ++step) {
    EXPECT_EQ(table.idle(step, 1).ns, 286 * us);
    EXPECT_EQ(table.late(step, 1), 172 * us);
  }
  EXPECT_EQ(finding(report, "straggler_persistent").rank, 1);
}

TEST(IdleStages, CountByThemselvesFromAShareOfAStepOn) {
  // As above by 30 in the open and 144 in all, of a step of more than 3,000.
  const Job job = job_with({.idles = 258 * us, .microbatches = 8, .first_slower_by = 14 * us});
  const StepTable table = table_of_steps(job, report_of(job));
  for (std::size_t step = 0; step < table.steps.size(); ++step) {
    EXPECT_EQ(table.idle(step, 1).ns, 144 * us);
    EXPECT_LT(table.late(step, 1), 0);
  }
}

TEST(IdleStages, AreSaidToDoWhatTheirHostSays) {
  const Report report =
      report_of(job_with({.idles = 40'000 * us, .unit = 100 * us, .range = "reads weights"}));
  EXPECT_THAT(finding(report, "straggler_persistent").title,
              testing::HasSubstr(
                  "rank 1 spends 30.0 ms longer on its host, in `reads weights`: the others wait for it"));
}

// The data of each microbatch is loaded within the pipeline, where no rank's time is counted as loading.
TEST(IdleStages, ThatLoadTheirDataAreSaidTo) {
  const Report report = report_of(job_with({.idles = 40'000 * us, .unit = 100 * us, .loads = true}));
  const Finding late = finding(report, "straggler_persistent");
  EXPECT_THAT(late.title, testing::HasSubstr("rank 1 loads data for 30.0 ms longer: the others wait for it"));
  EXPECT_EQ(late.reason, "loads_data");
  EXPECT_THAT(late.remedy, testing::HasSubstr("DataLoader("));
}

}  // namespace
}  // namespace lockstep::analyzer
