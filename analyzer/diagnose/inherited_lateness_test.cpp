#include "analyzer/diagnose/inherited_lateness.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analyzer/diagnose/test_reports.h"

namespace lockstep::analyzer {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

// Ten collectives of two ranks that compute equally long. On rank 1 each ends `ends_later` after rank 0's, or
// the rank computes `works_longer`.
JobBuilder job_of(Nanoseconds ends_later, Nanoseconds works_longer) {
  JobBuilder job;
  for (int i = 0; i < 10; ++i) {
    const Nanoseconds begin = i * 1000 * us;
    job.rank(0).compute(begin, begin + 300 * us).all_reduce(begin + 300 * us, begin + 700 * us);
    const Nanoseconds arrival = begin + 300 * us + ends_later + works_longer;
    job.rank(1).compute(begin + ends_later, arrival).all_reduce(arrival, begin + 700 * us + ends_later);
    for (const int rank : {0, 1}) job.rank(rank).step(i, begin + rank * ends_later, begin + 999 * us);
  }
  return job;
}

bool all(const CollectiveReport&) {
  return true;
}

TEST(InheritedLateness, WhoEndedTheOneBeforeLateIsLateByItsLink) {
  const Report report = report_of(job_of(100 * us, 0));
  const InheritedLateness inherited = inherited_lateness(report, 1, all);
  EXPECT_EQ(inherited.collectives, 9);  // all but the first, which has none before it
  EXPECT_EQ(inherited.blame_ns, 9 * 100 * us);
  EXPECT_THAT(codes_of(report.findings), Contains("slow_link_of_rank"));
  for (const std::string& code : codes_of(report.findings)) EXPECT_THAT(code, Not(HasSubstr("straggler")));
}

TEST(InheritedLateness, WhoComputesLongerIsLateByItself) {
  const Report report = report_of(job_of(0, 100 * us));
  EXPECT_EQ(inherited_lateness(report, 1, all).collectives, 0);
  EXPECT_THAT(codes_of(report.findings), Not(Contains("slow_link_of_rank")));
  EXPECT_THAT(codes_of(report.findings), Contains(HasSubstr("straggler")));
}

TEST(InheritedLateness, HalfOfTheLatenessDecides) {
  EXPECT_GT(inherited_lateness(report_of(job_of(60 * us, 60 * us)), 1, all).collectives, 0);
  EXPECT_EQ(inherited_lateness(report_of(job_of(50 * us, 70 * us)), 1, all).collectives, 0);
}

}  // namespace
}  // namespace lockstep::analyzer
