// Findings and warnings of hand-made jobs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "analyzer/diagnose/test_reports.h"

namespace lockstep::analyzer {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

TEST(Findings, ABalancedJobHasNone) {
  JobBuilder job;
  for (int step = 0; step < 8; ++step) {
    for (std::int32_t rank = 0; rank < 4; ++rank) {
      const Nanoseconds begin = step * 1000 * us;
      job.rank(rank).step(step, begin, begin + 999 * us);
      job.rank(rank).compute(begin, begin + 980 * us).launched(begin, begin + 1);
      // Each is last in turn, under compute.
      const Nanoseconds arrival = begin + (step % 4 == rank ? 510 : 500) * us;
      job.rank(rank).all_reduce(arrival, begin + 600 * us).launched(begin + 2, begin + 3);
    }
  }
  EXPECT_THAT(codes_of(report_of(job).findings), IsEmpty());
}

// Rank 2 is 100 µs late in step 1, 300 in step 2 and 200 in step 3, and so on.
TEST(Findings, APlaceInTheTraceShowsEachAtItsWorst) {
  JobBuilder job;
  const Nanoseconds late[] = {100 * us, 300 * us, 200 * us};
  for (int step = 0; step < 24; ++step) {
    const Nanoseconds begin = step * 2000 * us;
    for (std::int32_t rank = 0; rank < 3; ++rank) {
      const Nanoseconds end = begin + 500 * us + (rank == 2 ? late[step % 3] : rank * us);
      job.rank(rank).step(step + 1, begin, begin + 1900 * us);
      job.rank(rank).compute(begin, end).launched(begin, begin + 1);
      job.rank(rank).all_reduce(end, begin + 850 * us).launched(begin + 1, begin + 2);
    }
  }
  const Finding straggler = finding(report_of(job), "straggler_persistent");
  EXPECT_EQ(straggler.rank, 2);
  ASSERT_TRUE(straggler.place);
  EXPECT_EQ(straggler.place->rank, 0);  // that waits longest for it
  EXPECT_EQ(straggler.place->step, 2);
  EXPECT_EQ(straggler.place->collective, 1);
  EXPECT_EQ(straggler.place->begin_ns, 2500 * us);
  EXPECT_EQ(straggler.place->end_ns, 2850 * us);
}

// However much longer an operation of start-up took: parameters are sent to all once.
TEST(Findings, APlaceInTheTraceIsInAStepWhereOneIs) {
  JobBuilder job;
  for (std::int32_t rank = 0; rank < 2; ++rank) {
    job.rank(rank).all_reduce(-9000 * us, -1000 * us).launched(-9001 * us, -9000 * us);
    for (int step = 0; step < 2; ++step) {
      const Nanoseconds begin = step * 1000 * us;
      job.rank(rank).step(step, begin, begin + 900 * us);
      job.rank(rank).compute(begin, begin + 400 * us).launched(begin, begin + 1);
      job.rank(rank)
          .all_reduce(begin + 400 * us, begin + (500 + 100 * step) * us)
          .launched(begin + 1, begin + 2);
    }
  }
  const Report report = report_of(job);
  const Finding transfer = finding(report, "no_overlap");
  ASSERT_TRUE(transfer.place);
  EXPECT_EQ(transfer.place->step, 1);
  EXPECT_EQ(transfer.place->collective, 2);
}

// They tell of neither compute nor launches: no idle time is anybody's, and no transfer exposed.
TEST(Findings, DumpsOfAFlightRecorderTellNothingOfWhatCostsTime) {
  JobBuilder builder;
  for (std::int32_t rank = 0; rank < 2; ++rank) {
    for (const Nanoseconds begin : {Nanoseconds{0}, 1000 * us, 2000 * us})
      builder.rank(rank).all_reduce(begin, begin + 300 * us);
    builder.rank(rank).trace().device = "cuda";
  }
  Job job = builder.build();
  EXPECT_THAT(report_of(job).findings, Not(IsEmpty()));
  job.dumps = Dumps::all;
  const Report report = report_of(job);
  EXPECT_THAT(codes_of(report.findings), IsEmpty());
  EXPECT_THAT(codes_of(report.warnings), Contains("communication_alone"));
  EXPECT_THAT(codes_of(report.warnings), Not(Contains("launches_missing")));
}

// Each rank issued operations and ended them; without "pg_status" and times nothing of that is left.
TEST(Findings, DumpsWithoutTimesHaveTheOrderAloneWhateverElseTheyLack) {
  JobBuilder builder;
  builder.rank(0).trace().device = "cuda";
  builder.rank(1).trace().device = "cuda";
  Job job = builder.build();
  EXPECT_THAT(codes_of(report_of(job).warnings), Contains("no_device_activity"));
  job.dumps = Dumps::all;
  const Report report = report_of(job);
  EXPECT_THAT(codes_of(report.findings), IsEmpty());
  EXPECT_THAT(codes_of(report.warnings), ElementsAre("order_only"));
}

TEST(Findings, ASmallLossIsANote) {
  // Some 22 of 1000 µs a step of three ranks of four: 1.8 % of all.
  const Finding straggler = finding(report_of(straggling_job(12, 2, 22)), "straggler_persistent");
  EXPECT_LT(straggler.lost_share, 0.02);
  EXPECT_EQ(straggler.severity, "note");
  EXPECT_EQ(straggler.cause, Cause::barrier_wait);
}

// Eight ranks, 40 steps, of which two have steps; rank 1 computes for 700 µs, the others for 300.
Report report_where_few_have_steps(Operation operation) {
  JobBuilder job;
  for (int step = 0; step < 40; ++step) {
    const Nanoseconds begin = step * 1000 * us;
    for (std::int32_t rank = 0; rank < 8; ++rank) {
      const Nanoseconds ready = begin + (rank == 1 ? 700 : 300) * us;
      if (rank < 2) job.rank(rank).step(step, begin, begin + 1000 * us);
      job.rank(rank).compute(begin, ready, "layer").launched(begin, begin + 1);
      job.rank(rank).collective(operation, ready, begin + 1000 * us).launched(begin + 2, begin + 3);
      job.rank(rank).bytes(4 << 20);
    }
  }
  AnalysisOptions options;
  options.steady = true;
  return checked_analysis(job.build(), options).report;
}

// Shares are of the windows of the two: what six others wait and transfer was 139 % and 112 % of these.
TEST(Findings, OfRanksWithoutStepsNothingIsLost) {
  const std::string said = "only the time of ranks whose steps are known is counted as lost";
  const Finding straggler =
      finding(report_where_few_have_steps(Operation::all_reduce), "straggler_persistent");
  EXPECT_EQ(straggler.rank, 1);
  EXPECT_EQ(straggler.lost_ns, 40 * 400 * us) << "what rank 0 waits";
  EXPECT_THAT(straggler.evidence, Contains(said));
  const Finding scatter =
      finding(report_where_few_have_steps(Operation::reduce_scatter), "reduce_scatter_exposed");
  EXPECT_EQ(scatter.lost_ns, 2 * 40 * 300 * us);
  EXPECT_THAT(scatter.evidence, Contains(said));
}

TEST(Warnings, SayWhatIsNotKnown) {
  JobBuilder alone;
  alone.rank(0).compute(0, 10).all_reduce(20, 30).unclassified(40, 50);
  EXPECT_THAT(codes_of(report_of(alone).warnings),
              ElementsAre("no_steps", "single_rank", "unclassified", "launches_missing"));
  JobBuilder silent;
  silent.missing(1).rank(0).compute(0, 10);
  EXPECT_THAT(codes_of(report_of(silent).warnings),
              ElementsAre("no_steps", "no_communication", "rank_missing"));
  JobBuilder empty;
  empty.rank(0).sync(0, 10);
  EXPECT_THAT(codes_of(report_of(empty).warnings), Contains("no_device_activity"));
}

// The report calls it communication then, not transfer.
TEST(Warnings, WhereNoWaitsAreKnownNothingIsCalledTransfer) {
  JobBuilder alone;
  alone.rank(0).compute(0, 10).all_reduce(20, 30);
  const Report of_one = report_of(alone);
  for (const Warning& warning : of_one.warnings) EXPECT_THAT(warning.message, Not(HasSubstr("transfer")));
  EXPECT_THAT(of_one.warnings, Contains(testing::Field(&Warning::code, "single_rank")));
  // Two ranks whose operations cannot be one, without and with another that is.
  const auto build = [](bool meet) {
    JobBuilder builder;
    builder.rank(0).all_reduce(0, 9);
    builder.rank(1).all_reduce(11, 20);
    for (std::int32_t rank = 0; meet && rank < 2; ++rank)
      for (Nanoseconds at = 100; at < 300; at += 100) builder.rank(rank).all_reduce(at + rank, at + 20);
    const Report report = report_of(builder);
    std::string text;
    for (const Warning& warning : report.warnings)
      if (warning.code == "records_unmatched") text = warning.message;
    return text;
  };
  EXPECT_EQ(build(false),
            "2 communication records without a counterpart: how much of their time was waiting is not known");
  EXPECT_THAT(build(true), HasSubstr("counts as transfer"));
}

TEST(Warnings, ARootThatNobodyKnows) {
  JobBuilder job;
  for (std::int32_t rank = 0; rank < 2; ++rank) job.rank(rank).collective(Operation::broadcast, rank, 30);
  const Report report = report_of(job);
  EXPECT_THAT(codes_of(report.warnings), Contains("root_unknown"));
  EXPECT_TRUE(report.collectives.at(0).root_unknown);
}

TEST(Warnings, WhatTheImporterSaidIsNotSaidTwice) {
  JobBuilder builder;
  builder.rank(0).compute(0, 10);
  Job job = builder.build();
  job.warnings.push_back({"no_steps", "said before", kNoRank});
  const std::vector<std::string> codes = codes_of(report_of(job).warnings);
  EXPECT_EQ(std::count(codes.begin(), codes.end(), "no_steps"), 1);
}

}  // namespace
}  // namespace lockstep::analyzer
