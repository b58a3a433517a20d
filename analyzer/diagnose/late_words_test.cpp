#include "analyzer/diagnose/late_words.h"

#include <gtest/gtest.h>

namespace lockstep::analyzer {
namespace {

// No operation for itself accounts for what was lost.
std::string words(std::int64_t waited_ns, std::int64_t lost_ns) {
  const Job job;
  const Report report;
  BlameReport blame;
  blame.blame_ns = waited_ns;
  blame.exposed_ns = lost_ns;
  return describe_waiting(report, blame, ScheduledWaits(job, report));
}

// "waited 1.43 s for it … 1.43 s of their time went by" was read as a contradiction.
TEST(LateWords, FiguresThatAreNearlyTheSameAreSaidOnce) {
  EXPECT_EQ(words(1'432'000'000, 1'426'000'000),
            "the others waited 1.43 s for it, and compute hid next to nothing of it");
  EXPECT_EQ(words(2'000'000'000, 1'984'000'000),
            "the others waited 2.00 s for it, and compute hid next to nothing of it")
      << "less than 1 %";
  EXPECT_EQ(words(2'000'000'000, 2'000'000'000),
            "the others waited 2.00 s for it, and compute hid none of it");
  EXPECT_EQ(
      words(2'000'000'000, 1'960'000'000),
      "the others waited 2.00 s for it, operation by operation; often in several at once, or while they "
      "computed or moved data: 1.96 s of their time went by with nothing else to do");
}

}  // namespace
}  // namespace lockstep::analyzer
