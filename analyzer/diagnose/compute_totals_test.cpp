#include "analyzer/diagnose/compute_totals.h"

#include <gtest/gtest.h>

#include "analyzer/diagnose/test_reports.h"
#include "analyzer/lateness/step_table.h"

namespace lockstep::analyzer {
namespace {

// Four steps of 1 ms on three ranks; in each, rank 1 is `more` longer in backward, rank 2 has a name of its
// own.
Job job_of(Nanoseconds more) {
  JobBuilder job;
  for (std::int32_t rank = 0; rank < 3; ++rank) {
    for (int step = 0; step < 4; ++step) {
      const Nanoseconds begin = step * 1000 * us, longer = rank == 1 ? more : 0;
      const auto index = static_cast<std::uint32_t>(step);
      job.rank(rank).step(step, begin, begin + 1000 * us);
      job.rank(rank).compute(begin, begin + 100 * us, "forward").in_step(index);
      job.rank(rank).compute(begin + 100 * us, begin + 300 * us + longer, "backward").in_step(index);
      if (rank == 2) job.rank(rank).compute(begin + 800 * us, begin + 900 * us, "alone").in_step(index);
    }
  }
  return job.build();
}

TEST(ComputeTotals, AreByNameAndTheLongestFirst) {
  const Job job = job_of(50 * us);
  const Report report = report_of(job);
  const std::vector<ComputeExcess> found = computations_by_excess(job, make_step_table(report), 1);
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(job.strings.view(found[0].name), "backward");
  EXPECT_EQ(found[0].own_ns, 250 * us);
  EXPECT_EQ(found[0].others_ns, 200 * us);
  EXPECT_EQ(job.strings.view(found[1].name), "forward");
  EXPECT_EQ(found[1].excess_ns(), 0);
}

TEST(ComputeTotals, OfANameThatOthersDoNotHaveNothingIsSaid) {
  const Job job = job_of(0);
  const Report report = report_of(job);
  for (const ComputeExcess& one : computations_by_excess(job, make_step_table(report), 2))
    EXPECT_NE(job.strings.view(one.name), "alone");
}

}  // namespace
}  // namespace lockstep::analyzer
