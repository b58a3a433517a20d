// Reading by lane and time, ranges that never ended, many chunks, many readers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <thread>

#include "trace/file_surgery.h"
#include "trace/test_support.h"

namespace lockstep::trace {
namespace {

using test::expect_ok;
using test::must;
using testing::ElementsAre;
using testing::IsEmpty;

// What the contract says of one event, without chunks.
template <class E>
bool is_selected(const E& event, const Selection& selection) {
  if constexpr (format::Schema<E>::kHasLane) {
    if (selection.lane && *selection.lane != event.lane) return false;
  } else if (selection.lane) {
    return false;
  }
  if constexpr (std::is_same_v<E, OpenRange>) return event.begin <= selection.end;
  return format::begin_of(event) <= selection.end && format::end_of(event) >= selection.begin;
}

TEST(Select, AgreesWithAFilterOverAllEvents) {
  constexpr std::uint32_t kLanes = 4;
  test::RandomEvents random(11);
  test::TemporaryFolder folder;
  WriterOptions options;
  options.events_per_chunk = 16;
  Writer writer = must(Writer::create((folder / "select.lst").c_str(), options));
  for (std::uint32_t lane = 0; lane < kLanes; ++lane) writer.add_lane({});
  writer.add_group({});
  test::Record record;
  for (int i = 0; i < 5000; ++i) test::append_random(random, kLanes, 1, writer, record);
  expect_ok(writer.close());
  const Reader reader = must(Reader::open(folder / "select.lst"));
  const auto& ranges = std::get<test::Events<HostRange>>(record);
  for (int i = 0; i < 200; ++i) {
    Selection selection;
    if (random.below(3) != 0) selection.lane = static_cast<LaneId>(random.below(kLanes + 1));
    selection.begin = ranges[random.below(ranges.size())].event.begin;
    selection.end = random.below(4) == 0
                        ? ranges[random.below(ranges.size())].event.end
                        : selection.begin / 2 + static_cast<Nanoseconds>(random.below(1'000'000));
    test::for_each_kind([&]<class E>(const E&) {
      std::vector<E> read;
      expect_ok(reader.read(selection, read));
      const auto visited = test::read_all<E>(reader, selection);
      for (LaneId lane = 0; lane < kLanes; ++lane) {
        test::Events<E> wanted = test::of_lane(std::get<test::Events<E>>(record), lane);
        std::erase_if(wanted, [&](const auto& each) { return !is_selected(each.event, selection); });
        EXPECT_TRUE(test::of_lane(visited, lane) == wanted) << to_string(format::Schema<E>::kKind);
      }
      ASSERT_EQ(read.size(), visited.size());
      for (std::size_t k = 0; k < read.size(); ++k) EXPECT_TRUE(read[k] == visited[k].event);
    });
  }
}

// Only the chunks that hold the selection are touched: all others are destroyed, header and body, and nobody
// notices.
TEST(Select, TouchesNoOtherChunk) {
  test::TemporaryFolder folder;
  WriterOptions options;
  options.events_per_chunk = 100;
  Writer writer = must(Writer::create((folder / "select.lst").c_str(), options));
  for (int lane = 0; lane < 3; ++lane) writer.add_lane({});
  for (int i = 0; i < 1000; ++i) {
    for (LaneId lane = 0; lane < 3; ++lane) {
      writer.append(DeviceActivity{.lane = lane, .begin = 10 * i, .end = 10 * i + 5});
      writer.append(Mark{.lane = lane, .time = 10 * i});
    }
  }
  expect_ok(writer.close());
  std::vector<std::byte> bytes = test::read_file(folder / "select.lst");
  const auto is_wanted = [](const ChunkInfo& chunk) {
    return chunk.kind == EventKind::device_activity && chunk.lane == LaneId{1} && chunk.end >= 5500 &&
           chunk.begin <= 6500;
  };
  std::size_t kept = 0;
  {
    const Reader reader = must(Reader::open(bytes, "before"));
    ASSERT_EQ(reader.chunks().size(), 60U);
    const std::vector<ChunkInfo> chunks(reader.chunks().begin(), reader.chunks().end());
    for (const ChunkInfo& chunk : chunks) {
      if (is_wanted(chunk)) {
        ++kept;
        continue;
      }
      const auto begin = bytes.begin() + static_cast<std::ptrdiff_t>(chunk.offset);
      std::fill(begin, begin + static_cast<std::ptrdiff_t>(chunk.size), std::byte{0xee});
    }
  }
  EXPECT_EQ(kept, 2U);
  const Reader reader = must(Reader::open(bytes, "after"));
  EXPECT_TRUE(reader.complete());
  EXPECT_THAT(reader.warnings(), IsEmpty());
  std::vector<DeviceActivity> events;
  expect_ok(reader.read({LaneId{1}, 5500, 6500}, events));
  EXPECT_EQ(events.size(), 101U);
  EXPECT_EQ(events.front().begin, 5500);
  EXPECT_EQ(events.back().begin, 6500);
  EXPECT_FALSE(reader.verify().ok());
}

TEST(Select, AppendsToWhatIsThere) {
  test::TemporaryFolder folder;
  Writer writer = must(Writer::create((folder / "append.lst").c_str()));
  for (int lane = 0; lane < 2; ++lane) writer.add_lane({});
  writer.append(Step{.lane = 0, .number = 1});
  writer.append(Step{.lane = 1, .number = 2});
  expect_ok(writer.close());
  const Reader reader = must(Reader::open(folder / "append.lst"));
  std::vector<Step> steps;
  for (const LaneId lane : {1, 0}) expect_ok(reader.read(Selection{lane}, steps));
  ASSERT_EQ(steps.size(), 2U);
  EXPECT_EQ(steps[0].number, 2);
  EXPECT_EQ(steps[1].number, 1);
}

// More chunks than one index chunk lists.
TEST(Index, IsChained) {
  test::TemporaryFolder folder;
  WriterOptions options;
  options.events_per_chunk = 1;
  Writer writer = must(Writer::create((folder / "index.lst").c_str(), options));
  writer.add_lane({});
  for (int i = 0; i < 10'000; ++i) writer.append(Step{.begin = i, .end = i, .number = i});
  expect_ok(writer.close());
  const std::vector<std::byte> bytes = test::read_file(folder / "index.lst");
  EXPECT_EQ(std::ranges::count_if(test::take_apart(bytes),
                                  [](const test::RawChunk& chunk) {
                                    return chunk.header.kind ==
                                           static_cast<std::uint8_t>(format::ChunkKind::index);
                                  }),
            3);
  const Reader reader = must(Reader::open(bytes, "index"));
  EXPECT_TRUE(reader.complete());
  EXPECT_THAT(reader.warnings(), IsEmpty());
  EXPECT_EQ(reader.chunks().size(), 10'000U);
  std::vector<Step> steps;
  expect_ok(reader.read(Selection{}, steps));
  ASSERT_EQ(steps.size(), 10'000U);
  for (int i = 0; i < 10'000; ++i) ASSERT_EQ(steps[static_cast<std::size_t>(i)].number, i);
  // The same without its footer.
  const Reader scanned = must(Reader::open(std::span(bytes).first(bytes.size() - 1), "scanned"));
  EXPECT_FALSE(scanned.complete());
  EXPECT_EQ(scanned.chunks().size(), 10'000U);
}

TEST(UnfinishedRanges, AreThoseThatNeverEnded) {
  test::TemporaryFolder folder;
  Writer writer = must(Writer::create((folder / "open.lst").c_str()));
  for (int lane = 0; lane < 2; ++lane) writer.add_lane({});
  const StringId outer = writer.intern("outer");
  const StringId inner = writer.intern("inner");
  const OpenRange step{.lane = 0, .begin = 100, .name = outer};
  const OpenRange other_lane{.lane = 1, .begin = 100, .name = outer};
  const OpenRange deeper{.lane = 0, .begin = 100, .name = inner, .depth = 1};
  const OpenRange later{.lane = 0, .begin = 300, .name = inner, .depth = 1};
  for (const OpenRange& range : {step, deeper, other_lane}) writer.append(range);
  expect_ok(writer.flush());
  // `deeper` ends, although it began at the same instant as what is around it; the others are still open at
  // the next flush.
  writer.append(HostRange{.lane = 0, .begin = 100, .end = 200, .name = inner, .depth = 1});
  for (const OpenRange& range : {step, other_lane, later}) writer.append(range);
  expect_ok(writer.flush());
  writer.append(HostRange{.lane = 1, .begin = 100, .end = 400, .name = outer});
  expect_ok(writer.flush());
  const Reader reader = must(Reader::open(folder / "open.lst"));
  EXPECT_THAT(must(reader.unfinished_ranges()), ElementsAre(step, later));
  std::vector<OpenRange> all;
  expect_ok(reader.read(Selection{}, all));
  EXPECT_EQ(all.size(), 6U);
}

TEST(Reader, ServesManyThreads) {
  test::TemporaryFolder folder;
  WriterOptions options;
  options.events_per_chunk = 1000;
  Writer writer = must(Writer::create((folder / "threads.lst").c_str(), options));
  writer.add_lane({});
  for (int i = 0; i < 100'000; ++i) writer.append(Step{.begin = i, .end = i, .number = i});
  expect_ok(writer.close());
  const Reader reader = must(Reader::open(folder / "threads.lst"));
  std::atomic<std::int64_t> sum = 0;
  std::vector<std::thread> threads;
  threads.reserve(4);
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      std::vector<Step> steps;
      expect_ok(reader.read({LaneId{0}, 25'000 * t, 25'000 * t + 24'999}, steps));
      for (const Step& step : steps) sum += step.number;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(sum, std::int64_t{100'000} * 99'999 / 2);
}

}  // namespace
}  // namespace lockstep::trace
