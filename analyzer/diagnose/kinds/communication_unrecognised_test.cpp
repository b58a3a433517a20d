// Jobs of several ranks whose communication is not known as such.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analyzer/diagnose/rendezvous_names.h"
#include "analyzer/diagnose/test_reports.h"
#include "analyzer/report/text.h"
#include "analyzer/steady_view.h"

namespace lockstep::analyzer {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

// Ranks compute for 500 µs and a little (each rank in turn longer), then run `ring` until the last has come.
JobBuilder spinning_job(const std::string& ring, bool ends_together = true) {
  JobBuilder job;
  for (int step = 0; step < 8; ++step) {
    const Nanoseconds begin = step * 830 * us;
    for (std::int32_t rank = 0; rank < 4; ++rank) {
      const Nanoseconds arrives = begin + 500 * us + ((rank + step) % 4) * 100 * us;
      job.rank(rank).step(step, begin, begin + 830 * us);
      job.rank(rank).compute(begin, arrives, "gemm").launched(begin, begin + 1);
      const Nanoseconds leaves = ends_together ? begin + 829 * us + rank : arrives + 30 * us;
      job.rank(rank).compute(arrives, leaves, ring).launched(begin + 2, begin + 3);
    }
  }
  return job;
}

TEST(CommunicationUnrecognised, NamesWhatItMayBeAndTheFlag) {
  const Report report = report_of(spinning_job("void mylib::ring<4>(float*)"));
  const Finding found = finding(report, "communication_unrecognised");
  EXPECT_EQ(found.title, "no communication between the 4 ranks is recognised");
  EXPECT_EQ(found.severity, "medium");
  EXPECT_THAT(found.evidence,
              ElementsAre("it may be void mylib::ring<4>(float*): 8 runs on each rank, 5.73 ms in "
                          "all; begins up to 300 µs apart, ends within 3 ns"));
  EXPECT_THAT(found.remedy, HasSubstr("--communication 'mylib::ring=all_reduce'"));
  const std::string text = to_text(report, {});
  EXPECT_THAT(text, Not(HasSubstr("Nothing was found that costs much")));
  EXPECT_THAT(text, HasSubstr("No communication between the 4 ranks is recognised"));
}

// No kernel behaves so: still nobody may be told that nothing costs much.
TEST(CommunicationUnrecognised, IsSaidWithoutACandidate) {
  const Report report = report_of(spinning_job("other", false));
  const Finding found = finding(report, "communication_unrecognised");
  EXPECT_EQ(found.severity, "low");
  EXPECT_THAT(found.evidence, ElementsAre(HasSubstr("no kernel begins apart and ends together")));
  EXPECT_THAT(to_text(report, {}), Not(HasSubstr("Nothing was found that costs much")));
}

// One all-reduce of 2 µs a step of 1 ms, and nothing that looks like more: implausibly little, and that is
// said. With 10 µs it may be all that there is.
TEST(CommunicationUnrecognised, NextToNoneIsNoAllClear) {
  const auto job_with = [](Nanoseconds all_reduce) {
    JobBuilder job;
    for (std::int32_t rank = 0; rank < 2; ++rank) {
      for (int step = 0; step < 8; ++step) {
        const Nanoseconds begin = step * 1000 * us;
        job.rank(rank).step(step, begin, begin + 1000 * us);
        job.rank(rank).compute(begin, begin + 990 * us, "gemm").launched(begin, begin + 1);
        job.rank(rank).all_reduce(begin + 990 * us, begin + 990 * us + all_reduce).launched(begin, begin + 2);
      }
    }
    return report_of(job);
  };
  const Report little = job_with(2 * us);
  const Finding found = finding(little, "communication_unrecognised");
  EXPECT_EQ(found.title, "next to no communication between the 2 ranks is recognised");
  EXPECT_EQ(found.severity, "low");
  EXPECT_EQ(found.accuses, Accused::nobody);
  EXPECT_THAT(found.evidence.front(), HasSubstr("32.0 µs of 16.0 ms"));
  EXPECT_THAT(to_text(little, {}), Not(HasSubstr("Nothing was found that costs much")));
  EXPECT_THAT(codes_of(job_with(9 * us).findings), Not(Contains("communication_unrecognised")));
}

// Federated averaging: rounds of ten steps on each rank's own; in the last one's step they average, and
// evaluate or save.
Report report_of_rounds(const std::string& name, bool communicates, Nanoseconds barrier = 0) {
  JobBuilder job;
  Nanoseconds begin = 0;
  for (int step = 0; step < 41; ++step) {
    const bool is_last = step % 10 == 9;
    const Nanoseconds end = begin + (is_last ? 3000 * us : 1000 * us) + (step == 0 ? barrier : 0);
    for (std::int32_t rank = 0; rank < 2; ++rank) {
      job.rank(rank).step(step, begin, end);
      job.rank(rank).compute(begin, begin + 990 * us, "gemm").launched(begin, begin + 1);
      if (step == 0 && barrier > 0)
        job.rank(rank)
            .collective(Operation::barrier, begin + 990 * us, begin + 990 * us + barrier)
            .launched(begin + 1, begin + 2);
      if (!is_last) continue;
      job.rank(rank).host_range(begin + 1200 * us, begin + 2900 * us, name);
      if (communicates)
        job.rank(rank).all_reduce(begin + 990 * us, begin + 1190 * us).launched(begin + 2, begin + 3);
    }
    begin = end;
  }
  AnalysisOptions options;
  options.steady = true;
  Report report = checked_analysis(job.build(), options).report;
  EXPECT_TRUE(report.steady);
  keep_steady(report);  // as `lockstep analyze` prints it
  return report;
}

TEST(CommunicationUnrecognised, NotWhereItLiesInTheStepsThatAreLeftOut) {
  for (const char* const name : {"evaluate", "torch.save"}) {
    const Report report = report_of_rounds(name, true);
    EXPECT_THAT(codes_of(report.findings), Not(Contains("communication_unrecognised"))) << name;
    EXPECT_THAT(codes_of(report.warnings), Contains("communication_left_out")) << name;
    const std::string text = to_text(report, {});
    EXPECT_THAT(text, HasSubstr("No communication in the steady steps"));
    EXPECT_THAT(text, Not(HasSubstr("No communication found")));
    EXPECT_THAT(text,
                HasSubstr("ranks communicate for 0 in the steady steps, and for 1.60 ms in steps that are"));
  }
}

// Nor does a barrier at the begin, where one rank starts later, show that communication is known.
TEST(CommunicationUnrecognised, NeitherEvaluationNorABarrierAtTheBeginSettlesIt) {
  for (const Nanoseconds barrier : {Nanoseconds{0}, 500'000 * us}) {
    const Report report = report_of_rounds("evaluate", false, barrier);
    EXPECT_THAT(codes_of(report.findings), Contains("communication_unrecognised")) << barrier;
    EXPECT_THAT(codes_of(report.warnings), Not(Contains("communication_left_out"))) << barrier;
  }
}

TEST(CommunicationUnrecognised, NotWhereItIsKnownNorOfOneRank) {
  EXPECT_THAT(codes_of(report_of(straggling_job(8, 1, 0)).findings),
              Not(Contains("communication_unrecognised")));
  JobBuilder alone;
  alone.rank(0).compute(0, 900 * us).launched(-2, -1);
  EXPECT_THAT(codes_of(report_of(alone).findings), Not(Contains("communication_unrecognised")));
}

TEST(RendezvousNames, NeedAsManyRunsOnEachRank) {
  JobBuilder job = spinning_job("ring");
  EXPECT_EQ(rendezvous_names(job.build()).size(), 1u);
  job.rank(2).compute(9000 * us, 9001 * us, "ring");
  EXPECT_THAT(rendezvous_names(job.build()), IsEmpty());
}

TEST(RendezvousNames, ExpressionsFindTheFunction) {
  EXPECT_EQ(expression_for("void mylib::ring<4>(float*)"), "mylib::ring");
  EXPECT_EQ(expression_for("void (anonymous namespace)::f<4>()"), "f");
  EXPECT_EQ(expression_for("my.kernel[0]"), "my\\.kernel\\[0\\]");
}

}  // namespace
}  // namespace lockstep::analyzer
