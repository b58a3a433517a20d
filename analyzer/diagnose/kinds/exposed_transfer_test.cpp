// Transfer that nothing hides, within hosts and between them, and what may be waiting instead.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "analyzer/diagnose/test_reports.h"

namespace lockstep::analyzer {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

// Two ranks compute and reduce in turn, and all the reducing is moving data: hidden in part, so that no rule
// about overlap speaks.
TEST(Findings, AGreatLossIsNeverWithoutAWord) {
  JobBuilder job;
  for (std::int32_t rank = 0; rank < 2; ++rank) {
    job.rank(rank).compute(0, 500 * us).launched(-2, -1).all_reduce(400 * us, 900 * us).launched(1, 2);
  }
  const Finding transfer = finding(report_of(job), "exposed_transfer");
  EXPECT_EQ(transfer.lost_ns, 2 * 400 * us);
  EXPECT_THAT(transfer.evidence, Contains(HasSubstr("transfer of all_reduce: 1.00 ms in 1 operation")));
  EXPECT_THAT(transfer.remedy, HasSubstr("all_reduce_perf"));
}

// Gradients are spoken of where they may be what moves.
TEST(Findings, WhatWouldMoveLessFollowsWhatMoves) {
  enum class What { gradients, activations, inference, messages };
  const auto remedy_of = [](What what) {
    JobBuilder job;
    const std::uint32_t group = job.group(what == What::activations ? "mesh_tp" : "default_pg", {0, 1});
    for (std::int32_t rank = 0; rank < 2; ++rank) {
      if (what == What::inference) job.rank(rank).host_range(0, 500 * us, "forward of Net");
      job.rank(rank).compute(0, 500 * us).launched(-2, -1);
      if (what != What::messages)
        job.rank(rank).all_reduce(400 * us, 900 * us);
      else if (rank == 0)
        job.rank(rank).send(1, 400 * us, 900 * us);
      else
        job.rank(rank).recv(0, 400 * us, 900 * us);
      job.rank(rank).launched(1, 2).in_group(group);
    }
    return finding(report_of(job), "exposed_transfer").remedy;
  };
  EXPECT_THAT(remedy_of(What::gradients),
              HasSubstr("move less (gradient accumulation, gradients in bfloat16)"));
  EXPECT_THAT(remedy_of(What::gradients), HasSubstr("bucket_cap_mb"));
  const std::string of_activations = remedy_of(What::activations);
  EXPECT_THAT(of_activations,
              HasSubstr("move less (activations in bfloat16, fewer ranks in a group of tensor"));
  EXPECT_THAT(of_activations, HasSubstr("--tp-comm-overlap"));
  EXPECT_THAT(of_activations, Not(HasSubstr("gradient")));
  EXPECT_THAT(remedy_of(What::inference), HasSubstr("move less (send it in bfloat16, or less often)"));
  EXPECT_THAT(remedy_of(What::messages), HasSubstr("move less (send it in bfloat16, or less often)"));
}

// Seen: metrics gathered as objects of 100 bytes, and BatchNorm's statistics broadcast, were advised as
// gradients are.
TEST(Findings, MessagesThatAreNoGradientsAreNotAdvisedAsThese) {
  const auto remedy_of = [](Operation operation, std::int64_t bytes) {
    JobBuilder job;
    for (std::int32_t rank = 0; rank < 2; ++rank) {
      job.rank(rank).compute(0, 500 * us).launched(-2, -1);
      job.rank(rank).collective(operation, 400 * us, 900 * us).bytes(bytes).launched(1, 2);
    }
    return finding(report_of(job), "exposed_transfer").remedy;
  };
  EXPECT_THAT(remedy_of(Operation::all_gather, 100), HasSubstr("(metrics gathered once in so many steps)"));
  EXPECT_THAT(remedy_of(Operation::broadcast, 128), HasSubstr("(DDP(broadcast_buffers=False)"));
  EXPECT_THAT(remedy_of(Operation::all_reduce, 2400), HasSubstr("(less often, or several in one operation)"));
  EXPECT_THAT(remedy_of(Operation::broadcast, 1 << 20), HasSubstr("parameters in bfloat16"));
  EXPECT_THAT(remedy_of(Operation::all_reduce, 1 << 20), HasSubstr("gradients in bfloat16"));
}

// Seen of a loop that logs by many reductions of 4 bytes: these were what its report spoke of, and gradients
// took most of the time.
TEST(Findings, ManySmallOperationsSayNothingOfTheFewThatTakeTheTime) {
  JobBuilder job;
  for (std::int32_t rank = 0; rank < 2; ++rank) {
    job.rank(rank).compute(0, 500 * us).launched(-2, -1);
    for (int i = 0; i < 9; ++i)
      job.rank(rank)
          .all_reduce((500 + 10 * i) * us, (510 + 10 * i) * us)
          .bytes(4)
          .launched((1 + i) * us, (2 + i) * us);
    job.rank(rank).all_reduce(600 * us, 1600 * us).bytes(1'000'000).launched(20 * us, 21 * us);
  }
  const Finding transfer = finding(report_of(job), "exposed_transfer");
  EXPECT_THAT(transfer.evidence, Contains(HasSubstr("median wire busbw, by bytes, 1.00 GB/s")));
  EXPECT_THAT(transfer.remedy, HasSubstr("gradients in bfloat16"));
}

// Seen of an inference server: "data moves while nothing is computed" stood where no wrapper names a pass.
TEST(Findings, WhereNoComputationIsKnownNobodySaysThatNoneWas) {
  JobBuilder job;
  for (std::int32_t rank = 0; rank < 2; ++rank) {
    RankTrace& trace = job.rank(rank).trace();
    trace.device = "cpu";
    trace.host = "a";
    job.rank(rank)
        .compute(0, us)
        .launched(-2, -1)
        .all_reduce(400 * us, 900 * us)
        .bytes(1 << 20)
        .launched(1, 2);
  }
  EXPECT_EQ(finding(report_of(job), "exposed_transfer").title,
            "data moves; of what is computed beside it the trace knows hardly anything");
}

// Two ranks on two hosts compute for 1 ms and reduce for 1 ms, a fifth of it hidden, so many times; so many
// bytes each in the first half of the run, and in the second.
Report between_hosts(int times, std::int64_t bytes, std::int64_t bytes_later) {
  JobBuilder job;
  for (std::int32_t rank = 0; rank < 2; ++rank) {
    job.rank(rank).trace().host = rank == 0 ? "alpha" : "beta";
    for (int k = 0; k < times; ++k) {
      const Nanoseconds begin = k * 2000 * us;
      job.rank(rank).compute(begin, begin + 1000 * us).launched(begin - 2, begin - 1);
      job.rank(rank).all_reduce(begin + 800 * us, begin + 1800 * us).launched(begin + 1, begin + 2);
      job.rank(rank).bytes(2 * k < times ? bytes : bytes_later);
    }
  }
  return report_of(job);
}

// 80 kB each way in 1 ms, of which a ring of two sends half twice.
TEST(Findings, TransferBetweenHostsNamesThemAndWhatTheirLinksCarry) {
  const Report report = between_hosts(8, 80'000, 80'000);
  EXPECT_THAT(codes_of(report.findings), Not(Contains("exposed_transfer")));
  const Finding link = finding(report, "slow_link");
  EXPECT_EQ(link.lost_ns, 8 * 2 * 800 * us);
  EXPECT_THAT(
      link.evidence,
      Contains(HasSubstr("between hosts alpha, beta: each rank's link carries 80.0 MB/s (640 Mbit/s)")));
  EXPECT_THAT(link.remedy, HasSubstr("HYBRID_SHARD"));
}

// A gigabyte a second may be all that the link can do. The rate of small operations is that of latency; seven
// are few, and a link that was slow for half of the run may have been busy.
TEST(Findings, ALinkBetweenHostsIsAccusedByLargeOperationsAllTheTime) {
  for (const Report& report : {between_hosts(8, 1'000'000, 1'000'000), between_hosts(8, 60'000, 60'000),
                               between_hosts(7, 80'000, 80'000), between_hosts(8, 80'000, 1'000'000)}) {
    EXPECT_THAT(codes_of(report.findings), Not(Contains("slow_link")));
    const Finding transfer = finding(report, "exposed_transfer");
    EXPECT_NE(transfer.accuses, Accused::link);
    EXPECT_THAT(transfer.remedy, HasSubstr("HYBRID_SHARD"));
  }
  EXPECT_THAT(finding(between_hosts(8, 1'000'000, 1'000'000), "exposed_transfer").evidence,
              Contains(HasSubstr("each rank's link carries 1.00 GB/s")));
}

// Seen of a program that reduces each parameter's gradient by itself.
TEST(Findings, ManySmallOperationsAreToBePutTogether) {
  const auto remedy = [](int each_step, std::int64_t bytes) {
    JobBuilder job;
    for (std::int32_t rank = 0; rank < 2; ++rank) {
      job.rank(rank).trace().host = "alpha";
      job.rank(rank).trace().device = "cpu";
      for (int step = 0; step < 4; ++step) {
        const Nanoseconds begin = step * 1000 * us, each = 800 * us / each_step;
        job.rank(rank).step(step, begin, begin + 1000 * us);
        job.rank(rank).compute(begin, begin + 200 * us).launched(begin, begin + 1);
        for (int i = 0; i < each_step; ++i)
          job.rank(rank)
              .all_reduce(begin + 200 * us + i * each, begin + 200 * us + (i + 1) * each)
              .launched(begin + 2, begin + 3)
              .bytes(bytes);
      }
    }
    return finding(report_of(job), "exposed_transfer").remedy;
  };
  EXPECT_THAT(remedy(20, 5'000), testing::StartsWith("put operations together (one of a flat tensor, DDP's "
                                                     "buckets): 20 all_reduces a step carry 5.00 kB"));
  EXPECT_THAT(remedy(20, 5'000'000), Not(HasSubstr("put operations together"))) << "they are large";
  EXPECT_THAT(remedy(4, 5'000), Not(HasSubstr("put operations together"))) << "they are few";
}

// Links, and what measures them, are for several hosts.
TEST(Findings, TransferOnTheCpuWithinOneHostHasNoAdviceAboutLinks) {
  const auto remedy = [](const std::string& other_host) {
    JobBuilder job;
    for (std::int32_t rank = 0; rank < 2; ++rank) {
      job.rank(rank).trace().host = rank == 0 ? "alpha" : other_host;
      job.rank(rank).trace().device = "cpu";
      job.rank(rank).compute(0, 500 * us).launched(-2, -1);
      job.rank(rank).all_reduce(400 * us, 900 * us).launched(1, 2).bytes(1'000'000);
    }
    return finding(report_of(job), "exposed_transfer").remedy;
  };
  EXPECT_THAT(remedy("alpha"), HasSubstr("fewer, larger operations"));
  EXPECT_THAT(remedy("alpha"), Not(HasSubstr("iperf3")));
  EXPECT_THAT(remedy("beta"), HasSubstr("iperf3"));
}

TEST(Findings, TransferThatMayBeWaitingIsNotCalledTransfer) {
  JobBuilder job;
  job.missing(1);
  job.rank(0).compute(0, 500 * us).launched(-2, -1).all_reduce(400 * us, 900 * us).launched(1, 2);
  EXPECT_THAT(codes_of(report_of(job).findings), testing::ElementsAre("exposed_communication"));
}

// All ranks are there, and one left fewer steps.
TEST(Findings, ARankWithFewerStepsIsNotCalledMissing) {
  JobBuilder job;
  for (std::int32_t rank = 0; rank < 3; ++rank) {
    for (int step = 0; step < (rank == 2 ? 4 : 20); ++step) {
      const Nanoseconds begin = step * 1000 * us;
      job.rank(rank).step(step, begin, begin + 1000 * us);
      job.rank(rank).compute(begin, begin + 600 * us).launched(begin, begin + 1);
      job.rank(rank).all_reduce(begin + 600 * us, begin + 1000 * us).launched(begin + 2, begin + 3);
    }
  }
  const Finding exposed = finding(report_of(job), "exposed_communication");
  EXPECT_THAT(exposed.remedy, HasSubstr("see why rank 2 left fewer steps than the others"));
}

// All ranks are there: nobody is asked to record them.
TEST(Findings, RanksThatDoNotMatchAreNotCalledMissing) {
  JobBuilder job;
  const auto dp = job.group("dp", {0, 1});
  for (std::int32_t rank = 0; rank < 2; ++rank) {
    for (int k = 0; k < 4; ++k)
      job.rank(rank).all_reduce(k * 100 * us, (k * 100 + 90) * us).in_group(dp).bytes(100 + rank + k);
  }
  const Finding exposed = finding(report_of(job), "exposed_communication");
  EXPECT_THAT(exposed.title, testing::HasSubstr("do not match"));
  EXPECT_THAT(exposed.remedy, testing::Not(testing::HasSubstr("record all ranks")));
}

}  // namespace
}  // namespace lockstep::analyzer
