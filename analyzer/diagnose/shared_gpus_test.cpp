// What is a rank's own of the time that a shared GPU takes.
#include "analyzer/diagnose/shared_gpus.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "analyzer/diagnose/job_lateness.h"
#include "analyzer/diagnose/test_reports.h"

namespace lockstep::analyzer {
namespace {

using testing::Contains;
using testing::Each;
using testing::HasSubstr;
using testing::Not;

constexpr int kSteps = 40;

// Steps of a millisecond, all of it launched in its first microseconds. Rank 0 computes for 100 µs and waits
// in an all-reduce; then rank 1 and those behind it, on the same GPU, compute `layer` for 100 µs, and the
// last of them `gemm` for `more` as well.
Job one_gpu(int ranks, Nanoseconds more) {
  JobBuilder job;
  for (int step = 0; step < kSteps; ++step)
    for (int number = 0; number < ranks; ++number) {
      const Nanoseconds begin = step * 1000 * us, noise = (step * 7 % 5) * us;
      RankBuilder& rank = job.rank(number);
      rank.step(step, begin, begin + 1000 * us).sync(begin + 100 * us, begin + 1000 * us);
      Nanoseconds at = begin + (number == 0 ? 0 : 100 * us) + noise;
      rank.compute(at, at + 100 * us, "layer").launched(begin, begin + us);
      at += 100 * us;
      if (number + 1 == ranks && more > 0) {
        rank.compute(at, at + more, "gemm").launched(begin + us, begin + 2 * us);
        at += more;
      }
      rank.all_reduce(at, begin + 950 * us).launched(begin + 2 * us, begin + 3 * us);
    }
  Job built = job.build();
  for (RankTrace& rank : built.ranks) rank.device_uuid = "GPU-0011";
  return built;
}

std::vector<std::int64_t> of_rank(const std::vector<std::int64_t>& cells, std::size_t rank,
                                  std::size_t ranks) {
  std::vector<std::int64_t> some;
  for (std::size_t i = rank; i < cells.size(); i += ranks) some.push_back(cells[i]);
  return some;
}

std::vector<std::int64_t> computes_beyond(const Job& job, std::size_t rank) {
  const Report report = report_of(job);
  const StepTable table = table_of_steps(job, report);
  return of_rank(shared_gpu_times(job, report, table).computes_beyond, rank, job.ranks.size());
}

TEST(SharedGpus, AtOnceAreTwoOrMore) {
  const std::vector<IntervalSet> busy = {IntervalSet::from({{0, 10}, {20, 30}}), IntervalSet::from({{5, 25}}),
                                         IntervalSet::from({{8, 9}, {25, 28}})};
  EXPECT_EQ(at_once(busy), IntervalSet::from({{5, 10}, {20, 28}}));
  EXPECT_TRUE(at_once({}).empty());
}

TEST(SharedGpus, WhatRunsBesideOthersCountsAsATurn) {
  // Of 700 µs half is its own for certain, less the 100 of the other.
  EXPECT_THAT(computes_beyond(one_gpu(2, 600 * us), 1), Each(250 * us));
  EXPECT_THAT(computes_beyond(one_gpu(2, 600 * us), 0), Each(0));
  EXPECT_THAT(computes_beyond(one_gpu(3, 600 * us), 2), Each(700 * us / 3 - 100 * us));
  // Twice as long as the other is what turns can make of the same work.
  EXPECT_THAT(computes_beyond(one_gpu(2, 100 * us), 1), Each(0));
}

TEST(SharedGpus, WhatRunsAloneIsARanksOwn) {
  Job job = one_gpu(2, 600 * us);
  // Rank 0's all-reduce is not on the GPU before the last 50 µs of that.
  for (Activity& activity : job.ranks[0].activities)
    if (activity.activity_class == Class::collective) activity.begin = activity.end - 200 * us;
  const std::vector<std::int64_t> beyond = computes_beyond(job, 1);
  for (std::size_t step = 0; step < beyond.size(); ++step) {
    const Nanoseconds noise = (static_cast<Nanoseconds>(step) * 7 % 5) * us;
    EXPECT_EQ(beyond[step], (650 - 100 + 25) * us - noise / 2);
  }
}

TEST(SharedGpus, NothingIsKnownWhereNoneShareOne) {
  Job job = one_gpu(2, 600 * us);
  job.ranks[1].device_uuid = "GPU-2233";
  const Report report = report_of(job);
  const SharedGpuTimes times = shared_gpu_times(job, report, table_of_steps(job, report));
  EXPECT_TRUE(times.computes_beyond.empty());
  EXPECT_TRUE(times.waited_for_launches.empty());
}

TEST(SharedGpus, ARankIsLateByWhatItComputesBeyondAllTurns) {
  const Job job = one_gpu(2, 600 * us);
  const Report report = report_of(job);
  EXPECT_THAT(of_rank(table_of_steps(job, report).late_ns, 1, 2), Each(250 * us));
  const Finding straggler = finding(report, "straggler_persistent");
  EXPECT_EQ(straggler.rank, 1);
  EXPECT_EQ(straggler.reason, "other_kernels");
  EXPECT_THAT(straggler.title,
              HasSubstr("rank 1 also runs `gemm`, which the others do not, and computes 600 µs longer"));
}

TEST(SharedGpus, NobodyIsLateByWhatTurnsExplain) {
  const Report report = report_of(one_gpu(2, 100 * us));
  EXPECT_THAT(codes_of(report.findings), Not(Contains("straggler_persistent")));
  EXPECT_THAT(codes_of(report.findings), Contains("gpu_shared"));
}

}  // namespace
}  // namespace lockstep::analyzer
