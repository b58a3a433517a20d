// Everything that is written is read back, field by field.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "trace/test_support.h"

namespace lockstep::trace {
namespace {

using test::expect_ok;
using test::must;
using test::TemporaryFolder;

// Writes one event per kind, reads it back. The fields are spelled out here, not taken from the schema: a
// field that the schema forgets is noticed.
class OneEvent : public testing::Test {
 protected:
  OneEvent() : writer_(must(Writer::create((folder_ / "one.lst").c_str()))) {
    for (int i = 0; i < 4; ++i) writer_.add_lane({});
    for (int i = 0; i < 8; ++i) writer_.add_group({});
  }

  template <class E>
  void expect_kept(const E& event) {
    writer_.append(event);
    expect_ok(writer_.close());
    const Reader reader = must(Reader::open(folder_ / "one.lst"));
    EXPECT_TRUE(reader.complete());
    EXPECT_THAT(reader.warnings(), testing::IsEmpty());
    std::vector<E> events;
    expect_ok(reader.read(Selection{}, events));
    ASSERT_EQ(events.size(), 1U);
    EXPECT_TRUE(events[0] == event);
  }

  TemporaryFolder folder_;
  Writer writer_;
};

TEST_F(OneEvent, HostRange) {
  expect_kept(HostRange{.lane = 1,
                        .end_lane = 2,
                        .begin = 3,
                        .end = 5,
                        .name = 7,
                        .domain = 11,
                        .category = 13,
                        .color = 0xff112233,
                        .depth = 17,
                        .nested = false});
}
TEST_F(OneEvent, OpenRange) {
  expect_kept(OpenRange{.lane = 1,
                        .begin = 3,
                        .name = 7,
                        .domain = 11,
                        .category = 13,
                        .color = 0xff112233,
                        .depth = 17,
                        .nested = false});
}
TEST_F(OneEvent, Mark) {
  expect_kept(Mark{.lane = 1, .time = 3, .name = 7, .domain = 11, .category = 13, .color = 0xff112233});
}
TEST_F(OneEvent, Counter) {
  expect_kept(Counter{.lane = 1, .time = 3, .value = -0.1});
}
TEST_F(OneEvent, DeviceActivity) {
  expect_kept(DeviceActivity{.lane = 1,
                             .begin = 3,
                             .end = 5,
                             .name = 7,
                             .activity_class = ActivityClass::copy,
                             .correlation = 11,
                             .bytes = 13,
                             .layer = 17,
                             .microbatch = 19,
                             .pass = Pass::recompute,
                             .shape = 23,
                             .warps = 4'000'000'000U});
}
TEST_F(OneEvent, ApiCall) {
  expect_kept(ApiCall{.lane = 1, .begin = 3, .end = 5, .name = 7, .correlation = 11});
}
TEST_F(OneEvent, Collective) {
  expect_kept(Collective{.lane = 1,
                         .begin = 3,
                         .end = 5,
                         .name = 7,
                         .group = 6,
                         .operation = Operation::all_gather,
                         .sequence = 11,
                         .bytes = 13,
                         .data_type = DataType::bfloat16,
                         .peer = 17,
                         .correlation = 19});
}
TEST_F(OneEvent, Step) {
  expect_kept(Step{.lane = 1, .begin = 3, .end = 5, .number = 7});
}
TEST_F(OneEvent, ClockSnapshot) {
  expect_kept(ClockSnapshot{.time = 3, .realtime = 5, .monotonic_raw = 7, .tsc = 11});
}
TEST_F(OneEvent, Drop) {
  expect_kept(Drop{.begin = 3, .end = 5, .count = 7, .source = 11, .reason = 13});
}
TEST_F(OneEvent, CollectiveIssue) {
  expect_kept(CollectiveIssue{.lane = 1,
                              .begin = 3,
                              .end = 5,
                              .name = 7,
                              .group = 2,
                              .operation = Operation::reduce_scatter,
                              .sequence = 11,
                              .bytes = 13,
                              .data_type = DataType::bfloat16,
                              .peer = 17,
                              .correlation = 19,
                              .algorithm = 23,
                              .protocol = 29,
                              .channels = 31});
}
TEST_F(OneEvent, CollectiveIssueOfDefaults) {
  expect_kept(CollectiveIssue{});
}

// Defaults too, some of which are not zero.
TEST_F(OneEvent, HostRangeOfDefaults) {
  expect_kept(HostRange{});
}
TEST_F(OneEvent, CollectiveOfDefaults) {
  expect_kept(Collective{});
}
TEST_F(OneEvent, ClockSnapshotOfDefaults) {
  expect_kept(ClockSnapshot{});
}

TEST(RoundTrip, ExtremeValues) {
  constexpr Nanoseconds kMin = std::numeric_limits<Nanoseconds>::min();
  constexpr Nanoseconds kMax = std::numeric_limits<Nanoseconds>::max();
  const std::vector<Nanoseconds> times = {kMin, kMax, 0, -1, kMin, kMin, kMax, kMax, 1, kMax - 1, kMin + 1};
  std::vector<DeviceActivity> written;
  for (const Nanoseconds begin : times) {
    for (const Nanoseconds end : times) {
      written.push_back({0, begin, end, std::numeric_limits<StringId>::max(), ActivityClass::compute,
                         static_cast<CorrelationId>(begin), static_cast<std::uint64_t>(end),
                         std::numeric_limits<std::int32_t>::min(), std::numeric_limits<std::int32_t>::max(),
                         Pass::optimizer});
    }
  }
  TemporaryFolder folder;
  Writer writer = must(Writer::create((folder / "extreme.lst").c_str()));
  writer.add_lane({});
  for (const DeviceActivity& event : written) writer.append(event);
  expect_ok(writer.close());
  const Reader reader = must(Reader::open(folder / "extreme.lst"));
  std::vector<DeviceActivity> read;
  expect_ok(reader.read(Selection{}, read));
  EXPECT_TRUE(read == written);
  ASSERT_EQ(reader.chunks().size(), 1U);
  EXPECT_EQ(reader.chunks()[0].begin, kMin);
  EXPECT_EQ(reader.chunks()[0].end, kMax);
}

TEST(RoundTrip, CounterValuesKeepTheirBits) {
  const std::vector<double> values = {0.0,
                                      -0.0,
                                      1e-310,
                                      std::numeric_limits<double>::max(),
                                      -std::numeric_limits<double>::infinity(),
                                      std::numeric_limits<double>::quiet_NaN()};
  TemporaryFolder folder;
  Writer writer = must(Writer::create((folder / "counter.lst").c_str()));
  writer.add_lane({LaneKind::counter, 0, 0, 0, "loss"});
  for (const double value : values) writer.append(Counter{0, 0, value});
  expect_ok(writer.close());
  std::vector<Counter> read;
  expect_ok(must(Reader::open(folder / "counter.lst")).read(Selection{}, read));
  ASSERT_EQ(read.size(), values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    EXPECT_EQ(std::bit_cast<std::uint64_t>(read[i].value), std::bit_cast<std::uint64_t>(values[i]));
  }
}

TEST(RoundTrip, StringsAreBytes) {
  test::RandomEvents random(1);
  std::vector<std::string> texts = {"",
                                    "a",
                                    std::string("nul\0inside", 10),
                                    "\xff\xfe\x80",
                                    std::string(100'000, 'x'),
                                    random.text(100'000)};
  for (int i = 0; i < 1000; ++i) texts.push_back("name " + std::to_string(i));
  TemporaryFolder folder;
  Writer writer = must(Writer::create((folder / "strings.lst").c_str()));
  std::vector<StringId> ids;
  ids.reserve(texts.size());
  for (const std::string& text : texts) ids.push_back(writer.intern(text));
  EXPECT_EQ(ids[0], 0U);
  for (std::size_t i = 0; i < texts.size(); ++i) EXPECT_EQ(writer.intern(texts[i]), ids[i]);
  expect_ok(writer.close());
  const Reader reader = must(Reader::open(folder / "strings.lst"));
  EXPECT_EQ(reader.string_count(), texts.size());
  for (std::size_t i = 0; i < texts.size(); ++i) EXPECT_TRUE(reader.string(ids[i]) == texts[i]) << i;
  EXPECT_EQ(reader.string(static_cast<StringId>(texts.size())), "");
  EXPECT_EQ(reader.string(std::numeric_limits<StringId>::max()), "");
}

TEST(RoundTrip, AStringThatIsTooLongIsCutAndSaysSo) {
  TemporaryFolder folder;
  Writer writer = must(Writer::create((folder / "long.lst").c_str()));
  const StringId id = writer.intern(std::string(3'000'000, 'y'));
  expect_ok(writer.close());
  const Reader reader = must(Reader::open(folder / "long.lst"));
  EXPECT_EQ(reader.string(id).size(), 1U << 20);
  EXPECT_TRUE(reader.string(id).ends_with("yyy [cut: 3000000 bytes]"));
}

TEST(RoundTrip, LanesGroupsAndMetadata) {
  TemporaryFolder folder;
  Writer writer = must(Writer::create((folder / "tables.lst").c_str()));
  const Lane stream{LaneKind::device_stream, std::numeric_limits<std::uint64_t>::max(), 7, 3,
                    "stream \xff 7"};
  const Lane thread{LaneKind::host_thread, 100, 101, 0, ""};
  EXPECT_EQ(writer.add_lane(stream), 0U);
  EXPECT_EQ(writer.add_lane(thread), 1U);
  const Group world{"0", "default", {0, 1, 2, 3}, 3, 4};
  const Group odd{
      "", "\x80", {std::numeric_limits<std::int32_t>::min(), -1, std::numeric_limits<std::int32_t>::max()}};
  EXPECT_EQ(writer.add_group(world), 0U);
  writer.set_metadata("rank", "0");
  writer.set_metadata("", "empty key");
  expect_ok(writer.flush());
  EXPECT_EQ(writer.add_group(odd), 1U);
  writer.set_metadata("rank", "1");
  writer.rename_lane(1, "main thread");
  writer.rename_lane(77, "no such lane");
  expect_ok(writer.close());

  const Reader reader = must(Reader::open(folder / "tables.lst"));
  EXPECT_THAT(reader.warnings(), testing::IsEmpty());
  ASSERT_EQ(reader.lanes().size(), 2U);
  EXPECT_TRUE(reader.lanes()[0] == stream);
  EXPECT_EQ(reader.lanes()[1].name, "main thread");
  EXPECT_EQ(reader.lanes()[1].handle, 101U);
  ASSERT_EQ(reader.groups().size(), 2U);
  EXPECT_TRUE(reader.groups()[0] == world);
  EXPECT_TRUE(reader.groups()[1] == odd);
  EXPECT_EQ(reader.metadata(), (std::map<std::string, std::string>{{"", "empty key"}, {"rank", "1"}}));
}

TEST(RoundTrip, ArgumentsStayWithTheirEvents) {
  TemporaryFolder folder;
  Writer writer = must(Writer::create((folder / "arguments.lst").c_str()));
  writer.add_lane({});
  const std::vector<Argument> three = {{1, ArgumentType::float64, std::bit_cast<std::uint64_t>(2.5)},
                                       {1, ArgumentType::string, 4},
                                       {2, ArgumentType::address, ~std::uint64_t{0}}};
  writer.append(HostRange{.begin = 0});
  writer.append(HostRange{.begin = 1}, three);
  writer.append(HostRange{.begin = 2});
  writer.append(HostRange{.begin = 3}, std::span(three).first(1));
  writer.append(Mark{.time = 4}, std::span(three).last(2));
  writer.append(OpenRange{.begin = 5}, three);
  expect_ok(writer.close());
  const Reader reader = must(Reader::open(folder / "arguments.lst"));
  const auto ranges = test::read_all<HostRange>(reader);
  ASSERT_EQ(ranges.size(), 4U);
  EXPECT_THAT(ranges[0].arguments, testing::IsEmpty());
  EXPECT_TRUE(ranges[1].arguments == three);
  EXPECT_THAT(ranges[2].arguments, testing::IsEmpty());
  EXPECT_TRUE(ranges[3].arguments == std::vector(three.begin(), three.begin() + 1));
  EXPECT_TRUE(test::read_all<Mark>(reader).at(0).arguments == std::vector(three.begin() + 1, three.end()));
  EXPECT_TRUE(test::read_all<OpenRange>(reader).at(0).arguments == three);
}

TEST(RoundTrip, MoreArgumentsThanAChunkHolds) {
  TemporaryFolder folder;
  Writer writer = must(Writer::create((folder / "arguments.lst").c_str()));
  writer.add_lane({});
  std::vector<Argument> many(200'000);
  for (std::size_t i = 0; i < many.size(); ++i) many[i].bits = i * i;
  writer.append(Mark{.time = 1}, many);
  writer.append(Mark{.time = 2}, many);  // a second chunk
  many.resize(300'000);
  writer.append(Mark{.time = 3}, many);  // more than any chunk may hold
  EXPECT_EQ(writer.events_lost(), 1U);
  const Status closed = writer.close();
  ASSERT_FALSE(closed.ok());
  EXPECT_THAT(closed.error().message, testing::HasSubstr("300000 arguments"));
  const Reader reader = must(Reader::open(folder / "arguments.lst"));
  const auto marks = test::read_all<Mark>(reader);
  ASSERT_EQ(marks.size(), 2U);
  EXPECT_TRUE(marks[1].arguments == std::vector(many.begin(), many.begin() + 200'000));
  EXPECT_EQ(reader.chunks().size(), 2U);
}

// Seeded random events of all kinds, with flushes in between, against a plain record of what was appended.
class RandomTrace : public testing::TestWithParam<int> {};

TEST_P(RandomTrace, IsReadBack) {
  constexpr std::uint32_t kLanes = 5;
  constexpr std::uint32_t kGroups = 3;
  constexpr std::uint32_t kChunkSizes[] = {1, 3, 64, 1000, 100'000};
  test::RandomEvents random(static_cast<std::uint64_t>(GetParam()));
  TemporaryFolder folder;
  WriterOptions options;
  options.events_per_chunk = kChunkSizes[GetParam() % 5];
  options.compression_level = GetParam() % 4;
  Writer writer = must(Writer::create((folder / "random.lst").c_str(), options));
  for (std::uint32_t lane = 0; lane < kLanes; ++lane) writer.add_lane({});
  for (std::uint32_t group = 0; group < kGroups; ++group) writer.add_group({});
  test::Record expected;
  for (int i = 0; i < 20'000; ++i) {
    test::append_random(random, kLanes, kGroups, writer, expected);
    if (random.below(3000) == 0) expect_ok(writer.flush());
  }
  EXPECT_EQ(writer.events_appended(), 20'000U);
  EXPECT_EQ(writer.events_lost(), 0U);

  // After a flush all of it can be read, without a footer; after close, by the footer.
  expect_ok(writer.flush());
  for (const bool closed : {false, true}) {
    if (closed) expect_ok(writer.close());
    const Reader reader = must(Reader::open(folder / "random.lst"));
    EXPECT_EQ(reader.complete(), closed);
    EXPECT_EQ(reader.warnings().size(), closed ? 0U : 1U);
    Status status;
    test::expect_same_by_lane(expected, test::read_everything(reader, status), kLanes);
    expect_ok(status);
    expect_ok(reader.verify());
    test::for_each_kind([&]<class E>(const E&) {
      const auto& events = std::get<test::Events<E>>(expected);
      EXPECT_EQ(reader.count(format::Schema<E>::kKind), events.size());
      std::vector<E> fast;
      expect_ok(reader.read(Selection{}, fast));
      std::size_t visited = 0;
      expect_ok(reader.read<E>(Selection{}, std::function<void(const E&)>([&](const E& event) {
                                 ASSERT_LT(visited, fast.size());
                                 EXPECT_TRUE(fast[visited++] == event);
                               })));
      EXPECT_EQ(visited, events.size());
    });
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomTrace, testing::Range(1, 21));

}  // namespace
}  // namespace lockstep::trace
