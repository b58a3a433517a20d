// Kernels' sizes say how much ranks are given to compute; no slow GPU is taken for more work.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analyzer/test_analysis.h"
#include "tests/accuracy/kernel_jobs/cases.h"
#include "tests/accuracy/kernel_jobs/count.h"
#include "tests/accuracy/kernel_jobs/job.h"

namespace lockstep::accuracy {
namespace {

TEST(Work, IsSaidAsItIsPlantedAndNowhereElse) {
  const Result<std::vector<WorkResult>> results = count_work(3, 1, analyzer::expect_invariants);
  ASSERT_TRUE(results.ok()) << results.error().message;
  for (const WorkResult& result : results.value()) {
    EXPECT_EQ(result.false_work, 0) << result.planted.what;
    EXPECT_EQ(result.wrongly_accused, 0) << result.planted.what;
    // Of a pair that is late together one alone may be named; of many ranks one that has less costs little.
    const bool costs_little = result.planted.work == Work::less && result.planted.ranks > 4;
    if (result.planted.work != Work::uneven && result.planted.late < 2 && !costs_little) {
      EXPECT_EQ(result.right, result.jobs) << result.planted.what << ", " << result.planted.ranks << " ranks";
    }
  }
}

TEST(Work, RowsAreToldApart) {
  std::set<std::pair<std::string_view, std::int32_t>> rows;
  for (const WorkCase& planted : work_cases())
    EXPECT_TRUE(rows.emplace(planted.what, planted.ranks).second) << planted.what;
}

analyzer::Finding late_rank(std::int32_t rank, const char* reason) {
  analyzer::Finding finding;
  finding.code = "straggler_persistent";
  finding.accuses = analyzer::Accused::rank;
  finding.rank = rank;
  finding.reason = reason;
  return finding;
}

analyzer::Report report_with(std::vector<analyzer::Finding> findings) {
  analyzer::Report report;
  report.findings = std::move(findings);
  return report;
}

TEST(WorkVerdict, IsRightOnlyAboutAllThatIsPlanted) {
  analyzer::Finding uneven;
  uneven.code = "uneven_batches";
  const WorkCase more{.what = "", .work = Work::more, .ranks = 4, .late = 1};
  const WorkCase slow{.what = "", .work = Work::even, .ranks = 4, .late = 1};
  const WorkCase turns{.what = "", .work = Work::uneven, .ranks = 4, .late = 0};
  EXPECT_TRUE(judge_work(report_with({late_rank(3, "more_work")}), more).is_right);
  EXPECT_FALSE(judge_work(report_with({late_rank(3, "computes_longer")}), more).is_right);
  EXPECT_FALSE(judge_work(report_with({late_rank(3, "computes_longer")}), more).false_work);
  EXPECT_TRUE(judge_work(report_with({late_rank(3, "computes_longer")}), slow).is_right);
  EXPECT_TRUE(judge_work(report_with({late_rank(3, "more_work")}), slow).false_work);
  EXPECT_TRUE(judge_work(report_with({late_rank(3, "clocks_lower"), uneven}), slow).false_work);
  EXPECT_TRUE(judge_work(report_with({late_rank(1, "computes_longer")}), slow).wrongly_accused);
  EXPECT_TRUE(judge_work(report_with({late_rank(1, "more_work")}), more).false_work);
  EXPECT_TRUE(judge_work(report_with({uneven}), turns).is_right);
  EXPECT_FALSE(judge_work(report_with({}), turns).is_right);
  EXPECT_FALSE(judge_work(report_with({}), slow).is_right);

  const WorkCase both{.what = "", .work = Work::uneven, .ranks = 4, .late = 1};
  EXPECT_FALSE(judge_work(report_with({uneven}), both).is_right);
  uneven.evidence = {"rank 3 also takes 1.20 times as long as the others for as much work"};
  EXPECT_TRUE(judge_work(report_with({uneven}), both).is_right);
  EXPECT_TRUE(judge_work(report_with({uneven}), turns).wrongly_accused);
}

analyzer::Finding early_rank(std::int32_t rank, const char* remedy) {
  analyzer::Finding finding;
  finding.code = "jitter";
  finding.title = "rank " + std::to_string(rank) + " computes for less time than the others";
  finding.remedy = remedy;
  return finding;
}

TEST(WorkVerdict, OfARankThatIsEarlyAsksWhy) {
  const WorkCase less{.what = "", .work = Work::less, .ranks = 4, .is_early = true};
  const WorkCase faster{.what = "", .work = Work::even, .ranks = 4, .is_early = true};
  const WorkCase nothing{.what = "", .work = Work::even, .ranks = 4};
  constexpr const char *kLess = "give it as much to do as the others",
                       *kOpen = "see whether it has less to do";
  EXPECT_TRUE(judge_work(report_with({early_rank(3, kLess)}), less).is_right);
  EXPECT_FALSE(judge_work(report_with({early_rank(3, kOpen)}), less).is_right);
  EXPECT_FALSE(judge_work(report_with({early_rank(3, kOpen)}), less).false_work);
  EXPECT_TRUE(judge_work(report_with({early_rank(2, kLess)}), less).false_work);
  EXPECT_TRUE(judge_work(report_with({early_rank(3, kOpen)}), faster).is_right);
  EXPECT_TRUE(judge_work(report_with({early_rank(3, kLess)}), faster).false_work);
  EXPECT_TRUE(judge_work(report_with({early_rank(3, kOpen)}), nothing).false_work);
}

TEST(WorkVerdict, OfKernelsBesidesAsksForThatReason) {
  const WorkCase besides{.what = "", .work = Work::besides, .ranks = 4, .late = 1};
  const WorkCase slow{.what = "", .work = Work::even, .ranks = 4, .late = 1};
  EXPECT_TRUE(judge_work(report_with({late_rank(3, "other_kernels")}), besides).is_right);
  EXPECT_FALSE(judge_work(report_with({late_rank(3, "computes_longer")}), besides).is_right);
  EXPECT_TRUE(judge_work(report_with({late_rank(3, "more_work")}), besides).false_work);
  EXPECT_TRUE(judge_work(report_with({late_rank(3, "other_kernels")}), slow).false_work);
}

// As large as its batch, one kernel after the other, all ranks out of the reduction at once.
TEST(KernelJobs, AreWhatTheyAreSaidToBe) {
  Random random(5);
  const JobShape shape{.ranks = 4, .steps = 3, .layers = 2, .tensor_parallel = 2};
  const analyzer::Job job = simulate_kernels(
      random, shape, [](int rank, int, int) { return layer(rank == 3 ? 2 * kTokens : kTokens); });
  ASSERT_EQ(job.ranks.size(), 4u);
  EXPECT_EQ(job.groups.size(), 4u);
  for (const analyzer::RankTrace& rank : job.ranks) {
    EXPECT_EQ(rank.steps.size(), 3u);
    // Layers of four kernels and a reduction; a reduction and the optimizer.
    ASSERT_EQ(rank.activities.size(), 3u * (2 * 5 + 2));
    for (std::size_t row = 1; row < rank.activities.size(); ++row)
      EXPECT_GE(rank.activities[row].begin, rank.activities[row - 1].end);
    EXPECT_EQ(rank.activities.front().warps, rank.rank == 3 ? 8192u : 4096u);
    EXPECT_EQ(rank.activities[10].end, job.ranks[(rank.rank + 2) % 4].activities[10].end);
  }
}

}  // namespace
}  // namespace lockstep::accuracy
