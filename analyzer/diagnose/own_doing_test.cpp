#include "analyzer/diagnose/own_doing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analyzer/diagnose/shared_host_jobs.h"
#include "analyzer/diagnose/test_reports.h"

namespace lockstep::analyzer {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

TEST(OwnDoing, SleepOnAHostWithTooFewCoresIsTheRanksOwn) {
  const Report report = report_of(SharedHost{.idle = 3000});
  EXPECT_THAT(codes_of(report.findings), Contains("cores_shared"));
  const Finding late = finding(report, "straggler_persistent");
  EXPECT_EQ(late.rank, 1);
  EXPECT_EQ(late.reason, "blocked");
  EXPECT_THAT(late.title,
              HasSubstr("rank 1 sleeps or is blocked for 3.00 ms longer between its computations"));
  // It is said once, and the host's jitter is the host's.
  EXPECT_THAT(codes_of(report.findings), Not(Contains("idle_between_computations")));
  EXPECT_THAT(codes_of(report.findings), Not(Contains("jitter")));
}

TEST(OwnDoing, WhatTakesLongerForWantOfACoreIsNot) {
  const Report report = report_of(SharedHost{.idle = 3000, .idle_waits = 2900});
  EXPECT_THAT(codes_of(report.findings), Contains("cores_shared"));
  EXPECT_THAT(codes_of(report.findings), Not(Contains("straggler_persistent")));
}

// Seen of DeepSpeed on loaded cores: half of what one rank was late by was its wait for a core.
TEST(OwnDoing, WhatTakesLongerByHalfForWantOfACoreIsNot) {
  const Report report = report_of(SharedHost{.idle = 3000, .idle_waits = 1600});
  EXPECT_THAT(codes_of(report.findings), Contains("cores_shared"));
  EXPECT_THAT(codes_of(report.findings), Not(Contains("straggler_persistent")));
}

// Seen of a rank that made 60,000 objects that refer to themselves in each step, where two ranks got a tenth
// of two cores: it ran more than twice as long as the other, and most of its collections was waiting for a
// core. It had not waited had it had nothing to run.
TEST(OwnDoing, GarbageThatNobodyElseCollectsIs) {
  const SharedHost host{.waits_0 = 5000,
                        .waits_1 = 5000,
                        .idle = 5000,
                        .idle_waits = 3500,
                        .idle_ran = 1500,
                        .idle_name = "garbage collection"};
  const Report report = report_of(host);
  EXPECT_THAT(codes_of(report.findings), Contains("cores_shared"));
  const Finding late = finding(report, "straggler_persistent");
  EXPECT_EQ(late.rank, 1);
  EXPECT_EQ(late.reason, "host");
  EXPECT_THAT(late.title, HasSubstr("in `garbage collection`"));
  EXPECT_THAT(late.remedy, HasSubstr("gc.freeze()"));
  const auto is_named = [](SharedHost other) {
    const std::vector<std::string> codes = codes_of(report_of(other).findings);
    return std::find(codes.begin(), codes.end(), "straggler_persistent") != codes.end();
  };
  SharedHost changed = host;
  changed.idle_name = "";
  EXPECT_FALSE(is_named(changed)) << "what it does is not known";
  changed = host;
  changed.collects_0 = true;
  EXPECT_FALSE(is_named(changed)) << "the other one collects, too";
  changed = host;
  changed.idle_ran = 100;
  changed.idle_waits = 4900;
  EXPECT_FALSE(is_named(changed)) << "it has hardly more to run";
}

TEST(OwnDoing, OneThatGetsLessOfTheSameCoresIsNot) {
  const Report report = report_of(SharedHost{.waits_1 = 4000});
  EXPECT_THAT(codes_of(report.findings), Contains("cores_shared"));
  EXPECT_THAT(codes_of(report.findings), Not(Contains("straggler_persistent")));
}

// Seen of a healthy rank of two that shared two cores with compilers: who has to wait is the scheduler's
// choice, and the program that has the core is at fault.
TEST(OwnDoing, OneThatAloneGetsLessOfTheSameCoresIsNot) {
  const SharedHost host{.waits_0 = 0, .waits_1 = 4000};
  const Report report = report_of(host);
  EXPECT_THAT(codes_of(report.findings), Not(Contains("straggler_persistent")));
  EXPECT_THAT(codes_of(report.findings), Not(Contains("jitter")));
  const Finding shared = finding(report, "cores_shared");
  EXPECT_EQ(shared.accuses, Accused::host);
  EXPECT_EQ(shared.rank, 1);
  EXPECT_THAT(shared.title, HasSubstr("another program or thread has a core: rank 1 waits 4.00 ms longer"));
  EXPECT_EQ(shared.lost_ns, report.blame[0].exposed_ns + 40 * 4000 * us);
  EXPECT_TRUE(report.lateness.ranks[1].is_late);
  EXPECT_EQ(report.lateness.ranks[1].not_accused_because, NotAccused::cores_shared);
  // From the middle of the run on.
  SharedHost since = host;
  since.waits_1_from = 20;
  const Report later = report_of(since);
  EXPECT_THAT(codes_of(later.findings), Not(Contains("straggler_since")));
  EXPECT_THAT(codes_of(later.findings), Not(Contains("jitter")));
  EXPECT_THAT(finding(later, "cores_shared").title,
              HasSubstr("from step 20 on another program or thread has a core: rank 1 waits 3.80 ms longer"));
  // Fewer cores than the others: then it is this rank's place that is at fault.
  SharedHost fewer = host;
  fewer.cores_1 = "1";
  const Report other = report_of(fewer);
  EXPECT_EQ(finding(other, "straggler_persistent").reason, "waits_for_core");
}

// Who else wants a core may come at regular intervals as well.
TEST(OwnDoing, OneThatGetsLessOfTheSameCoresInARhythmIsNot) {
  const auto once_in_five = [](SharedHost host) {
    host.differs_1 = [](int step) { return step % 5 == 0; };
    host.moves = 0;
    return codes_of(report_of(host).findings);
  };
  EXPECT_THAT(once_in_five({.waits_0 = 0, .waits_1 = 4000}), Not(Contains("straggler_periodic")));
  EXPECT_THAT(once_in_five({.waits_0 = 0, .waits_1 = 0, .more_1 = 4000}), Contains("straggler_periodic"));
  EXPECT_THAT(once_in_five({.waits_0 = 0, .waits_1 = 4000, .cores_1 = "1"}), Contains("straggler_periodic"))
      << "it may use fewer";
}

// Seen of a loader that was slow in every other step, where cores were a little short: that the scheduler
// decides who is last was said of a rank that hardly waited for a core longer than the other.
TEST(OwnDoing, WhatMayBeLateForAnotherReasonIsNotOpenForWantOfACore) {
  const auto of_rank_1 = [](Nanoseconds waits, Nanoseconds more) {
    SharedHost host{.waits_1 = waits, .more_1 = more};
    host.differs_1 = [](int step) { return step * step % 23 % 3 == 0; };
    const Report report = report_of(host);
    EXPECT_THAT(codes_of(report.findings), Contains("cores_shared"));
    EXPECT_THAT(codes_of(report.findings), Not(Contains("straggler_persistent")));
    EXPECT_FALSE(report.lateness.ranks[1].is_late);
    EXPECT_GE(report.lateness.ranks[1].share, 0.02);
    return report.lateness.ranks[1].not_accused_because;
  };
  EXPECT_EQ(of_rank_1(1000, 4000), NotAccused::unsteady);
  EXPECT_EQ(of_rank_1(5000, 0), NotAccused::cores_shared);
}

// Seen of an extra matrix product in each step, on half as many cores as ranks: a quarter and more of what
// the rank was late by was its wait for a core, and nobody was named.
TEST(OwnDoing, WhatIsComputedLongerOnACoreIs) {
  const Report report = report_of(SharedHost{.waits_1 = 2500, .more_1 = 3000});
  EXPECT_THAT(codes_of(report.findings), Contains("cores_shared"));
  const Finding late = finding(report, "straggler_persistent");
  EXPECT_EQ(late.rank, 1);
  EXPECT_EQ(late.reason, "computes_longer");
  EXPECT_THAT(codes_of(report_of(SharedHost{.waits_1 = 4000, .more_1 = 1000}).findings),
              Not(Contains("straggler_persistent")))
      << "most of it is the wait";
  EXPECT_THAT(codes_of(report_of(SharedHost{.waits_0 = 3000, .waits_1 = 3400, .more_1 = 450}).findings),
              Not(Contains("straggler_persistent")))
      << "less than a quarter of what the others compute, and run";
}

// What cores_shared says of the rank and what the rank's own finding says to do agree.
TEST(OwnDoing, WhoseThreadsRunLongerIsNotToldThatNobodyKnowsOfMoreWork) {
  const Report report = report_of(SharedHost{.waits_1 = 2500, .more_1 = 3000});
  EXPECT_THAT(finding(report, "cores_shared").evidence, Contains(HasSubstr("it has more to do")));
  const std::string remedy = finding(report, "straggler_persistent").remedy;
  EXPECT_THAT(remedy, HasSubstr("see what rank 1 has more to do than the others"));
  EXPECT_THAT(remedy, Not(HasSubstr("the trace does not say")));
  EXPECT_THAT(remedy, Not(HasSubstr("what else runs on rank 1's cores")));
  // Cores enough: nothing is said of them.
  const Report alone = report_of(SharedHost{.waits_0 = 0, .waits_1 = 0, .more_1 = 3000});
  EXPECT_THAT(codes_of(alone.findings), Not(Contains("cores_shared")));
  EXPECT_THAT(finding(alone, "straggler_persistent").remedy,
              HasSubstr("Whether its work is larger the trace does not say"));
}

// Seen of a rank that made histograms of its gradients: it ran fourteen times as long as the other, and
// waited for a core as often as it ran. Most of that it had not waited with less to run.
TEST(OwnDoing, WhatRunsLongerOnCoresThatAreShortIs) {
  const Finding late = finding(report_of(SharedHost{.waits_0 = 4000, .waits_1 = 10000, .more_1 = 3000}),
                               "straggler_persistent");
  EXPECT_EQ(late.rank, 1);
  EXPECT_EQ(late.reason, "computes_longer");
  EXPECT_THAT(codes_of(report_of(SharedHost{.waits_0 = 4000, .waits_1 = 10000}).findings),
              Not(Contains("straggler_persistent")))
      << "it runs as long";
  EXPECT_THAT(codes_of(report_of(SharedHost{.waits_0 = 1000, .waits_1 = 10000, .more_1 = 600}).findings),
              Not(Contains("straggler_persistent")))
      << "most of its wait is not for what it has more to run";
}

// Seen of `time.sleep` in a forward pass, where compilers had the cores: looks came so seldom that the sleep
// lay within intervals in which the threads ran as well, and the rank was said to compute longer.
TEST(OwnDoing, WhatSleepsWithinItsComputationIsAndDoesNotComputeLonger) {
  const Report report = report_of(SharedHost{.waits_0 = 3000, .waits_1 = 3000, .asleep_1 = 3000});
  EXPECT_THAT(codes_of(report.findings), Contains("cores_shared"));
  const Finding late = finding(report, "straggler_persistent");
  EXPECT_EQ(late.rank, 1);
  EXPECT_EQ(late.reason, "blocked");
  EXPECT_THAT(late.title,
              HasSubstr("rank 1 sleeps or is blocked for 3.00 ms longer where it should compute"));
  EXPECT_THAT(late.evidence, Contains(HasSubstr("its computations last 3.00 ms longer in a step")));
  // As long, but running: computing longer is what it does.
  EXPECT_EQ(
      finding(report_of(SharedHost{.waits_0 = 3000, .waits_1 = 3000, .more_1 = 3000}), "straggler_persistent")
          .reason,
      "computes_longer");
  // Half of it running: nobody can tell that from sleep alone.
  EXPECT_EQ(finding(report_of(SharedHost{.waits_0 = 3000, .waits_1 = 3000, .more_1 = 3000, .asleep_1 = 3000}),
                    "straggler_persistent")
                .reason,
            "computes_longer");
}

TEST(OwnDoing, OneThatMayUseFewerCoresIs) {
  const Report report = report_of(SharedHost{.waits_1 = 4000, .cores_1 = "1"});
  const Finding late = finding(report, "straggler_persistent");
  EXPECT_EQ(late.rank, 1);
  EXPECT_EQ(late.reason, "waits_for_core");
}

TEST(HasFewerCores, ComparesWithTheRanksOfItsHost) {
  Job job;
  for (const char* const cores : {"0-1", "1", "0-1"}) {
    RankTrace trace;
    trace.rank = static_cast<std::int32_t>(job.ranks.size());
    trace.host = "a";
    trace.core_set = cores;
    job.ranks.push_back(trace);
  }
  EXPECT_TRUE(has_fewer_cores(job, 1));
  EXPECT_FALSE(has_fewer_cores(job, 0));
  EXPECT_FALSE(has_fewer_cores(job, 9));
  job.ranks[2].core_set = "1";
  EXPECT_FALSE(has_fewer_cores(job, 1)) << "it is not the only one";
  job.ranks[0].host = job.ranks[2].host = "b";
  EXPECT_FALSE(has_fewer_cores(job, 1)) << "alone on its host";
}

}  // namespace
}  // namespace lockstep::analyzer
