// A job of two hosts whose clocks are 5,000 seconds apart, with a slow link between them: network and time
// namespaces (scripts/scenarios/nodes), a recorder on each, the runs collected and analysed.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "tests/end_to_end/support.h"
#include "tests/temporary_folder.h"

namespace lockstep::end_to_end {
namespace {

using nlohmann::json;

constexpr std::int64_t kApart = 5'000'000'000'000;
constexpr int kSkipped = 77;

class TwoHosts : public testing::Test {
 protected:
  // Each rank records into a folder of its own, with `flags`; the two are joined. Skips where namespaces
  // can't be.
  void record(const std::string& flags) {
    const std::string job = fmt::format(
        "'{}' record --quiet {} -o '{}'/host$RANK -- '{}' train --mode fsdp --device paced --flops 2e9 "
        "--hidden 128 --heads 4 --layers 4 --batch-size 2 --sequence-length 64 --steps 6",
        binary("lockstep"), flags, folder_.path().string(), binary("lockstep"));
    const Outcome nodes =
        run({LOCKSTEP_SOURCE_DIR "/scripts/scenarios/nodes", "--nodes", "2", "--rate", "20mbit",
             "--clocks-apart", "5000", "--time-limit", "120", "--", "sh", "-c", job});
    if (nodes.exit_code == kSkipped) GTEST_SKIP() << nodes.standard_error;
    ASSERT_EQ(nodes.exit_code, 0) << nodes.standard_output << nodes.standard_error;
    const Outcome collected =
        run({binary("lockstep"), "collect", folder_ / "host0", folder_ / "host1", "-o", folder_ / "run"});
    ASSERT_EQ(collected.exit_code, 0) << collected.standard_error;
  }

  json analyze(const std::vector<std::string>& flags = {}) {
    std::vector<std::string> command{binary("lockstep"), "analyze", folder_ / "run", "--json", "-"};
    command.insert(command.end(), flags.begin(), flags.end());
    const Outcome result = run(command);
    EXPECT_EQ(result.exit_code, 0) << result.standard_error;
    return json::parse(result.standard_output, nullptr, false);
  }

  static std::set<std::string> codes_of(const json& list) {
    std::set<std::string> codes;
    for (const json& one : list) codes.insert(one["code"].get<std::string>());
    return codes;
  }

  test::TemporaryFolder folder_;
};

TEST_F(TwoHosts, PingsRelateTheClocksAndTheLinkIsBlamed) {
  record("");
  if (IsSkipped() || HasFatalFailure()) return;
  int clock_files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder_ / "run"))
    clock_files += entry.path().filename().string().starts_with("clock-node1-");
  EXPECT_EQ(clock_files, 1);
  const json report = analyze();
  const json& clock = report["ranks"][1]["clock"];
  const auto uncertainty = clock["uncertainty_ns"].get<std::int64_t>();
  EXPECT_EQ(clock["evidence"], "pings and happened-before");
  EXPECT_LT(uncertainty, 1'000'000);
  EXPECT_LE(std::abs(clock["offset_ns"].get<std::int64_t>() + kApart), uncertainty);
  EXPECT_THAT(codes_of(report["findings"]), testing::Contains("slow_link"));
  // Whoever is late is late by its link.
  for (const std::string& code : codes_of(report["findings"]))
    EXPECT_THAT(code, testing::Not(testing::HasSubstr("straggler")));
}

TEST_F(TwoHosts, WithoutPingsCollectivesRelateThem) {
  record("--no-sync");
  if (IsSkipped() || HasFatalFailure()) return;
  const json report = analyze();
  const json& clock = report["ranks"][1]["clock"];
  EXPECT_LE(std::abs(clock["offset_ns"].get<std::int64_t>() + kApart),
            clock["uncertainty_ns"].get<std::int64_t>());
  // Where other work keeps the ranks from their collectives, these bound the clocks less well than the wall
  // clocks do, which agree here (time namespaces don't touch them): then those are taken, and it is said.
  const bool by_collectives = clock["evidence"] == "happened-before";
  EXPECT_EQ(clock["evidence"], by_collectives ? "happened-before" : "wall clock");
  EXPECT_THAT(codes_of(report["warnings"]),
              testing::Contains(by_collectives ? "clocks_by_happened_before" : "clocks_by_wall_clock"));
}

}  // namespace
}  // namespace lockstep::end_to_end
