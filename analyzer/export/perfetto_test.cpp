#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <sstream>
#include <tuple>

#include "analyzer/export/decode_perfetto.h"
#include "analyzer/export/export.h"
#include "analyzer/export/sample_job.h"

namespace lockstep::analyzer {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;
using testing::UnorderedElementsAre;

DecodedTrace export_and_decode(const SampleJob& sample) {
  std::ostringstream out;
  write_perfetto(sample.job, sample.analysis, out);
  return decode_perfetto(out.str());
}

TEST(PerfettoExport, HasAProcessTrackPerRankAndATrackPerLane) {
  const DecodedTrace trace = export_and_decode(sample_job());
  EXPECT_THAT(trace.faults, IsEmpty());
  std::map<std::string, std::vector<std::string>> names;  // process -> its tracks, in order of uuid
  for (const auto& [uuid, track] : trace.tracks) {
    if (track.parent == 0) {
      names[track.name];
    } else {
      names[trace.tracks.at(track.parent).name].push_back(track.name);
    }
  }
  EXPECT_THAT(
      names,
      ElementsAre(
          Pair("rank 0, node-a, cuda:0", ElementsAre("cause", "steps", "stream 7", "stream 7 (2)",
                                                     "gloo, \"ring\"", "main\uFFFD", "memory \"peak\"")),
          Pair("rank 3, node-a, cuda:0", ElementsAre("cause", "steps", "stream 7", "gloo, \"ring\""))));
  EXPECT_EQ(trace.tracks.at(1ull << 32).pid, 1);
  EXPECT_EQ(trace.tracks.at(2ull << 32).pid, 4);
}

using Shown = std::tuple<std::string, std::string, std::uint64_t, std::uint64_t>;  // track, name, begin, end

TEST(PerfettoExport, HasEverySliceWithItsTimes) {
  const DecodedTrace trace = export_and_decode(sample_job());
  std::multiset<Shown> first, other;
  for (const DecodedSlice& slice : trace.slices) {
    const DecodedTrack& track = trace.tracks.at(slice.track);
    (track.parent == 1ull << 32 ? first : other).emplace(track.name, slice.name, slice.begin, slice.end);
  }
  // The earliest instant, 800, is the trace's zero.
  EXPECT_THAT(first,
              UnorderedElementsAre(
                  Shown("cause", "compute", 200, 1700), Shown("cause", "transfer", 1700, 2200),
                  Shown("steps", "step 12", 200, 2200), Shown("stream 7", "matmul", 200, 1200),
                  Shown("stream 7 (2)", "void add<float, 4>(int)", 1000, 1700),
                  Shown("stream 7", "void add<float, 4>(int)", 1700, 1700),
                  Shown("gloo, \"ring\"", "all_reduce", 700, 2200), Shown("main\uFFFD", "step", 0, 2400),
                  Shown("main\uFFFD", "data, \"load\"\r\n\uFFFD", 50, 100)));
  EXPECT_EQ(other.size(), 6u);
  // Nanoseconds since 1970 of the trace's zero.
  EXPECT_THAT(trace.clocks, ElementsAre(Pair(1, 1'700'000'000'000'000'800), Pair(6, 0)));
}

TEST(PerfettoExport, CollectivesCarryTheirFactsAndAreJoinedByAFlow) {
  const DecodedTrace trace = export_and_decode(sample_job());
  std::vector<DecodedSlice> parts;
  for (const DecodedSlice& slice : trace.slices) {
    if (slice.category == "collective") parts.push_back(slice);
  }
  ASSERT_EQ(parts.size(), 2u);
  EXPECT_THAT(parts[0].arguments, UnorderedElementsAre(Pair("step", "12"), Pair("kernel", "ncclKernel"),
                                                       Pair("group", "dp \"0\""), Pair("sequence", "5"),
                                                       Pair("bytes", "4096"), Pair("dtype", "float32"),
                                                       Pair("collective", "9"), Pair("last_arriver", "3"),
                                                       Pair("wait_ns", "500"), Pair("transfer_ns", "1000")));
  EXPECT_THAT(parts[0].flows, ElementsAre(1));
  EXPECT_THAT(parts[0].terminated_flows, IsEmpty());
  EXPECT_THAT(parts[1].flows, IsEmpty());
  EXPECT_THAT(parts[1].terminated_flows, ElementsAre(1));
  EXPECT_EQ(parts[1].arguments.at("wait_ns"), "0");
}

TEST(PerfettoExport, ComputationsSayWhatTheyArePartOf) {
  const DecodedTrace trace = export_and_decode(sample_job());
  std::vector<std::map<std::string, std::string>>
      arguments;  // of rank 0's, then of rank 3's, which says nothing
  for (const DecodedSlice& slice : trace.slices) {
    if (slice.name == "matmul") arguments.push_back(slice.arguments);
  }
  EXPECT_THAT(
      arguments,
      ElementsAre(UnorderedElementsAre(Pair("step", "12"), Pair("launched_before_ns", "100"),
                                       Pair("layer", "2"), Pair("microbatch", "1"), Pair("pass", "forward")),
                  IsEmpty()));
}

TEST(PerfettoExport, CountersAreTracksOfTheirRank) {
  const DecodedTrace trace = export_and_decode(sample_job());
  std::vector<std::tuple<std::string, std::uint64_t, double>> points;
  for (const DecodedPoint& point : trace.points) {
    EXPECT_EQ(trace.tracks.at(point.track).parent, 1ull << 32);
    points.emplace_back(trace.tracks.at(point.track).name, point.time, point.value);
  }
  // The earliest instant, 800, is the trace's zero.
  EXPECT_THAT(points, ElementsAre(std::tuple("memory \"peak\"", 100, 1.5e9),
                                  std::tuple("memory \"peak\"", 1800, 2.5e9)));
}

TEST(PerfettoExport, AnyOverlapBecomesWellNestedSlicesAndNoneIsLost) {
  for (std::uint32_t seed = 0; seed < 40; ++seed) {
    const SampleJob sample = random_job(seed, 2, 60);
    const DecodedTrace trace = export_and_decode(sample);
    ASSERT_THAT(trace.faults, IsEmpty()) << "seed " << seed;
    Nanoseconds zero = 0;
    for (const RankTrace& rank : sample.job.ranks) zero = std::min(zero, rank.activities.front().begin);
    std::multiset<Shown> expected, got;
    for (const RankTrace& rank : sample.job.ranks) {
      for (const Activity& a : rank.activities) {
        expected.emplace(std::to_string(rank.rank), sample.job.strings.view(a.name), a.begin - zero,
                         a.end - zero);
      }
    }
    for (const DecodedSlice& slice : trace.slices) {
      const DecodedTrack& process = trace.tracks.at(trace.tracks.at(slice.track).parent);
      got.emplace(std::to_string(process.pid - 1), slice.name, slice.begin, slice.end);
    }
    ASSERT_EQ(got, expected) << "seed " << seed;
  }
}

TEST(PerfettoExport, AnEmptyJobIsAnEmptyTrace) {
  const DecodedTrace trace = export_and_decode({});
  EXPECT_THAT(trace.faults, IsEmpty());
  EXPECT_THAT(trace.slices, IsEmpty());
}

}  // namespace
}  // namespace lockstep::analyzer
