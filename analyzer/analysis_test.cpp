// Golden tests of analyze(): tiny readable jobs and the tables that follow from docs/metrics.md.
#include "analyzer/analysis.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "analyzer/model/job_builder.h"
#include "analyzer/report/absences.h"
#include "analyzer/test_analysis.h"

namespace lockstep::analyzer {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

Analysis analyzed(const JobBuilder& builder, const AnalysisOptions& options = {}) {
  return checked_analysis(builder.build(), options);
}

// "0-10 compute", one a segment.
std::vector<std::string> causes_of(const JobBuilder& builder, std::size_t rank = 0) {
  std::vector<std::string> lines;
  const Analysis analysis = analyzed(builder);
  for (const CauseSegment& segment : analysis.segments.at(rank)) {
    lines.push_back(std::to_string(segment.begin) + "-" + std::to_string(segment.end) + " " +
                    to_string(segment.cause));
  }
  return lines;
}

TEST(Partition, EveryCauseInOrderOfPrecedence) {
  JobBuilder job;
  const auto pp = job.group("pp", {0, 1}, "pp"), dp = job.group("dp", {0, 1});
  RankBuilder& rank = job.rank(0);
  rank.compute(0, 10).launched(-9, -8);
  rank.all_reduce(5, 40).in_group(dp).sequence(0).launched(-7, -6);  // waits until 30
  rank.copy(20, 50).launched(-5, -4);
  rank.data_loading(45, 60);
  rank.compute(80, 90).launched(60, 70);
  rank.unclassified(90, 95);
  rank.send(1, 100, 120).in_group(pp).launched(96, 97);  // waits until 110
  rank.compute(130, 140);                                // nobody knows who launched it
  job.rank(1).all_reduce(30, 40).in_group(dp).sequence(0).recv(0, 110, 120).in_group(pp);
  EXPECT_THAT(causes_of(job),
              ElementsAre("0-10 compute", "10-30 barrier_wait", "30-40 transfer", "40-50 copy",
                          "50-60 data_wait", "60-70 host_bound", "70-80 queued", "80-90 compute",
                          "90-95 other", "95-97 host_bound", "97-100 queued", "100-110 pipeline_bubble",
                          "110-120 transfer", "120-130 other", "130-140 compute"));
}

TEST(Partition, TheTransferOfOneOperationOutweighsTheWaitOfAnother) {
  JobBuilder job;
  const auto a = job.group("a", {0, 1}), b = job.group("b", {0, 1});
  job.rank(0).all_reduce(0, 20).in_group(a).sequence(0).all_reduce(0, 40).in_group(b).sequence(0);
  job.rank(1).all_reduce(10, 20).in_group(a).sequence(0).all_reduce(30, 40).in_group(b).sequence(0);
  EXPECT_THAT(causes_of(job),
              ElementsAre("0-10 barrier_wait", "10-20 transfer", "20-30 barrier_wait", "30-40 transfer"));
  // Measured by itself the wait is longer than its share of the partition: [0, 30).
  EXPECT_EQ(analyzed(job).report.ranks[0].measures.collective_wait_ns, 30);
}

TEST(Partition, ZeroLengthActivitiesCoverNothingButAreNext) {
  JobBuilder job;
  job.rank(0).compute(0, 10).launched(-2, -1).compute(20, 20).launched(1, 15).compute(30, 40).launched(2, 3);
  EXPECT_THAT(causes_of(job),
              ElementsAre("0-10 compute", "10-15 host_bound", "15-30 queued", "30-40 compute"));
}

TEST(Partition, SynchronizationIsNeitherBusyNorNext) {
  JobBuilder job;
  job.rank(0).compute(0, 10).launched(-2, -1).sync(12, 25).launched(11, 25).compute(30, 40).launched(2, 3);
  EXPECT_THAT(causes_of(job), ElementsAre("0-10 compute", "10-30 queued", "30-40 compute"));
}

TEST(Partition, OfTwoThatStartTogetherTheOneLaunchedFirstCounts) {
  JobBuilder job;
  job.rank(0).compute(0, 10).launched(-2, -1);
  job.rank(0).compute(30, 40).compute(30, 40).launched(15, 16).compute(30, 40).launched(12, 28);
  EXPECT_THAT(causes_of(job),
              ElementsAre("0-10 compute", "10-28 host_bound", "28-30 queued", "30-40 compute"));
}

// A CUDA graph's replay: its first kernel waits for the call, the others for what is before them in the
// graph.
TEST(Partition, GapsWithinTheReplayOfAGraphAreNotHostBound) {
  JobBuilder job;
  RankBuilder& rank = job.rank(0);
  rank.compute(0, 10).launched(0, 1);
  rank.compute(20, 30).launched(12, 60);
  rank.compute(30, 35).launched(2, 3);  // of another stream
  rank.compute(40, 50).launched(12, 60);
  rank.compute(70, 80).launched(62, 64);
  EXPECT_THAT(causes_of(job),
              ElementsAre("0-10 compute", "10-20 host_bound", "20-35 compute", "35-40 queued",
                          "40-50 compute", "50-64 host_bound", "64-70 queued", "70-80 compute"));
}

TEST(Partition, ACallThatReturnsAfterTheStartLeavesNothingQueued) {
  JobBuilder job;
  job.rank(0).compute(0, 10).launched(-2, -1).compute(20, 30).launched(5, 24);
  EXPECT_THAT(causes_of(job), ElementsAre("0-10 compute", "10-20 host_bound", "20-30 compute"));
}

TEST(Partition, AnUnmatchedSendIsAllTransfer) {
  JobBuilder job;
  job.rank(0).send(1, 0, 20);
  job.rank(1).compute(0, 5);
  EXPECT_THAT(causes_of(job), ElementsAre("0-20 transfer"));
  EXPECT_EQ(analyzed(job).report.unmatched, 1);
}

// 0 would say that nobody waited.
TEST(Waits, AreUnknownWhereNothingOfARankWasMatched) {
  JobBuilder alone;  // whose partner left no trace
  alone.missing(1);
  alone.rank(0).send(1, 0, 20);
  const Report of_one = analyzed(alone).report;
  EXPECT_FALSE(of_one.ranks[0].measures.waits_known);

  JobBuilder several;
  several.rank(0).all_reduce(0, 20).send(1, 30, 40);
  several.rank(1).all_reduce(10, 20);
  several.rank(2).all_reduce(10, 20).recv(0, 100, 120);
  several.rank(3).all_reduce(10, 20).compute(20, 30);
  for (const RankReport& rank : analyzed(several).report.ranks) EXPECT_TRUE(rank.measures.waits_known);

  JobBuilder apart;  // both left a trace, and their times rule each other out
  apart.rank(0).all_reduce(0, 9);
  apart.rank(1).all_reduce(50, 59);
  apart.rank(2).compute(0, 9);  // communicates with nobody
  const Report rejected = analyzed(apart).report;
  EXPECT_FALSE(rejected.ranks[0].measures.waits_known);
  EXPECT_FALSE(rejected.ranks[1].measures.waits_known);
  EXPECT_TRUE(rejected.ranks[2].measures.waits_known);

  const auto said = [](const Report& report) {
    std::string text;
    for (const Warning& warning : explain_absences(report))
      if (warning.code == "absent_waits") text += warning.message;
    return text;
  };
  EXPECT_THAT(said(of_one), HasSubstr("no rank that it communicates with left a record"));
  EXPECT_THAT(said(rejected), HasSubstr("2 of 3 ranks: no waiting times, the times or sizes"));
  EXPECT_EQ(said(analyzed(several).report), "");
}

TEST(Measures, OverlapIsOfUnionsAndPerKernelOfSingleOnes) {
  JobBuilder job;
  // Two kernels at once: 20 of 40 ns of the union are covered, but 30 of 60 ns of single kernels.
  job.rank(0).compute(0, 20).all_reduce(0, 40).all_reduce(10, 30);
  const Measures measures = analyzed(job).report.ranks[0].measures;
  EXPECT_EQ(measures.communication_ns, 40);
  EXPECT_EQ(measures.overlap_ns, 20);
  EXPECT_DOUBLE_EQ(*measures.overlap_ratio, 0.5);
  EXPECT_DOUBLE_EQ(*measures.overlap_ratio_per_kernel, (20.0 + 10.0) / (40.0 + 20.0));
}

TEST(Measures, WithoutCommunicationThereIsNoRatio) {
  JobBuilder job;
  job.rank(0).compute(0, 20);
  EXPECT_FALSE(analyzed(job).report.ranks[0].measures.overlap_ratio.has_value());
  EXPECT_FALSE(analyzed(job).report.ranks[0].measures.overlap_ratio_per_kernel.has_value());
}

TEST(Collectives, SayWhatOneOperationTook) {
  JobBuilder job;
  const auto dp = job.group("dp", {0, 1});
  job.rank(0)
      .step(7, 0, 100)
      .all_reduce(100, 300)
      .in_group(dp)
      .sequence(3)
      .bytes(4000)
      .of(DataType::float32)
      .launched(5, 6);
  job.rank(0).compute(50, 150).launched(1, 2);
  job.rank(1).all_reduce(200, 300).in_group(dp).sequence(3).bytes(4000).of(DataType::float32);
  const Analysis analysis = analyzed(job);
  ASSERT_EQ(analysis.report.collectives.size(), 1u);
  const CollectiveReport& collective = analysis.report.collectives[0];
  EXPECT_EQ(collective.step, 7);
  EXPECT_EQ(collective.group_name, "dp");
  EXPECT_THAT(collective.group_ranks, ElementsAre(0, 1));
  EXPECT_EQ(collective.sequence, 3);
  EXPECT_EQ(collective.bytes, 4000);
  EXPECT_EQ(collective.data_type, DataType::float32);
  EXPECT_EQ(collective.evidence, "sequence");
  EXPECT_FALSE(collective.partial);
  EXPECT_EQ(collective.last_arriver, 1);
  EXPECT_EQ(collective.last_arriver_margin_ns, 100);
  EXPECT_EQ(collective.wait_ns, 100);
  // Relative to the earliest activity, at 50.
  EXPECT_EQ(analysis.report.origin_aligned_ns, 50);
  EXPECT_EQ(collective.ranks[0].arrival_ns, 50);
  EXPECT_EQ(collective.ranks[0].end_ns, 250);
  EXPECT_EQ(collective.ranks[0].wait_ns, 100);
  EXPECT_EQ(collective.ranks[0].transfer_ns, 100);
  EXPECT_EQ(collective.ranks[0].hidden_ns, 50);
  // From the own start 200 and 100 ns, from the last arrival 100 and 100.
  EXPECT_DOUBLE_EQ(*collective.algbw_gbps, 4000.0 / 150);
  EXPECT_DOUBLE_EQ(*collective.busbw_gbps, 4000.0 / 150);  // 2(n−1)/n = 1
  EXPECT_DOUBLE_EQ(*collective.busbw_wire_gbps, 40);
  EXPECT_THAT(analysis.collective_of, ElementsAre(ElementsAre(0u), ElementsAre(0u)));
}

TEST(Collectives, OfAMissingRankTheWireIsNotKnown) {
  JobBuilder job;
  job.missing(2).rank(0).all_reduce(0, 100).bytes(4000);
  job.rank(1).all_reduce(50, 100).bytes(4000);
  const CollectiveReport collective = analyzed(job).report.collectives.at(0);
  EXPECT_TRUE(collective.partial);
  EXPECT_TRUE(collective.busbw_gbps.has_value());
  EXPECT_FALSE(collective.busbw_wire_gbps.has_value());
}

// Three steps of 100 ns; rank 1 is late by 30 ns in each.
JobBuilder three_steps() {
  JobBuilder job;
  for (int step = 0; step < 3; ++step) {
    const Nanoseconds begin = step * 100;
    for (int rank = 0; rank < 2; ++rank) {
      job.rank(rank).step(10 + step, begin, begin + 99);
      job.rank(rank).compute(begin, begin + 40 + 30 * rank).launched(begin, begin + 1);
      job.rank(rank).all_reduce(begin + 40 + 30 * rank, begin + 90).launched(begin + 1, begin + 2);
    }
  }
  return job;
}

TEST(Selection, RanksThenCoverTheStepsWindowsTogether) {
  AnalysisOptions options;
  options.first_step = 11;
  const Analysis analysis = analyzed(three_steps(), options);
  EXPECT_THAT(analysis.report.steps_present, ElementsAre(10, 11, 12));
  EXPECT_EQ(analysis.report.steps.size(), 4u);
  EXPECT_EQ(analysis.report.collectives.size(), 2u);
  EXPECT_THAT(analysis.collective_of[0], ElementsAre(kNone, 0u, 1u));
  const Measures& rank = analysis.report.ranks[0].measures;
  EXPECT_EQ(rank.window_ns, 190);  // 100 … 200 and 200 … 290
  EXPECT_EQ(rank.compute_ns, 80);
  EXPECT_EQ(rank.partition[Cause::barrier_wait], 60);
  EXPECT_EQ(rank.partition.total(), 190);
  EXPECT_EQ(analysis.report.blame.at(0).blame_ns, 60);
}

TEST(Selection, OfStepsThatNobodyHasSaysWhichThereAre) {
  AnalysisOptions options;
  options.first_step = 20;
  options.last_step = 30;
  const Result<Analysis> analysis = analyze(three_steps().build(), options);
  ASSERT_FALSE(analysis.ok());
  EXPECT_THAT(analysis.error().message, HasSubstr("steps 20 to 30"));
  EXPECT_THAT(analysis.error().message, HasSubstr("10, 11, 12"));
  JobBuilder without;
  without.rank(0).compute(0, 5);
  EXPECT_THAT(analyze(without.build(), options).error().message, HasSubstr("no step marks"));
}

TEST(Analyze, AJobThatBreaksItsPromisesIsAnError) {
  Job job = three_steps().build();
  job.ranks[1].activities[0].end = -5;
  const Result<Analysis> analysis = analyze(job);
  ASSERT_FALSE(analysis.ok());
  EXPECT_THAT(analysis.error().message, HasSubstr("rank 1"));
}

TEST(Analyze, AJobOfNothing) {
  const Analysis nothing = analyzed(JobBuilder{});
  EXPECT_THAT(nothing.report.ranks, IsEmpty());
  JobBuilder idle;
  idle.rank(0);
  const Analysis analysis = analyzed(idle);
  EXPECT_EQ(analysis.report.ranks.at(0).measures.window_ns, 0);
  EXPECT_FALSE(analysis.report.origin_ns.has_value());
}

TEST(Analyze, TheOriginIsTheFirstActivitysTimeOfDay) {
  JobBuilder builder;
  builder.rank(0).sync(5, 6).compute(70, 80);
  Job job = builder.build();
  job.realtime_of_zero = 1'700'000'000'000'000'000;
  EXPECT_EQ(checked_analysis(job).report.origin_ns, 1'700'000'000'000'000'070);
}

TEST(Efficiency, AfterPop) {
  const EfficiencyReport efficiency = analyzed(three_steps()).report.efficiency;
  // Compute 120 and 210 ns in windows of 290 ns.
  EXPECT_DOUBLE_EQ(*efficiency.load_balance, 165.0 / 210);
  EXPECT_DOUBLE_EQ(*efficiency.communication, 210.0 / 290);
  EXPECT_DOUBLE_EQ(*efficiency.parallel, 165.0 / 210 * (210.0 / 290));
}

}  // namespace
}  // namespace lockstep::analyzer
