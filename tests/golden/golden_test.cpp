// The text report against kept copies (README.md of this folder says how to renew them).
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "analyzer/analysis.h"
#include "analyzer/import/import.h"
#include "analyzer/report/sample_reports.h"
#include "analyzer/report/text.h"

namespace lockstep::analyzer {
namespace {

namespace fs = std::filesystem;

TextOptions page(std::size_t width, bool ascii = false, ColorDepth color = ColorDepth::none) {
  TextOptions options;
  options.page.width = width;
  options.page.ascii = ascii;
  options.page.color = color;
  return options;
}

void expect_golden(const std::string& name, const std::string& text) {
  const fs::path path = fs::path(LOCKSTEP_SOURCE_DIR) / "tests/golden" / (name + ".txt");
  if (std::getenv("LOCKSTEP_UPDATE_GOLDEN") != nullptr) {
    std::ofstream(path, std::ios::binary) << text;
    return;
  }
  std::ifstream in(path, std::ios::binary);
  ASSERT_TRUE(in) << path << " is not there: run with LOCKSTEP_UPDATE_GOLDEN=1 to write it";
  std::ostringstream expected;
  expected << in.rdbuf();
  EXPECT_EQ(text, expected.str()) << "where the change is meant: LOCKSTEP_UPDATE_GOLDEN=1";
}

TEST(Golden, SmallReport) {
  expect_golden("small-100", to_text(small_report(), page(100)));
}
TEST(Golden, SmallReportNarrowAscii) {
  expect_golden("small-60-ascii", to_text(small_report(), page(60, true)));
}
TEST(Golden, SmallReportWideColoured) {
  expect_golden("small-160-color", to_text(small_report(), page(160, false, ColorDepth::true_color)));
}
TEST(Golden, ManyRanks) {
  expect_golden("thousand-ranks-80", to_text(wide_report(1000), page(80)));
}
TEST(Golden, ManySteps) {
  expect_golden("two-hundred-steps-100", to_text(long_report(200), page(100)));
}

TEST(Golden, Dlrm) {
  const fs::path trace = fs::path(LOCKSTEP_SOURCE_DIR) / "../shared/traces/dlrm-8rank";
  if (!fs::exists(trace)) GTEST_SKIP() << "the sample traces are not here: no " << trace;
  Result<Job> job = import_job({trace.string()});
  ASSERT_TRUE(job.ok()) << job.error().message;
  Result<Analysis> analysis = analyze(job.value());
  ASSERT_TRUE(analysis.ok()) << analysis.error().message;
  Report& report = analysis.value().report;
  report.path = "dlrm-8rank";
  TextOptions options = page(100);
  for (const RankTrace& rank : job.value().ranks) options.resolution_ns = rank.resolution_ns;
  expect_golden("dlrm-8rank", to_text(report, options));
}

}  // namespace
}  // namespace lockstep::analyzer
