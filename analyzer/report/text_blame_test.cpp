// Of whom it is said that the others wait for it, and of whom not.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>

#include "analyzer/report/sample_reports.h"

namespace lockstep::analyzer {
namespace {

using testing::HasSubstr;
using testing::Not;

// That no finding accuses.
Report with_one_late_rank(NotAccused why) {
  Report report = small_report();
  report.findings.clear();
  report.lateness.can_tell = true;
  report.lateness.steps = 40;
  report.lateness.step_ns = 10'000'000;
  report.lateness.waiting_ns = 1'200'000;
  report.lateness.ranks = {{.rank = 2, .is_late = true, .not_accused_because = why}};
  return report;
}

// Seen of a healthy DeepSpeed pipeline: its last stage computes the loss as well.
TEST(TextBlame, AStageThatMayHaveMoreToComputeIsNotBlamed) {
  Report report = with_one_late_rank(NotAccused::stage_computes_more);
  report.lateness.waiting_ns = 0;
  report.pipeline.emplace_back();
  const std::string_view said =
      "over 40 steps they wait for each other in their pipeline alone; rank 2 computes longest. Stages run "
      "different parts of the model, the last one its loss: nobody can tell from one pipeline whether a rank "
      "is slower as well.";
  EXPECT_THAT(text_of(report, 400), HasSubstr(said));
  for (BlameReport& blame : report.blame) blame.scheduled_exposed_ns = blame.exposed_ns;
  EXPECT_THAT(text_of(report, 400), HasSubstr(said)) << "and those waits are the schedule's";
}

// Without steps nobody can tell who is late: who was waited for is a fact, and so is why that says little.
TEST(TextBlame, WhereCoresAreShortWhoWasWaitedForIsTheSchedulersChoice) {
  Report report = with_one_late_rank(NotAccused::cores_shared);
  report.lateness = {};
  Finding cores;
  cores.code = "cores_shared";
  cores.topic = Topic::short_cores;
  report.findings = {cores};
  EXPECT_THAT(text_of(report, 400),
              testing::ContainsRegex("The others wait for rank .*Cores are short, and who is "
                                     "last may be the scheduler's choice"));
  report.findings.clear();
  EXPECT_THAT(text_of(report, 400), Not(HasSubstr("Cores are short")));
}

// Nothing tells whether the rank had a core: what is not recorded is said.
TEST(TextBlame, WhereNothingTellsOfCoresItSaysWhatToRecord) {
  Report report = with_one_late_rank(NotAccused::cores_unknown);
  for (RankReport& rank : report.ranks) rank.measures.run_queue_ns.reset();
  EXPECT_THAT(
      text_of(report, 400),
      HasSubstr("Which rank is slow can't be told: over 40 steps they wait for each other for 12.0 % of a "
                "step; rank 2 comes last again and again, and whether its threads had no core meanwhile "
                "nothing tells: `lockstep record` with the source `scheduling`, which is on by default, "
                "does."));
  for (RankReport& rank : report.ranks) rank.measures.run_queue_ns = 0;
  report.lateness.ranks[0].cause = Cause::compute;
  EXPECT_THAT(
      text_of(report, 400),
      HasSubstr(
          "rank 2 comes last again and again, and computes longer, with nothing to show that it has more to compute"));
  report.lateness.ranks[0].cause_ns = 1'000'000;
  const std::int64_t all = 40'000'000;  // a millisecond in each step
  for (RankReport& rank : report.ranks)
    rank.measures.on_core_ns = rank.measures.run_queue_ns = rank.rank == 2 ? all : 0;
  EXPECT_THAT(text_of(report, 400), HasSubstr("rank 2 comes last again and again, and computes longer"));
  for (RankReport& rank : report.ranks) rank.measures.on_core_ns = all;
  EXPECT_THAT(text_of(report, 400),
              HasSubstr("rank 2 comes last again and again, and its threads wait longer for a core than the "
                        "others', but run no longer."));
  for (RankReport& rank : report.ranks) rank.measures.run_queue_ns = 0;
  EXPECT_THAT(text_of(report, 400),
              HasSubstr("they wait for a core or sleep, too briefly to be told apart."));
  report.lateness.ranks[0].cause = Cause::transfer;
  EXPECT_THAT(text_of(report, 400),
              HasSubstr("its communication threads wait for a core, of which nothing is recorded"));
}

// Seen: "Whether rank 1 is late can't be told" was read as a suspicion, where rank 2 had the larger batch.
TEST(TextBlame, WhereTheStepsDoNotSettleItNoRankIsSuspected) {
  Report report = with_one_late_rank(NotAccused::cores_shared);
  RankLateness& rank = report.lateness.ranks[0];
  rank.is_late = false;
  rank.share = 0.12;
  rank.chance = 0.006;
  rank.mean_ns = 1'200'000;
  rank.movement_ns = 1'000'000;
  EXPECT_THAT(
      text_of(report, 400),
      HasSubstr("Whether one of the ranks is late can't be told: in the mean of 40 steps the others wait "
                "1.20 ms longer than rank 2 (12.0 % of a step), which moves by 1.00 ms from"));
  Finding heavy;
  heavy.topic = Topic::heavy_stage;
  heavy.rank = 2;
  heavy.severity = "note";
  report.findings = {heavy};
  EXPECT_THAT(text_of(report, 400),
              HasSubstr("Whether rank 2 is late beyond what its stage computes more can't be told"));
}

TEST(TextBlame, ARankThatNoFindingNamesIsNotBlamed) {
  Report report = with_one_late_rank(NotAccused::little_lost);
  const std::string little = text_of(report, 200);
  EXPECT_THAT(little,
              HasSubstr("No rank is late enough to cost much: over 40 steps they wait for each other for "
                        "12.0 % of a step."));
  EXPECT_THAT(little, Not(HasSubstr("The others wait for")));
  Finding cores;
  cores.code = "cores_shared";
  cores.topic = Topic::short_cores;
  report.findings = {cores};
  report.lateness.ranks[0].not_accused_because = NotAccused::cores_shared;
  const std::string text = text_of(report, 400);
  EXPECT_THAT(
      text,
      HasSubstr(
          "Cores are short, and who is last may be the scheduler's choice: over 40 steps they wait for each other for 12.0 % of a step; "
          "rank 2 comes last again and again. As long as cores are short nobody can tell "
          "whether it would with cores of its own."));
  EXPECT_THAT(text, Not(HasSubstr("The others wait for")));
  EXPECT_THAT(text, Not(HasSubstr("Why rank 2 is late")));
  std::int64_t waiting = 0;
  report.pipeline.emplace_back();
  EXPECT_THAT(text_of(report, 400), HasSubstr("over 40 steps they wait for each other for 12.0 %"));
  std::swap(report.lateness.waiting_ns, waiting);
  EXPECT_THAT(text_of(report, 400),
              HasSubstr("over 40 steps they wait for each other in their pipeline alone; rank 2"));
  std::swap(report.lateness.waiting_ns, waiting);
  report.pipeline.clear();
  Finding own;
  own.code = "straggler_persistent";
  own.accuses = Accused::rank;
  own.rank = 2;
  report.findings = {own, cores};
  EXPECT_THAT(text_of(report, 200), HasSubstr("The others wait for rank 2"));
}

}  // namespace
}  // namespace lockstep::analyzer
