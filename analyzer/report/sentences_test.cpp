// Sentences that once misled: what they say now, and where they are not said.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "analyzer/report/sample_reports.h"
#include "analyzer/report/text.h"

namespace lockstep::analyzer {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

TEST(Sentences, OfAMissingRankItIsNotSaidThatAllWaitingIsAmongTheOthers) {
  const std::vector<std::string> verdict = verdict_lines(small_report());
  EXPECT_THAT(verdict,
              Contains(HasSubstr("No trace of rank 3: whether the others wait for it cannot be told; "
                                 "what is said of waiting is of the other ranks alone.")));
  EXPECT_THAT(verdict, Not(Contains(HasSubstr("among the rest"))));
}

TEST(Sentences, OfAJobOfOneRankItIsNotSaidWhoIsWaitedFor) {
  Report report = small_report();
  report.blame.clear();
  ASSERT_THAT(verdict_lines(report), Contains(HasSubstr("No rank is waited for")));
  report.world_size = 1;
  EXPECT_THAT(verdict_lines(report), Not(Contains(HasSubstr("waited for"))));
}

TEST(Sentences, AShareOfAnotherTimeSaysOfWhich) {
  Report report = small_report();
  Finding found;
  found.code = "evaluation_long";
  found.title = "rank 0 evaluates";
  found.lost_ns = 1'000'000;
  found.lost_share = 0.777;
  report.findings = {found};
  EXPECT_THAT(text_of(report, 200), HasSubstr("(77.7 %)"));
  report.findings[0].share = Share::of_training;
  EXPECT_THAT(text_of(report, 200), HasSubstr("(77.7 % of the time between start-up and shutdown)"));
  EXPECT_THAT(text_of(report, 200), Not(HasSubstr("(77.7 %)")));
}

// What lies before the first activity, a process that starts for instance, is left of the ruler's 0.
TEST(Sentences, APlaceBeforeTheFirstActivityHasNoNegativeTime) {
  FindingPlace place;
  place.begin_ns = 2'000'000;
  place.end_ns = 5'000'000;
  EXPECT_EQ(describe(place), "to see: rank 0, from 2.00 ms on for 3.00 ms");
  place.begin_ns = 0;
  EXPECT_EQ(describe(place), "to see: rank 0, from 0 on for 5.00 ms");
  place.begin_ns = -1'000'000;
  EXPECT_EQ(describe(place), "to see: rank 0, from 1.00 ms before the first activity on for 6.00 ms");
}

// The account has the mean of the ranks, less what of a step was start-up: a reader finds two times of
// warm-up.
TEST(Sentences, WhatIsLeftOutSaysThatItIsWholeSteps) {
  Report report = small_report();
  SteadyReport steady;
  steady.steps = {1};
  steady.left_out = {{.first = 0, .last = 0, .reason = "warm-up", .ns = 7'930'000'000}};
  report.steady = steady;
  report.account.ranks.resize(1);
  EXPECT_TRUE(steady_line(report).ends_with("step 0: warm-up, 7.93 s.")) << steady_line(report);
  report.account.ranks.resize(2);
  report.account.spent[Spending::start_up] = 1;
  EXPECT_THAT(
      steady_line(report),
      HasSubstr("step 0: warm-up, 7.93 s. These are lengths of whole steps, on the rank on which they "
                "lasted longest; start-up within them is counted as such above."));
  report.account.spent[Spending::checkpoint] = 1;
  EXPECT_THAT(steady_line(report), HasSubstr("start-up, checkpoint within them are counted as such above."));
}

TEST(Sentences, ThatFilesAreOfAnotherJobComesFirst) {
  Report report = small_report();
  report.warnings.push_back({"another_job", "b/rank-0.lst is of another job", 0});
  EXPECT_THAT(verdict_lines(report).front(),
              testing::StartsWith("What was given is not of one job: b/rank-0.lst is of another job."));
  const std::string text = text_of(report, 200);
  EXPECT_LT(text.find("not of one job"), text.find("where the wall time went"));
}

// Of two ranks, 30 computations under communication and alone.
Report report_with_price(std::int64_t under_ns, std::int64_t alone_ns) {
  Report report = small_report();
  report.efficiency = {};
  for (RankReport& rank : report.ranks) rank.overlap_price.reset();
  for (const std::size_t rank : {0U, 1U}) {
    OverlapPrice price;
    price.activities = 30;
    price.under_ns = under_ns;
    price.alone_ns = alone_ns;
    report.ranks[rank].overlap_price = price;
  }
  return report;
}

TEST(Sentences, ComputeIsNeverSaidToBeFasterUnderCommunication) {
  EXPECT_THAT(
      efficiency_lines(report_with_price(830'000, 1'000'000)),
      ElementsAre("overlap's price: none to be seen; compute under communication takes no longer than "
                  "alone (60 computations)"));
  EXPECT_THAT(
      efficiency_lines(report_with_price(1'200'000, 1'000'000)),
      ElementsAre("overlap's price: compute under communication takes 1.20 times as long as alone: 400 "
                  "µs (60 computations; most on rank 0: 1.20)"));
}

TEST(Sentences, WithoutCommunicationThereIsNoEfficiencyOfIt) {
  Report report = small_report();
  report.efficiency.load_balance = 0.9;
  report.efficiency.communication = 0.5;
  report.efficiency.parallel = 0.45;
  EXPECT_THAT(efficiency_lines(report),
              Contains("parallel efficiency 45.0 % = load balance 90.0 % × communication 50.0 % (POP)"));
  for (RankReport& rank : report.ranks) rank.measures.communication_ns = 0;
  EXPECT_THAT(efficiency_lines(report), Not(Contains(HasSubstr("POP"))));
}

Finding alarm(Alarm kind, const std::string& title) {
  Finding finding;
  finding.alarm = kind;
  finding.title = title;
  finding.severity = "high";
  return finding;
}

TEST(Sentences, AVerdictBeginsWithWhatMadeTheJobHang) {
  Report report = small_report();
  const Finding device = alarm(Alarm::device, "the device of rank 1 stands still");
  const Finding hang = alarm(Alarm::hang, "the job hung in all_reduce: rank 1 never came");
  const Finding mismatch = alarm(Alarm::mismatch, "ranks disagree about an operation that they do together");
  report.findings = {mismatch, device, hang};
  std::vector<std::string> verdict = verdict_lines(report);
  ASSERT_GE(verdict.size(), 3U);
  EXPECT_THAT(verdict[0], HasSubstr("Ranks disagree about an operation that they do together."));
  EXPECT_THAT(verdict[1], HasSubstr("The device of rank 1 stands still."));
  EXPECT_THAT(verdict[2], HasSubstr("The job hung in all_reduce: rank 1 never came."));
  report.findings = {hang, mismatch};  // not why it hung
  verdict = verdict_lines(report);
  EXPECT_THAT(verdict[0], HasSubstr("The job hung"));
  EXPECT_THAT(verdict, Not(Contains(HasSubstr("Ranks disagree"))));
  report.findings = {mismatch};  // and nothing ended
  EXPECT_THAT(verdict_lines(report), Not(Contains(HasSubstr("Ranks disagree"))));
}

// At work, it ended where somebody wanted it to; where ranks waited for another one, that comes first.
TEST(Sentences, AVerdictBeginsWithTheWaitInWhichSomebodyEndedTheJob) {
  Report report = small_report();
  Finding interrupted = alarm(Alarm::none, "the job was interrupted while rank 0 was at work");
  interrupted.code = "job_interrupted";
  interrupted.topic = Topic::interrupted;
  interrupted.severity = "note";
  report.findings = {interrupted};
  EXPECT_THAT(verdict_lines(report), Not(Contains(HasSubstr("The job was interrupted"))));
  report.findings.front().standings.push_back({{1}, true, "all_reduce"});
  EXPECT_THAT(verdict_lines(report)[0], HasSubstr("The job was interrupted while rank 0 was at work."));
}

// Dumps of flight recorders hold times to a tenth of a second, and all-reduces of a millisecond.
TEST(Sentences, OfTimesTooCoarseItIsNotSaidHowMuchIsWaiting) {
  Report report = small_report();
  ASSERT_THAT(verdict_lines(report), Contains(HasSubstr("of communication is waiting (58.3 %)")));
  report.waits_blurred_ns = 100'000'000;
  EXPECT_THAT(
      verdict_lines(report),
      Contains(HasSubstr("12.0 ms of communication; how much of it is waiting can't be told: times are "
                         "known to ±100 ms.")));
  EXPECT_THAT(verdict_lines(report), Not(Contains(HasSubstr("moves data"))));
}

TEST(Sentences, WaitsAreBlurredWhereOperationsAreShorterThanTimesAreKnown) {
  std::vector<CollectiveReport> collectives = small_report().collectives;
  EXPECT_EQ(blur_of_waits(collectives, 1), 0);
  EXPECT_EQ(blur_of_waits(collectives, 1'000), 0);
  EXPECT_EQ(blur_of_waits(collectives, 100'000'000), 100'000'000);
  EXPECT_EQ(blur_of_waits({}, 100'000'000), 0);
  // One rank is waited for so long that nearly all of the time is waiting, however long its end is.
  collectives[0].ranks[0].wait_ns = 10'000'000'000;
  collectives[0].ranks[0].end_ns = collectives[0].ranks[0].arrival_ns + 10'001'000'000;
  EXPECT_EQ(blur_of_waits(collectives, 100'000'000), 0);
  collectives[0].unfinished = true;
  EXPECT_EQ(blur_of_waits(collectives, 100'000'000), 100'000'000);
}

// It knows of no compute: neither that all is well, nor what compute hides.
TEST(Sentences, DumpsOfFlightRecordersEndInNoAllClear) {
  Report report = small_report();
  report.findings.clear();
  const std::string whole = text_of(report, 200);
  EXPECT_THAT(whole, HasSubstr("Nothing was found that costs much"));
  EXPECT_THAT(whole, HasSubstr("Ranks compute for"));
  EXPECT_THAT(whole, HasSubstr("Compute hides"));
  report.sources = {"flight recorder"};
  report.dumps = Dumps::all;
  const std::string of_dumps = text_of(report, 200);
  EXPECT_THAT(of_dumps, HasSubstr("Flight recorders tell of communication alone: what ranks computed beside "
                                  "it, and what costs their time, is not known."));
  EXPECT_THAT(of_dumps, Not(HasSubstr("Nothing was found that costs much")));
  EXPECT_THAT(of_dumps, Not(HasSubstr("Ranks compute for")));
  EXPECT_THAT(of_dumps, Not(HasSubstr("Compute hides")));
}

}  // namespace
}  // namespace lockstep::analyzer
