#include "viewer/views/names_of_run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "viewer/testing/view_fixture.h"

namespace lockstep::viewer {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::unique_ptr<Scene> run_of(std::size_t ranks) {
  SyntheticOptions options;
  options.late.assign(ranks, 0);
  return View::load(synthetic_job(options));
}

TEST(NamesOfRun, WhatOneOfTwoRunsHasIsThere) {
  const auto small = run_of(2), large = run_of(5);
  EXPECT_THAT(absent_ranks({4, 1, 9, -1}, {small.get()}), ElementsAre(4, 9, -1));
  EXPECT_THAT(absent_ranks({4, 1, 9, -1}, {small.get(), large.get()}), ElementsAre(9, -1));
  EXPECT_EQ(wrong_filter("3:4", {small.get()}), "no rank is left; ranks are 0, 1");
  EXPECT_EQ(wrong_filter("3:4", {small.get(), large.get()}), "");
}

TEST(NamesOfRun, AnOrderNamesGroupsThatThereAre) {
  const auto run = run_of(3);
  const auto wrong = [&run](const std::string& order) {
    return wrong_order(parse_order(order).value(), {run.get()});
  };
  for (const char* const order : {"rank", "host", "group", "group=world", "lost", "waiting"})
    EXPECT_EQ(wrong(order), "") << order;
  EXPECT_THAT(wrong("group=World"), HasSubstr("process groups are world"));
}

// Only what the filter speaks of is listed.
TEST(NamesOfRun, AFilterThatNobodyPassesIsToldWhatThereIs) {
  const auto run = run_of(3);
  EXPECT_EQ(wrong_filter("host=other", {run.get()}), "no rank is left; hosts are node");
  EXPECT_EQ(wrong_filter("group=tp", {run.get()}), "no rank is left; process groups are world");
  EXPECT_EQ(wrong_filter("late=5s", {run.get()}), "no rank is left");
  for (const char* const filter : {"", "2", "host=n*", "group=WORLD"})
    EXPECT_EQ(wrong_filter(filter, {run.get()}), "") << filter;
}

// The rest of the filter is followed: what is left shows nothing of a name that was mistyped.
TEST(NamesOfRun, PartsOfAFilterThatNoRankIsOfAreNamed) {
  const auto run = run_of(3), larger = run_of(5);
  const auto wrong = [&run](const std::string& filter) { return wrong_filter(filter, {run.get()}); };
  EXPECT_EQ(wrong("1,99"), "no rank fits 99; ranks are 0 to 2");
  EXPECT_EQ(wrong("1,7: 50:60"), "no rank fits 7: or 50:60; ranks are 0 to 2");
  EXPECT_EQ(wrong("1,2:60"), "");
  EXPECT_EQ(wrong("host=node host=x*"), "no rank fits host=x*; hosts are node");
  EXPECT_EQ(wrong("1,4 group=tp group=world"),
            "no rank fits 4 or group=tp; ranks are 0 to 2; process groups are world");
  EXPECT_EQ(wrong_filter("1,4", {run.get(), larger.get()}), "") << "the second run has it";
}

TEST(NamesOfRun, ARunWithoutAnythingIsAnswered) {
  const auto run = View::load(analyzer::Job{});
  EXPECT_EQ(ranks_in_words({run.get()}), "the run has no ranks");
  EXPECT_THAT(wrong_order(parse_order("group=dp").value(), {run.get()}),
              HasSubstr("names no process groups"));
  EXPECT_THAT(wrong_filter("host=a", {run.get()}), HasSubstr("names no hosts"));
  EXPECT_EQ(why_not_found("step=1", *run), "the run has no steps");
}

TEST(NamesOfRun, AnAttributeIsWrongUnlessANameHoldsIt) {
  analyzer::Job job = synthetic_job();
  EXPECT_EQ(wrong_attribute("matmul rank=1 class=compute longer=1ns", *View::load(job)), "");
  EXPECT_THAT(wrong_attribute("matmul Dtype=f32", *View::load(job)),
              testing::AllOf(HasSubstr("'dtype' is no attribute"), HasSubstr("longer and shorter")));
  EXPECT_EQ(wrong_attribute("/dtype=f32/", *View::load(job)), "") << "a pattern is of names";
  job.ranks[0].activities[0].name = job.strings.intern("gemm<DType=f32>");
  EXPECT_EQ(wrong_attribute("matmul Dtype=f32", *View::load(job)), "");
}

TEST(NamesOfRun, ASearchForAnotherRankOrStepIsToldWhichThereAre) {
  const auto run = run_of(3);
  EXPECT_EQ(why_not_found("rank=7", *run), "ranks are 0 to 2");
  EXPECT_EQ(why_not_found("step=7", *run), "steps are 0 to 2");
  EXPECT_THAT(why_not_found("foo=7", *run), HasSubstr("no attribute"));
  EXPECT_EQ(why_not_found("nothing of that name", *run), "");
  EXPECT_EQ(why_not_found("/gem(/", *run), "");
}

}  // namespace
}  // namespace lockstep::viewer
