#include "analyzer/report/shared_time.h"

#include <gtest/gtest.h>

namespace lockstep::analyzer {
namespace {

Finding loss(std::optional<Cause> cause, bool has_core_waits, std::int64_t lost_ns = 100) {
  Finding finding;
  finding.cause = cause;
  finding.has_core_waits = has_core_waits;
  finding.lost_ns = lost_ns;
  return finding;
}

TEST(SharedTime, IsOfTheFirstFindingBeforeWithTheSameCause) {
  Report report;
  report.findings = {loss(Cause::barrier_wait, false), loss(Cause::transfer, false),
                     loss(Cause::transfer, false), loss(Cause::transfer, false)};
  EXPECT_EQ(describe_shared_time(report, report.findings[0]), "");
  EXPECT_EQ(describe_shared_time(report, report.findings[1]), "");
  EXPECT_EQ(describe_shared_time(report, report.findings[2]), "of the same time as finding 2");
  EXPECT_EQ(describe_shared_time(report, report.findings[3]), "of the same time as finding 2");
}

// A late rank that waits for a core in its own time, and the host whose cores are short.
TEST(SharedTime, IsPartlyThatOfShortCores) {
  Report report;
  report.findings = {loss(Cause::barrier_wait, true), loss(std::nullopt, true), loss(Cause::data_wait, true),
                     loss(Cause::host_bound, false)};
  EXPECT_EQ(describe_shared_time(report, report.findings[1]), "partly of the same time as finding 1");
  EXPECT_EQ(describe_shared_time(report, report.findings[2]), "partly of the same time as finding 1");
  EXPECT_EQ(describe_shared_time(report, report.findings[3]), "");
}

// Each wait is for one rank. Of what nobody is accused of, no such thing is known.
TEST(SharedTime, IsNoneOfTwoLateRanks) {
  Report report;
  for (const std::int32_t rank : {3, 7, 7}) {
    report.findings.push_back(loss(Cause::barrier_wait, false));
    report.findings.back().accuses = Accused::rank;
    report.findings.back().rank = rank;
  }
  report.findings.push_back(loss(Cause::barrier_wait, false));
  EXPECT_EQ(describe_shared_time(report, report.findings[1]), "");
  EXPECT_EQ(describe_shared_time(report, report.findings[2]), "of the same time as finding 2");
  EXPECT_EQ(describe_shared_time(report, report.findings[3]), "of the same time as finding 1");
}

// Jitter is what is left of the waiting beside a rank that is named.
TEST(SharedTime, IsNoneOfJitterBesideALateRank) {
  Finding jitter = loss(Cause::barrier_wait, false), late = loss(Cause::barrier_wait, false);
  jitter.topic = Topic::taking_turns;
  late.accuses = Accused::rank;
  late.rank = 1;
  Report report;
  report.findings = {jitter, late, jitter};
  EXPECT_EQ(describe_shared_time(report, report.findings[1]), "");
  report.findings = {late, jitter};
  EXPECT_EQ(describe_shared_time(report, report.findings[1]), "");
}

TEST(SharedTime, IsNoneWhereNothingIsLost) {
  Report report;
  report.findings = {loss(Cause::transfer, false, 0), loss(Cause::transfer, false),
                     loss(Cause::transfer, false, 0), loss(std::nullopt, true), loss(std::nullopt, false)};
  EXPECT_EQ(describe_shared_time(report, report.findings[1]), "");
  EXPECT_EQ(describe_shared_time(report, report.findings[2]), "");
  EXPECT_EQ(describe_shared_time(report, report.findings[4]), "");
}

}  // namespace
}  // namespace lockstep::analyzer
