#include "viewer/views/first_look.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "viewer/testing/view_fixture.h"

namespace lockstep::viewer {
namespace {

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
                                         std::tuple{&FirstLookWords::go_to, "nowhere", "--goto"}}) {
    const auto wrong = check(words_of(flag, text));
    ASSERT_TRUE(wrong.has_value()) << name;
    EXPECT_THAT(wrong->message, HasSubstr(name));
    EXPECT_TRUE(wrong->usage);
  }
}

TEST(FirstLook, TimesCountFromTheRunsStart) {
  SyntheticOptions options;
  options.begin = 1'000'000;
  const auto scene = View::load(synthetic_job(options));
  const Nanoseconds origin = scene->timeline().origin;
  const UnderstoodWords range = understand(words_of(&FirstLookWords::range, "100ns:300ns"), *scene);
  EXPECT_THAT(range.wrong, IsEmpty());
  ASSERT_TRUE(range.look.range.has_value());
  EXPECT_EQ(range.look.range->begin, origin + 100);
  EXPECT_EQ(range.look.range->end, origin + 300);
  const UnderstoodWords measured = understand(words_of(&FirstLookWords::measure, "100ns:300ns"), *scene);
  EXPECT_EQ(measured.look.measured->begin, origin + 100);
  EXPECT_EQ(measured.look.panel, "Range") << "where its figures stand";
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
  const UnderstoodWords understood = understand(words, *scene);
  ASSERT_THAT(understood.wrong, SizeIs(3));
  EXPECT_THAT(understood.wrong[0].message, testing::AllOf(HasSubstr("--range 10s:11s"), HasSubstr("ends")));
  EXPECT_THAT(understood.wrong[1].message, HasSubstr("--goto: "));
  EXPECT_THAT(understood.wrong[2].message, HasSubstr("--collective 4711"));
  EXPECT_FALSE(understood.wrong[2].usage);
  EXPECT_FALSE(understood.look.range.has_value());
  EXPECT_FALSE(understood.look.go_to.any());
  EXPECT_FALSE(understood.look.collective.has_value());
  EXPECT_TRUE(understood.look.measured.has_value());
  EXPECT_EQ(understood.look.search, "gemm");
  EXPECT_EQ(understood.look.panel, "Search");
}

TEST(FirstLook, ACollectiveIsFoundByItsNumber) {
  const auto scene = View::load(synthetic_job());
  FirstLookWords words;
  words.collective = scene->collectives()[1].id;
  EXPECT_EQ(understand(words, *scene).look.collective, 1u);
}

}  // namespace
}  // namespace lockstep::viewer
