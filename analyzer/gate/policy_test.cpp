#include "analyzer/gate/policy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace lockstep::analyzer {
namespace {

using testing::HasSubstr;

std::string error_of(std::string_view text) {
  const Result<Policy> policy = parse_policy(text, "gate.toml");
  return policy.ok() ? "none" : policy.error().message;
}

TEST(Policy, OfTheDocumentedKind) {
  const Result<Policy> read = parse_policy(R"(
false_alarms = 0.02
confidence = "90 %"
[[figure]]
name = "step_time"
tolerance = "5 %"
floor = "2 ms"
weight = 3
[[figure]]
name = "busbw"
scope = "group dp all_reduce"
tolerance = 0.1
[[figure]]
name = "goodput"
at_least = "90 %"
[[figure]]
name = "dropped_events"
at_most = 0
[[expected]]
figure = "step_time"
reason = "activation checkpointing"
until = 2026-12-31
)",
                                           "gate.toml");
  ASSERT_TRUE(read.ok()) << read.error().message;
  const Policy& policy = read.value();
  EXPECT_EQ(policy.false_alarms, 0.02);
  EXPECT_EQ(policy.confidence, 0.9);
  ASSERT_EQ(policy.rules.size(), 4U);
  EXPECT_EQ(policy.rules[0].figure->name, "step_time");
  EXPECT_EQ(policy.rules[0].tolerance.relative, 0.05);
  EXPECT_EQ(policy.rules[0].tolerance.floor, 2e6);
  EXPECT_EQ(policy.rules[0].weight, 3);
  EXPECT_EQ(policy.rules[0].bound, std::nullopt);
  EXPECT_EQ(policy.rules[1].name(), "busbw of group dp all_reduce");
  EXPECT_EQ(policy.rules[1].tolerance.floor, 0);
  EXPECT_EQ(policy.rules[2].bound, 0.9);
  EXPECT_EQ(policy.rules[2].tolerance.relative, 0);  // a bound is meant as it is written
  EXPECT_EQ(policy.rules[3].bound, 0);
  ASSERT_EQ(policy.expected.size(), 1U);
  EXPECT_EQ(policy.expected[0].until, "2026-12-31");
}

TEST(Policy, WhatIsWrittenToBeginWithIsTheDefault) {
  const Result<Policy> read = parse_policy(commented_policy(), "gate.toml");
  ASSERT_TRUE(read.ok()) << read.error().message;
  const Policy standard = default_policy();
  EXPECT_EQ(read.value().false_alarms, standard.false_alarms);
  EXPECT_EQ(read.value().confidence, standard.confidence);
  ASSERT_EQ(read.value().rules.size(), standard.rules.size());
  for (std::size_t i = 0; i < standard.rules.size(); ++i) {
    EXPECT_EQ(read.value().rules[i].figure, standard.rules[i].figure);
    EXPECT_DOUBLE_EQ(read.value().rules[i].tolerance.relative, standard.rules[i].tolerance.relative);
    EXPECT_DOUBLE_EQ(read.value().rules[i].tolerance.floor, standard.rules[i].tolerance.floor);
  }
}

TEST(Policy, WhatIsWrongIsNamedWithItsLine) {
  EXPECT_EQ(error_of(""), "gate.toml: there is no [[figure]] in it: it would check nothing");
  EXPECT_EQ(
      error_of("[[figure]]\nname = \"step_tme\""),
      "gate.toml:2: there is no figure 'step_tme' (did you mean 'step_time'?); `lockstep check --figures` lists them");
  EXPECT_THAT(
      error_of("[[figure]]\nname = \"step_time\"\ntollerance = 0.1"),
      HasSubstr("gate.toml:3: 'tollerance' is not known here (did you mean 'tolerance'?); there are name,"));
  EXPECT_EQ(error_of("[[figure]]\nname = \"goodput\"\nat_most = 0.9"),
            "gate.toml:3: goodput is better the higher it is: a bound on it is at_least");
  EXPECT_EQ(error_of("[[figure]]\nname = \"step_time\"\nat_most = \"fast\""),
            "gate.toml:3: at_most: 'fast' is no figure; write for instance \"412 ms\"");
  EXPECT_EQ(error_of("[[figure]]\nname = \"step_time\"\ntolerance = -0.1"),
            "gate.toml:3: tolerance is below 0");
  EXPECT_EQ(error_of("[[figure]]\nname = \"step_time\"\ntolerance = nan"),
            "gate.toml:3: tolerance is not finite");
  EXPECT_EQ(error_of("[[figure]]\nname = \"step_time\"\nweight = 0"),
            "gate.toml:3: weight = 0: it has to lie between 0 and 1000");
  EXPECT_THAT(error_of("confidence = 1.5\n[[figure]]\nname = \"step_time\""),
              HasSubstr("gate.toml:1: confidence = 1.5"));
  EXPECT_EQ(error_of("[[figure]]\nname = \"step_time\"\n[[figure]]\nname = \"step_time\""),
            "gate.toml: step_time stands in it twice");
  EXPECT_THAT(error_of("[figure]\nname = \"step_time\""), HasSubstr("write [[figure]] before each"));
  EXPECT_THAT(error_of("[[figure]\n"), HasSubstr("gate.toml:1: "));
  EXPECT_THAT(
      error_of(
          "[[figure]]\nname = \"step_time\"\n[[expected]]\nfigure = \"step_time\"\nreason = \"x\"\nuntil = \"soon\""),
      HasSubstr("gate.toml:6: until is no date"));
}

TEST(Policy, WhatIsExpectedStandsForAFigureOfIt) {
  const auto expecting = [](const std::string& of) {
    return error_of(
        "[[figure]]\nname = \"step_time\"\n[[figure]]\nname = \"busbw\"\nscope = \"group dp\"\n"
        "[[expected]]\nreason = \"x\"\nuntil = 2026-12-31\n" +
        of);
  };
  EXPECT_EQ(expecting("figure = \"busbw\"\nscope = \"group dp\""), "none");
  EXPECT_EQ(
      expecting("figure = \"busbw\"\nscope = \"group tp\""),
      "gate.toml:9: no [[figure]] here is busbw of group tp (did you mean 'busbw of group dp'?), so that "
      "nothing can be expected of it; there are step_time and busbw of group dp");
  EXPECT_EQ(expecting("figure = \"goodput\""),
            "gate.toml:9: no [[figure]] here is goodput, so that nothing can be expected of it; there are "
            "step_time and busbw of group dp");
}

// A figure may be held to a baseline and to a bound.
TEST(Policy, ABoundBesideABaseline) {
  EXPECT_EQ(error_of("[[figure]]\nname = \"step_time\"\n[[figure]]\nname = \"step_time\"\nat_most = \"1 s\""),
            "none");
}

}  // namespace
}  // namespace lockstep::analyzer
