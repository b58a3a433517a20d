// Why ranks are early, where the sizes of their kernels tell.
#include "analyzer/diagnose/early_words.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "analyzer/diagnose/test_reports.h"

namespace lockstep::analyzer {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

// Of six ranks on a GPU each the last `early` compute for 700 µs of 1000 and launch so many warps; the others
// launch 1000. All meet at the end of a step.
Finding jitter_of(int early, std::uint32_t warps) {
  JobBuilder builder;
  for (int step = 0; step < 40; ++step) {
    const Nanoseconds begin = step * 1200 * us;
    for (int rank = 0; rank < 6; ++rank) {
      const bool is_early = rank >= 6 - early;
      const Nanoseconds ready = begin + (is_early ? 700 : 1000) * us + (step * 7 + rank * 5) % 11 * us;
      builder.rank(rank).step(step, begin, begin + 1150 * us);
      builder.rank(rank)
          .compute(begin, ready, "gemm")
          .shaped(is_early ? warps : 1000, is_early ? warps : 1000)
          .launched(begin, begin + 1);
      builder.rank(rank).in_step(static_cast<std::uint32_t>(step));
      builder.rank(rank).all_reduce(ready, begin + 1100 * us).launched(begin + 1, begin + 2);
    }
  }
  Job job = builder.build();
  for (RankTrace& rank : job.ranks) rank.device = "cuda:" + std::to_string(rank.rank);
  return finding(report_of(std::move(job)), "jitter");
}

TEST(EarlyWords, SayThatARankHasLessToDo) {
  const Finding found = jitter_of(1, 700);
  EXPECT_THAT(found.title, StartsWith("rank 5 computes for less time than the others in nearly every step"));
  EXPECT_THAT(found.evidence,
              Contains("by the sizes of its kernels, it has 0.70 times as much to compute as the others"));
  EXPECT_THAT(found.remedy, StartsWith("give it as much to do as the others: batches by tokens"));
}

TEST(EarlyWords, SayThatAGpuTakesLessTimeForAsMuch) {
  const Finding found = jitter_of(2, 1000);
  EXPECT_THAT(found.title, StartsWith("ranks 4 and 5 compute for less time than the others"));
  EXPECT_THAT(found.evidence, Contains(HasSubstr("they have 1.00 times as much to compute")));
  EXPECT_THAT(found.remedy, AllOf(StartsWith("each of their GPUs takes less time for as much: compare"),
                                  Not(HasSubstr("less to do"))));
}

TEST(EarlyWords, LeaveOpenWhatIsInPartBoth) {
  const Finding found = jitter_of(1, 850);
  EXPECT_THAT(found.evidence, Contains(HasSubstr("0.85 times as much")));
  EXPECT_THAT(found.remedy, StartsWith("see whether it has less to do"));
}

TEST(EarlyWords, LeaveOpenWhatSizesDoNotTell) {
  const Finding found = jitter_of(1, 0);
  EXPECT_THAT(found.evidence, Not(Contains(HasSubstr("by the sizes"))));
  EXPECT_THAT(found.remedy, HasSubstr("a counter `tokens`"));
}

}  // namespace
}  // namespace lockstep::analyzer
