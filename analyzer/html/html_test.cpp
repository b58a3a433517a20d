#include "analyzer/html/html.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <numeric>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include "analyzer/diagnose/finding_kinds.h"
#include "analyzer/html/assets.h"
#include "analyzer/report/report_sections.h"
#include "analyzer/report/sample_reports.h"
#include "analyzer/report/text.h"

namespace lockstep::analyzer {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

std::string page_of(const Report& report) {
  std::ostringstream out;
  write_html(report, {}, out);
  return out.str();
}

json data_of(const Report& report, const HtmlOptions& options = {}) {
  return json::parse(html_data(report, options));
}

TEST(Html, OneDocumentWithItsDataInIt) {
  const std::string page = page_of(small_report());
  EXPECT_TRUE(page.starts_with("<!doctype html>"));
  EXPECT_TRUE(page.ends_with("</html>\n"));
  for (const char* mark : {"/*STYLE*/", "/*DATA*/", "/*SCRIPT*/"}) EXPECT_THAT(page, Not(HasSubstr(mark)));
  const std::string begin = "type=\"application/json\">";
  const std::size_t at = page.find(begin) + begin.size();
  EXPECT_EQ(json::parse(page.substr(at, page.find("</script>", at) - at)), data_of(small_report()));
}

TEST(Html, FetchesNothing) {
  const std::string page = page_of(small_report());
  EXPECT_FALSE(
      std::regex_search(page, std::regex("(src|href)=|@import|url\\(|fetch\\(|XMLHttpRequest|import\\(")));
  for (const char* scheme : {"https://", "//cdn"}) EXPECT_THAT(page, Not(HasSubstr(scheme)));
}

// But for the heat map, which only the page has.
TEST(Html, ItsSectionsAreTheReportsInTheSameOrder) {
  const std::string page(html_assets::kPage);
  std::vector<std::string> found, listed;
  const std::string mark = "<section id=\"";
  for (std::size_t at = page.find(mark); at != std::string::npos; at = page.find(mark, at + 1)) {
    const std::size_t begin = at + mark.size();
    found.push_back(page.substr(begin, page.find('"', begin) - begin));
  }
  std::erase(found, "heat");
  for (const ReportSection* const section : report_sections())
    listed.push_back(std::string(section->on_page));
  EXPECT_EQ(found, listed);
}

TEST(Html, FiguresAreTheReports) {
  const Report report = small_report();
  const json data = data_of(report);
  ASSERT_EQ(data["ranks"].size(), report.ranks.size());
  for (std::size_t rank = 0; rank < report.ranks.size(); ++rank) {
    const Measures& measures = report.ranks[rank].measures;
    const json& all = data["ranks"][rank]["all"];
    EXPECT_EQ(all[0], measures.window_ns);
    std::int64_t sum = 0;
    for (std::size_t cause = 0; cause < kCauseCount; ++cause) sum += all[1 + cause].get<std::int64_t>();
    EXPECT_EQ(sum, measures.partition.total());
    EXPECT_EQ(all[12], measures.exposed_communication_ns);
    EXPECT_EQ(all[13], measures.collective_wait_ns);
    EXPECT_EQ(all[14], measures.collective_wait_ns);
  }
  EXPECT_EQ(data["cells"].size(), report.steps.size());
  EXPECT_EQ(data["findings"].size(), report.findings.size());
  EXPECT_EQ(data["verdict"].get<std::vector<std::string>>(), verdict_lines(report));
  EXPECT_EQ(data["collectives"].size(), report.collectives.size());
  EXPECT_EQ(data["unknown"].get<std::vector<std::string>>(), unknown_lines(report));
  EXPECT_EQ(data["efficiency"].get<std::vector<std::string>>(), efficiency_lines(report));
}

TEST(Html, TheAccountIsTheReports) {
  Report report = small_report();
  report.account = account_of_ranks(3);
  const json account = data_of(report)["account"];
  EXPECT_EQ(account["all"], report.account.spent.ns);
  ASSERT_EQ(account["ranks"].size(), 3u);
  EXPECT_EQ(account["ranks"][2], json::array({2, report.account.ranks[2].spent.ns}));
  ASSERT_EQ(account["spendings"].size(), kSpendingCount);
  EXPECT_EQ(account["spendings"][0], json::array({Spending::start_up, "start-up", "#7f8894"}));
  ASSERT_EQ(account["spread"].size(), 3u);
  EXPECT_EQ(account["spread"][0],
            json::array({Spending::start_up, 1'000'000'000, 0, 2'000'000'000, 3'000'000'000, 2}));
}

TEST(Html, SaysWhyItGivesNoAllClear) {
  Report report = small_report();
  EXPECT_TRUE(data_of(report)["no_all_clear"].is_null());
  report.dumps = Dumps::all;
  EXPECT_THAT(data_of(report)["no_all_clear"].get<std::string>(),
              HasSubstr("Flight recorders tell of communication alone"));
}

TEST(Html, GroupsOfOneNameAreTwo) {
  Report report = small_report();
  report.collectives[1].group_ranks = {0, 1};
  const json data = data_of(report);
  ASSERT_EQ(data["groups"].size(), 2u);
  EXPECT_EQ(data["groups"][0]["name"], data["groups"][1]["name"]);
  EXPECT_NE(data["collectives"][0][3], data["collectives"][1][3]);
}

TEST(Html, ACollectiveTellsThatNotAllCame) {
  Report report = small_report();
  EXPECT_EQ(data_of(report)["collectives"][0][14], false);
  EXPECT_EQ(data_of(report)["collectives"][0][10], 6.0);
  CollectiveReport& one = report.collectives[0];
  one.unfinished = true;
  one.last_arriver.reset();
  one.busbw_wire_gbps.reset();
  const json row = data_of(report)["collectives"][0];
  EXPECT_EQ(row[14], true);
  EXPECT_TRUE(row[8].is_null()) << "who came last";
  EXPECT_TRUE(row[10].is_null()) << "bandwidth";
  // Also of one alone: who came waits.
  one.ranks.resize(1);
  one.partial = true;
  EXPECT_EQ(data_of(report)["collectives"][0][6], one.wait_ns);
}

TEST(Html, ACollectiveTellsOfHowManyRanksSomeLeftNoRecord) {
  Report report = small_report();
  const auto participants = [&report] { return data_of(report)["collectives"][0][13]; };
  CollectiveReport& one = report.collectives[0];  // of ranks 0 to 3, three have records
  EXPECT_EQ(participants(), 4);
  one.group_ranks = {0, 1, 2};
  EXPECT_EQ(participants(), 0) << "of more than these, and nobody can tell of how many";
  one.group_size = 8;
  EXPECT_EQ(participants(), 8) << "the list of ranks is cut";
  one.partial = false;
  EXPECT_TRUE(participants().is_null());
}

TEST(Html, WhatAFindingIsAboutIsThere) {
  Report report = small_report();
  HtmlOptions options;
  options.collectives = options.arrivals = 0;
  const json data = data_of(report, options);
  ASSERT_EQ(data["collectives"].size(), 1u);
  EXPECT_EQ(data["findings"][0]["drawn"],
            json::parse(R"({"kind": "arrival", "cause": "barrier_wait", "collective": 0, "rank": 2})"));
  // Of all that took part, relative to the first.
  EXPECT_EQ(data["collectives"][0][15], json::parse("[[0,0,4000000,1000000],[1,1000000,3000000,1000000],"
                                                    "[2,4000000,0,1000000]]"));
  // A report of a few ranks: the others' arrivals stay, because somebody waited for them.
  report.ranks.resize(1);
  report.steps.clear();
  EXPECT_EQ(data_of(report)["collectives"][0][15].size(), 3u);
}

TEST(Html, TheTableOfWhereARankComputesLongerIsThere) {
  Report report = small_report();
  report.findings[0].parts = {
      1000,
      3,
      {{"layers.7.mlp", "aten::mm", false, 5'000'000, 2'000'000}, {"", "", true, 30'000'000, 31'000'000}}};
  const json finding = data_of(report)["findings"][0];
  EXPECT_EQ(finding["rank"], 2);
  EXPECT_EQ(finding["parts"],
            json::parse(
                R"JSON({"others": 3, "rows": [["layers.7.mlp", "aten::mm", 5000, 2000, "+3.00 µs (+150.0 %)"],
                                              ["the rest", "", 30000, 31000, "−1.00 µs (−3.2 %)"]]})JSON"));
}

TEST(Html, WhatTheKindsOfFindingsMeanIsThere) {
  Report report = small_report();
  report.findings.emplace_back().code = "no_such_code";
  const json kinds = data_of(report)["kinds"];
  ASSERT_EQ(kinds.size(), 1u);
  const FindingKind& kind = *find_finding_kind("straggler_persistent");
  const json straggler = kinds["straggler_persistent"];
  EXPECT_EQ(straggler["title"], kind.title);
  EXPECT_EQ(straggler["meaning"], kind.explanation->meaning);
  EXPECT_EQ(straggler["parts"][1], json::array({"wrong if", kind.explanation->wrong}));
  EXPECT_EQ(straggler["remedies"].size(), kind.explanation->remedies.size());
}

TEST(Html, NamesCantEndTheScript) {
  Report report = small_report();
  report.path = "</script><script>alert(1)</script>";
  report.warnings.push_back({"odd", "<!-- \xff", kNoRank});
  const std::string page = page_of(report);
  EXPECT_THAT(page, Not(HasSubstr("<script>alert")));
  EXPECT_EQ(data_of(report)["path"], report.path);
}

TEST(Html, OnlyTheMostWaitedInAreListed) {
  Report report = small_report();
  ASSERT_FALSE(report.collectives.empty());
  const CollectiveReport one = report.collectives.front();
  report.findings.clear();
  report.collectives.assign(100, one);
  for (std::size_t i = 0; i < 100; ++i) report.collectives[i].wait_ns = static_cast<std::int64_t>(i);
  HtmlOptions options;
  options.collectives = 10;
  options.arrivals = 3;
  const json data = data_of(report, options);
  ASSERT_EQ(data["collectives"].size(), 10u);
  EXPECT_EQ(data["collectives_left_out"], 90);
  EXPECT_EQ(data["collectives"][0][6], 99);
  EXPECT_EQ(data["collectives"][2].size(), 16u);
  EXPECT_EQ(data["collectives"][3].size(), 15u);
}

TEST(Html, NothingAtAllIsStillAPage) {
  EXPECT_EQ(data_of(Report{})["cells"].size(), 0u);
}

TEST(Html, ThePageKnowsThatStepsAreLeftOut) {
  Report report;
  EXPECT_EQ(data_of(report)["steady_only"], false);
  report.steady.emplace().left_out.push_back({20, 20, "evaluation"});
  EXPECT_EQ(data_of(report)["steady_only"], true);
}

// With --all-steps the page is over them, and draws them on the scale of the others.
TEST(Html, ThePageKnowsWhichOfItsStepsAreNoSteadyTraining) {
  Report report = small_report();
  EXPECT_EQ(data_of(report)["left_out"], json::array());
  report.not_steady = {0, 2};
  EXPECT_EQ(data_of(report)["steps"], json::array({1, 2}));
  EXPECT_EQ(data_of(report)["left_out"], json::array({1})) << "step 2; step 0 is not on it";
}

// 64 ranks, 50 steps, 40 collectives a step: under 2 MB.
TEST(Html, AJobOf64RanksIsSmall) {
  Report report;
  for (std::int32_t rank = 0; rank < 64; ++rank) {
    RankReport row;
    row.rank = rank;
    row.host = "gpu-node-" + std::to_string(rank / 8);
    row.device = "cuda:" + std::to_string(rank % 8);
    report.ranks.push_back(row);
  }
  std::int64_t value = 123'456'789;
  for (std::int64_t step = 0; step < 50; ++step) {
    report.steps_present.push_back(step);
    for (const RankReport& rank : report.ranks) {
      StepReport row;
      row.step = step;
      row.rank = rank.rank;
      row.measures.window_ns = 9 * (value += 7919);
      for (std::int64_t& ns : row.measures.partition.ns) ns = value;
      row.measures.communication_ns = row.measures.exposed_communication_ns = value;
      report.steps.push_back(row);
    }
    for (int i = 0; i < 40; ++i) {
      CollectiveReport collective;
      collective.id = static_cast<std::int64_t>(report.collectives.size());
      collective.step = step;
      collective.operation = Operation::all_reduce;
      collective.group_name = "default_pg";
      collective.wait_ns = value += 31;
      for (const RankReport& rank : report.ranks) {
        collective.group_ranks.push_back(rank.rank);
        collective.ranks.push_back({rank.rank, value + rank.rank * 1001, value * 2, 1'234'567, 2'345'678});
      }
      report.collectives.push_back(collective);
    }
  }
  EXPECT_LT(page_of(report).size(), 2'000'000u);
}

}  // namespace
}  // namespace lockstep::analyzer
