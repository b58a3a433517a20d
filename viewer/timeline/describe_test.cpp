#include "viewer/timeline/describe.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analyzer/match/match.h"
#include "viewer/testing/view_fixture.h"

namespace lockstep::viewer {
namespace {

std::string value_of(const Description& description, const std::string& label) {
  for (const Fact& fact : description.facts) {
    if (fact.label == label) return fact.value;
  }
  return "(absent)";
}

TEST(Describe, ACollectiveToTheNanosecond) {
  const View view;
  const auto item = view.scene->find_activity(3, 1);
  const Description description = describe(*view.scene, *item);
  EXPECT_EQ(description.title, "all_reduce");
  EXPECT_EQ(value_of(description, "begin"), "500 ns") << "since the first device activity, at 100";
  EXPECT_EQ(value_of(description, "end"), "900 ns");
  EXPECT_EQ(value_of(description, "duration"), "400 ns");
  EXPECT_EQ(value_of(description, "group"), "world");
  EXPECT_EQ(value_of(description, "sequence"), "0");
  EXPECT_EQ(value_of(description, "bytes"), "2.00 MB = 2,000,000 B");
  EXPECT_EQ(value_of(description, "lane"), "network");
}

TEST(Summarize, SaysWhoWaitsInAFewLines) {
  const View view;
  const auto item = view.scene->find_activity(3, 1);
  const Description description = summarize(*view.scene, *item);
  EXPECT_EQ(description.title, "all_reduce");
  EXPECT_EQ(value_of(description, "rank 3"), "collective");
  EXPECT_EQ(value_of(description, "waits"), "200 ns");
  EXPECT_EQ(value_of(description, "moves data"), "200 ns");
  EXPECT_EQ(value_of(description, "last arriver"), "rank 2");
  EXPECT_EQ(value_of(description, "size"), "2.00 MB");
}

// What of a rank alone is waiting and what moves data nobody knows.
TEST(Describe, WhereWaitsAreNotKnownNothingIsSaidToMoveData) {
  analyzer::Job job = synthetic_job();
  job.ranks.resize(1);
  job.ranks_missing = {1, 2, 3};
  const View view(std::move(job));
  const auto item = view.scene->find_activity(0, 1);
  const Description description = summarize(*view.scene, *item);
  EXPECT_EQ(value_of(description, "communication"), "500 ns");
  for (const Fact& fact : description.facts) {
    EXPECT_NE(fact.label, "moves data");
    EXPECT_NE(fact.label, "waits");
  }
  EXPECT_STREQ(transfer_title(false), "communication");
  EXPECT_STREQ(transfer_title(true), "moved");
}

TEST(Describe, TheOperationAsTheReportHasIt) {
  const View view;
  const Description description = describe_collective(*view.scene, 1);
  EXPECT_EQ(value_of(description, "last arriver"), "rank 2, 200 ns after the one before");
  EXPECT_EQ(description.facts[0].label, "last arriver") << "before anything that has to be scrolled to";
  EXPECT_EQ(value_of(description, "waited, all ranks"), "800 ns");
  EXPECT_EQ(value_of(description, "sequence"), "1");
  // 2 MB in 200 ns from the last arrival, times 2·3/4 for an all-reduce of four.
  EXPECT_EQ(value_of(description, "busbw from last arrival"), "15000 GB/s");
}

// Somebody without a record may have been later.
TEST(Describe, WhoHasNoRecordIsNamed) {
  analyzer::Job job = synthetic_job();
  job.ranks[1].activities.clear();
  job.ranks[1].communications.clear();
  View view(std::move(job));
  const Description description = describe_collective(*view.scene, 1);
  EXPECT_EQ(value_of(description, "ranks"), "3; no record of rank 1");
  EXPECT_EQ(value_of(description, "last arriver"),
            "rank 2, 200 ns after the one before, of those with a record");
  view.state.selected = view.scene->find_activity(2, view.scene->parts(1)[1].activity);
  EXPECT_THAT(view.draw().texts(),
              testing::Contains("last of those with a record: rank 2, 200 ns after the one before"));
}

TEST(Describe, EveryParticipantWithItsWait) {
  const View view;
  const std::vector<CollectiveRow> rows = collective_rows(*view.scene, 0);
  ASSERT_EQ(rows.size(), 4u);
  const char* arrivals[] = {"+0", "+0", "+300 ns", "+100 ns"};
  const char* waits[] = {"300 ns", "300 ns", "0", "200 ns"};
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(rows[i].arrival, arrivals[i]);
    EXPECT_EQ(rows[i].wait, waits[i]);
    EXPECT_EQ(rows[i].transfer, "200 ns");
    EXPECT_EQ(rows[i].last, i == 2);
  }
  EXPECT_DOUBLE_EQ(rows[0].wait_share + rows[0].transfer_share, 1.0);
  EXPECT_DOUBLE_EQ(rows[2].transfer_share, 0.4);
}

TEST(Describe, AHugeNameIsCut) {
  analyzer::Job job = synthetic_job();
  job.ranks[0].activities[0].name = job.strings.intern(std::string(100'000, 'x'));
  const View view(std::move(job));
  const auto item = view.scene->find_activity(0, 0);
  EXPECT_LT(describe(*view.scene, *item).title.size(), 500u);
}

TEST(Describe, AFoldSaysWhatItHolds) {
  SyntheticOptions options;
  options.steps = 5'000;
  const View view(options);
  const Point at = view.point(0, LaneRole::causes, 2'500 * kSyntheticStep);
  const Hit hit = hit_test(view.frame(), at.x, at.y);
  ASSERT_TRUE(hit.box && hit.box->folded());
  const Description description = describe_fold(*view.scene, *hit.rank, *hit.row, *hit.box);
  EXPECT_THAT(description.title, testing::EndsWith("causes in turn, too short to show apart"));
  EXPECT_THAT(value_of(description, "barrier wait"), testing::HasSubstr("%"));
}

// What `record --operators` told: a module's call, and an operator within it, stand below each other.
TEST(Describe, ModulesAndOperatorsAreRowsOfTheirThread) {
  analyzer::Job job = synthetic_job();
  std::vector<analyzer::HostRange>& ranges = job.ranks[0].host_ranges;
  using analyzer::HostKind;
  ranges.push_back({200, 400, job.strings.intern("layers.0"), 0, 1, HostKind::module});
  ranges.push_back({250, 300, job.strings.intern("aten::linear"), 0, 2, HostKind::operation});
  std::ranges::stable_sort(ranges, {}, &analyzer::HostRange::begin);
  const View view(std::move(job));
  std::vector<std::string> found;
  const auto& lanes = view.scene->timeline().ranks[0].lanes;
  for (std::uint32_t lane = 0; lane < lanes.size(); ++lane) {
    if (lanes[lane].role != LaneRole::host) continue;
    for (std::uint32_t row = 0; row < lanes[lane].rows.size(); ++row) {
      for (std::uint32_t at = 0; at < lanes[lane].rows[row].item.size(); ++at) {
        const Description description = summarize(*view.scene, Item{0, lane, row, at});
        const std::string kind = value_of(description, "rank 0");
        if (kind == "module" || kind == "operator")
          found.push_back(std::to_string(row) + " " + kind + " " + description.title);
      }
    }
  }
  EXPECT_THAT(found, testing::ElementsAre("1 module layers.0", "2 operator aten::linear"));
}

TEST(Describe, EvidenceIsInWordsWithItsCodeBeside) {
  const View view;
  const Description description = describe_collective(*view.scene, 0);
  EXPECT_EQ(value_of(description, "matched by"), "its group and sequence number");
  for (const Fact& fact : description.facts)
    EXPECT_EQ(fact.note, fact.label == "matched by" ? "sequence" : "") << fact.label;
  using analyzer::Evidence;
  for (const Evidence evidence : {Evidence::sequence, Evidence::function_sequence, Evidence::order,
                                  Evidence::order_all_ranks, Evidence::rejected, Evidence::none}) {
    const std::string code = analyzer::to_string(evidence);
    EXPECT_NE(evidence_in_words(code), code);
    EXPECT_THAT(evidence_in_words(code), testing::Not(testing::HasSubstr("_")));
  }
  EXPECT_EQ(evidence_in_words("a later one"), "a later one");
}

TEST(ExactDuration, SaysBothTheRoundedAndTheExact) {
  EXPECT_EQ(exact_duration(999), "999 ns");
  EXPECT_EQ(exact_duration(12'345'678), "12.3 ms = 12,345,678 ns");
}

}  // namespace
}  // namespace lockstep::viewer
