#include "viewer/timeline/standings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "viewer/testing/view_fixture.h"
#include "viewer/timeline/describe.h"

namespace lockstep::viewer {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

analyzer::Finding hang(std::vector<analyzer::Standing> standings) {
  analyzer::Finding finding;
  finding.code = "hang";
  finding.alarm = analyzer::Alarm::hang;
  finding.standings = std::move(standings);
  return finding;
}

std::vector<RankStanding> of(const analyzer::Report& report) {
  const std::vector<std::int32_t> ranks{0, 1, 2, 5};
  return rank_standings(report, ranks);
}

TEST(Standings, TellWhoNeverCameToWhat) {
  analyzer::Report report;
  report.findings = {hang({{{0, 1}, true, "all_reduce (number 3)"}, {{5}, false, "is in \"next batch\""}})};
  const auto found = of(report);
  EXPECT_TRUE(found[3].culprit);
  EXPECT_EQ(found[3].brief, "never came");
  EXPECT_EQ(found[3].text, "never came to all_reduce (number 3): is in \"next batch\"");
  EXPECT_FALSE(found[0].culprit);
  EXPECT_EQ(found[0].brief, "waits");
  EXPECT_EQ(found[0].text, "waits in all_reduce (number 3)");
  EXPECT_EQ(found[2].brief, "");
  EXPECT_EQ(found[2].text, "in none of the operations that hung");
}

TEST(Standings, CodeStandsInQuotes) {
  analyzer::Report report;
  report.findings = {hang({{{0}, true, "A"}, {{1}, false, "was last seen in `load` (data.py:54)"}})};
  EXPECT_EQ(of(report)[1].text, "never came to A: was last seen in 'load' (data.py:54)");
}

TEST(Standings, WithoutAHangNothingIsKnownOfAnyRank) {
  for (const RankStanding& standing : of(analyzer::Report{})) {
    EXPECT_EQ(standing.brief, "");
    EXPECT_EQ(standing.text, "the findings do not name it");
  }
}

TEST(Standings, OfSeveralFindingsEachIsSaidOnceAndTheCauseFirst) {
  analyzer::Report report;
  analyzer::Finding stuck = hang({{{5}, false, "has not ended all_gather"}});
  stuck.code = "device_stuck";
  stuck.alarm = analyzer::Alarm::device;
  report.findings = {hang({{{0}, true, "A"}, {{1}, false, "left no trace"}, {{5}, true, "B"}}),
                     hang({{{5}, true, "C"}, {{0}, true, "A"}}), stuck};
  const auto found = of(report);
  EXPECT_EQ(found[0].text, "waits in A");
  EXPECT_EQ(found[1].text, "never came to A: left no trace");
  EXPECT_EQ(found[3].brief, "device stands still");
  EXPECT_TRUE(found[3].culprit);
  EXPECT_EQ(found[3].text, "its device stands still: has not ended all_gather  ·  waits in B, and in C");
}

TEST(Standings, OfRanksThatAreNotShownNothingIsSaid) {
  analyzer::Report report;
  report.findings = {hang({{{3, 7}, true, "A"}, {{-1, 6}, false, "left no trace"}})};
  for (const RankStanding& standing : of(report)) EXPECT_EQ(standing.brief, "");
}

TEST(Standings, OfWhomNobodyKnowsWhetherItCameIsNoCulprit) {
  analyzer::Report report;
  report.findings = {hang({{{0}, true, "A"}, {{1, 2}, false, "its dump is cut", false}}),
                     hang({{{2}, true, "B"}})};
  const auto found = of(report);
  EXPECT_FALSE(found[1].culprit);
  EXPECT_EQ(found[1].brief, "");
  EXPECT_EQ(found[1].text, "whether it came to A cannot be told: its dump is cut");
  EXPECT_FALSE(found[2].culprit);
  EXPECT_EQ(found[2].brief, "waits");
  EXPECT_EQ(found[2].text, "waits in B  ·  whether it came to A cannot be told: its dump is cut");
}

TEST(Standings, OfAHugeNameAreCut) {
  analyzer::Report report;
  report.findings = {hang({{{0}, true, std::string(100'000, 'x') + "\n"}, {{1}, false, "\x01\xff"}})};
  for (const RankStanding& standing : of(report)) EXPECT_LT(standing.text.size(), 2'000U);
  EXPECT_THAT(of(report)[1].text, Not(HasSubstr("\x01")));
}

// Dumps of three ranks of four; all but rank 2 wait in an operation.
analyzer::Job dumps() {
  analyzer::Job job;
  job.sources = {"flight recorder"};
  job.dumps = analyzer::Dumps::all;
  job.world_size = 4;
  job.ranks_missing = {3};
  job.groups.resize(1);
  job.groups[0].name = "dp";
  job.groups[0].ranks = {0, 1, 2};
  for (std::int32_t number = 0; number < 3; ++number) {
    analyzer::RankTrace rank;
    rank.rank = number;
    rank.ending.hang_noted = 1'000;
    rank.ending.progress = {{0, number == 2 ? 6 : 7, 6}};
    if (number != 2) {
      analyzer::OpenOperation operation;
      operation.name = job.strings.intern("all_reduce gradients");
      operation.operation = analyzer::Operation::all_reduce;
      operation.sequence = 7;
      operation.group = 0;
      rank.ending.operations.push_back(operation);
    }
    job.ranks.push_back(std::move(rank));
  }
  return job;
}

TEST(Standings, StandInPlaceOfTimesThatNobodyRecorded) {
  const View view(dumps());
  ASSERT_TRUE(view.scene->order_alone());
  const RecordingCanvas canvas = view.draw();
  EXPECT_TRUE(canvas.clips_closed());
  EXPECT_THAT(canvas.texts(), Contains("never came"));
  EXPECT_THAT(canvas.texts(), Contains(StartsWith("never came to all_reduce gradients")));
  EXPECT_THAT(canvas.texts(), Contains(StartsWith("waits in all_reduce gradients")).Times(2));
  EXPECT_THAT(canvas.texts(), Contains("never came: rank 2  ·  no dump: rank 3"));
  // No ruler, no clock's error, no figures that are not known.
  EXPECT_THAT(canvas.texts(), Not(Contains(HasSubstr(" ns"))));
  EXPECT_THAT(canvas.texts(), Not(Contains(StartsWith("±"))));
  EXPECT_THAT(canvas.texts(), Not(Contains("waits")));
  // Two wait: hatched. Of rank 2 the mark is as long as they get, as it is for who holds up all.
  EXPECT_EQ(canvas.of(RecordingCanvas::Shape::hatch).size(), 2U);
  std::size_t marks = 0;
  for (const auto& box : canvas.of(RecordingCanvas::Shape::box)) {
    if (box.color != with_alpha(view.theme.warning, 0.6)) continue;
    ++marks;
    EXPECT_GE(box.rect.top, view.frame().rank_top(2));
    EXPECT_GT(box.rect.width(), view.regions.gutter.width() * 0.3F);
  }
  EXPECT_EQ(marks, 1U);
}

std::string joined_texts(const RecordingCanvas& canvas, const Rect& area) {
  std::string text;
  for (const auto& call : within(canvas, RecordingCanvas::Shape::text, area)) text += call.text + " ";
  return text;
}

// However few ranks are shown, and in a narrow window: the verdict, and where each rank stands, in full.
TEST(Standings, AreWholeSentencesOverSeveralLines) {
  View view(dumps());
  view.state.order.filter = "late";
  view.whole = {0, 0, 640, 500};
  const RankSequence sequence = order_ranks(view.scene->facts(), view.state.order);
  view.sizes = choose_sizes(view.scene->timeline(), view.state.expansion, 1, view.whole, sequence);
  view.arrange();
  ASSERT_EQ(view.layout.shown.size(), 1U);
  const RecordingCanvas canvas = view.draw();
  EXPECT_TRUE(canvas.clips_closed());
  const std::string above = joined_texts(canvas, view.regions.minimap);
  std::string verdict = view.scene->contents().verdict;
  ASSERT_THAT(verdict, HasSubstr("rank 2 never came"));
  std::replace(verdict.begin(), verdict.end(), '\n', ' ');
  EXPECT_THAT(above, HasSubstr(verdict));
  const std::string& standing = view.scene->standing(2).text;
  ASSERT_GT(standing.size() * static_cast<std::size_t>(RecordingCanvas::kCharacter),
            static_cast<std::size_t>(view.regions.lanes.width()))
      << "more than a line";
  EXPECT_THAT(joined_texts(canvas, view.regions.lanes), HasSubstr(standing));
}

// The line may be cut; beside the pointer it is not.
TEST(Standings, AreTextInFull) {
  const View view(dumps());
  const Description description = describe_standing(*view.scene, 2);
  EXPECT_EQ(description.title, "rank 2 · never came");
  ASSERT_FALSE(description.facts.empty());
  EXPECT_EQ(description.facts[0].label, "state");
  EXPECT_EQ(description.facts[0].value, view.scene->standing(2).text);
}

TEST(Standings, WhoNeverCameIsLate) {
  const View view(dumps());
  RankOrder order;
  order.filter = "late";
  EXPECT_THAT(order_ranks(view.scene->facts(), order).ranks, testing::ElementsAre(2U));
}

TEST(Standings, ARunWithTimesHasARuler) {
  const View view;
  EXPECT_FALSE(view.scene->order_alone());
  EXPECT_THAT(view.draw().texts(), Not(Contains(HasSubstr("where each rank stands"))));
}

// All ranks but the last wait in an all-reduce for a minute, after milliseconds of training.
analyzer::Job hung_after_training() {
  analyzer::Job job = synthetic_job();
  Nanoseconds end = 0;
  for (const analyzer::RankTrace& rank : job.ranks)
    for (const analyzer::Activity& activity : rank.activities) end = std::max(end, activity.end);
  std::vector<std::int32_t> all;
  for (const analyzer::RankTrace& rank : job.ranks) all.push_back(rank.rank);
  job.groups.push_back({"world", "", all});
  const auto group = static_cast<std::uint32_t>(job.groups.size() - 1);
  for (analyzer::RankTrace& rank : job.ranks) {
    rank.ending.recorded_until = rank.ending.hang_noted = end + 60'000'000'000;
    rank.ending.progress = {{group, rank.rank + 1 == std::ssize(job.ranks) ? 6 : 7, 6}};
    if (rank.rank + 1 == std::ssize(job.ranks)) continue;
    analyzer::OpenOperation operation;
    operation.begin = end + 1'000;
    operation.name = job.strings.intern("all_reduce gradients");
    operation.operation = analyzer::Operation::all_reduce;
    operation.sequence = 7;
    operation.group = group;
    rank.ending.operations.push_back(operation);
  }
  return job;
}

// As long as the job stood: its begin is in view at first, and the rest can be looked at.
TEST(Standings, OfAJobWithTimesStandBehindWhatEnded) {
  const analyzer::Job job = hung_after_training();
  const View view(job);
  ASSERT_FALSE(view.scene->order_alone());
  const Timeline& timeline = view.scene->timeline();
  EXPECT_EQ(timeline.content.end, job.ranks[0].ending.recorded_until);
  EXPECT_LT(timeline.focus.end, job.ranks[0].ending.operations[0].begin + 1'000'000'000);
  EXPECT_GT(timeline.focus.end, job.ranks[0].ending.operations[0].begin);
  const RecordingCanvas canvas = view.draw();
  EXPECT_THAT(canvas.texts(), Contains("60.0 s").Times(static_cast<int>(job.ranks.size()) - 1));
  EXPECT_THAT(canvas.texts(), Contains("never came"));
}

TEST(Standings, OfAJobThatDidNotHangTakeNoTime) {
  const View view;
  for (std::size_t rank = 0; rank < view.scene->timeline().ranks.size(); ++rank)
    EXPECT_EQ(view.scene->rank(rank).stood.end, 0);
}

}  // namespace
}  // namespace lockstep::viewer
