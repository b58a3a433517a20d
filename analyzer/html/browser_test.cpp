// The page in a browser: its scripts run, draw what must be there, and write numbers as the text report does.
// Skipped where there is no Chromium.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <random>
#include <regex>

#include "analyzer/html/assets.h"
#include "analyzer/html/test_browser.h"
#include "analyzer/report/quantity.h"
#include "analyzer/report/sample_reports.h"
#include "analyzer/report/text.h"

namespace lockstep::analyzer {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

// Something of everything that a page can show.
Report full_report() {
  Report report = small_report();
  report.groups = {{"default_pg", {0, 1, 2, 3}, {GroupOperation{}}},
                   {"default_pg", {0, 1}, {GroupOperation{}}}};
  report.groups[0].operations[0].operation = Operation::all_reduce;
  report.groups[1].operations[0].operation = Operation::all_gather;
  report.wait_states = {{WaitState::at_nxn, 1, 2, 7'000'000, 7'000'000, 0, 4'000'000}};
  report.pipeline = {{"pp", 2, 4, 1, Schedule::one_forward_one_backward, 0.25, 0.2}};
  report.pipeline[0].stages_detail.resize(2);
  report.layers = {LayerReport{}};
  report.layers[0].layer = 0;
  report.layers[0].forward = LayerPass{1'000, 2'000, 3'000, 0, 0, 500};
  report.account = account_of_ranks(3);
  report.theory = {{TheoryQuantity::gradients, 0, 100.0, 100, PartOfModel{4, 1}}};
  return report;
}

TEST_F(Browser, DrawsEverySectionWithoutAnError) {
  const Report report = full_report();
  const std::string document = document_of(report);
  EXPECT_THAT(document, HasSubstr("data-drawn=\"true\""));
  EXPECT_THAT(document, Not(HasSubstr("data-error")));
  for (const std::string& line : verdict_lines(report))
    EXPECT_THAT(words(document), HasSubstr(line.substr(0, 60)));
  for (const char* id : {"account", "findings", "rank-section", "heat", "steps", "pipelines", "collectives",
                         "wait-states", "groups", "buckets", "theory", "layers", "unknown"}) {
    const std::string drawn = section(document, id);
    EXPECT_FALSE(drawn.substr(0, drawn.find('>')).find("hidden") != std::string::npos) << id;
    EXPECT_GT(words(drawn).size(), 30u) << id;
  }
  // In the text report's order.
  std::size_t last = 0;
  for (const char* heading :
       {"Where the wall time went", "Findings", "Ranks", "Steps by cause", "Pipelines", "Collectives",
        "Wait states", "Groups", "Overlap by layer", "Beside theory", "Layers", "What is not known"}) {
    const std::size_t at = document.find(fmt::format("<h2>{}", heading));
    ASSERT_NE(at, std::string::npos) << heading;
    EXPECT_GT(at, last) << heading;
    last = at;
  }
  // The straggler's worst collective, with the late rank marked.
  const std::string findings = section(document, "findings");
  EXPECT_THAT(words(findings), HasSubstr("#0 all_reduce of step 1"));
  EXPECT_THAT(words(findings), HasSubstr("rank 2 arrives 4.00 ms after the first"));
  EXPECT_THAT(
      words(section(document, "buckets")),
      HasSubstr("all_reduce 1st default_pg (ranks 0–3) 4.00 MB 1 2.33 ms 1.00 ms 667 µs 333 µs 2.33 ms"));
  EXPECT_THAT(words(section(document, "layers")), HasSubstr("layer 0 500 ns – 1.00 µs 3.00 µs rank 0 0"));
}

// Whatever ranks, groups and operations are called: what does not fit is out of sight, the last column first.
TEST_F(Browser, NoTableIsWiderThanItsPage) {
  Report report = full_report();
  const std::string long_name = "gradients of decoder.layers.31.mlp.down_projection, bucket 12";
  for (CollectiveReport& collective : report.collectives) {
    collective.name = long_name;
    collective.group_name = "DATA_PARALLEL_GROUP_WITH_CONTEXT_PARALLEL";
    collective.step = 1'234'567;
  }
  for (RankReport& rank : report.ranks) rank.host = "gpu-cluster-node-0123456789.europe-west4.example.net";
  for (GroupReport& group : report.groups) group.name = "DATA_PARALLEL_GROUP_WITH_CONTEXT_PARALLEL";
  for (BucketReport& bucket : report.buckets) bucket.name = long_name;
  for (LayerReport& layer : report.layers) {
    layer.layer.reset();
    layer.part = "decoder.layers.31.mlp.down_projection.weight_times_input";
  }
  const std::string document = document_of(report, "",
                                           R"(const wide = [...document.querySelectorAll('.scroll')]
  .filter(one => one.scrollWidth > one.clientWidth).map(one => one.closest('section').id);
if (document.documentElement.scrollWidth > innerWidth) wide.push('page');
document.body.dataset.wide = wide.join(' ');)");
  EXPECT_THAT(document, HasSubstr("data-wide=\"\"")) << document.substr(document.find("data-wide"), 100);
}

// As the text report has them: window, hidden, exposed, waits, of that exposed, waited for.
TEST_F(Browser, RanksHaveTheFiguresOfTheTextReport) {
  const Report report = small_report();
  const std::string drawn = words(section(document_of(report), "rank-section"));
  TextOptions options;
  options.page.width = 200;
  const std::string text = to_text(report, options);
  for (const RankReport& rank : report.ranks) {
    const Measures& m = rank.measures;
    const std::int64_t blame = rank.rank == 2 ? report.blame[0].blame_ns : 0;
    const std::vector<std::string> figures{format_duration(m.window_ns),
                                           format_share(m.overlap_ratio),
                                           format_duration(m.exposed_communication_ns),
                                           format_duration(m.collective_wait_ns),
                                           fmt::format("({})", format_duration(m.collective_wait_ns)),
                                           format_duration(blame)};
    std::string row = fmt::format(" {}", rank.rank), line = fmt::format("\n +{} +", rank.rank);
    for (const std::string& figure : figures) {
      row += " " + figure;
      line += std::regex_replace(figure, std::regex(R"([().])"), "\\$&") + "[^\n]*";
    }
    EXPECT_THAT(drawn, HasSubstr(row + " " + rank.host));
    EXPECT_TRUE(std::regex_search(text, std::regex(line))) << line;
  }
  for (const std::string& line : efficiency_lines(report)) EXPECT_THAT(drawn, HasSubstr(line));
}

TEST_F(Browser, OnlyARankThatAFindingAccusesIsRed) {
  Report report = small_report();
  EXPECT_THAT(section(document_of(report), "rank-section"), HasSubstr("<b class=\"high\">7.00 ms</b>"));
  report.findings[0].accuses = Accused::nobody;
  const std::string ranks = section(document_of(report), "rank-section");
  EXPECT_THAT(words(ranks), HasSubstr("7.00 ms"));
  EXPECT_THAT(ranks, testing::AllOf(Not(HasSubstr("<b>")), Not(HasSubstr("class=\"high\""))));
}

TEST_F(Browser, WhatAPipelinesScheduleMakesStandsBesideTheWhole) {
  Report report = small_report();
  report.blame.at(0).scheduled_ns = 2'000'000;
  const std::string ranks = words(section(document_of(report), "rank-section"));
  EXPECT_THAT(ranks, HasSubstr("waited for (by schedule)"));
  EXPECT_THAT(ranks, HasSubstr("7.00 ms (2.00 ms) node-b"));
}

// More steps than there are columns: none is out of sight.
TEST_F(Browser, TheHeatMapShowsAllStepsAtOnce) {
  const std::string document = document_of(long_report(600), "", R"(chosen.measure = 'window';
drawHeat();
const canvas = byId('heat-canvas');
const box = canvas.getBoundingClientRect();
const end = heatCell({target: canvas, clientX: box.left + heat.margin.left + heat.width * (heat.worst.length - 0.5), clientY: box.top + 3});
const longest = heatCell({target: canvas, clientX: box.left + heat.margin.left + heat.width * (7 / heat.together), clientY: box.top + 3});
document.body.dataset.heat = [box.width <= canvas.parentElement.clientWidth, end.last, longest.worst[0]].join(' ');)");
  EXPECT_THAT(document, Not(HasSubstr("data-error")));
  EXPECT_THAT(document, HasSubstr("data-heat=\"true 599 7\""));
  EXPECT_TRUE(
      std::regex_search(document, std::regex("a cell is [0-9]+ steps, and shows the one that has most")));
  EXPECT_THAT(document_of(long_report(40)), Not(HasSubstr(">a cell is")));
}

TEST_F(Browser, TheAddressSelectsStepsRanksAndAGroup) {
  const std::string document = document_of(full_report(), "#steps=2-2&ranks=0-1&group=default_pg&theme=dark");
  EXPECT_THAT(document, Not(HasSubstr("data-error")));
  EXPECT_THAT(document, HasSubstr("data-theme=\"dark\""));
  EXPECT_THAT(words(document), HasSubstr("step 2, 2 of 3 ranks, group default_pg (ranks 0–3)"));
  // Step 2 of ranks 0 and 1 alone, and no blame, which is of the whole job.
  const std::string ranks = words(section(document, "rank-section"));
  EXPECT_THAT(ranks, HasSubstr(" 0 4.50 ms 0.0 % 2.50 ms 2.00 ms (2.00 ms) node-a"));
  EXPECT_THAT(ranks, HasSubstr(" 1 4.00 ms 0.0 % 1.50 ms 1.00 ms (1.00 ms) node-a"));
  EXPECT_THAT(ranks, Not(HasSubstr("node-b")));
  EXPECT_THAT(ranks, Not(HasSubstr("waited for")));
  EXPECT_THAT(ranks, HasSubstr("Of all groups: does not follow the selection."));
  EXPECT_THAT(words(section(document, "wait-states")),
              HasSubstr("Of all steps, ranks and groups: does not follow the selection."));
  // Of two groups of one name, the first.
  EXPECT_THAT(words(section(document, "groups")), HasSubstr("all_reduce"));
  EXPECT_THAT(words(section(document, "groups")), Not(HasSubstr("all_gather")));
  const std::string collectives = words(section(document, "collectives"));
  EXPECT_THAT(collectives, HasSubstr("#1 broadcast"));
  EXPECT_THAT(collectives, Not(HasSubstr("#0 all_reduce")));
}

TEST_F(Browser, AClickOnEvidenceShowsItsOperationWhateverIsSelected) {
  const std::string document = document_of(full_report(), "#steps=2&ranks=0&group=default_pg",
                                           "document.querySelector('#finding-list a.press').click();");
  EXPECT_THAT(document, Not(HasSubstr("data-error")));
  // Step 2 was selected, and the operation is of step 1.
  EXPECT_THAT(words(document), HasSubstr("all steps, 1 of 3 ranks, group default_pg (ranks 0–3)"));
  const std::string collectives = section(document, "collectives");
  EXPECT_TRUE(std::regex_search(collectives, std::regex("press chosen\"[^>]*><td[^>]*>#0<")));
  // Ranks 1 and 2 are not selected: rank 1 is dimmed, the late one is not.
  EXPECT_EQ(words(collectives).find("rank 2 arrives"), words(collectives).rfind("rank 2 arrives"));
  const std::string arrivals = collectives.substr(collectives.find("id=\"arrivals\""));
  const auto times = [&](const std::string& text) {
    std::size_t count = 0;
    for (std::size_t at = 0; (at = arrivals.find(text, at)) != std::string::npos; ++at) ++count;
    return count;
  };
  EXPECT_EQ(times("opacity=\"0.35\""), 1u);
  EXPECT_EQ(times("opacity=\"1\""), 2u);
}

TEST_F(Browser, AFindingHasATableOfWhereTheRankComputesLonger) {
  Report report = full_report();
  EXPECT_THAT(words(section(document_of(report), "findings")), Not(HasSubstr("time a step in")));
  report.findings[0].parts = {
      1000,
      3,
      {{"layers.7.mlp", "aten::mm", false, 5'000'000, 2'000'000}, {"", "", true, 30'000'000, 31'000'000}}};
  const std::string document = document_of(report);
  EXPECT_THAT(document, Not(HasSubstr("data-error")));
  const std::string drawn = words(section(document, "findings"));
  EXPECT_THAT(drawn, testing::ContainsRegex("time a step in *rank 2 *other ranks *difference *above all in"));
  EXPECT_THAT(
      drawn, testing::ContainsRegex("layers.7.mlp *5.00 µs *2.00 µs *[+]3.00 µs [(][+]150.0 %[)] *aten::mm"));
  EXPECT_THAT(drawn, testing::ContainsRegex("the rest *30.0 µs *31.0 µs *−1.00 µs [(]−3.2 %[)]"));
}

TEST_F(Browser, AFindingSaysWhatItsKindMeansWhereAskedFor) {
  const std::string closed = section(document_of(full_report()), "findings");
  EXPECT_THAT(closed, HasSubstr("<details><summary>What this means</summary>"));
  EXPECT_THAT(words(closed), HasSubstr("straggler_persistent: the others wait for one rank."));
  EXPECT_THAT(words(closed), HasSubstr("wrong if: Its steps wait as much as the others' do"));
  // It stays open when another selection is drawn.
  const std::string opened =
      document_of(full_report(), "",
                  "const one = document.querySelector('#finding-list details'); one.open = true; "
                  "one.dispatchEvent(new Event('toggle')); document.getElementById('everything').click();");
  EXPECT_THAT(section(opened, "findings"),
              HasSubstr("<details open=\"\"><summary>What this means</summary>"));
}

TEST_F(Browser, StepsThemeAndRanksCanBeChosen) {
  const std::string document =
      document_of(full_report(), "#theme=light",
                  "document.querySelectorAll('#step-bars g.press')[1].dispatchEvent(new "
                  "Event('click'));document.getElementById('theme').click();const ranks = "
                  "document.getElementById('ranks'); ranks.value = '7';ranks.dispatchEvent(new "
                  "Event('input'));");
  EXPECT_THAT(document, Not(HasSubstr("data-error")));
  EXPECT_THAT(document, HasSubstr("data-theme=\"dark\""));
  // There is no rank 7: the last good list stays.
  EXPECT_THAT(document, HasSubstr("class=\"wrong\""));
  EXPECT_THAT(words(document), HasSubstr("step 2, all ranks"));
}

TEST_F(Browser, APartialCollectivesLastArriverIsNotKnown) {
  Report report = small_report();
  report.findings.clear();
  report.collectives.erase(report.collectives.begin());
  report.collectives[0].ranks.resize(1);
  report.collectives[0].partial = true;
  const std::string drawn = words(section(document_of(report), "collectives"));
  EXPECT_THAT(drawn, HasSubstr("#1 broadcast \"default_pg\" 1 of 4 ranks – – –"));
  EXPECT_THAT(drawn, Not(HasSubstr("within clock error")));
}

TEST_F(Browser, OfACollectiveThatNotAllCameToItSaysSo) {
  Report report = small_report();
  report.findings.clear();
  report.collectives.erase(report.collectives.begin() + 1, report.collectives.end());
  CollectiveReport& one = report.collectives[0];
  one.unfinished = true;
  one.last_arriver.reset();
  one.last_arriver_margin_ns.reset();
  one.algbw_gbps.reset();
  one.busbw_gbps.reset();
  one.busbw_wire_gbps.reset();
  for (CollectiveRank& rank : one.ranks) {
    rank.wait_ns += rank.transfer_ns;
    rank.transfer_ns = 0;
  }
  // Waited, last arriver, spread, transfer, size, bandwidth.
  EXPECT_THAT(words(section(document_of(report), "collectives")),
              HasSubstr("7.00 ms not all came 4.00 ms 0 4.00 MB – 1"));
  one.unfinished = false;
  EXPECT_THAT(words(section(document_of(report), "collectives")), Not(HasSubstr("not all came")));
}

TEST_F(Browser, AJobWithoutFiguresShowsItsHangAlone) {
  Report report;
  report.path = "hung";
  report.sources = {"flight recorder"};
  report.dumps = Dumps::all;
  for (std::int32_t rank = 0; rank < 3; ++rank) {
    RankReport row;
    row.rank = rank;
    row.measures.known = false;
    report.ranks.push_back(row);
    report.ranks_present.push_back(rank);
  }
  report.findings = {{"hang",
                      "high",
                      "the job hung in all_reduce (group 1): rank 2 never came",
                      {"ranks 0, 1 wait in it", "3 operations in all never ended"},
                      "find out",
                      0,
                      0}};
  const std::string long_words =
      "was last seen in `load` (data.py:54), 1,007 looks in a row over 51.1 s, and in "
      "the operation before it waited for the others for 3 ms";
  report.findings[0].standings = {{{0, 1}, true, "all_reduce (group 1)"},
                                  {{2}, false, "is in \"load data\""},
                                  {{2}, false, long_words},
                                  {{1}, false, "its dump is cut", false}};
  report.warnings = {{"order_only", "there are no figures", kNoRank}};
  const std::string document = document_of(report);
  EXPECT_THAT(document, Not(HasSubstr("data-error")));
  const std::string findings = section(document, "findings");
  EXPECT_THAT(words(findings), HasSubstr("Which rank stands where"));
  EXPECT_THAT(words(findings),
              testing::AllOf(HasSubstr("in all_reduce (group 1)"), HasSubstr("is in \"load data\"")));
  EXPECT_THAT(words(findings), HasSubstr("not known whether it came: its dump is cut"));
  EXPECT_THAT(findings, HasSubstr("was last seen in <code>load</code> (data.py:54)"));
  EXPECT_THAT(words(findings), HasSubstr("waited for the others for 3"));
  for (const char* id :
       {"filter", "figures", "rank-section", "heat", "steps", "collectives", "groups", "buckets"}) {
    const std::string drawn = section(document, id);
    EXPECT_NE(drawn.substr(0, drawn.find('>')).find("hidden"), std::string::npos) << id;
  }
  EXPECT_THAT(words(section(document, "unknown")), HasSubstr("there are no figures"));
}

// Nothing was found in them, because there was nothing to look at.
TEST_F(Browser, DumpsOfFlightRecordersEndInNoAllClear) {
  Report report = small_report();
  report.findings.clear();
  const std::string found = words(section(document_of(report), "findings"));
  EXPECT_THAT(found, HasSubstr("Nothing that costs more than the thresholds of lockstep explain"));
  report.dumps = Dumps::all;
  const std::string of_dumps = words(section(document_of(report), "findings"));
  EXPECT_THAT(of_dumps, HasSubstr("Flight recorders tell of communication alone: what ranks computed"));
  EXPECT_THAT(of_dumps, Not(HasSubstr("Nothing that costs")));
  for (RankReport& rank : report.ranks) rank.measures.known = false;
  report.warnings = {{"order_only", "there are no figures", kNoRank}};
  const std::string without_times = words(section(document_of(report), "findings"));
  EXPECT_THAT(without_times, HasSubstr("No times were recorded: a flight recorder tells the order"));
  EXPECT_THAT(without_times, Not(HasSubstr("Nothing that costs")));
}

// Of times that are coarser than operations are long.
TEST_F(Browser, WaitingThatNobodyCouldSeeIsNoFigure) {
  Report report = small_report();
  EXPECT_THAT(words(section(document_of(report), "figures")),
              HasSubstr(" 58.3 % of communication is waiting"));
  report.waits_blurred_ns = 100'000'000;
  EXPECT_THAT(words(section(document_of(report), "figures")), HasSubstr("– of communication is waiting"));
}

// quantity.js beside quantity.cpp, where their rounding could part: around each power of ten, at halves, and
// anywhere.
TEST_F(Browser, NumbersAreWrittenAsTheTextReportWritesThem) {
  std::mt19937_64 random(7);
  std::vector<std::int64_t> integers{0, 1, 499, 500, 999};
  std::vector<double> ratios{0,      1,     0.0004, 0.0005, 0.1225, 0.12249999,
                             0.1227, 0.999, 0.9994, 0.9995, 1.25,   12.5};
  for (std::int64_t power = 10; power < 1'000'000'000'000'000; power *= 10) {
    for (const std::int64_t digits : {1, 9994, 9995, 99949, 99950, 999499, 999500, 999500000, 1005, 1235}) {
      const double scaled = static_cast<double>(power) * static_cast<double>(digits) / 1000;
      for (const std::int64_t off : {-1, 0, 1})
        integers.push_back(static_cast<std::int64_t>(std::min(scaled, 0x1p52)) + off);
    }
  }
  for (int i = 0; i < 3000; ++i) {
    integers.push_back(static_cast<std::int64_t>(random() >> (12 + random() % 52)));
    ratios.push_back(static_cast<double>(random() >> 40) / static_cast<double>(1 << (random() % 24)) / 1000);
    ratios.push_back(static_cast<double>(random() % 8000) / 800);  // eighths of a percent: ties
  }
  json expected = json::array();
  for (const std::int64_t value : integers)
    expected.push_back({format_duration(value), format_duration(-value), format_bytes(value),
                        format_count(value), format_share(value, std::int64_t{1} << 40)});
  for (const double value : ratios) expected.push_back({format_share(value), format_bandwidth(value)});
  const std::string document = document_of(fmt::format(
      "<!doctype html><meta charset=utf-8><pre id=out></pre><script>{}\n"
      "const integers = {}, ratios = {}, expected = {};\n"
      "const written = [...integers.map(v => [duration(v), duration(-v), bytes(v), count(v), share(v, 2 ** "
      "40)]), ...ratios.map(v => [share(v), bandwidth(v)])];\n"
      "const wrong = written.flatMap((row, at) => row.map((text, column) => [text, expected[at][column], "
      "[...integers, ...ratios][at]])).filter(([got, wanted]) => got !== wanted);\n"
      "document.getElementById('out').textContent = `${{written.length}} rows, ${{wrong.length}} wrong: ` + "
      "JSON.stringify(wrong.slice(0, 5));</script>",
      html_assets::kQuantityScript, json(integers).dump(), json(ratios).dump(), expected.dump()));
  EXPECT_THAT(document, HasSubstr(fmt::format(">{} rows, 0 wrong: []<", integers.size() + ratios.size())));
}

}  // namespace
}  // namespace lockstep::analyzer
