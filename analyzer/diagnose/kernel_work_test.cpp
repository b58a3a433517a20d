// What ranks have to compute, told by the sizes of their kernels.
#include "analyzer/diagnose/kernel_work.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analyzer/diagnose/job_lateness.h"
#include "analyzer/diagnose/test_reports.h"

namespace lockstep::analyzer {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

constexpr std::uint32_t kSmall = 7, kLarge = 8;

struct Kernel {
  std::uint32_t shape = 0;
  std::int64_t takes_us = 0;
};

// Two ranks on GPUs, one kernel a step: [step][rank].
Job job_of(const std::vector<std::array<Kernel, 2>>& steps) {
  JobBuilder job;
  for (std::size_t step = 0; step < steps.size(); ++step) {
    const auto begin = static_cast<Nanoseconds>(step) * 1000 * us;
    for (std::int32_t rank = 0; rank < 2; ++rank) {
      const Kernel& kernel = steps[step][static_cast<std::size_t>(rank)];
      const Nanoseconds end = begin + kernel.takes_us * us;
      job.rank(rank).step(static_cast<std::int64_t>(step), begin, begin + 900 * us);
      job.rank(rank).compute(begin, end, "gemm").shaped(kernel.shape).launched(begin, begin + 1);
      job.rank(rank).in_step(static_cast<std::uint32_t>(step));
      job.rank(rank).all_reduce(end, begin + 500 * us).launched(begin + 1, begin + 2);
    }
  }
  Job built = job.build();
  for (RankTrace& rank : built.ranks) rank.device = "cuda:0";
  return built;
}

std::optional<StepWork> work_of(const Job& job) {
  const Report report = report_of(job);
  return work_of_kernel_sizes(job, table_of_steps(job, report));
}

TEST(KernelWork, IsWhatOtherRanksTakeForTheSameSizes) {
  // Rank 0 takes 200 and 210 µs for the small kernel and 300 for the large one; rank 1 190, and 320 and 340.
  const auto work = work_of(job_of({{Kernel{kSmall, 200}, {kLarge, 320}},
                                    {Kernel{kLarge, 300}, {kSmall, 190}},
                                    {Kernel{kSmall, 210}, {kLarge, 340}}}));
  ASSERT_TRUE(work.has_value());
  const double small_0 = 205e3, large_0 = 300e3, small_1 = 190e3, large_1 = 330e3;
  EXPECT_EQ(work->amount, (std::vector<double>{small_1, large_0, large_1, small_0, small_1, large_0}));
}

TEST(KernelWork, IsTheSameOnAllRanksWhereSizesAre) {
  std::vector<std::array<Kernel, 2>> steps;
  for (int step = 0; step < 12; ++step)
    steps.push_back({Kernel{kSmall, step % 2 == 0 ? 300 : 200}, {kSmall, step % 2 == 0 ? 200 : 300}});
  EXPECT_FALSE(work_of(job_of(steps)).has_value());
  EXPECT_THAT(codes_of(report_of(job_of(steps)).findings), Not(Contains("uneven_batches")));
}

TEST(KernelWork, IsNotKnownOfSizesThatNoOtherRankLaunched) {
  EXPECT_FALSE(work_of(job_of({{Kernel{1, 200}, {2, 320}}, {Kernel{3, 300}, {4, 190}}})).has_value());
  EXPECT_FALSE(work_of(job_of({{Kernel{0, 200}, {0, 320}}, {Kernel{0, 300}, {0, 190}}})).has_value());
}

TEST(KernelWork, IsNotAskedForOnCpus) {
  Job job = job_of({{Kernel{kSmall, 200}, {kLarge, 300}}, {Kernel{kLarge, 300}, {kSmall, 200}}});
  ASSERT_TRUE(work_of(job).has_value());
  for (RankTrace& rank : job.ranks) rank.device = "cpu";
  EXPECT_FALSE(work_of(job).has_value());
}

TEST(KernelWork, TellsThatBatchesAreUneven) {
  std::vector<std::array<Kernel, 2>> steps;
  for (int step = 0; step < 12; ++step)
    steps.push_back(step % 2 == 0 ? std::array{Kernel{kSmall, 200}, Kernel{kLarge, 300}}
                                  : std::array{Kernel{kLarge, 300}, Kernel{kSmall, 200}});
  const Finding found = finding(report_of(job_of(steps)), "uneven_batches");
  EXPECT_THAT(found.evidence.at(0),
              HasSubstr("what kernels of the same launch size take on other ranks: correlation 1.00"));
  EXPECT_EQ(found.lost_ns, 12 * 100 * us);
}

// A rank that computes longer for more work, and one that is slow at the same work.
TEST(KernelWork, TellsMoreWorkFromASlowRank) {
  for (const bool more : {true, false}) {
    std::vector<std::array<Kernel, 2>> steps;
    for (int step = 0; step < 60; ++step) {
      // Each rank has both sizes now and then, so that each is known.
      const bool swapped = step % 20 == 19;
      const Kernel rank_0{swapped && more ? kLarge : kSmall, swapped && more ? 300 : 200};
      const Kernel rank_1{more && !swapped ? kLarge : kSmall, swapped && more ? 200 : 300};
      steps.push_back({rank_0, rank_1});
    }
    const Report report = report_of(job_of(steps));
    EXPECT_EQ(finding(report, "straggler_persistent").reason, more ? "more_work" : "computes_longer");
  }
}

}  // namespace
}  // namespace lockstep::analyzer
