#include "analyzer/diagnose/finding_order.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace lockstep::analyzer {
namespace {

using testing::ElementsAre;

Finding found(const char* code, std::int64_t lost_ns, Accused accuses = Accused::job) {
  Finding finding;
  finding.code = code;
  finding.severity = "medium";
  finding.lost_ns = lost_ns;
  finding.accuses = accuses;
  return finding;
}

Finding note(const char* code, std::int64_t lost_ns) {
  Finding finding = found(code, lost_ns);
  finding.is_note = true;
  finding.severity = "note";
  return finding;
}

Finding of_topic(Topic topic, Finding finding) {
  finding.topic = topic;
  return finding;
}

Finding of_transfer(const char* code, std::int64_t lost_ns) {
  Finding finding = found(code, lost_ns);
  finding.cause = Cause::transfer;
  return finding;
}

// Whatever the order in which rules found them.
std::vector<std::string> ordered(std::vector<Finding> findings, const OrderContext& context = {}) {
  std::vector<std::string> first;
  std::ranges::sort(findings, {}, &Finding::code);
  do {
    std::vector<Finding> copy = findings;
    order_findings(copy, context);
    std::vector<std::string> codes;
    for (const Finding& finding : copy) codes.push_back(finding.code);
    if (first.empty()) first = codes;
    EXPECT_EQ(codes, first);
  } while (std::ranges::next_permutation(findings, {}, &Finding::code).found);
  return first;
}

TEST(FindingOrder, IsByWhatCostsMostBehindAlarms) {
  Finding hang = found("hang", 0);
  hang.alarm = Alarm::hang;
  EXPECT_THAT(ordered({found("little", 10), found("much", 90), hang}), ElementsAre("hang", "much", "little"));
}

TEST(FindingOrder, OfWhatCostsTheSameIsThatOfTheRules) {
  std::vector<Finding> findings = {found("b", 10), found("a", 10)};
  order_findings(findings, {});
  EXPECT_EQ(findings.front().code, "b");
}

TEST(FindingOrder, HasStartUpLastWhereTrainingIsKnown) {
  Finding start_up = found("start_up", 90);
  start_up.share = Share::of_run;
  EXPECT_THAT(ordered({start_up, found("little", 10)}), ElementsAre("start_up", "little"));
  EXPECT_THAT(ordered({start_up, found("little", 10)}, {.has_goodput = true}),
              ElementsAre("little", "start_up"));
}

TEST(FindingOrder, HasNotesBehindARankThatIsNamed) {
  EXPECT_THAT(ordered({note("note", 90), found("other", 10)}), ElementsAre("note", "other"));
  EXPECT_THAT(ordered({note("note", 90), found("rank", 10, Accused::rank)}), ElementsAre("rank", "note"));
}

TEST(FindingOrder, HasABubbleBehindTheStageThatMakesHalfOfIt) {
  const Finding bubble = of_topic(Topic::pipeline_bubble, found("bubble", 100));
  const auto stage = [](std::int64_t lost_ns) {
    return of_topic(Topic::heavy_stage, found("stage", lost_ns, Accused::rank));
  };
  EXPECT_THAT(ordered({bubble, stage(50)}), ElementsAre("stage", "bubble"));
  EXPECT_THAT(ordered({bubble, stage(49)}), ElementsAre("bubble", "stage"));
  EXPECT_THAT(ordered({bubble, stage(200)}), ElementsAre("stage", "bubble"));
  // Right behind it: what costs more than the stage stays before both, what costs less behind both.
  EXPECT_THAT(ordered({bubble, stage(60), found("more", 70), found("less", 50)}),
              ElementsAre("more", "stage", "bubble", "less"));
  EXPECT_THAT(ordered({bubble, found("late", 60, Accused::rank)}), ElementsAre("bubble", "late"));
}

TEST(FindingOrder, HasTransferThatShortCoresCarryOutBehindThem) {
  const Finding cores = of_topic(Topic::short_cores, found("cores", 60, Accused::host));
  const Finding transfer = of_transfer("transfer", 100);
  EXPECT_THAT(ordered({cores, transfer}, {.is_moved_by_the_cores = true}), ElementsAre("cores", "transfer"));
  EXPECT_THAT(ordered({cores, transfer}), ElementsAre("transfer", "cores"));
  std::vector<Finding> findings = {transfer, cores};
  order_findings(findings, {.is_moved_by_the_cores = true});
  EXPECT_THAT(findings.back().evidence, ElementsAre(testing::HasSubstr("behind what costs less")));
  findings = {cores, of_transfer("transfer", 50)};
  order_findings(findings, {.is_moved_by_the_cores = true});
  EXPECT_THAT(findings.back().evidence, testing::IsEmpty());
}

TEST(FindingOrder, HasTransferThatShortCoresCarryOutBehindALateRank) {
  const Finding cores = of_topic(Topic::short_cores, found("cores", 30, Accused::host));
  const Finding transfer = of_transfer("transfer", 100), late = found("late", 60, Accused::rank);
  const OrderContext within_host{.is_moved_by_the_cores = true};
  EXPECT_THAT(ordered({cores, transfer, late}, within_host), ElementsAre("late", "transfer", "cores"));
  EXPECT_THAT(ordered({cores, transfer, found("late", 49, Accused::rank)}, within_host),
              ElementsAre("transfer", "late", "cores"));
  // Links, or cores enough.
  EXPECT_THAT(ordered({cores, transfer, late}), ElementsAre("transfer", "late", "cores"));
  EXPECT_THAT(ordered({transfer, late}, within_host), ElementsAre("transfer", "late"));
  // Nobody is blamed.
  EXPECT_THAT(ordered({cores, transfer, found("other", 60)}, within_host),
              ElementsAre("transfer", "other", "cores"));
}

}  // namespace
}  // namespace lockstep::analyzer
