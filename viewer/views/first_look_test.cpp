#include "viewer/views/first_look.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "viewer/testing/job_without_times.h"
#include "viewer/testing/view_fixture.h"

namespace lockstep::viewer {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

FirstLookWords words_of(std::string FirstLookWords::*flag, const std::string& text) {
  FirstLookWords words;
  words.*flag = text;
  return words;
}

TEST(FirstLook, WordsThatMakeNoSenseAnywhereAreSaidWithoutARun) {
  EXPECT_FALSE(check({}).has_value());
  EXPECT_FALSE(check(words_of(&FirstLookWords::range, "1ms:2ms")).has_value());
  for (const auto& [flag, text, name] : {std::tuple{&FirstLookWords::range, "5ms", "--range"},
                                         std::tuple{&FirstLookWords::measure, "2ms:1ms", "--measure"},
                                         std::tuple{&FirstLookWords::go_to, "nowhere", "--goto"},
                                         std::tuple{&FirstLookWords::order, "size", "--order"},
                                         std::tuple{&FirstLookWords::filter, "3-5", "--filter"},
                                         std::tuple{&FirstLookWords::search, "/gem(/", "--search"}}) {
    const auto wrong = check(words_of(flag, text));
    ASSERT_TRUE(wrong.has_value()) << name;
    EXPECT_THAT(wrong->message, HasSubstr(name));
  }
}

TEST(FirstLook, TimesCountFromTheRunsStart) {
  SyntheticOptions options;
  options.begin = 1'000'000;
  const auto scene = View::load(synthetic_job(options));
  const Nanoseconds origin = scene->timeline().origin;
  const UnderstoodWords range = understand(words_of(&FirstLookWords::range, "100ns:300ns"), {scene.get()});
  EXPECT_THAT(range.wrong, IsEmpty());
  ASSERT_TRUE(range.look.range.has_value());
  EXPECT_EQ(range.look.range->begin, origin + 100);
  EXPECT_EQ(range.look.range->end, origin + 300);
  const UnderstoodWords measured =
      understand(words_of(&FirstLookWords::measure, "100ns:300ns"), {scene.get()});
  EXPECT_EQ(measured.look.measured->begin, origin + 100);
  EXPECT_EQ(measured.look.panel, "Range") << "where its figures stand";
}

TEST(FirstLook, ARunWithoutTimesHasNoRanges) {
  const auto scene = View::load(job_without_times());
  ASSERT_TRUE(scene->order_alone());
  for (const auto& flag : {&FirstLookWords::range, &FirstLookWords::measure}) {
    const UnderstoodWords understood = understand(words_of(flag, "0ns:100ns"), {scene.get()});
    ASSERT_THAT(understood.wrong, SizeIs(1));
    EXPECT_THAT(understood.wrong[0].message, HasSubstr("the run has no times"));
  }
}

// One that is wrong takes none of the others along.
TEST(FirstLook, WhatThisRunDoesNotHaveIsSaidAndTheRestIsUnderstood) {
  const auto scene = View::load(synthetic_job());
  FirstLookWords words;
  words.range = "10s:11s";
  words.go_to = "rank=99";
  words.collective = 4711;
  words.measure = "0ns:100ns";
  words.search = "gemm";
  const UnderstoodWords understood = understand(words, {scene.get()});
  ASSERT_THAT(understood.wrong, SizeIs(3));
  EXPECT_THAT(understood.wrong[0].message, testing::AllOf(HasSubstr("--range 10s:11s"), HasSubstr("ends")));
  EXPECT_THAT(understood.wrong[1].message, HasSubstr("--goto: "));
  EXPECT_THAT(understood.wrong[2].message, HasSubstr("--collective 4711"));
  EXPECT_FALSE(understood.look.range.has_value());
  EXPECT_FALSE(understood.look.go_to.any());
  EXPECT_FALSE(understood.look.collective.has_value());
  EXPECT_TRUE(understood.look.measured.has_value());
  EXPECT_EQ(understood.look.search, "gemm");
  EXPECT_EQ(understood.look.panel, "Search");
}

TEST(FirstLook, TwoRunsHaveADiff) {
  FirstLookWords words = words_of(&FirstLookWords::panel, "Diff");
  words.panel_compares = true;
  const auto wrong = check(words);
  ASSERT_TRUE(wrong.has_value());
  EXPECT_THAT(wrong->message, HasSubstr("--panel Diff"));
  words.compared = true;
  EXPECT_FALSE(check(words).has_value());
}

TEST(FirstLook, NamesThatTheRunDoesNotHaveAreSaidWithThoseThatItHas) {
  const auto scene = View::load(synthetic_job());
  FirstLookWords words;
  words.pinned = {99, 2};
  words.order = "group=nope";
  words.search = "foo=3";
  const UnderstoodWords understood = understand(words, {scene.get()});
  ASSERT_THAT(understood.wrong, SizeIs(3));
  EXPECT_EQ(understood.wrong[0].message.find("--search 'foo=3': 'foo' is no attribute"), 0u);
  EXPECT_THAT(understood.wrong[0].message, HasSubstr("rank, step, class"));
  EXPECT_EQ(understood.wrong[1].message,
            "--order group=nope: no process group is called so; process groups are world");
  EXPECT_EQ(understood.wrong[2].message, "--pin 99: the run has no such rank; ranks are 0 to 3");
  EXPECT_THAT(understood.look.pinned, testing::ElementsAre(2));
  EXPECT_FALSE(understood.look.order.has_value());
  EXPECT_EQ(understood.look.search, "");
}

TEST(FirstLook, AFilterThatNoRankPassesIsAWarning) {
  const auto scene = View::load(synthetic_job());
  const UnderstoodWords none = understand(words_of(&FirstLookWords::filter, "50"), {scene.get()});
  EXPECT_THAT(none.wrong, IsEmpty());
  EXPECT_THAT(none.warnings, testing::ElementsAre("--filter '50': no rank is left; ranks are 0 to 3"));
  EXPECT_EQ(none.look.filter, "50");
  EXPECT_THAT(understand(words_of(&FirstLookWords::filter, "2:50"), {scene.get()}).warnings, IsEmpty());
}

TEST(FirstLook, LanesThatTheRunDoesNotHaveAreSaid) {
  analyzer::Job job = synthetic_job();
  FirstLookWords words;
  words.open = {LaneRole::host, LaneRole::counter};
  const UnderstoodWords without = understand(words, {View::load(job).get()});
  EXPECT_THAT(without.warnings, testing::ElementsAre(HasSubstr("--open counters")));
  EXPECT_THAT(without.wrong, IsEmpty());
  job.ranks[1].counters = {{"loss", {{0, 3}, {1'000, 2}}}};
  EXPECT_THAT(understand(words, {View::load(job).get()}).warnings, IsEmpty());
}

TEST(FirstLook, AChainNeedsWhatItLeadsFrom) {
  const auto scene = View::load(synthetic_job());
  FirstLookWords words;
  words.chain = true;
  ASSERT_TRUE(check(words).has_value());
  EXPECT_THAT(check(words)->message, testing::AllOf(HasSubstr("--chain"), HasSubstr("--collective ID")));
  words.remembers = true;
  EXPECT_FALSE(check(words).has_value()) << "the last look's selection is not known yet";
  EXPECT_THAT(understand(words, {scene.get()}).wrong, SizeIs(1));
  EXPECT_THAT(understand(words, {scene.get()}, true).wrong, IsEmpty());
  words.remembers = false;
  words.go_to = "collective=0";
  EXPECT_FALSE(check(words).has_value());
  EXPECT_THAT(understand(words, {scene.get()}).wrong, IsEmpty());
}

TEST(FirstLook, ACollectiveIsFoundByItsNumber) {
  const auto scene = View::load(synthetic_job());
  FirstLookWords words;
  words.collective = scene->collectives()[1].id;
  EXPECT_EQ(understand(words, {scene.get()}).look.collective, 1u);
}

TEST(FirstLook, SaysWhatNumbersAreAccepted) {
  EXPECT_EQ(wrong_collective_number("0"), "");
  EXPECT_EQ(wrong_collective_number("9223372036854775807"), "");
  for (const char* const wrong : {"abc", "-1", "1.5", "", "17x", " 3", "9223372036854775808"})
    EXPECT_THAT(
        wrong_collective_number(wrong),
        AllOf(HasSubstr(fmt::format("'{}' is not the number of a collective", wrong)), HasSubstr("report")));
  EXPECT_EQ(wrong_rank_number("3"), "");
  for (const char* const wrong : {"a", "-1", "0:3", "", "2147483648"})
    EXPECT_THAT(wrong_rank_number(wrong),
                AllOf(HasSubstr(fmt::format("'{}'", wrong)), HasSubstr("such as 0,3")));
}

}  // namespace
}  // namespace lockstep::viewer
