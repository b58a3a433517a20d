// Each kind of finding is planted somewhere, and found there.
#include "tests/accuracy/cases.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analyzer/diagnose/finding_kinds.h"
#include "analyzer/test_analysis.h"
#include "tests/accuracy/noise.h"
#include "tests/accuracy/suite.h"

namespace lockstep::accuracy {
namespace {

// A kind that nothing plants does not exist.
TEST(Cases, PlantEveryKindOfFindingOnce) {
  std::set<std::string_view> codes;
  std::set<std::pair<std::string_view, std::string_view>> cases;
  for (const KindCase& planted : kind_cases()) {
    EXPECT_TRUE(cases.emplace(planted.code, planted.evidence).second) << planted.code << " is planted twice";
    codes.insert(planted.code);
  }
  for (const SimulatedKind& simulated : simulated_kinds())
    EXPECT_TRUE(codes.insert(simulated.code).second) << simulated.code << " is planted twice";
  for (const analyzer::FindingKind* const kind : analyzer::finding_kinds())
    EXPECT_TRUE(codes.contains(kind->code)) << kind->code << ": no file of tests/accuracy/planted/ plants it";
  for (const std::string_view code : codes)
    EXPECT_NE(analyzer::find_finding_kind(code), nullptr) << code << ": there is no such finding";
}

TEST(Cases, AreFoundWhereTheyArePlanted) {
  const Result<std::vector<KindResult>> results = run_kinds(5, 1, analyzer::expect_invariants);
  ASSERT_TRUE(results.ok()) << results.error().message;
  for (const KindResult& result : results.value())
    EXPECT_EQ(result.found, result.jobs) << result.code << " " << testing::PrintToString(result.findings);
}

TEST(Cases, AreFoundWhereTheyAreSimulated) {
  const Result<std::vector<NoiseRecording>> noise =
      read_noise_folder(LOCKSTEP_SOURCE_DIR "/tests/accuracy/noise/tuning");
  ASSERT_TRUE(noise.ok()) << noise.error().message;
  for (const SimulatedKind& kind : simulated_kinds()) {
    const Cell cell{
        .ranks = 8, .steps = 50, .fault = kind.fault, .effect = 0.2, .noise_level = 0.02, .jobs = 4};
    const Result<CellResult> result = run_cell(cell, 1, noise.value(), 1, analyzer::expect_invariants);
    ASSERT_TRUE(result.ok()) << result.error().message;
    const auto found = result.value().findings.find(std::string(kind.code));
    EXPECT_TRUE(found != result.value().findings.end() && found->second == cell.jobs)
        << kind.code << " " << testing::PrintToString(result.value().findings);
  }
}

}  // namespace
}  // namespace lockstep::accuracy
