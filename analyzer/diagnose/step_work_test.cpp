// What ranks had to do, beside how long they did it.
#include "analyzer/diagnose/step_work.h"

#include <gtest/gtest.h>

#include "analyzer/diagnose/cell_statistics.h"
#include "analyzer/diagnose/job_lateness.h"
#include "analyzer/diagnose/test_reports.h"

namespace lockstep::analyzer {
namespace {

// Two ranks, four steps; in each a rank launches so many kernels.
JobBuilder job_of_kernels(const std::vector<std::vector<int>>& counts) {
  JobBuilder job;
  for (std::size_t step = 0; step < counts.size(); ++step) {
    const auto begin = static_cast<Nanoseconds>(step) * 1000 * us;
    for (std::int32_t rank = 0; rank < 2; ++rank) {
      job.rank(rank).step(static_cast<std::int64_t>(step), begin, begin + 900 * us);
      const int count = counts[step][static_cast<std::size_t>(rank)];
      for (int i = 0; i < count; ++i)
        job.rank(rank)
            .compute(begin + i * 10 * us, begin + (i + 1) * 10 * us)
            .launched(begin + i, begin + i + 1)
            .in_step(static_cast<std::uint32_t>(step));
      job.rank(rank).all_reduce(begin + count * 10 * us, begin + 200 * us).launched(begin + 100, begin + 101);
    }
  }
  return job;
}

std::optional<StepWork> work_of(const Job& job, const StepTable& table) {
  return work_of_steps(job, table, KernelWork::read(job, table, KernelMeasure::launch_size));
}

TEST(StepWork, OnGpusIsTheNumberOfKernels) {
  Job job = job_of_kernels({{3, 5}, {4, 2}, {3, 3}, {6, 3}}).build();
  for (RankTrace& rank : job.ranks) rank.device = "cuda:0";
  const Report report = report_of(job);
  const StepTable table = table_of_steps(job, report);
  const auto work = work_of(job, table);
  ASSERT_TRUE(work.has_value());
  EXPECT_EQ(work->amount, (std::vector<double>{3, 5, 4, 2, 3, 3, 6, 3}));
  EXPECT_NEAR(correlation_in_turn(table, work->amount, compute_of_steps(table)).of_values, 1, 1e-12);
}

// A CPU's computation comes in more pieces where it is interrupted; equal amounts say nothing.
TEST(StepWork, IsNotKnownOfPiecesOnCpusOrOfEqualAmounts) {
  Job job = job_of_kernels({{3, 5}, {4, 2}}).build();
  for (RankTrace& rank : job.ranks) rank.device = "cpu";
  const Report report = report_of(job);
  EXPECT_FALSE(work_of(job, table_of_steps(job, report)).has_value());
  Job equal = job_of_kernels({{3, 3}, {3, 3}}).build();
  for (RankTrace& rank : equal.ranks) rank.device = "cuda:0";
  const Report of_equal = report_of(equal);
  EXPECT_FALSE(work_of(equal, table_of_steps(equal, of_equal)).has_value());
}

// A few kernels more in one step of four are no batches.
TEST(StepWork, IsNotKnownOfKernelsThatDifferInFewSteps) {
  Job job = job_of_kernels({{3, 3}, {3, 3}, {9, 3}, {3, 3}}).build();
  for (RankTrace& rank : job.ranks) rank.device = "cuda:0";
  const Report report = report_of(job);
  EXPECT_FALSE(work_of(job, table_of_steps(job, report)).has_value());
}

TEST(StepWork, IsWhatACounterSaysInItsStep) {
  Job job = job_of_kernels({{3, 3}, {3, 3}}).build();
  for (RankTrace& rank : job.ranks)
    rank.counters.push_back({"tokens", {{500 * us, 10.0 + rank.rank}, {1500 * us, 20.0}, {1950 * us, 99.0}}});
  const Report report = report_of(job);
  const auto work = work_of(job, table_of_steps(job, report));
  ASSERT_TRUE(work.has_value());
  EXPECT_EQ(work->what, "the counter `tokens`");
  EXPECT_EQ(work->amount, (std::vector<double>{10, 11, 20, 20}));  // the last point lies behind the last step
}

}  // namespace
}  // namespace lockstep::analyzer
