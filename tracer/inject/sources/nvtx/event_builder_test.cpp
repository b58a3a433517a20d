#include "tracer/inject/sources/nvtx/event_builder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>

#include "tests/temporary_folder.h"
#include "trace/reader.h"
#include "tracer/inject/sources/nvtx/nvtx_api.h"

namespace lockstep::tracer::nvtx {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;
using testing::UnorderedElementsAre;

constexpr std::uint64_t kProcess = 100;

// Drives an EventBuilder with records made by hand and reads the file back.
class EventBuilderTest : public testing::Test {
 protected:
  EventBuilderTest() {
    writer_.emplace(trace::Writer::create(path_.c_str()).value());
    builder_.emplace(*writer_, registry_, kProcess);
    lockstep_ = registry_.domain("lockstep");
  }

  struct Content {
    std::string message;
    std::uint16_t domain = 0;
    std::uint64_t id = 0;
    std::optional<Style> style;
    std::uint8_t numeric = 0;
    std::vector<nvtxPayloadData_t> payloads;
  };
  void send(EventBuilder::Thread& thread, RecordKind kind, trace::Nanoseconds time, const Content& content) {
    const PayloadCopy payload(registry_.schemas(), content.domain, content.payloads.data(),
                              content.payloads.size(), 10000);
    std::vector<std::byte> record(16 + (content.id != 0 ? 16 : 0) + (content.style ? 16 : 0) +
                                  round_up_to_unit(static_cast<std::uint32_t>(content.message.size())) +
                                  (content.payloads.empty() ? 0 : round_up_to_unit(payload.bytes())));
    std::uint8_t flags = content.numeric;
    std::byte* out = record.data() + 16;
    if (content.id != 0) {
      flags |= record_flags::kRangeId;
      std::memcpy(out, &content.id, sizeof content.id);
      out += 16;
    }
    if (content.style) {
      flags |= record_flags::kStyle;
      std::memcpy(out, &*content.style, sizeof(Style));
      out += 16;
    }
    std::memcpy(out, content.message.data(), content.message.size());
    out += round_up_to_unit(static_cast<std::uint32_t>(content.message.size()));
    if (!content.payloads.empty()) {
      flags |= record_flags::kPayload;
      payload.write(out);
    }
    write_header(record.data(), static_cast<std::uint32_t>(record.size()), kind, flags, content.domain,
                 static_cast<std::uint32_t>(content.message.size()), 0);
    builder_->consume(thread, record.data(), time);
  }
  void push(EventBuilder::Thread& thread, trace::Nanoseconds time, const std::string& name,
            std::uint16_t domain = 0) {
    send(thread, RecordKind::push, time, {name, domain, 0, {}, 0, {}});
  }
  void pop(EventBuilder::Thread& thread, trace::Nanoseconds time, std::uint16_t domain = 0) {
    send(thread, RecordKind::pop, time, {"", domain, 0, {}, 0, {}});
  }

  // Registers "lockstep.NAME" with so many 8-byte fields; texts where `text_at` says so.
  std::uint64_t schema(const std::string& name, std::size_t fields, std::size_t text_at = 99) {
    std::vector<nvtxPayloadSchemaEntry_t> entries(fields);
    for (std::size_t i = 0; i < fields; ++i) {
      entries[i].type = i == text_at ? NVTX_PAYLOAD_ENTRY_TYPE_CSTRING : NVTX_PAYLOAD_ENTRY_TYPE_INT64;
      entries[i].name = "field";
    }
    nvtxPayloadSchemaAttr_t attributes{};
    attributes.fieldMask = NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NAME | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_TYPE |
                           NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ENTRIES |
                           NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NUM_ENTRIES;
    attributes.name = name.c_str();
    attributes.type = NVTX_PAYLOAD_SCHEMA_TYPE_STATIC;
    attributes.entries = entries.data();
    attributes.numEntries = fields;
    return registry_.register_schema(lockstep_, &attributes);
  }
  template <std::size_t N>
  void push_payload(EventBuilder::Thread& thread, trace::Nanoseconds time, const std::string& name,
                    std::uint64_t schema, const std::array<std::int64_t, N>& values) {
    send(thread, RecordKind::push, time,
         {name, lockstep_, 0, {}, 0, {{schema, sizeof values, values.data()}}});
  }
  void declare_group(EventBuilder::Thread& thread, std::int64_t number, const std::string& name,
                     const char* ranks) {
    const std::uint64_t id = schema("lockstep.group", 3, 2);
    const std::array<std::int64_t, 3> values{
        number, 2, static_cast<std::int64_t>(reinterpret_cast<std::intptr_t>(ranks))};
    send(thread, RecordKind::mark, 1, {name, lockstep_, 0, {}, 0, {{id, sizeof values, values.data()}}});
  }

  const trace::Reader& finish(trace::Nanoseconds now) {
    builder_->finish(now);
    EXPECT_TRUE(writer_->close().ok());
    reader_.emplace(trace::Reader::open(path_).value());
    return *reader_;
  }
  template <class E>
  std::vector<E> all() const {
    std::vector<E> events;
    EXPECT_TRUE(reader_->read<E>({}, events).ok());
    return events;
  }
  std::string text(trace::StringId id) const { return std::string(reader_->string(id)); }
  std::vector<std::string> unfinished() const {
    std::vector<std::string> names;
    const std::vector<trace::OpenRange> ranges = reader_->unfinished_ranges().value();
    for (const trace::OpenRange& range : ranges) names.push_back(text(range.name));
    return names;
  }

  const test::TemporaryFolder folder_;
  const std::string path_ = folder_ / "test.lst";
  Registry registry_;
  std::optional<trace::Writer> writer_;
  std::optional<EventBuilder> builder_;
  std::optional<trace::Reader> reader_;
  std::uint16_t lockstep_ = 0;
};

TEST_F(EventBuilderTest, DepthCountsTheRangesAround) {
  EventBuilder::Thread& thread = builder_->add_thread(101, "worker");
  push(thread, 10, "a");
  push(thread, 20, "b");
  pop(thread, 30);
  push(thread, 40, "c");
  pop(thread, 50);
  pop(thread, 60);
  finish(100);
  const auto ranges = all<trace::HostRange>();
  ASSERT_THAT(ranges, SizeIs(3));
  EXPECT_EQ(text(ranges[0].name), "b");
  EXPECT_EQ(ranges[0].depth, 1);
  EXPECT_EQ(text(ranges[1].name), "c");
  EXPECT_EQ(ranges[1].depth, 1);
  EXPECT_EQ(text(ranges[2].name), "a");
  EXPECT_EQ(ranges[2].depth, 0);
  EXPECT_EQ(ranges[2].begin, 10);
  EXPECT_EQ(ranges[2].end, 60);
  ASSERT_THAT(reader_->lanes(), SizeIs(1));
  EXPECT_EQ(reader_->lanes()[0].handle, 101U);
  EXPECT_EQ(reader_->lanes()[0].process, kProcess);
  EXPECT_EQ(reader_->lanes()[0].name, "worker");
}

TEST_F(EventBuilderTest, RangesOfTwoDomainsThatCrossDoNotClaimToNest) {
  EventBuilder::Thread& thread = builder_->add_thread(kProcess, "");
  const std::uint16_t other = registry_.domain("other");
  push(thread, 10, "first");
  push(thread, 20, "second", other);
  pop(thread, 30);
  pop(thread, 40, other);
  finish(100);
  const auto ranges = all<trace::HostRange>();
  ASSERT_THAT(ranges, SizeIs(2));
  EXPECT_EQ(text(ranges[0].name), "first");
  EXPECT_FALSE(ranges[0].nested);
  EXPECT_EQ(text(ranges[1].name), "second");
  EXPECT_TRUE(ranges[1].nested);
  EXPECT_EQ(reader_->lanes()[0].name, "main");
}

TEST_F(EventBuilderTest, EndMayComeBeforeItsStart) {
  EventBuilder::Thread& starter = builder_->add_thread(101, "starter");
  EventBuilder::Thread& ender = builder_->add_thread(102, "ender");
  // The ender's ring was read first.
  send(ender, RecordKind::end, 50, {"", 0, 77, {}, 0, {}});
  builder_->end_drain(60);
  send(starter, RecordKind::start, 10, {"range", 0, 77, {}, 0, {}});
  finish(100);
  const auto ranges = all<trace::HostRange>();
  ASSERT_THAT(ranges, SizeIs(1));
  EXPECT_EQ(ranges[0].begin, 10);
  EXPECT_EQ(ranges[0].end, 50);
  EXPECT_FALSE(ranges[0].nested);
  EXPECT_EQ(reader_->lanes()[ranges[0].lane].name, "starter");
  EXPECT_EQ(reader_->lanes()[ranges[0].end_lane].name, "ender");
  EXPECT_THAT(all<trace::Drop>(), IsEmpty());
}

TEST_F(EventBuilderTest, EndWithoutAStartIsCountedOnce) {
  EventBuilder::Thread& thread = builder_->add_thread(101, "");
  send(thread, RecordKind::end, 50, {"", 0, 77, {}, 0, {}});
  builder_->end_drain(60);
  builder_->end_drain(70);
  builder_->end_drain(80);
  finish(100);
  const auto drops = all<trace::Drop>();
  ASSERT_THAT(drops, SizeIs(1));
  EXPECT_EQ(drops[0].count, 1U);
  EXPECT_EQ(text(drops[0].source), "nvtx");
}

TEST_F(EventBuilderTest, RangeOpenLongerThanADrainIsNotedAndLaterClosed) {
  EventBuilder::Thread& thread = builder_->add_thread(101, "");
  push(thread, 10, "long");
  builder_->end_drain(100);
  builder_->end_drain(200);  // older than the drain before: noted
  builder_->end_drain(300);
  push(thread, 310, "short");
  pop(thread, 320);
  pop(thread, 330);
  push(thread, 340, "never popped");
  finish(400);
  EXPECT_THAT(unfinished(), ElementsAre("never popped"));
  EXPECT_EQ(reader_->count(trace::EventKind::open_range), 2U);
  EXPECT_THAT(all<trace::HostRange>(), SizeIs(2));
}

TEST_F(EventBuilderTest, ThreadThatEndsLeavesItsRangesOpen) {
  EventBuilder::Thread& thread = builder_->add_thread(101, "");
  push(thread, 10, "outer");
  push(thread, 20, "inner");
  builder_->end_thread(thread);
  finish(100);
  EXPECT_THAT(unfinished(), UnorderedElementsAre("outer", "inner"));
}

TEST_F(EventBuilderTest, ThreadNamesReachLanesThatExistAlready) {
  EventBuilder::Thread& thread = builder_->add_thread(101, "python");
  push(thread, 10, "range");
  pop(thread, 20);
  registry_.name_thread(101, "loader");
  finish(100);
  EXPECT_EQ(reader_->lanes()[0].name, "loader");
}

TEST_F(EventBuilderTest, StepIsARangeAndAStep) {
  EventBuilder::Thread& thread = builder_->add_thread(101, "");
  push_payload(thread, 10, "step", schema("lockstep.step", 2), std::array<std::int64_t, 2>{42, 7});
  pop(thread, 90, lockstep_);
  finish(100);
  const auto steps = all<trace::Step>();
  ASSERT_THAT(steps, SizeIs(1));
  EXPECT_EQ(steps[0].number, 42);
  EXPECT_EQ(steps[0].begin, 10);
  EXPECT_EQ(steps[0].end, 90);
  EXPECT_THAT(all<trace::HostRange>(), SizeIs(1));
}

TEST_F(EventBuilderTest, ComputeIsAnActivityOfTheThreadsComputeLane) {
  EventBuilder::Thread& thread = builder_->add_thread(101, "trainer");
  push(thread, 5, "forward", lockstep_);
  push_payload(thread, 10, "attention", schema("lockstep.compute", 2), std::array<std::int64_t, 2>{3, 0});
  push(thread, 20, "inside", lockstep_);
  pop(thread, 30, lockstep_);
  pop(thread, 90, lockstep_);
  pop(thread, 95, lockstep_);
  finish(100);
  const auto activities = all<trace::DeviceActivity>();
  ASSERT_THAT(activities, SizeIs(1));
  EXPECT_EQ(text(activities[0].name), "attention");
  EXPECT_EQ(activities[0].activity_class, trace::ActivityClass::compute);
  EXPECT_EQ(activities[0].begin, 10);
  EXPECT_EQ(activities[0].end, 90);
  EXPECT_EQ(reader_->lanes()[activities[0].lane].kind, trace::LaneKind::compute_thread);
  EXPECT_EQ(reader_->lanes()[activities[0].lane].name, "trainer");
  // It is no host range, and doesn't count in the depth of those inside it.
  const auto ranges = all<trace::HostRange>();
  ASSERT_THAT(ranges, SizeIs(2));
  EXPECT_EQ(text(ranges[0].name), "inside");
  EXPECT_EQ(ranges[0].depth, 1);
}

TEST_F(EventBuilderTest, ComputeKeepsLayerMicrobatchAndPass) {
  EventBuilder::Thread& thread = builder_->add_thread(101, "trainer");
  push_payload(thread, 10, "forward layer 3", schema("lockstep.compute", 3),
               std::array<std::int64_t, 3>{3, 5, 1});
  pop(thread, 20, lockstep_);
  // The same slot of the stack, with a payload of two fields.
  push_payload(thread, 30, "forward layer 4", schema("lockstep.compute", 2),
               std::array<std::int64_t, 2>{4, -1});
  pop(thread, 40, lockstep_);
  finish(100);
  const auto activities = all<trace::DeviceActivity>();
  ASSERT_THAT(activities, SizeIs(2));
  EXPECT_EQ(activities[0].layer, 3);
  EXPECT_EQ(activities[0].microbatch, 5);
  EXPECT_EQ(activities[0].pass, trace::Pass::forward);
  EXPECT_EQ(activities[1].layer, 4);
  EXPECT_EQ(activities[1].microbatch, -1);
  EXPECT_EQ(activities[1].pass, trace::Pass::other);
}

TEST_F(EventBuilderTest, IssueAndCollectiveCorrelateAndKnowTheirGroup) {
  EventBuilder::Thread& main = builder_->add_thread(kProcess, "");
  EventBuilder::Thread& worker = builder_->add_thread(102, "gloo");
  declare_group(main, 5, "world", "0,1");
  push_payload(main, 10, "all_reduce", schema("lockstep.issue", 2), std::array<std::int64_t, 2>{5, 3});
  pop(main, 12, lockstep_);
  push_payload(worker, 20, "all_reduce", schema("lockstep.collective", 6),
               std::array<std::int64_t, 6>{5, 3, 4096, 1, 9, -1});
  pop(worker, 80, lockstep_);
  finish(100);
  const auto calls = all<trace::ApiCall>();
  const auto collectives = all<trace::Collective>();
  ASSERT_THAT(calls, SizeIs(1));
  ASSERT_THAT(collectives, SizeIs(1));
  EXPECT_NE(calls[0].correlation, trace::kNoCorrelation);
  EXPECT_EQ(calls[0].correlation, collectives[0].correlation);
  EXPECT_EQ(collectives[0].sequence, 3);
  EXPECT_EQ(collectives[0].bytes, 4096U);
  EXPECT_EQ(collectives[0].operation, trace::Operation::all_reduce);
  EXPECT_EQ(collectives[0].data_type, trace::DataType::float32);
  EXPECT_EQ(reader_->lanes()[collectives[0].lane].kind, trace::LaneKind::communication);
  ASSERT_EQ(reader_->groups().size(), 1U);
  EXPECT_EQ(reader_->groups()[collectives[0].group].name, "world");
  EXPECT_THAT(reader_->groups()[0].ranks, ElementsAre(0, 1));
  EXPECT_THAT(all<trace::Mark>(), IsEmpty());
}

TEST_F(EventBuilderTest, CollectiveMayComeBeforeItsGroup) {
  EventBuilder::Thread& worker = builder_->add_thread(102, "");
  const std::uint64_t id = schema("lockstep.collective", 6);
  push_payload(worker, 20, "first", id, std::array<std::int64_t, 6>{5, 0, 1, 1, 1, -1});
  pop(worker, 30, lockstep_);
  push_payload(worker, 40, "of no group", id, std::array<std::int64_t, 6>{6, 0, 1, 1, 1, -1});
  pop(worker, 50, lockstep_);
  builder_->end_drain(60);
  declare_group(builder_->add_thread(kProcess, ""), 5, "world", "0,1");
  finish(100);
  const auto collectives = all<trace::Collective>();
  ASSERT_THAT(collectives, SizeIs(2));
  EXPECT_EQ(collectives[0].group, 0U);
  EXPECT_EQ(collectives[1].group, trace::kNoGroup);
}

TEST_F(EventBuilderTest, CollectiveThatHangsIsSeenAsAnOpenRange) {
  EventBuilder::Thread& worker = builder_->add_thread(102, "");
  const std::uint64_t id = schema("lockstep.collective", 6);
  push_payload(worker, 20, "slow", id, std::array<std::int64_t, 6>{5, 0, 1, 1, 1, -1});
  builder_->end_drain(100);
  builder_->end_drain(200);
  pop(worker, 250, lockstep_);
  push_payload(worker, 260, "hangs", id, std::array<std::int64_t, 6>{5, 1, 1, 1, 1, -1});
  finish(400);
  EXPECT_THAT(all<trace::Collective>(), SizeIs(1));
  EXPECT_THAT(unfinished(), ElementsAre("hangs"));
}

TEST_F(EventBuilderTest, ShortPayloadIsIgnoredAndCounted) {
  EventBuilder::Thread& thread = builder_->add_thread(101, "");
  const std::uint64_t id = schema("lockstep.collective", 6);
  push_payload(thread, 10, "too short", id, std::array<std::int64_t, 5>{1, 2, 3, 4, 5});
  pop(thread, 20, lockstep_);
  // Long enough for its schema, but the schema has too few fields for a collective.
  push_payload(thread, 30, "too few", schema("lockstep.collective", 3), std::array<std::int64_t, 3>{1, 2, 3});
  pop(thread, 40, lockstep_);
  finish(100);
  EXPECT_THAT(all<trace::Collective>(), IsEmpty());
  EXPECT_THAT(all<trace::HostRange>(), SizeIs(2));
  std::uint64_t count = 0;
  for (const trace::Drop& drop : all<trace::Drop>()) count += drop.count;
  EXPECT_EQ(count, 2U);
}

TEST_F(EventBuilderTest, NumbersOnMarksAreCountersInTheDomainLockstepOnly) {
  EventBuilder::Thread& thread = builder_->add_thread(101, "");
  const double loss = 4.25;
  Style style;
  std::memcpy(&style.numeric, &loss, sizeof loss);
  send(thread, RecordKind::mark, 10, {"loss", lockstep_, 0, style, NVTX_PAYLOAD_TYPE_DOUBLE, {}});
  send(thread, RecordKind::mark, 20, {"loss", 0, 0, style, NVTX_PAYLOAD_TYPE_DOUBLE, {}});
  finish(100);
  const auto counters = all<trace::Counter>();
  ASSERT_THAT(counters, SizeIs(1));
  EXPECT_EQ(counters[0].value, 4.25);
  EXPECT_EQ(reader_->lanes()[counters[0].lane].kind, trace::LaneKind::counter);
  EXPECT_EQ(reader_->lanes()[counters[0].lane].name, "loss");
  EXPECT_THAT(all<trace::Mark>(), SizeIs(1));
}

}  // namespace
}  // namespace lockstep::tracer::nvtx
