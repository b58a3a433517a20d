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

// `steps` steps of 1000 µs: gemm, `name` (which spins until the last rank has come, if it ends together), and
// an all-reduce of 50 µs.
JobBuilder job_beside_known(const std::string& name, bool ends_together, bool beside = false) {
  JobBuilder job;
  for (int step = 0; step < 12; ++step) {
    const Nanoseconds begin = step * 1000 * us;
    for (std::int32_t rank = 0; rank < 4; ++rank) {
      const Nanoseconds arrives = begin + 400 * us + ((rank + step) % 4) * 100 * us;
      const Nanoseconds leaves = ends_together ? begin + 800 * us + rank : arrives + 100 * us;
      job.rank(rank).step(step, begin, begin + 990 * us);
      job.rank(rank).compute(begin, arrives, "gemm").launched(begin, begin + 1);
      job.rank(rank).compute(arrives, leaves, name).launched(begin + 2, begin + 3);
      job.rank(rank)
          .all_reduce(beside ? arrives : begin + 850 * us, begin + (beside ? 790 : 900) * us)
          .launched(begin + 4, begin + 5);
    }
  }
  return job;
}

TEST(CommunicationUnrecognised, IsSaidBesideKnownCommunication) {
  const Report report = report_of(job_beside_known("void my_ring<float>(float*)", true));
  const Finding found = finding(report, "communication_unrecognised");
  EXPECT_EQ(found.title, "kernels that may communicate are not counted as communication");
  EXPECT_EQ(found.severity, "low");
  EXPECT_EQ(found.accuses, Accused::nobody);
  EXPECT_THAT(found.evidence, ElementsAre(HasSubstr("it may be void my_ring<float>(float*): 12 runs")));
  EXPECT_THAT(found.remedy, HasSubstr("--communication 'my_ring=all_reduce'"));
  EXPECT_THAT(to_text(report, {}), Not(HasSubstr("Nothing was found that costs much")));
}

// Kernels of one length end as far apart as they begin; those beside an all-reduce may wait for
// multiprocessors until it ends; and where ranks share a GPU, kernels end together for that.
TEST(CommunicationUnrecognised, HealthyKernelsBesideKnownCommunicationAreNotNamed) {
  EXPECT_THAT(codes_of(report_of(job_beside_known("norm", false)).findings),
              Not(Contains("communication_unrecognised")));
  EXPECT_THAT(codes_of(report_of(job_beside_known("gemm_behind", true, true)).findings),
              Not(Contains("communication_unrecognised")));
  Job shared = job_beside_known("norm", true).build();
  for (RankTrace& rank : shared.ranks) {
    rank.host = "a";
    rank.device_uuid = "GPU-0";
  }
  EXPECT_THAT(rendezvous_beside_known(shared, 1), IsEmpty());
  Job unrelated = job_beside_known("norm", true).build();
  EXPECT_EQ(rendezvous_beside_known(unrelated, 1).size(), 1u);
  EXPECT_THAT(rendezvous_beside_known(unrelated, 1000 * ms), IsEmpty());
  unrelated.ranks[1].clock.related = false;
  EXPECT_THAT(rendezvous_beside_known(unrelated, 1), IsEmpty());
}

TEST(CommunicationUnrecognised, SaysThatClocksLeaveItOpen) {
  Job job = spinning_job("ring").build();
  for (RankTrace& rank : job.ranks) rank.clock.related = false;
  const Finding found = finding(report_of(job), "communication_unrecognised");
  EXPECT_THAT(found.evidence, ElementsAre(HasSubstr("can't be told: their clocks are not related"),
                                          HasSubstr("it may be ring: 8 runs on each rank")));
  EXPECT_THAT(found.remedy, HasSubstr("--communication 'ring=all_reduce'"));
}

TEST(CommunicationUnrecognised, SaysThatRunsAreTooFew) {
  JobBuilder job;
  for (int step = 0; step < 3; ++step) {
    const Nanoseconds begin = step * 1000 * us;
    for (std::int32_t rank = 0; rank < 2; ++rank) {
      const Nanoseconds arrives = begin + 500 * us + ((rank + step) % 2) * 100 * us;
      job.rank(rank).step(step, begin, begin + 990 * us);
      job.rank(rank).compute(begin, arrives, "gemm").launched(begin, begin + 1);
      job.rank(rank).compute(arrives, begin + 900 * us, "ring").launched(begin + 2, begin + 3);
    }
  }
  const Finding found = finding(report_of(job), "communication_unrecognised");
  EXPECT_THAT(found.evidence, ElementsAre(HasSubstr("can't be told: none runs equally often"),
                                          HasSubstr("it may be ring: 3 runs on each rank")));
}

// Two ranks' steps of 1000 µs, of which `my_allreduce` takes 300 with nothing beside it, and an all-reduce
// `known`.
Report report_with_named_alike(Nanoseconds known) {
  JobBuilder job;
  for (int step = 0; step < 8; ++step) {
    const Nanoseconds begin = step * 1000 * us;
    for (std::int32_t rank = 0; rank < 2; ++rank) {
      job.rank(rank).step(step, begin, begin + 1000 * us);
      job.rank(rank).compute(begin, begin + 600 * us, "gemm").launched(begin, begin + 1);
      job.rank(rank).unclassified(begin + 600 * us, begin + 900 * us).launched(begin + 1, begin + 2);
      if (known > 0)
        job.rank(rank).all_reduce(begin + 900 * us, begin + 900 * us + known).launched(begin + 2, begin + 3);
    }
  }
  return report_of(job);
}

// One rank's profile: nothing is said of ranks, and its time is not explained without that kernel.
TEST(CommunicationUnrecognised, NamesWhatLooksLikeItByNameOnOneRank) {
  JobBuilder job;
  job.rank(0).compute(0, 600 * us).launched(-2, -1);
  job.rank(0).unclassified(600 * us, 900 * us).launched(-1, 0);
  const Report report = report_of(job);
  EXPECT_THAT(codes_of(report.findings), ElementsAre("communication_unrecognised"));
  EXPECT_EQ(report.findings.front().title, "kernels that may communicate are not counted as communication");
  EXPECT_THAT(to_text(report, {}), Not(HasSubstr("Nothing was found that costs much")));
}

TEST(CommunicationUnrecognised, NamesWhatLooksLikeItByName) {
  for (const Nanoseconds known : {Nanoseconds{0}, 90 * us}) {
    const Report report = report_with_named_alike(known);
    const Finding found = finding(report, "communication_unrecognised");
    EXPECT_EQ(found.severity, "medium");
    EXPECT_THAT(found.evidence, ElementsAre("it may be my_allreduce, by its name: 16 runs on all ranks, 4.80 "
                                            "ms in all, in no class"));
    EXPECT_THAT(found.remedy, HasSubstr("--communication 'my_allreduce=all_reduce'"));
    EXPECT_THAT(codes_of(report.findings), Not(Contains("unexplained_idle"))) << known;
    EXPECT_THAT(to_text(report, {}), HasSubstr("look like communication by name (my_allreduce)"));
  }
}

TEST(RendezvousNames, NeedAsManyRunsOnEachRank) {
  JobBuilder job = spinning_job("ring");
  EXPECT_EQ(search_rendezvous(job.build()).names.size(), 1u);
  job.rank(2).compute(9000 * us, 9001 * us, "ring");
  EXPECT_THAT(search_rendezvous(job.build()).names, IsEmpty());
}

TEST(RendezvousNames, ExpressionsFindTheFunction) {
  EXPECT_EQ(expression_for("void mylib::ring<4>(float*)"), "mylib::ring");
  EXPECT_EQ(expression_for("void (anonymous namespace)::f<4>()"), "f");
  EXPECT_EQ(expression_for("my.kernel[0]"), "my\\.kernel\\[0\\]");
  EXPECT_EQ(expression_for("échange"), "échange");  // RE2 knows no backslash before these
}

TEST(RendezvousNames, FlagsAreQuotedForAShell) {
  EXPECT_EQ(communication_flag("void ns::all_gather<4>(int*)"),
            "--communication 'ns::all_gather=all_gather'");
  EXPECT_EQ(communication_flag("void ns::exch'ange<float>(x)"),
            "--communication 'ns::exch'\\''ange=all_reduce'");
}

}  // namespace
}  // namespace lockstep::analyzer
