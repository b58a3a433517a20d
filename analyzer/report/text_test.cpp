#include "analyzer/report/text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>
#include <utility>

#include "analyzer/report/json.h"
#include "analyzer/report/sample_reports.h"
#include "analyzer/report/text_sections.h"
#include "analyzer/report/unicode.h"

namespace lockstep::analyzer {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

TextOptions with_width(std::size_t width) {
  TextOptions options;
  options.page.width = width;
  return options;
}

class EveryWidth : public testing::TestWithParam<std::size_t> {};

TEST_P(EveryWidth, NoLineIsLongerThanThePageOrEndsInSpaces) {
  for (const Report& report : {small_report(), wide_report(1000), long_report(200)}) {
    for (const std::string& line : lines_of(to_text(report, with_width(GetParam())))) {
      EXPECT_LE(display_width(line), GetParam()) << line;
      EXPECT_TRUE(line.empty() || line.back() != ' ') << line;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Widths, EveryWidth, testing::Values(50, 60, 80, 100, 120, 160));

TEST(TextReport, VerdictComesFirstAndNamesWhoIsWaitedFor) {
  const std::string text = to_text(small_report(), with_width(160));
  EXPECT_THAT(text, HasSubstr("3 of 4 ranks · 2 hosts · 2 steps · Lockstep · times ±250 ns"));
  EXPECT_THAT(text, HasSubstr("7.00 ms of 12.0 ms of communication is waiting (58.3 %); 2.00 ms moves data, "
                              "and 3.00 ms is in operations without a record of every rank"));
  EXPECT_THAT(text, HasSubstr("The others wait for rank 2 (7.00 ms in 1 collective)."));
  EXPECT_LT(text.find("is waiting"), text.find("findings —"));
  EXPECT_LT(text.find("findings —"), text.find("ranks —"));
  EXPECT_LT(text.find("ranks —"), text.find("steps —"));
  EXPECT_LT(text.find("steps —"), text.find("collectives —"));
  EXPECT_LT(text.find("collectives —"), text.find("layers and buckets —"));
  EXPECT_LT(text.find("layers and buckets —"), text.find("not known"));
}

TEST(TextReport, BucketsShowTheMeanOfOneOperationOnOneRank) {
  const std::string text = to_text(small_report(), with_width(160));
  // 3 records: 7 ms waited, 3 ms transferred, 2 ms hidden, 1 ms and 7 ms exposed.
  EXPECT_THAT(
      text, testing::ContainsRegex("all_reduce +1st +4.00 MB +1 +2.33 ms +1.00 ms +667 µs +333 µs +2.33 ms"));
  EXPECT_THAT(text, testing::ContainsRegex("broadcast +layer 3 +– +1 +0 +1.00 ms +0 +1.00 ms +0"));
  Report many = small_report();
  many.buckets.assign(20, many.buckets.front());
  many.buckets[13].exposed_transfer_ns = 1;
  many.buckets[13].hidden_ns = 9'999'999;
  EXPECT_THAT(to_text(many, with_width(160)), HasSubstr("… 8 more, each with less exposed"));
  EXPECT_THAT(costliest_buckets(many, 19), testing::Not(testing::Contains(13u)));
}

// Two groups of one name: their ranks tell the rows apart, also where the table is narrow.
TEST(TextReport, BucketsOfGroupsOfOneNameKeepTheirGroups) {
  Report report = small_report();
  report.buckets.assign(2, report.buckets.front());
  for (BucketReport& bucket : report.buckets) bucket.group_name = "mesh_tp";
  report.buckets[0].group_ranks = {0, 1};
  report.buckets[1].group_ranks = {2, 3};
  const std::string text = to_text(report, with_width(100));
  EXPECT_THAT(text, testing::ContainsRegex("all_reduce +1st +\"mesh_tp\" 0–1 "));
  EXPECT_THAT(text, testing::ContainsRegex("all_reduce +1st +\"mesh_tp\" 2–3 "));
}

TEST(TextReport, AFindingHasATableOfWhereTheRankComputesLonger) {
  Report report = small_report();
  report.findings[0].parts = {
      1000,
      3,
      {{"layers.7.mlp", "aten::mm", false, 5'000'000, 2'000'000}, {"", "", true, 30'000'000, 31'000'000}}};
  const std::string text = to_text(report, with_width(160));
  EXPECT_THAT(text, testing::ContainsRegex("time a step in +rank 2 +other ranks +difference +above all in"));
  EXPECT_THAT(
      text, testing::ContainsRegex("layers.7.mlp +5.00 µs +2.00 µs +[+]3.00 µs [(][+]150.0 %[)] +aten::mm"));
  EXPECT_THAT(text, testing::ContainsRegex("the rest +30.0 µs +31.0 µs +−1.00 µs [(]−3.2 %[)]"));
  report.findings[0].parts = {};
  EXPECT_THAT(to_text(report, with_width(160)), Not(HasSubstr("time a step in")));
}

// Seen of a rank that waits for a lock while cores are short: "No rank is late throughout" was too sure.
TEST(TextReport, ThatNobodyIsLateIsNotSaidWhereWantOfCoresHidesIt) {
  Report report = small_report();
  report.findings.clear();
  report.lateness.can_tell = true;
  report.lateness.steps = 40;
  report.lateness.step_ns = 10'000'000;
  report.lateness.waiting_ns = 1'200'000;
  report.lateness.steps_to_tell = 610;
  report.lateness.ranks = {{.rank = 1}, {.rank = 2, .share = 0.06, .chance = 0.03}, {.rank = 0}};
  EXPECT_THAT(
      to_text(report, with_width(400)),
      HasSubstr(
          "No rank is seen to be late throughout: over 40 steps they wait for each other for 12.0 % of a "
          "step. One that is late by 12 % of a step would have shown; by 3 %, after about 610 steps."));
  report.lateness.steps_to_tell = 440;
  EXPECT_THAT(
      to_text(report, with_width(400)),
      HasSubstr("No rank is late throughout: over 40 steps they wait for each other for 12.0 % of a "
                "step. One that is late by 10 % of a step would have shown; by 3 %, after about 440 steps."));
  report.lateness.steps_to_tell = 40 * 33 * 33;
  EXPECT_THAT(
      to_text(report, with_width(400)),
      HasSubstr("of a step. They vary so much from step to step that one would show only if it were late by "
                "99 % of a step."));
  report.lateness.steps_to_tell = 40 * 34 * 34;
  EXPECT_THAT(to_text(report, with_width(400)),
              HasSubstr("They vary so much from step to step that one which is late would not show."));
  report.lateness.steps_to_tell = 610;
  report.lateness.ranks[1].not_accused_because = NotAccused::cores_shared;
  const std::string text = to_text(report, with_width(400));
  EXPECT_THAT(
      text,
      HasSubstr(
          "Cores are short, and who is last may be the scheduler's choice: whether a rank is late throughout "
          "can't be told. Over 40 steps they wait for each other for 12.0 % of a step."));
  EXPECT_THAT(text, AllOf(Not(HasSubstr("No rank is late")), Not(HasSubstr("would have shown"))));
  report.lateness.ranks[1].not_accused_because = NotAccused::gpu_shared;
  EXPECT_THAT(
      to_text(report, with_width(400)),
      AllOf(HasSubstr("Ranks share a GPU, which chooses whose work comes first: whether a rank is late "
                      "throughout can't be told. Over 40 steps "),
            Not(HasSubstr("would have shown"))));
}

TEST(TextReport, WhatAFindingSaysOfARanksHostIsNotSaidAgainWithoutAName) {
  Report report = small_report();
  ASSERT_THAT(to_text(report, with_width(200)), HasSubstr("Why rank 2 is late: "));
  Finding own;
  own.code = "straggler_persistent";
  own.accuses = Accused::rank;
  own.rank = 2;
  own.reason = "blocked";
  report.findings.push_back(own);
  EXPECT_THAT(to_text(report, with_width(200)), Not(HasSubstr("Why rank 2 is late: ")));
}

// Of a damaged rank nobody knows what its compute hid: it is no zero.
TEST(TextReport, WhatWaitingCostIsNotSaidWhereARankIsDamaged) {
  Report report = small_report();
  report.blame.at(0).exposed_ns = 0;
  EXPECT_THAT(to_text(report, with_width(200)),
              HasSubstr("rank 2 (0 with nothing else to do; 7.00 ms in 1 collective)"));
  report.ranks.at(0).damaged = true;
  ASSERT_NE(report.ranks[0].rank, report.blame[0].rank);
  EXPECT_THAT(to_text(report, with_width(200)),
              AllOf(HasSubstr("The others wait for rank 2"), Not(HasSubstr("nothing else to do"))));
  EXPECT_THAT(to_json(report), HasSubstr("\"exposed_ns\":null,\"collectives\""));
}

TEST(TextReport, WhatAPipelinesScheduleMakesAccusesNobody) {
  Report report = small_report();
  report.blame.at(0).scheduled_ns = report.blame.at(0).blame_ns;
  report.blame.at(0).root_cause.clear();
  const std::string text = to_text(report, with_width(200));
  EXPECT_THAT(text, HasSubstr("No rank is late: they wait for each other in their pipeline alone."));
  EXPECT_THAT(text, Not(HasSubstr("The others wait for")));
  EXPECT_THAT(text, Not(HasSubstr("←")));
}

TEST(TextReport, ARankThatIsLateBesideTheScheduleIsNamed) {
  Report report = small_report();
  report.blame.at(0).scheduled_ns = 2'000'000;
  const std::string text = to_text(report, with_width(200));
  EXPECT_THAT(text,
              HasSubstr("The others wait for rank 2 (5.00 ms in 1 collective); what the pipeline's schedule "
                        "makes them wait is left out."));
  EXPECT_THAT(text, HasSubstr("←"));
}

// Somebody always is waited for longest.
TEST(TextReport, OnlyWhomAFindingAccusesIsMarked) {
  Report report = small_report();
  EXPECT_THAT(to_text(report, with_width(200)), HasSubstr("←"));
  report.findings[0].accuses = Accused::link;
  EXPECT_THAT(to_text(report, with_width(200)), HasSubstr("←"));
  for (const Accused accused : {Accused::nobody, Accused::job, Accused::host}) {
    report.findings[0].accuses = accused;
    EXPECT_FALSE(is_marked(report, 2));
    EXPECT_THAT(to_text(report, with_width(200)), Not(HasSubstr("←")));
  }
  report.findings[0].accuses = Accused::rank;
  report.findings[0].rank = 1;
  EXPECT_FALSE(is_marked(report, 1)) << "nobody waits for it";
  EXPECT_FALSE(is_marked(report, 2)) << "another one is accused";
}

// Left out of one rank's figure it would make another's look like lateness.
TEST(TextReport, WhatThePipelinesScheduleMakesStandsBesideTheWhole) {
  Report report = small_report();
  EXPECT_THAT(to_text(report, with_width(200)), Not(HasSubstr("by schedule")));
  report.blame.at(0).scheduled_ns = 2'000'000;
  const std::string text = to_text(report, with_width(200));
  EXPECT_THAT(text, HasSubstr("waited for (by schedule)"));
  EXPECT_THAT(text, HasSubstr("  7.00 ms (2.00 ms)"));
  EXPECT_THAT(text, HasSubstr("  0       (0)"));
}

TEST(TextReport, HowLongThreadsWaitedForACoreIsSaidWhereSomebodyLooked) {
  Report report = small_report();
  for (const std::string& line : efficiency_lines(report)) EXPECT_THAT(line, Not(HasSubstr("core")));
  report.ranks[0].measures.window_ns = report.ranks[1].measures.window_ns = 1000;
  report.ranks[0].measures.run_queue_ns = 20;
  report.ranks[1].measures.run_queue_ns = 60;
  report.ranks[1].measures.off_cpu_ns = 200;
  EXPECT_EQ(efficiency_lines(report).back(),
            "waiting for a core: 4.0 % of the time of 2 of 3 ranks, most on rank 1: 6.0 %; asleep or blocked "
            "within computation: 10.0 %");
  EXPECT_THAT(verdict_lines(report), Not(testing::Contains(HasSubstr("waits for a core"))));
  report.ranks[1].measures.run_queue_ns = 100;
  EXPECT_THAT(verdict_lines(report),
              testing::Contains(testing::ContainsRegex(
                  "Ranks compute for [^(]* of their time; the rest is mostly .*[.] For 6.0 % of their time a "
                  "training thread waits for a core, within computations or between them[.]")));
  report.ranks.resize(1);
  EXPECT_EQ(efficiency_lines(report).back(), "waiting for a core: 2.0 % of the time");
}

TEST(TextReport, PlainPageHasNoEscapesWhateverTheNames) {
  const std::string text = to_text(small_report());
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  EXPECT_THAT(text, HasSubstr("runs/sm\\x1B[31mall"));
}

TEST(TextReport, ColourChangesNothingButColour) {
  const std::string plain = to_text(small_report());
  for (const ColorDepth depth : {ColorDepth::palette256, ColorDepth::true_color}) {
    TextOptions options;
    options.page.color = depth;
    const std::string colored = to_text(small_report(), options);
    std::string stripped;
    for (std::size_t i = 0; i < colored.size(); ++i) {
      if (colored[i] == '\x1b') {
        i = colored.find('m', i);
      } else {
        stripped += colored[i];
      }
    }
    EXPECT_EQ(lines_of(stripped), lines_of(plain));
    EXPECT_NE(colored, plain);
  }
  TextOptions options;
  options.page.color = ColorDepth::true_color;
  options.page.dark_background = false;
  EXPECT_THAT(to_text(small_report(), options), HasSubstr("\x1b[38;2;190;54;1m"));  // barrier wait, 0xBE3601
}

TEST(TextReport, AsciiIsAscii) {
  for (Report report : {small_report(), wide_report(40), long_report(30)}) {
    report.path = "naïve 東京";
    TextOptions options;
    options.page.ascii = true;
    for (const char c : to_text(report, options)) EXPECT_LT(static_cast<unsigned char>(c), 128);
  }
}

TEST(TextReport, ManyRanksAreCondensedToThoseThatSayMost) {
  const std::string text = to_text(wide_report(1000), with_width(120));
  EXPECT_THAT(text, HasSubstr("… 990 more: --rows all"));
  EXPECT_THAT(text, HasSubstr("most waited for"));
  EXPECT_THAT(text, HasSubstr("median"));
  EXPECT_THAT(text, testing::ContainsRegex("\n +5 +9.01 ms .* shortest"));
  EXPECT_THAT(text, testing::ContainsRegex("\n +999 +11.0 ms .* longest"));
  TextOptions all = with_width(120);
  all.ranks = kAllRows;
  EXPECT_THAT(to_text(wide_report(1000), all), Not(HasSubstr("more: --ranks")));
  EXPECT_GT(lines_of(to_text(wide_report(1000), all)).size(), 1000u);
  TextOptions one = with_width(120);
  one.ranks = 1;
  EXPECT_THAT(to_text(wide_report(1000), one), HasSubstr("… 999 more: --rows all"));
}

TEST(TextReport, LongRunsShowTheSlowestAndTheMedianFirst) {
  const std::string text = to_text(long_report(200));
  const std::size_t slowest = text.find("30.0 ms"), median = text.find("median");
  ASSERT_NE(slowest, std::string::npos);
  ASSERT_NE(median, std::string::npos);
  EXPECT_LT(slowest, median);
  EXPECT_THAT(text, HasSubstr("… 195 more: --steps A:B, or --json FILE"));
  EXPECT_THAT(text, HasSubstr("every step  "));
}

TEST(TextReport, NothingUncomputedIsZero) {
  Report report = small_report();
  report.collectives[1].ranks.resize(1);
  const std::vector<std::string> lines = lines_of(to_text(report, with_width(160)));
  const auto line =
      std::find_if(lines.begin(), lines.end(), [](const auto& l) { return l.find("#1") != l.npos; });
  ASSERT_NE(line, lines.end());
  EXPECT_THAT(*line, HasSubstr("alone"));
  EXPECT_THAT(*line, HasSubstr("–"));

  report.ranks[0].measures.communication_ns = 0;
  report.ranks[0].measures.overlap_ratio.reset();
  EXPECT_THAT(to_text(report, with_width(160)), testing::ContainsRegex("\n +0 +10.0 ms .* – "));
}

// Seen of a parameter server: "Ranks compute for 0.6 % of their time", of the server alone.
TEST(TextReport, WhoseSharesTheyAreIsSaidWhereSomeHaveNoSteps) {
  Report report = small_report();
  const std::int32_t last = report.ranks[2].rank;
  report.ranks[0].measures.window_ns = 0;
  EXPECT_THAT(to_text(report, with_width(200)), HasSubstr("The 2 of 3 ranks that have steps compute for "));
  report.ranks[1].measures.window_ns = 0;
  const std::string text = to_text(report, with_width(200));
  EXPECT_THAT(text, HasSubstr("Rank " + std::to_string(last) + ", which alone has steps, computes for "));
  EXPECT_THAT(text, HasSubstr(" of its time; the rest is mostly "));
}

// Its own figures are dashes, the sums leave it out, and the first sentence says so.
TEST(TextReport, ADamagedRankIsSaidFirst) {
  Report report = small_report();
  const std::string whole = to_text(report, with_width(160));
  report.ranks[2].measures.known = false;
  report.ranks[2].damaged = true;
  const std::string text = to_text(report, with_width(160));
  EXPECT_LT(text.find("The trace of rank 2 is damaged"), text.find("Ranks compute for"));
  EXPECT_THAT(text, testing::ContainsRegex("\n +2 +–  not known: the trace is damaged .* –  +–  +–"));
  EXPECT_THAT(whole, HasSubstr("Ranks compute for 53.3 %"));  // 4, 5 and 7 of 30 ms
  EXPECT_THAT(text, HasSubstr("Ranks compute for 45.0 %"));   // 4 and 5 of 20 ms
}

TEST(TextReport, AMissingRankIsSaidBeforeAnyoneIsBlamed) {
  const std::string text = to_text(small_report(), with_width(160));
  EXPECT_LT(text.find("No trace of rank 3"), text.find("The others wait for"));
}

TEST(TextReport, ColumnsWithoutRoomAreNamed) {
  EXPECT_THAT(to_text(small_report(), with_width(60)), HasSubstr("columns left out at this width: "));
  EXPECT_THAT(to_text(small_report(), with_width(160)), Not(HasSubstr("columns left out at this width: ")));
}

TEST(TextReport, SaysWhatCanNotBeSaid) {
  EXPECT_THAT(to_text(Report{}), HasSubstr("No rank could be analysed"));
  EXPECT_THAT(to_text(long_report(2)), HasSubstr("No communication found"));
  Report one = small_report();
  one.ranks.resize(1);
  one.ranks[0].measures.waits_known = false;
  EXPECT_THAT(to_text(one, with_width(160)),
              AllOf(HasSubstr("without the other ranks' traces nobody can tell how much of it is waiting"),
                    testing::ContainsRegex("\n +0 +10.0 ms .* –  +–\n"), Not(HasSubstr("waited for rank"))));
  Report cut = long_report(1);
  cut.ranks[0].measures = {};
  cut.warnings.push_back({"file_damaged", "rank0.json: ends in the middle", 0});
  EXPECT_THAT(to_text(cut), HasSubstr("Nothing measurable was recorded, or is left"));
  Report idle = long_report(1);
  idle.ranks[0].measures = {};
  EXPECT_THAT(to_text(idle), HasSubstr("No device activity found"));
}

TEST(StackedBar, IsAsLongAsItsTotalAndInOrderOfCause) {
  Partition partition;
  partition[Cause::compute] = 50;
  partition[Cause::barrier_wait] = 25;
  partition[Cause::queued] = 25;
  Line bar = stacked_bar(partition, 100, 20, true);
  std::string text;
  for (const Span& span : bar.spans()) text += span.text;
  EXPECT_EQ(text, "##########wwwww.....");
  EXPECT_EQ(stacked_bar(partition, 200, 20, true).width(), 10u);
  EXPECT_EQ(stacked_bar(partition, 0, 20, true).width(), 0u);
  // Nine slivers of one: cells are rounded together, so that the length is right.
  Partition slivers;
  slivers.ns.fill(1);
  EXPECT_EQ(stacked_bar(slivers, 9, 5, false).width(), 5u);
  EXPECT_EQ(stacked_bar(slivers, 18, 4, false).width(), 2u);
}

TEST(PageWrap, KeepsANumberWithItsUnit) {
  Page page({.width = 20, .color = ColorDepth::none, .dark_background = true, .ascii = false});
  page.wrap(Line{}.text("this takes about 12.5 ms (< 0.1 %) of it"), 2, 4);
  EXPECT_EQ(page.take(), "  this takes about\n    12.5 ms\n    (< 0.1 %) of it\n");
}

}  // namespace
}  // namespace lockstep::analyzer
