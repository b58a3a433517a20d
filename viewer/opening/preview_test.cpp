#include "viewer/opening/preview.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <numeric>
#include <random>

#include "analyzer/import/rank/rank_import.h"
#include "tests/temporary_folder.h"
#include "trace/writer.h"

namespace lockstep::viewer {
namespace {

namespace fs = std::filesystem;

// A rank of `host` that computes `count` times and reduces half as often, from `begin` on.
void write_rank(const test::TemporaryFolder& folder, int rank, const char* host, int count,
                trace::Nanoseconds begin) {
  trace::Writer writer = trace::Writer::create((folder / ("rank-" + std::to_string(rank) + ".lst")).c_str(),
                                               {.events_per_chunk = 16})
                             .value();
  writer.set_metadata("rank", std::to_string(rank));
  writer.set_metadata("host", host);
  const trace::LaneId stream = writer.add_lane({trace::LaneKind::device_stream, 1, 7, 0, "stream 7"});
  const trace::LaneId network = writer.add_lane({trace::LaneKind::communication, 1, 9, 0, "nccl"});
  const trace::StringId name = writer.intern("gemm");
  for (int i = 0; i < count; ++i) {
    const trace::Nanoseconds at = begin + 100 * i;
    writer.append(trace::DeviceActivity{.lane = stream, .begin = at, .end = at + 10, .name = name});
    if (i % 2 == 0)
      writer.append(trace::DeviceActivity{.lane = network, .begin = at + 10, .end = at + 90, .name = name});
  }
  ASSERT_TRUE(writer.close().ok());
}

std::uint64_t events_of(const std::vector<PreviewSpan>& spans) {
  return std::accumulate(spans.begin(), spans.end(), std::uint64_t{0},
                         [](std::uint64_t sum, const PreviewSpan& span) { return sum + span.events; });
}

TEST(Preview, CountsEveryRanksEventsOnClocksThatBeginTogether) {
  const test::TemporaryFolder folder;
  write_rank(folder, 1, "a", 100, 5'000'000'000);
  write_rank(folder, 0, "a", 60, 5'000'001'000);
  write_rank(folder, 2, "b", 80, -7'000);
  const Result<RunPreview> preview = preview_of(folder.path().string());
  ASSERT_TRUE(preview.ok()) << preview.error().message;
  const auto& ranks = preview.value().ranks;
  ASSERT_EQ(ranks.size(), 3u);
  EXPECT_EQ(ranks[0].rank, 0);
  EXPECT_EQ(events_of(ranks[0].computing), 60u);
  EXPECT_EQ(events_of(ranks[0].communicating), 30u);
  EXPECT_EQ(events_of(ranks[1].computing), 100u);
  EXPECT_EQ(preview.value().events, 240u + 120u);
  EXPECT_EQ(ranks[1].computing.front().begin, 0) << "the first event of host a";
  EXPECT_EQ(ranks[0].computing.front().begin, 1'000) << "so much later by the same clock";
  EXPECT_EQ(ranks[2].computing.front().begin, 0) << "the first event of host b";
  EXPECT_EQ(preview.value().length, 99 * 100 + 10) << "rank 1's last computation";
  EXPECT_GT(ranks[1].computing.size(), 1u) << "chunks of 16";
}

TEST(Preview, BadFilesAreLeftOut) {
  const test::TemporaryFolder folder;
  write_rank(folder, 0, "a", 40, 0);
  folder.write("rank-1.lst", "no trace");
  const Result<RunPreview> preview = preview_of(folder.path().string());
  ASSERT_TRUE(preview.ok());
  EXPECT_EQ(preview.value().ranks.size(), 1u);
}

TEST(Preview, IsRefusedWhereThereIsNoRun) {
  const test::TemporaryFolder folder;
  folder.write("trace.json", "{}");
  EXPECT_FALSE(preview_of(folder.path().string()).ok());
  EXPECT_FALSE(preview_of((folder / "absent")).ok());
}

TEST(Preview, StopsWhenAskedTo) {
  const test::TemporaryFolder folder;
  for (int rank = 0; rank < 5; ++rank) write_rank(folder, rank, "a", 10, 0);
  int asked = 0;
  const Result<RunPreview> preview = preview_of(folder.path().string(), [&asked] { return ++asked > 2; });
  ASSERT_TRUE(preview.ok());
  EXPECT_EQ(preview.value().ranks.size(), 2u);
}

analyzer::RankImport import_of(int rank, const char* clock, std::int64_t clock_zero) {
  analyzer::RankImport import;
  import.trace.rank = rank;
  import.clock_name = clock;
  import.clock_zero = clock_zero;
  return import;
}

// However many events there are, spans are few, hold all of them, and lie where they were.
TEST(Preview, OfARankThatWasReadHoldsAllItsEvents) {
  std::mt19937 random(11);
  for (int round = 0; round < 50; ++round) {
    analyzer::RankImport import = import_of(round, "a", 1'000);
    const std::size_t count = 1 + random() % 20'000;
    trace::Nanoseconds at = 0;
    std::uint64_t communications = 0;
    trace::Nanoseconds end = 0;
    for (std::size_t i = 0; i < count; ++i) {
      analyzer::Activity activity;
      activity.begin = at += random() % 1'000;
      activity.end = at + random() % 500;
      end = std::max(end, activity.end);
      activity.activity_class = random() % 3 == 0 ? analyzer::Class::collective : analyzer::Class::compute;
      communications += activity.activity_class == analyzer::Class::collective ? 1 : 0;
      import.trace.activities.push_back(activity);
    }
    const RankPreview preview = preview_of(import);
    EXPECT_EQ(preview.rank.rank, round);
    EXPECT_EQ(preview.clock, "a");
    EXPECT_EQ(preview.first, import.trace.activities.front().begin + 1'000);
    EXPECT_EQ(events_of(preview.rank.communicating), communications);
    EXPECT_EQ(events_of(preview.rank.computing), count - communications);
    trace::Nanoseconds last = 0;
    for (const auto* spans : {&preview.rank.computing, &preview.rank.communicating}) {
      EXPECT_LE(spans->size(), kPreviewWindows);
      EXPECT_TRUE(std::is_sorted(spans->begin(), spans->end(),
                                 [](const auto& a, const auto& b) { return a.begin < b.begin; }));
      for (const PreviewSpan& span : *spans) last = std::max(last, span.end);
    }
    EXPECT_EQ(last, end + 1'000);
  }
}

TEST(Preview, OfARankAtTheEndsOfTimeSaturates) {
  analyzer::RankImport import = import_of(0, "a", std::numeric_limits<std::int64_t>::max());
  for (const trace::Nanoseconds begin : {-analyzer::kLatest, trace::Nanoseconds{0}, analyzer::kLatest - 5}) {
    analyzer::Activity activity;
    activity.begin = begin;
    activity.end = begin + 5;
    import.trace.activities.push_back(activity);
  }
  const RunPreview preview = assemble({preview_of(import), preview_of(import_of(1, "a", 0))});
  ASSERT_EQ(preview.ranks.size(), 2u);
  EXPECT_EQ(preview.events, 3u) << "a rank without events adds none";
  EXPECT_GE(preview.length, 0);
  EXPECT_EQ(preview.ranks[0].computing.front().begin, 0);
}

// No event is lost or counted twice, wherever the columns' borders are.
TEST(Preview, ColumnsSumToAllEvents) {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    const trace::Nanoseconds length = 1 + random() % 10'000;
    std::vector<PreviewSpan> spans;
    std::uint64_t all = 0;
    for (int i = 0; i < 20; ++i) {
      const trace::Nanoseconds begin = random() % length;
      const trace::Nanoseconds end = begin + random() % (length - begin + 1);
      spans.push_back({begin, end, random() % 50});
      all += spans.back().events;
    }
    const std::vector<double> columns = events_by_column(spans, length, 1 + random() % 300);
    EXPECT_NEAR(std::accumulate(columns.begin(), columns.end(), 0.0), static_cast<double>(all), 1e-6);
  }
  EXPECT_EQ(events_by_column({{0, 10, 5}}, 0, 10), std::vector<double>(10, 0.0));
}

}  // namespace
}  // namespace lockstep::viewer
