// The text report against kept copies (README.md of this folder says how to renew them).
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "analyzer/analysis.h"
#include "analyzer/diagnose/finding_kinds.h"
#include "analyzer/model/pipeline_job.h"
#include "analyzer/open_job.h"
#include "analyzer/report/sample_reports.h"
#include "analyzer/report/text.h"
#include "analyzer/test_analysis.h"
#include "tests/fixtures/fixtures.h"

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

// Two replicas of a pipeline of four stages, of which the second one has a slow stage; three steps, and an
// all-reduce of gradients between the replicas at the end of each.
Report pipeline_report() {
  JobBuilder job;
  std::vector<std::uint32_t> replicas, stages;
  for (const int replica : {0, 1}) {
    const std::int32_t first = 4 * replica;
    replicas.push_back(
        job.group("pipeline " + std::to_string(replica), {first, first + 1, first + 2, first + 3}));
  }
  for (std::int32_t stage = 0; stage < 4; ++stage)
    stages.push_back(job.group("data parallel " + std::to_string(stage), {stage, stage + 4}));
  Nanoseconds begin = 0;
  for (int step = 0; step < 3; ++step) {
    Nanoseconds end = begin;
    for (const int replica : {0, 1}) {
      end = std::max(end, add_pipeline_step(job, replicas[static_cast<std::size_t>(replica)],
                                            {.stages = 4,
                                             .order = one_forward_one_backward(4, 8),
                                             .forward = 1'000'000,
                                             .backward = 2'000'000,
                                             .slow_stage = replica == 1 ? 2 : -1,
                                             .slower_by = 400'000,
                                             .begin = begin,
                                             .first_rank = 4 * replica}));
    }
    for (std::int32_t rank = 0; rank < 8; ++rank) {
      const Nanoseconds last = job.rank(rank).trace().activities.back().end;
      job.rank(rank)
          .all_reduce(rank < 4 ? last : end, end + 3'000'000)
          .in_group(stages[static_cast<std::size_t>(rank % 4)])
          .sequence(step)
          .bytes(25'000'000)
          .of(DataType::float32);
      job.rank(rank).step(step, begin - 50'000, end + 3'000'000);
    }
    begin = end + 3'100'000;
  }
  for (std::int32_t rank = 0; rank < 8; ++rank) {
    for (Activity& activity : job.rank(rank).trace().activities)
      activity.launch_begin = activity.launch_end = activity.begin;
  }
  Report report = checked_analysis(job.build()).report;
  report.path = "pipelines";
  return report;
}

TEST(Golden, Pipelines) {
  TextOptions options = page(100);
  options.layers = true;
  expect_golden("pipelines-100", to_text(pipeline_report(), options));
}
TEST(Golden, PipelinesNarrowAscii) {
  expect_golden("pipelines-80-ascii", to_text(pipeline_report(), page(80, true)));
}

// From files to text; the name of the golden file is the trace's.
void expect_golden_of_trace(const fs::path& trace) {
  Result<Job> job = open_job({trace.string()});
  ASSERT_TRUE(job.ok()) << job.error().message;
  Report report = checked_analysis(job.value()).report;
  for (const Finding& finding : report.findings)
    EXPECT_NE(find_finding_kind(finding.code), nullptr) << finding.code;
  report.path = trace.filename();
  TextOptions options = page(100);
  for (const RankTrace& rank : job.value().ranks) options.resolution_ns = rank.resolution_ns;
  expect_golden(report.path, to_text(report, options));
}

TEST(Golden, GpuFixture) {
  expect_golden_of_trace(test::fixture("gpu-4rank"));
}
TEST(Golden, Dlrm) {
  const fs::path trace = fs::path(LOCKSTEP_SOURCE_DIR) / "../shared/traces/dlrm-8rank";
  if (!fs::exists(trace)) GTEST_SKIP() << "the sample traces are not here: no " << trace;
  expect_golden_of_trace(trace);
}

}  // namespace
}  // namespace lockstep::analyzer
