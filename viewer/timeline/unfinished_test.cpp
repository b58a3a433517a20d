// An operation that a rank never came to, as the timeline shows it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "analyzer/model/job_builder.h"
#include "viewer/testing/view_fixture.h"
#include "viewer/timeline/describe.h"

namespace lockstep::viewer {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

// Rank 2 never came to the second all-reduce; the others left it after 20 s.
constexpr Nanoseconds kGivenUp = 20'000'000'000;
View view_of_unfinished() {
  analyzer::JobBuilder builder;
  const std::uint32_t group = builder.group("dp", {0, 1, 2});
  for (const int rank : {0, 1, 2})
    builder.rank(rank)
        .all_reduce(rank * 100'000'000, 1'000'000'000)
        .in_group(group)
        .sequence(0)
        .bytes(8'000'000);
  for (const int rank : {0, 1})
    builder.rank(rank)
        .all_reduce(2'000'000'000 + rank, kGivenUp)
        .in_group(group)
        .sequence(1)
        .bytes(8'000'000);
  analyzer::Job job = builder.build();
  for (analyzer::RankTrace& rank : job.ranks) rank.ending.closed = true;
  return View(std::move(job));
}

std::map<std::string, std::string> facts_of(const Description& description) {
  std::map<std::string, std::string> facts;
  for (const Fact& fact : description.facts) facts[fact.label] = fact.value;
  return facts;
}

TEST(Unfinished, IsDescribedWithoutALastArriverOrABandwidth) {
  const View view = view_of_unfinished();
  const auto whole = facts_of(describe_collective(*view.scene, 0));
  EXPECT_THAT(whole.at("last arriver"), HasSubstr("rank 2, "));
  EXPECT_TRUE(whole.contains("busbw from own start"));
  EXPECT_TRUE(whole.contains("busbw from last arrival"));
  const auto unfinished = facts_of(describe_collective(*view.scene, 1));
  EXPECT_EQ(unfinished.at("last arriver"), "nobody: not all came");
  EXPECT_EQ(unfinished.at("waited, all ranks"), "36.0 s = 35,999,999,999 ns");
  EXPECT_EQ(unfinished.at("bytes"), "8.00 MB = 8,000,000 B");
  EXPECT_FALSE(unfinished.contains("busbw from own start"));
  EXPECT_FALSE(unfinished.contains("busbw from last arrival"));
}

TEST(Unfinished, MovesNothing) {
  const View view = view_of_unfinished();
  const auto facts = facts_of(summarize(*view.scene, *view.scene->find_activity(0, 1)));
  EXPECT_EQ(facts.at("waits"), "18.0 s");
  EXPECT_EQ(facts.at("moves data"), "0");
  EXPECT_FALSE(facts.contains("last arriver"));
}

TEST(Unfinished, SaysSoWhereItIsLit) {
  View view = view_of_unfinished();
  view.show(0, kGivenUp);
  view.state.selected = view.scene->find_activity(0, 1);
  EXPECT_THAT(view.draw().texts(), Contains("not all came: who is in it waits"));
  view.state.selected = view.scene->find_activity(0, 0);
  EXPECT_THAT(view.draw().texts(), Not(Contains(HasSubstr("not all came"))));
  EXPECT_THAT(view.draw().texts(), Contains(HasSubstr("last: rank 2, ")));
}

}  // namespace
}  // namespace lockstep::viewer
