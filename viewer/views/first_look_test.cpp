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

FirstLookFlags flags_of(std::string FirstLookFlags::*flag, const std::string& text) {
  FirstLookFlags flags;
  flags.*flag = text;
  return flags;
}

TEST(FirstLook, WordsThatMakeNoSenseAnywhereAreSaidWithoutARun) {
  EXPECT_FALSE(check({}).has_value());
  EXPECT_FALSE(check(flags_of(&FirstLookFlags::range, "1ms:2ms")).has_value());
  for (const auto& [flag, text, name] : {std::tuple{&FirstLookFlags::range, "5ms", "--range"},
                                         std::tuple{&FirstLookFlags::measure, "2ms:1ms", "--measure"},
                                         std::tuple{&FirstLookFlags::go_to, "nowhere", "--goto"},
                                         std::tuple{&FirstLookFlags::order, "size", "--order"},
                                         std::tuple{&FirstLookFlags::filter, "3-5", "--filter"},
                                         std::tuple{&FirstLookFlags::search, "/gem(/", "--search"}}) {
    const auto wrong = check(flags_of(flag, text));
    ASSERT_TRUE(wrong.has_value()) << name;
    EXPECT_THAT(wrong->message, HasSubstr(name));
  }
}

TEST(FirstLook, TimesCountFromTheRunsStart) {
  SyntheticOptions options;
  options.begin = 1'000'000;
  const auto scene = View::load(synthetic_job(options));
  const Nanoseconds origin = scene->timeline().origin;
  const UnderstoodFlags range = understand(flags_of(&FirstLookFlags::range, "100ns:300ns"), {scene.get()});
  EXPECT_THAT(range.wrong, IsEmpty());
  ASSERT_TRUE(range.look.range.has_value());
  EXPECT_EQ(range.look.range->begin, origin + 100);
  EXPECT_EQ(range.look.range->end, origin + 300);
  const UnderstoodFlags measured =
      understand(flags_of(&FirstLookFlags::measure, "100ns:300ns"), {scene.get()});
  EXPECT_EQ(measured.look.measured->begin, origin + 100);
  EXPECT_EQ(measured.look.panel, "Range") << "where its figures stand";
}

TEST(FirstLook, ARunWithoutTimesHasNoRanges) {
  const auto scene = View::load(job_without_times());
  ASSERT_TRUE(scene->order_alone());
  for (const auto& flag : {&FirstLookFlags::range, &FirstLookFlags::measure}) {
    const UnderstoodFlags understood = understand(flags_of(flag, "0ns:100ns"), {scene.get()});
    ASSERT_THAT(understood.wrong, SizeIs(1));
    EXPECT_THAT(understood.wrong[0].message, HasSubstr("the run has no times"));
  }
}

// One that is wrong takes none of the others along.
TEST(FirstLook, WhatThisRunDoesNotHaveIsSaidAndTheRestIsUnderstood) {
  const auto scene = View::load(synthetic_job());
  FirstLookFlags flags;
  flags.range = "10s:11s";
  flags.go_to = "rank=99";
  flags.collective = 4711;
  flags.measure = "0ns:100ns";
  flags.search = "gemm";
  const UnderstoodFlags understood = understand(flags, {scene.get()});
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
  FirstLookFlags flags = flags_of(&FirstLookFlags::panel, "Diff");
  flags.panel_compares = true;
  const auto wrong = check(flags);
  ASSERT_TRUE(wrong.has_value());
  EXPECT_THAT(wrong->message, HasSubstr("--panel Diff"));
  flags.compared = true;
  EXPECT_FALSE(check(flags).has_value());
}

TEST(FirstLook, NamesThatTheRunDoesNotHaveAreSaidWithThoseThatItHas) {
  const auto scene = View::load(synthetic_job());
  FirstLookFlags flags;
  flags.pinned = {99, 2};
  flags.order = "group=nope";
  flags.search = "foo=3";
  const UnderstoodFlags understood = understand(flags, {scene.get()});
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
  const UnderstoodFlags none = understand(flags_of(&FirstLookFlags::filter, "50"), {scene.get()});
  EXPECT_THAT(none.wrong, IsEmpty());
  EXPECT_THAT(none.warnings, testing::ElementsAre("--filter '50': no rank is left; ranks are 0 to 3"));
  EXPECT_EQ(none.look.filter, "50");
  EXPECT_THAT(understand(flags_of(&FirstLookFlags::filter, "2:50"), {scene.get()}).warnings, IsEmpty());
}

TEST(FirstLook, LanesThatTheRunDoesNotHaveAreSaid) {
  analyzer::Job job = synthetic_job();
  FirstLookFlags flags;
  flags.open = {LaneRole::host, LaneRole::counter};
  const UnderstoodFlags without = understand(flags, {View::load(job).get()});
  EXPECT_THAT(without.warnings, testing::ElementsAre(HasSubstr("--open counters")));
  EXPECT_THAT(without.wrong, IsEmpty());
  job.ranks[1].counters = {{"loss", {{0, 3}, {1'000, 2}}}};
  EXPECT_THAT(understand(flags, {View::load(job).get()}).warnings, IsEmpty());
}

TEST(FirstLook, AChainNeedsWhatItLeadsFrom) {
  const auto scene = View::load(synthetic_job());
  FirstLookFlags flags;
  flags.chain = true;
  ASSERT_TRUE(check(flags).has_value());
  EXPECT_THAT(check(flags)->message, testing::AllOf(HasSubstr("--chain"), HasSubstr("--collective ID")));
  flags.remembers = true;
  EXPECT_FALSE(check(flags).has_value()) << "the last look's selection is not known yet";
  EXPECT_THAT(understand(flags, {scene.get()}).wrong, SizeIs(1));
  EXPECT_THAT(understand(flags, {scene.get()}, true).wrong, IsEmpty());
  flags.remembers = false;
  flags.go_to = "collective=0";
  EXPECT_FALSE(check(flags).has_value());
  EXPECT_THAT(understand(flags, {scene.get()}).wrong, IsEmpty());
}

TEST(FirstLook, ACollectiveIsFoundByItsNumber) {
  const auto scene = View::load(synthetic_job());
  FirstLookFlags flags;
  flags.collective = scene->collectives()[1].id;
  EXPECT_EQ(understand(flags, {scene.get()}).look.collective, 1u);
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
