#include "analyzer/gate/verdict.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "analyzer/figures/figures.h"

namespace lockstep::analyzer {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

std::int64_t next_start = 1;

// Runs of two ranks whose step time is so many ms.
std::vector<RunRecord> runs(const std::vector<double>& step_times) {
  std::vector<RunRecord> all;
  for (const double ms : step_times) {
    RunRecord run;
    run.path = "run" + std::to_string(next_start);
    run.start_ns = next_start++;
    run.setting = {.world_size = 2, .hosts = 1, .devices = {"cpu"}};
    run.steps = 50;
    run.figures = {{"step_time", "", ms * 1e6}, {"overlap_ratio", "", 0.5}, {"dropped_events", "", 0}};
    all.push_back(run);
  }
  return all;
}

Rule rule(const char* name, double tolerance = 0.03) {
  return {.figure = find_figure_kind(name),
          .scope = "",
          .bound = std::nullopt,
          .tolerance = {.relative = tolerance}};
}

Policy policy(std::vector<Rule> rules) {
  return {.source = "gate.toml", .rules = std::move(rules), .expected = {}};
}

Verdict verdict(const Policy& policy, const std::vector<RunRecord>& head,
                const std::vector<RunRecord>& base) {
  const Result<Verdict> judged = judge(policy, head, base, {.today = "2026-11-27"});
  EXPECT_TRUE(judged.ok()) << judged.error().message;
  return judged.value();
}

std::string error_of(const Policy& policy, const std::vector<RunRecord>& head,
                     const std::vector<RunRecord>& base) {
  const Result<Verdict> judged = judge(policy, head, base, {.today = "2026-11-27"});
  return judged.ok() ? "none" : judged.error().message;
}

TEST(Verdict, PassFailUndecided) {
  const Policy step_time = policy({rule("step_time")});
  const std::vector<RunRecord> base = runs({399, 400, 401});
  const Verdict slow = verdict(step_time, runs({440, 441, 439}), base);
  EXPECT_EQ(slow.outcome, Outcome::fail);
  EXPECT_EQ(slow.figures[0].zone, Zone::worse);
  EXPECT_DOUBLE_EQ(slow.figures[0].limit, 412e6);
  EXPECT_LT(*slow.figures[0].chance, 0.01);
  EXPECT_EQ(verdict(step_time, runs({401, 402, 400}), base).outcome, Outcome::pass);
  const Verdict open = verdict(step_time, runs({405, 408, 411}), base);
  EXPECT_EQ(open.outcome, Outcome::undecided);
  ASSERT_TRUE(open.figures[0].runs_needed);
  EXPECT_GE(*open.figures[0].runs_needed, 1U);
  const Verdict better = verdict(step_time, runs({300, 301, 302}), base);
  EXPECT_EQ(better.outcome, Outcome::pass);
  EXPECT_TRUE(better.figures[0].is_better);
  EXPECT_FALSE(slow.figures[0].is_better);
}

TEST(Verdict, OneRunASideIsUndecidedUnlessTheBaselineKnowsTheSpread) {
  const Policy step_time = policy({rule("step_time")});
  const Verdict one = verdict(step_time, runs({440}), runs({400}));
  EXPECT_EQ(one.outcome, Outcome::undecided);
  EXPECT_FALSE(one.figures[0].chance);
  EXPECT_FALSE(one.figures[0].runs_needed);
  EXPECT_EQ(verdict(step_time, runs({440}), runs({400, 401, 399, 400, 401, 399})).outcome, Outcome::fail);
}

TEST(Verdict, BoundsNeedNoBaseline) {
  Rule bound = rule("step_time", 0);
  bound.bound = 500e6;
  const Policy at_most = policy({bound});
  EXPECT_FALSE(needs_baseline(at_most));
  EXPECT_EQ(verdict(at_most, runs({440, 441}), {}).outcome, Outcome::pass);
  EXPECT_EQ(verdict(at_most, runs({540, 541, 540}), {}).outcome, Outcome::fail);
  EXPECT_EQ(verdict(at_most, runs({440}), {}).outcome, Outcome::undecided);
  // What is counted is exact.
  Rule dropped = rule("dropped_events", 0);
  dropped.bound = 0;
  EXPECT_EQ(verdict(policy({dropped}), runs({440}), {}).outcome, Outcome::pass);
  std::vector<RunRecord> lost = runs({440});
  lost[0].figures[2].value = 1;
  EXPECT_EQ(verdict(policy({dropped}), lost, {}).outcome, Outcome::fail);
  EXPECT_EQ(error_of(policy({rule("step_time")}), runs({440}), {}),
            "there is no baseline to hold the runs to");
}

// A pipeline's first run: what needs no baseline is judged, and the rest is no success.
TEST(Verdict, WithoutABaselineYetBoundsAreJudged) {
  const VerdictOptions first{.today = "2026-11-27", .no_baseline_yet = true};
  Rule bound = rule("step_time", 0);
  bound.bound = 500e6;
  const Policy both = policy({rule("step_time"), bound});
  const auto judged = [&](const Policy& of, const std::vector<RunRecord>& head) {
    const Result<Verdict> found = judge(of, head, {}, first);
    EXPECT_TRUE(found.ok()) << found.error().message;
    return found.value();
  };
  const Verdict fast = judged(both, runs({440, 441, 440}));
  EXPECT_EQ(fast.outcome, Outcome::not_compared);
  EXPECT_TRUE(fast.figures[0].uncompared);
  EXPECT_EQ(fast.figures[0].head.runs, 3U);
  EXPECT_FALSE(fast.figures[0].chance);
  EXPECT_EQ(fast.figures[1].zone, Zone::within);
  EXPECT_EQ(judged(both, runs({540, 541, 540})).outcome, Outcome::fail);
  EXPECT_EQ(judged(policy({rule("step_time"), rule("busbw")}), runs({440, 441})).outcome, Outcome::fail)
      << "what is missing would be missing in the baseline as well";
  EXPECT_EQ(judged(policy({bound}), runs({440, 441, 440})).outcome, Outcome::pass);
  std::vector<RunRecord> hung = runs({400, 401});
  hung[1].unfit = "the job hung";
  EXPECT_FALSE(judge(both, hung, {}, first).ok());
}

TEST(Verdict, WhatIsMissingFails) {
  const Policy busbw = policy({rule("step_time"), rule("busbw")});
  const Verdict found = verdict(busbw, runs({400, 401}), runs({400, 401}));
  EXPECT_EQ(found.outcome, Outcome::fail);
  EXPECT_TRUE(found.figures[1].missing);
  EXPECT_THAT(found.figures[1].why_missing, HasSubstr("does not tell it"));
}

TEST(Verdict, AnExpectedRegressionDoesNotFailUntilItsDayIsOver) {
  Policy expecting = policy({rule("step_time"), rule("overlap_ratio")});
  expecting.expected.push_back({"step_time", "", "checkpointing", "2026-11-27"});
  const std::vector<RunRecord> base = runs({399, 400, 401});
  const Verdict known = verdict(expecting, runs({440, 441, 439}), base);
  EXPECT_EQ(known.outcome, Outcome::pass);
  EXPECT_EQ(known.figures[0].zone, Zone::worse);
  EXPECT_EQ(known.figures[0].expected->reason, "checkpointing");
  expecting.expected[0].until = "2026-11-26";
  const Verdict over = verdict(expecting, runs({440, 441, 439}), base);
  EXPECT_EQ(over.outcome, Outcome::fail);
  EXPECT_EQ(over.figures[0].expired->until, "2026-11-26");
  EXPECT_THAT(over.warnings, ElementsAre(AllOf(HasSubstr("step_time expired on 2026-11-26 (checkpointing)"),
                                               HasSubstr("take the entry out of gate.toml"))));
  // One that was given a later day.
  expecting.expected.insert(expecting.expected.begin(),
                            Expected{"step_time", "", "checkpointing", "2026-12-31"});
  const Verdict longer = verdict(expecting, runs({440, 441, 439}), base);
  EXPECT_EQ(longer.outcome, Outcome::pass);
  EXPECT_EQ(longer.figures[0].expected->until, "2026-12-31");
  EXPECT_TRUE(longer.warnings.empty());
}

// A policy that excuses all that it asks for could never fail.
TEST(Verdict, WhereEveryFigureIsExpectedNothingIsLeftToGate) {
  Policy expecting = policy({rule("step_time")});
  expecting.expected.push_back({"step_time", "", "checkpointing", "2026-11-27"});
  const std::vector<RunRecord> base = runs({399, 400, 401});
  EXPECT_THAT(
      error_of(expecting, runs({440, 441, 439}), base),
      HasSubstr("gate.toml expects every figure that it has to be worse (step_time until 2026-11-27): "
                "nothing is left to gate"));
  expecting.expected[0].until = "2026-11-26";
  EXPECT_EQ(error_of(expecting, runs({440, 441, 439}), base), "none");
}

TEST(Verdict, RefusesWhatCannotBeJudged) {
  const Policy step_time = policy({rule("step_time")});
  const std::vector<RunRecord> base = runs({399, 400, 401});
  EXPECT_EQ(error_of(step_time, {}, base), "there is no run to judge");
  EXPECT_EQ(error_of(policy({}), runs({400}), base), "gate.toml holds no figure to anything");
  std::vector<RunRecord> hung = runs({400, 401});
  hung[1].unfit = "the job hung";
  EXPECT_EQ(error_of(step_time, hung, base), hung[1].path + " can't be judged: the job hung");
  std::vector<RunRecord> other = runs({400, 401});
  other[1].setting.world_size = 4;
  EXPECT_THAT(error_of(step_time, other, base), HasSubstr("4 ranks on 1 host of cpu"));
  std::vector<RunRecord> larger = runs({400});
  larger[0].setting.world_size = 4;
  EXPECT_THAT(error_of(step_time, larger, base), HasSubstr("they do not compare"));
  const Result<Verdict> forced =
      judge(step_time, larger, base, {.today = "2026-11-27", .other_setting = true});
  ASSERT_TRUE(forced.ok());
  EXPECT_THAT(forced.value().warnings, ElementsAre(HasSubstr("4 ranks")));
  std::vector<RunRecord> twice = runs({400});
  twice.push_back(twice[0]);
  twice[1].path = "copy";
  EXPECT_EQ(error_of(step_time, twice, base),
            twice[0].path + " and copy are the same run: give different ones");
  // Seen of who saved a baseline, and checked the same runs with it.
  const std::vector<RunRecord> held = runs({400});
  std::vector<RunRecord> saved = held;
  saved[0].path = "old/run";
  EXPECT_EQ(
      error_of(step_time, held, saved),
      held[0].path + " is a run of the baseline itself, old/run there: give runs that were made after it");
}

TEST(Verdict, SeveralFiguresAreCorrectedTogether) {
  const std::vector<RunRecord> base = runs({399, 400, 401}), head = runs({404, 408, 412});
  Rule plain = rule("step_time", 0);
  Policy alone = policy({plain});
  alone.false_alarms = 0.05;
  const double chance = *verdict(alone, head, base).figures[0].chance;
  Policy both = policy({plain, rule("overlap_ratio", 0)});
  both.false_alarms = 0.05;
  EXPECT_NEAR(*verdict(both, head, base).figures[0].chance, 2 * chance, 1e-12);
}

// What more runs would have to stand is the correction, and not the level of one figure alone.
TEST(Verdict, RunsNeededAreThoseOfAFigureAmongOthers) {
  const std::vector<RunRecord> base = runs({399, 400, 401}), head = runs({404, 408, 412});
  const Verdict alone = verdict(policy({rule("step_time", 0)}), head, base);
  Rule heavy = rule("overlap_ratio", 0);
  heavy.weight = 30;
  const Verdict among = verdict(policy({rule("step_time", 0), heavy}), head, base);
  for (const Verdict* one : {&alone, &among}) {
    ASSERT_EQ(one->figures[0].zone, Zone::undecided);
    ASSERT_TRUE(one->figures[0].runs_needed);
  }
  EXPECT_GT(*among.figures[0].runs_needed, *alone.figures[0].runs_needed + 5);
}

}  // namespace
}  // namespace lockstep::analyzer
