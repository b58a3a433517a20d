// Copies that nothing hides.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analyzer/diagnose/test_reports.h"

namespace lockstep::analyzer {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

// 100 of 900 µs are copies under which nothing else runs; 100 more are hidden by compute.
TEST(Findings, CopiesThatNothingHides) {
  JobBuilder job;
  job.rank(0).compute(0, 500 * us).launched(-2, -1).copy(400 * us, 600 * us).launched(0, 1);
  job.rank(0).named("Memcpy HtoD (Pageable -> Device)");
  job.rank(0).compute(600 * us, 900 * us).launched(0, 1);
  const Finding copies = finding(report_of(job), "exposed_copies");
  EXPECT_EQ(copies.lost_ns, 100 * us);
  EXPECT_THAT(copies.remedy, HasSubstr("pin_memory=True"));
  EXPECT_THAT(copies.evidence, Contains("copies from pageable host memory to the device: 100 µs"));
  EXPECT_EQ(copies.cause, Cause::copy);
  JobBuilder hidden;
  hidden.rank(0).compute(0, 900 * us).launched(-2, -1).copy(400 * us, 600 * us).launched(0, 1);
  EXPECT_THAT(codes_of(report_of(hidden).findings), Not(Contains("exposed_copies")));
}

// What is advised is against the kind that takes most of the time in which nothing else runs.
TEST(Findings, CopiesAreAdvisedByTheirKind) {
  const auto remedy_of = [](const char* most) {
    JobBuilder job;
    job.rank(0).compute(0, 500 * us).launched(-2, -1);
    // Longer, but hidden.
    job.rank(0).copy(0, 450 * us).launched(-2, -1).named("Memcpy HtoD (Pageable -> Device)");
    job.rank(0).copy(500 * us, 600 * us).launched(0, 1).named(most);
    return finding(report_of(job), "exposed_copies").remedy;
  };
  EXPECT_THAT(remedy_of("Memcpy HtoD (Pinned -> Device)"), HasSubstr("pinned already"));
  EXPECT_THAT(remedy_of("Memcpy DtoH (Device -> Pageable)"), HasSubstr(".item()"));
  EXPECT_THAT(remedy_of("Memcpy DtoD (Device -> Device)"), HasSubstr("gradient_as_bucket_view"));
  EXPECT_THAT(remedy_of("Memset (Device)"), HasSubstr("set_to_none"));
  for (const char* other : {"Memcpy HtoD (Pinned -> Device)", "Memcpy DtoH (Device -> Pageable)",
                            "Memcpy DtoD (Device -> Device)", "Memset (Device)", "Memcpy PtoP"})
    EXPECT_THAT(remedy_of(other), Not(HasSubstr("pin_memory"))) << other;
}

// What is copied before steady steps costs these nothing: it is neither counted nor advised against.
TEST(Findings, CopiesOutsideOfStepsAreNotTheirs) {
  JobBuilder job;
  for (std::int32_t rank = 0; rank < 2; ++rank) {
    RankBuilder& one = job.rank(rank);
    one.step(0, 0, 6000 * us);  // warm-up
    one.copy(0, 5000 * us).launched(0, 1).named("Memcpy HtoD (Pageable -> Device)");
    for (int step = 1; step < 21; ++step) {
      const Nanoseconds begin = 5000 * us + step * 1000 * us;
      one.compute(begin, begin + 900 * us).launched(begin, begin + 1);
      one.copy(begin + 900 * us, begin + 1000 * us).launched(begin, begin + 2);
      one.named("Memcpy DtoH (Device -> Pageable)");
      one.step(step, begin, begin + 1000 * us);
    }
  }
  AnalysisOptions options;
  options.steady = true;
  const Finding copies = finding(checked_analysis(job.build(), options).report, "exposed_copies");
  EXPECT_EQ(copies.lost_ns, 2 * 20 * 100 * us);
  EXPECT_THAT(copies.evidence, Contains(HasSubstr("4.00 ms")));
  EXPECT_THAT(copies.evidence, Not(Contains(HasSubstr("pageable host memory to the device"))));
  EXPECT_THAT(copies.remedy, HasSubstr(".item()"));
}

}  // namespace
}  // namespace lockstep::analyzer
