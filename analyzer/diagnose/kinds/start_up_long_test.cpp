// Start-up that is most of a run without steps; of runs with steps outside_training_test has it beside the
// rest.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "analyzer/diagnose/test_reports.h"

namespace lockstep::analyzer {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

// Two ranks without steps that build an extension until `start`, then exchange weights for 50 ms; the
// recording goes on until `end`.
Report report_without_steps(
    Nanoseconds start, Nanoseconds end, const std::function<void(Job&)>& change = [](Job&) {}) {
  JobBuilder builder;
  for (std::int32_t rank = 0; rank < 2; ++rank) {
    builder.rank(rank).host_range(0, 5'000'000 * us, "start-up: imports");
    for (int k = 0; k < 5; ++k)
      builder.rank(rank).collective(Operation::broadcast, start + k * 10'000 * us,
                                    start + (k + 1) * 10'000 * us);
  }
  Job job = builder.build();
  for (RankTrace& rank : job.ranks) rank.ending.recorded_until = end;
  change(job);
  return report_of(job);
}

TEST(StartUpLong, StartUpThatIsMostOfARunWithoutStepsStandsFirst) {
  const Report report = report_without_steps(268'000'000 * us, 273'000'000 * us);
  ASSERT_FALSE(report.findings.empty());
  const Finding& found = report.findings.front();
  EXPECT_EQ(found.code, "start_up_long");
  EXPECT_EQ(found.title, "start-up is most of the run: its first operation comes after 268 s of 273 s");
  EXPECT_EQ(found.lost_ns, 2 * 268'000'000 * us);
  EXPECT_NEAR(found.lost_share, 268.0 / 273.0, 0.001);
  EXPECT_EQ(found.accuses, Accused::nobody);
  EXPECT_THAT(found.remedy, HasSubstr("TORCH_EXTENSIONS_DIR"));
  EXPECT_THAT(codes_of(report.findings), Contains("exposed_transfer"));
}

TEST(StartUpLong, WithoutStepsAStartUpThatIsLittleOrNotRecordedIsNotSaid) {
  const auto codes = [](const Report& report) { return codes_of(report.findings); };
  EXPECT_THAT(codes(report_without_steps(100'000'000 * us, 273'000'000 * us)), Not(Contains("start_up_long")))
      << "less than half";
  EXPECT_THAT(codes(report_without_steps(50'000'000 * us, 55'000'000 * us)), Not(Contains("start_up_long")))
      << "less than a minute";
  const auto spoiled = [&](const auto& spoil) {
    return codes(report_without_steps(268'000'000 * us, 273'000'000 * us, spoil));
  };
  EXPECT_THAT(spoiled([](Job& job) {
                job.ranks[1].unrecorded.push_back({0, 100'000'000 * us});
              }),
              Not(Contains("start_up_long")));
  EXPECT_THAT(spoiled([](Job& job) { job.ranks[1].dropped_events = 7; }), Not(Contains("start_up_long")));
  EXPECT_THAT(spoiled([](Job& job) {
                for (RankTrace& rank : job.ranks) rank.ending.recorded_until = kUnknownTime;
              }),
              Not(Contains("start_up_long")))
      << "a profile of a part of a run";
}

}  // namespace
}  // namespace lockstep::analyzer
