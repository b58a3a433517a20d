// Chunks that are held in memory: bounded whatever comes, the last seconds whole, written once.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "trace/test_support.h"

namespace lockstep::trace {
namespace {

using test::expect_ok;
using test::must;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr Nanoseconds kSecond = 1'000'000'000;

class HoldTest : public testing::Test {
 protected:
  Writer create(Nanoseconds time, std::size_t bytes) {
    WriterOptions options;
    options.hold_time = time;
    options.hold_bytes = bytes;
    options.memory_limit = 1 << 20;
    Writer writer = must(Writer::create(path_.c_str(), options));
    lane_ = writer.add_lane({LaneKind::host_thread, 1, 1, 0, "main"});
    return writer;
  }
  HostRange range(Writer& writer, Nanoseconds begin, Nanoseconds length) {
    HostRange event;
    event.lane = event.end_lane = lane_;
    event.begin = begin;
    event.end = begin + length;
    event.name = writer.intern("step");
    return event;
  }
  std::vector<Nanoseconds> begins() {
    const Reader reader = must(Reader::open(path_));
    EXPECT_TRUE(reader.complete());
    EXPECT_THAT(reader.warnings(), IsEmpty());
    EXPECT_TRUE(reader.verify().ok());
    std::vector<HostRange> ranges;
    expect_ok(reader.read({}, ranges));
    std::vector<Nanoseconds> result;
    for (const HostRange& event : ranges) {
      EXPECT_EQ(reader.string(event.name), "step");
      result.push_back(event.begin);
    }
    return result;
  }

  test::TemporaryFolder folder_;
  std::string path_ = folder_ / "a.lst";
  LaneId lane_ = 0;
};

// 24 hours of 40 events a second, as the tracer flushes them, on a clock of our own.
TEST_F(HoldTest, ADayOfEventsKeepsMemoryFlat) {
  constexpr Nanoseconds kHold = 30 * kSecond;
  constexpr std::size_t kLimit = std::size_t{1} << 20U;
  constexpr Nanoseconds kDay = 24 * 3600 * kSecond;
  constexpr Nanoseconds kFlush = kSecond / 2;
  constexpr int kEventsAFlush = 20;
  Writer writer = create(kHold, kLimit);
  std::size_t most = 0, most_of_the_first_hour = 0;
  const std::uint64_t empty_file = writer.bytes_written();
  for (Nanoseconds now = 0; now < kDay; now += kFlush) {
    for (int i = 0; i < kEventsAFlush; ++i) writer.append(range(writer, now + i * 1'000'003, 700'001 + i));
    expect_ok(writer.flush());
    most = std::max(most, writer.bytes_held());
    if (now < 3600 * kSecond) most_of_the_first_hour = most;
    ASSERT_LE(writer.bytes_held(), kLimit);
  }
  EXPECT_GT(most, 0U);
  EXPECT_LE(most, most_of_the_first_hour + most_of_the_first_hour / 10) << "flat, not just bounded";
  EXPECT_LT(writer.bytes_written(), empty_file + 4096) << "tables only";
  expect_ok(writer.release_held());
  EXPECT_EQ(writer.bytes_held(), 0U);
  expect_ok(writer.close());

  // All of the last 30 seconds, each event once, and little more than that.
  std::vector<Nanoseconds> found = begins();
  ASSERT_FALSE(found.empty());
  EXPECT_TRUE(std::is_sorted(found.begin(), found.end()));
  EXPECT_EQ(std::adjacent_find(found.begin(), found.end()), found.end());
  const auto in_time =
      std::count_if(found.begin(), found.end(), [](Nanoseconds t) { return t >= kDay - kHold; });
  EXPECT_EQ(in_time, kHold / kFlush * kEventsAFlush);
  EXPECT_GE(found.front(), kDay - kHold - 2 * kFlush);
}

TEST_F(HoldTest, TheMemoryLimitForgetsTheOldest) {
  Writer writer = create(3600 * kSecond, 20'000);
  for (int i = 0; i < 1000; ++i) {
    writer.append(range(writer, i * kSecond, 5));
    expect_ok(writer.flush());
    ASSERT_LE(writer.bytes_held(), 20'000U);
  }
  const Nanoseconds since = writer.held_since();
  expect_ok(writer.release_held());
  expect_ok(writer.close());
  const std::vector<Nanoseconds> found = begins();
  ASSERT_GT(found.size(), 10U);
  EXPECT_EQ(found.back(), 999 * kSecond);
  EXPECT_EQ(since, found.front() - kSecond + 5) << "the end of the last one that was forgotten";
}

// While a job hangs, the clock is still noted every second; what led to the hang must stay.
TEST_F(HoldTest, SilenceForgetsNothing) {
  constexpr Nanoseconds kHold = 30 * kSecond;
  Writer writer = create(kHold, std::size_t{1} << 20U);
  for (int i = 0; i < 100; ++i) {
    writer.append(range(writer, i * kSecond, 5));
    expect_ok(writer.flush());
  }
  const std::size_t before = writer.bytes_held();
  for (int i = 100; i < 7200; ++i) {
    ClockSnapshot snapshot;
    snapshot.time = i * kSecond;
    writer.append(snapshot);
    expect_ok(writer.flush());
    ASSERT_LT(writer.bytes_held(), 3 * before) << "snapshots are forgotten too";
  }
  EXPECT_EQ(writer.held_since(), 68 * kSecond + 5);
  expect_ok(writer.release_held());
  expect_ok(writer.close());
  const std::vector<Nanoseconds> found = begins();
  ASSERT_EQ(found.size(), 31U);
  EXPECT_EQ(found.front(), 69 * kSecond);
  std::vector<ClockSnapshot> snapshots;
  expect_ok(must(Reader::open(path_)).read({}, snapshots));
  ASSERT_EQ(snapshots.size(), 31U);
  EXPECT_EQ(snapshots.back().time, 7199 * kSecond);
}

TEST_F(HoldTest, EachEventIsWrittenOnce) {
  Writer writer = create(3600 * kSecond, 1 << 20);
  writer.append(range(writer, 1, 1));
  expect_ok(writer.release_held());
  writer.append(range(writer, 2, 1));
  expect_ok(writer.flush());
  expect_ok(writer.release_held());
  expect_ok(writer.release_held());
  writer.append(range(writer, 3, 1));
  expect_ok(writer.release_held());
  expect_ok(writer.close());
  EXPECT_THAT(begins(), ElementsAre(1, 2, 3));
}

TEST_F(HoldTest, WhatNobodyAskedForIsNotInTheFile) {
  Writer writer = create(3600 * kSecond, 1 << 20);
  writer.append(range(writer, 1, 1));
  expect_ok(writer.close());
  EXPECT_THAT(begins(), IsEmpty());
  EXPECT_EQ(must(Reader::open(path_)).lanes().size(), 1U);
}

TEST_F(HoldTest, WithoutItEverythingIsWritten) {
  Writer writer = create(0, 1);
  writer.append(range(writer, 1, 1));
  expect_ok(writer.flush());
  EXPECT_EQ(writer.bytes_held(), 0U);
  EXPECT_EQ(writer.held_since(), kUnknownTime);
  expect_ok(writer.close());
  EXPECT_THAT(begins(), ElementsAre(1));
  EXPECT_EQ(writer.events_appended(EventKind::host_range), 1U);
  EXPECT_EQ(writer.events_appended(EventKind::step), 0U);
}

}  // namespace
}  // namespace lockstep::trace
