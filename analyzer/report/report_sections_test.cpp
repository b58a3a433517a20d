// What holds of every section of the report. That the web page has them in this order: html_test.cpp.
#include "analyzer/report/report_sections.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <string>

#include "analyzer/report/json.h"
#include "analyzer/report/sample_reports.h"
#include "analyzer/report/text.h"
#include "tests/temporary_folder.h"

namespace lockstep::analyzer {
namespace {

// One that has something to say in every section.
Report full_report() {
  Report report = small_report();
  report.steady = SteadyReport{{1}, {{0, 0, "warm-up", 7}}, {}};
  report.pipeline = {{"pp 0", 2, 4, 1, Schedule::gpipe, 0.25, 0.2},
                     {"pp 1", 2, 4, 1, Schedule::gpipe, 0.25, 0.2}};
  report.wait_states = {WaitStateReport{}};
  report.groups = {{"dp", {0, 1}, {GroupOperation{}}}, {"tp", {0, 2}, {GroupOperation{}}}};
  report.theory = {TheoryReport{TheoryQuantity::gradients, 0, 1.0, 1.0, PartOfModel{4, 1}}};
  report.layers = {LayerReport{}};
  report.layers[0].layer = 0;
  report.layers[0].forward = LayerPass{1, 2, 3, 0, 0, 1};
  return report;
}

TEST(ReportSections, EachHasNamesOfItsOwn) {
  std::set<std::string_view> ids, on_page, titles;
  for (const ReportSection* const section : report_sections()) {
    EXPECT_TRUE(ids.insert(section->id).second) << section->id;
    EXPECT_TRUE(on_page.insert(section->on_page).second) << section->id;
    ASSERT_NE(section->title, nullptr) << section->id;
    EXPECT_TRUE(titles.insert(section->title).second) << section->id;
    EXPECT_NE(section->print, nullptr) << section->id;
  }
}

TEST(ReportSections, StandInTheTextInTheOrderOfTheList) {
  TextOptions options;
  options.page.width = 200;
  options.layers = true;
  std::istringstream text(to_text(full_report(), options));
  std::vector<std::string> lines;
  for (std::string line; std::getline(text, line);) lines.push_back(line);
  auto from = lines.begin();
  for (const ReportSection* const section : report_sections()) {
    const std::string title = section->title;
    if (title.empty()) continue;
    const auto found = std::find_if(from, lines.end(), [&](const std::string& line) {
      return line == title || line.starts_with(title + " — ");
    });
    EXPECT_NE(found, lines.end()) << section->id;
    if (found != lines.end()) from = found + 1;
  }
}

TEST(ReportSections, HaveEveryMemberOfTheJsonDocument) {
  std::set<std::string> members;
  for (const ReportSection* const section : report_sections())
    for (const std::string_view member : section->json)
      EXPECT_TRUE(members.insert(std::string(member)).second) << member;
  // What is of the report as a whole, and what neither text nor page shows.
  members.insert({"schema", "run", "counters"});
  const nlohmann::json document = nlohmann::json::parse(to_json(full_report()));
  std::set<std::string> found;
  for (const auto& member : document.items()) found.insert(member.key());
  EXPECT_EQ(found, members);
}

// Each file that holds a section has its line in the list.
TEST(ReportSections, NoFileIsForgotten) {
  std::size_t sections = 0;
  const std::filesystem::path folder = std::filesystem::path(LOCKSTEP_SOURCE_DIR) / "analyzer/report";
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (!entry.path().filename().string().starts_with("text_")) continue;
    const std::string text = test::read_whole_file(entry.path());
    if (text.find("const ReportSection sections::") == std::string::npos) continue;
    ++sections;
    EXPECT_TRUE(std::any_of(report_sections().begin(), report_sections().end(), [&](const auto* section) {
      return entry.path().filename() == "text_" + std::string(section->id) + ".cpp";
    })) << entry.path();
  }
  EXPECT_EQ(sections, report_sections().size());
}

}  // namespace
}  // namespace lockstep::analyzer
