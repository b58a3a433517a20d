#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "analyzer/export/export.h"
#include "analyzer/export/sample_job.h"

namespace lockstep::analyzer {
namespace {

using nlohmann::json;
using testing::HasSubstr;

std::string exported(const SampleJob& sample) {
  std::ostringstream out;
  write_chrome(sample.job, sample.analysis, out);
  return out.str();
}

std::vector<json> events_of(const json& document, const std::string& phase) {
  std::vector<json> events;
  for (const json& event : document["traceEvents"]) {
    if (event["ph"] == phase) events.push_back(event);
  }
  return events;
}

TEST(ChromeExport, IsValidJsonWithNamesEscapedAndNotRewritten) {
  const json document = json::parse(exported(sample_job()));
  std::map<int, std::vector<std::string>> lanes;
  std::map<int, std::string> processes;
  for (const json& event : events_of(document, "M")) {
    if (event["name"] == "thread_name") lanes[event["pid"]].push_back(event["args"]["name"]);
    if (event["name"] == "process_name") processes[event["pid"]] = event["args"]["name"];
  }
  EXPECT_THAT(processes, testing::ElementsAre(testing::Pair(0, "rank 0, node-a, cuda:0"),
                                              testing::Pair(3, "rank 3, node-a, cuda:0")));
  EXPECT_THAT(lanes[0], testing::ElementsAre("cause", "steps", "stream 7", "stream 7 (2)", "gloo, \"ring\"",
                                             "main\uFFFD"));
  std::set<std::string> names;
  for (const json& event : events_of(document, "X")) names.insert(event["name"]);
  EXPECT_TRUE(names.contains("data, \"load\"\r\n\uFFFD"));
  EXPECT_TRUE(names.contains("void add<float, 4>(int)"));
}

TEST(ChromeExport, ComputationsSayWhatTheyArePartOf) {
  const json document = json::parse(exported(sample_job()));
  const std::vector<json> slices = events_of(document, "X");
  const auto matmul =
      std::find_if(slices.begin(), slices.end(), [](const json& event) { return event["name"] == "matmul"; });
  ASSERT_NE(matmul, slices.end());
  EXPECT_EQ(matmul->at("args"), json::parse(R"({"step": 12, "launched_before_ns": 100, "layer": 2,
                                                "microbatch": 1, "pass": "forward"})"));
}

TEST(ChromeExport, CountersAreCounterEvents) {
  SampleJob sample = sample_job();
  sample.job.ranks[0].counters[0].points.push_back({3000, std::numeric_limits<double>::quiet_NaN()});
  const std::vector<json> points = events_of(json::parse(exported(sample)), "C");
  ASSERT_EQ(points.size(), 2u);
  EXPECT_EQ(points[0]["name"], "memory \"peak\"");
  EXPECT_EQ(points[0]["pid"], 0);
  EXPECT_EQ(points[0]["ts"], 0.1);
  EXPECT_EQ(points[1]["args"]["value"], 2.5e9);
}

TEST(ChromeExport, TimesAreExactToTheNanosecond) {
  SampleJob sample = sample_job();
  // A year in, a double of microseconds could not tell these nanoseconds apart.
  constexpr Nanoseconds kFar = 31'536'000'000'000'000;
  sample.job.ranks[0].activities[3].begin = kFar + 1;
  sample.job.ranks[0].activities[3].end = kFar + 1234;
  EXPECT_THAT(exported(sample), HasSubstr(R"("ts": 31535999999999.201, "dur": 1.233)"));
}

TEST(ChromeExport, JoinsTheRanksOfACollectiveByAFlow) {
  const json document = json::parse(exported(sample_job()));
  const std::vector<json> starts = events_of(document, "s"), ends = events_of(document, "f");
  ASSERT_EQ(starts.size(), 1u);
  ASSERT_EQ(ends.size(), 1u);
  EXPECT_EQ(starts[0]["id"], ends[0]["id"]);
  EXPECT_EQ(starts[0]["name"], ends[0]["name"]);
  EXPECT_EQ(starts[0]["cat"], ends[0]["cat"]);
  EXPECT_EQ(starts[0]["pid"], 0);
  EXPECT_EQ(ends[0]["pid"], 3);
  EXPECT_EQ(ends[0]["bp"], "e");
  // Each end of the arrow lies at the begin of a slice.
  for (const json& flow : {starts[0], ends[0]}) {
    bool bound = false;
    for (const json& event : events_of(document, "X")) {
      bound = bound || (event["pid"] == flow["pid"] && event["tid"] == flow["tid"] &&
                        event["ts"] == flow["ts"] && event["cat"] == "collective");
    }
    EXPECT_TRUE(bound) << flow;
  }
}

TEST(ChromeExport, HoldsEverySliceAndNestsThem) {
  for (std::uint32_t seed = 0; seed < 20; ++seed) {
    const SampleJob sample = random_job(seed, 1, 50);
    const json document = json::parse(exported(sample));
    const std::vector<json> slices = events_of(document, "X");
    ASSERT_EQ(slices.size(), 50u);
    for (const json& a : slices) {
      for (const json& b : slices) {
        if (a["tid"] != b["tid"]) continue;
        const auto ns = [](const json& event, const char* key) {
          return std::llround(event[key].get<double>() * 1000);
        };
        const auto a0 = ns(a, "ts"), a1 = a0 + ns(a, "dur"), b0 = ns(b, "ts"), b1 = b0 + ns(b, "dur");
        ASSERT_FALSE(a0 < b0 && b0 < a1 && a1 < b1) << "seed " << seed << ": " << a << " and " << b;
      }
    }
  }
}

TEST(ChromeExport, AnEmptyJobIsValidJson) {
  EXPECT_EQ(json::parse(exported({}))["traceEvents"], json::array());
}

}  // namespace
}  // namespace lockstep::analyzer
