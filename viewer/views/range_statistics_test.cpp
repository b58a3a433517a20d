#include "viewer/views/range_statistics.h"

#include <gtest/gtest.h>

#include <random>
#include <sstream>

#include "analyzer/report/range_report.h"
#include "viewer/testing/scene_of.h"
#include "viewer/testing/synthetic_job.h"

namespace lockstep::viewer {
namespace {

std::string json_of(const analyzer::Measures& measures) {
  std::ostringstream out;
  analyzer::write_json(analyzer::RangeReport{0, 1, {{0, measures}}}, out);
  return out.str();
}

// The same figures as the analyzer gives from the files, whatever the range.
TEST(RangeStatistics, AreTheAnalyzersOwnToTheNanosecond) {
  const analyzer::Job job = synthetic_job({.late = {0, 100, 300, 50, 7}, .steps = 6});
  const analyzer::Analysis analysis = analyzer::checked_analysis(job);
  const auto scene = scene_of(job, analysis);
  std::mt19937_64 random(3);
  for (int round = 0; round < 200; ++round) {
    const auto begin = static_cast<Nanoseconds>(random() % 9000) - 500;
    const auto end = begin + 1 + static_cast<Nanoseconds>(random() % 4000);
    for (std::size_t rank = 0; rank < job.ranks.size(); ++rank) {
      analyzer::Measures expected =
          analyzer::measures_of(analyzer::timeline_of(job, analysis, rank), begin, end);
      expected.waits_known = analysis.report.ranks[rank].measures.waits_known;
      ASSERT_EQ(json_of(measure_range(*scene, rank, {begin, end})), json_of(expected));
      // And as the step bar is drawn.
      const CauseTimes drawn = scene->timeline().ranks[rank].cause_sums.within(begin, end);
      for (std::size_t cause = 0; cause < drawn.size(); ++cause)
        ASSERT_EQ(expected.partition.ns[cause], static_cast<std::int64_t>(drawn[cause]));
    }
  }
}

// A screen may reach further than any time that is recorded.
TEST(RangeStatistics, OfAllTimeHaveALength) {
  const auto scene = scene_of(synthetic_job());
  const analyzer::Measures all = measure_range(*scene, 0, {INT64_MIN, INT64_MAX});
  EXPECT_EQ(json_of(all), json_of(scene->report().ranks[0].measures)) << "the report's own figures";
  EXPECT_EQ(all.partition.total(), all.window_ns);
  EXPECT_EQ(all.compute_ns, measure_range(*scene, 0, {0, 3 * kSyntheticStep}).compute_ns);
}

TEST(RangeStatistics, OfAllRanksAreComputedBeside) {
  const auto scene = scene_of(synthetic_job());
  RangeStatistics statistics(*scene);
  EXPECT_FALSE(statistics.busy());
  statistics.ask({500, 1000});
  statistics.wait();
  ASSERT_EQ(statistics.done(), 4u);
  EXPECT_FALSE(statistics.busy());
  for (std::size_t rank = 0; rank < 4; ++rank)
    EXPECT_EQ(json_of(statistics.of(rank)), json_of(measure_range(*scene, rank, {500, 1000})));
  statistics.ask({500, 600});
  statistics.wait();
  EXPECT_EQ(statistics.of(0).partition.total(), 100);
}

// Asking for another range while one is being computed leaves no figures of the former.
TEST(RangeStatistics, TheLastRangeAskedForCounts) {
  const auto scene = scene_of(synthetic_job({.late = std::vector<std::int64_t>(200, 10), .steps = 20}));
  RangeStatistics statistics(*scene);
  for (Nanoseconds end = 1; end < 60; ++end) statistics.ask({500, 500 + end});
  statistics.wait();
  ASSERT_EQ(statistics.done(), 200u);
  for (std::size_t rank = 0; rank < 200; ++rank) EXPECT_EQ(statistics.of(rank).partition.total(), 59);
}

}  // namespace
}  // namespace lockstep::viewer
