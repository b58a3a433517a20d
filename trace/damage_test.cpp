// Files that are damaged, or newer than the reader: what can be read is right, and what cannot is told.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <string_view>

#include "trace/file_surgery.h"
#include "trace/test_small_file.h"
#include "trace/test_support.h"

namespace lockstep::trace {
namespace {

using test::expect_ok;
using test::kLanes;
using test::must;
using test::SmallFile;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// Device activities in chunks of two, on one lane; begins are 0, 10, 20, …
std::vector<std::byte> activities(int count, bool closed) {
  test::TemporaryFolder folder;
  WriterOptions options;
  options.events_per_chunk = 2;
  Writer writer = must(Writer::create((folder / "a.lst").c_str(), options));
  writer.add_lane({});
  for (int i = 0; i < count; ++i) writer.append(DeviceActivity{.begin = 10 * i, .end = 10 * i + 5});
  expect_ok(closed ? writer.close() : writer.flush());
  return test::read_file(folder / "a.lst");
}

std::vector<Nanoseconds> begins(const Reader& reader, Status& status, const Selection& selection = {}) {
  std::vector<DeviceActivity> events;
  status = reader.read(selection, events);
  std::vector<Nanoseconds> found;
  found.reserve(events.size());
  for (const DeviceActivity& event : events) found.push_back(event.begin);
  return found;
}

TEST(Damage, OfAHeaderIsPassedOverAndCounted) {
  std::vector<std::byte> bytes = activities(8, false);
  const std::vector<ChunkInfo> chunks = [&] {
    const Reader reader = must(Reader::open(bytes, "a"));
    return std::vector<ChunkInfo>(reader.chunks().begin(), reader.chunks().end());
  }();
  ASSERT_EQ(chunks.size(), 4U);
  bytes[chunks[1].offset + 20] ^= std::byte{1};
  bytes[chunks[2].offset] ^= std::byte{1};
  const Reader reader = must(Reader::open(bytes, "a"));
  EXPECT_THAT(reader.warnings(), ElementsAre("bytes " + std::to_string(chunks[1].offset) + " to " +
                                                 std::to_string(chunks[3].offset - 1) +
                                                 " are damaged and were skipped: 4 events lost",
                                             HasSubstr("no footer")));
  Status status;
  EXPECT_THAT(begins(reader, status), ElementsAre(0, 10, 60, 70));
  expect_ok(status);
  EXPECT_TRUE(reader.has_gaps());
  EXPECT_THAT(reader.damaged_chunks(), IsEmpty());  // those that are known are all right
}

// A file that was cut to nothing while it was written begins with zeros.
TEST(Damage, OfTheFilesHeaderCostsNothing) {
  for (const std::size_t zeros : {std::size_t{1}, format::kFileHeaderSize}) {
    std::vector<std::byte> bytes = activities(8, true);
    std::fill_n(bytes.begin(), zeros, std::byte{0});
    ASSERT_TRUE(Reader::recognises(bytes));
    const Reader reader = must(Reader::open(bytes, "a"));
    EXPECT_THAT(reader.warnings(), ElementsAre("its file header is damaged"));
    Status status;
    EXPECT_EQ(begins(reader, status).size(), 8U);
    expect_ok(status);
  }
  std::vector<std::byte> bytes = activities(8, false);
  const ChunkInfo chunk = must(Reader::open(bytes, "a")).chunks()[1];
  std::fill_n(bytes.begin(), chunk.offset, std::byte{0});
  Status status;
  EXPECT_THAT(begins(must(Reader::open(bytes, "a")), status), ElementsAre(20, 30, 40, 50, 60, 70));
  EXPECT_FALSE(Reader::open(std::vector<std::byte>(100'000), "zeros").ok());
}

TEST(Damage, OfAChunkIsKnownByItsTime) {
  std::vector<std::byte> bytes = activities(8, true);
  const std::vector<ChunkInfo> chunks = [&] {
    const Reader reader = must(Reader::open(bytes, "a"));
    EXPECT_FALSE(reader.has_gaps());
    EXPECT_THAT(reader.damaged_chunks(), IsEmpty());
    return std::vector<ChunkInfo>(reader.chunks().begin(), reader.chunks().end());
  }();
  bytes[chunks[2].offset + chunks[2].size - 1] ^= std::byte{1};
  const Reader reader = must(Reader::open(bytes, "a"));
  EXPECT_FALSE(reader.has_gaps());
  const std::vector<ChunkInfo> damaged = reader.damaged_chunks();
  ASSERT_EQ(damaged.size(), 1U);
  EXPECT_EQ(damaged[0].offset, chunks[2].offset);
  EXPECT_EQ(damaged[0].begin, 40);
  EXPECT_EQ(damaged[0].end, 55);
}

TEST(Damage, AFileThatOnlyLacksItsEndHasNoGaps) {
  std::vector<std::byte> bytes = activities(8, true);
  while (bytes.size() > 200) {
    bytes.resize(bytes.size() - 7);
    const Result<Reader> reader = Reader::open(bytes, "a");
    ASSERT_TRUE(reader.ok());
    EXPECT_FALSE(reader.value().has_gaps()) << bytes.size();
  }
}

TEST(Damage, FollowedByACut) {
  std::vector<std::byte> bytes = activities(8, false);
  const std::vector<ChunkInfo> chunks = [&] {
    const Reader reader = must(Reader::open(bytes, "a"));
    return std::vector<ChunkInfo>(reader.chunks().begin(), reader.chunks().end());
  }();
  bytes[chunks[2].offset + 20] ^= std::byte{1};
  bytes.pop_back();
  const std::string size = std::to_string(chunks[3].size);
  const std::string left = std::to_string(chunks[3].size - 1);
  EXPECT_THAT(
      must(Reader::open(bytes, "a")).warnings(),
      ElementsAre(HasSubstr("2 events lost"),
                  "cut: only " + left + " of the " + size +
                      " bytes of its last chunk (2 rows of device_activity) are there",
                  "it has no footer: its writer was killed or is still running, or its end was cut; it is "
                  "readable up to byte " +
                      std::to_string(chunks[2].offset)));
}

TEST(Damage, OfABodyIsToldByTheCallThatReadsIt) {
  std::vector<std::byte> bytes = activities(8, true);
  const ChunkInfo chunk = must(Reader::open(bytes, "a")).chunks()[1];
  bytes[chunk.offset + format::kChunkHeaderSize + 3] ^= std::byte{1};
  const Reader reader = must(Reader::open(bytes, "a"));
  EXPECT_TRUE(reader.complete());
  EXPECT_THAT(reader.warnings(), IsEmpty());
  Status status;
  EXPECT_THAT(begins(reader, status), ElementsAre(0, 10, 40, 50, 60, 70));
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().message,
            "'a': chunk at byte " + std::to_string(chunk.offset) +
                " is damaged (its checksum is wrong): 2 device_activity events of lane 0 lost");
  // Who does not ask for that chunk's time is not bothered: its bytes are not touched.
  EXPECT_THAT(begins(reader, status, {.begin = 40}), ElementsAre(40, 50, 60, 70));
  expect_ok(status);
  EXPECT_THAT(begins(reader, status, {.end = 10}), ElementsAre(0, 10));
  expect_ok(status);
}

TEST(Damage, OfTheFooterLeadsToAScan) {
  std::vector<std::byte> bytes = activities(8, true);
  bytes[bytes.size() - format::kTrailerSize - 1] ^= std::byte{1};
  const Reader reader = must(Reader::open(bytes, "a"));
  EXPECT_FALSE(reader.complete());
  EXPECT_THAT(reader.warnings(),
              ElementsAre("the index in its footer is damaged (its checksum is wrong); the file was "
                          "scanned instead"));
  Status status;
  EXPECT_EQ(begins(reader, status).size(), 8U);
  expect_ok(status);
}

TEST(Damage, OfManyChunksIsSummedUp) {
  std::vector<std::byte> bytes = activities(40, true);
  const Reader before = must(Reader::open(bytes, "a"));
  for (const ChunkInfo& chunk : before.chunks()) {
    bytes[chunk.offset + format::kChunkHeaderSize] ^= std::byte{1};
  }
  Status status;
  EXPECT_THAT(begins(must(Reader::open(bytes, "a")), status), IsEmpty());
  ASSERT_FALSE(status.ok());
  EXPECT_THAT(status.error().message, testing::EndsWith("; and 12 more problems"));
}

// A name may quote a trace file; when the chunk around it is damaged, the quotation is not taken for a chunk.
TEST(Damage, QuotedChunksAreNotTakenForChunks) {
  const std::vector<std::byte> quoted = activities(2, false);
  test::FileBuilder builder;
  format::ChunkHeader header;
  header.kind = static_cast<std::uint8_t>(format::ChunkKind::metadata);
  header.count = 1;
  builder.add(header, quoted);
  std::vector<std::byte> bytes = builder.bytes();
  bytes[format::kFileHeaderSize + 10] ^= std::byte{1};  // the chunk's header
  const Reader reader = must(Reader::open(bytes, "quoting"));
  EXPECT_THAT(reader.chunks(), IsEmpty());
  EXPECT_THAT(reader.lanes(), IsEmpty());
  EXPECT_EQ(reader.warnings().size(), 2U);
}

// The first chunk of each kind of table, and the copy of it that closing wrote.
std::vector<std::byte> with_damaged_tables(const SmallFile& file, bool originals, bool copies) {
  std::vector<std::byte> bytes = file.bytes;
  std::uint64_t position = format::kFileHeaderSize;
  std::map<format::ChunkKind, int> damaged;
  while (const auto header = format::decode_chunk_header(file.bytes, position)) {
    const auto kind = static_cast<format::ChunkKind>(header->kind);
    const bool is_copy = (header->flags & format::kCopy) != 0;
    const bool is_table = header->kind >= format::kFirstOtherKind && kind != format::ChunkKind::index;
    if (is_table && (is_copy ? copies : originals && damaged[kind]++ == 0))
      bytes[position + format::kChunkHeaderSize] ^= std::byte{1};
    position += format::kChunkHeaderSize + header->body_size;
  }
  return bytes;
}

TEST(Damage, OfTablesThatStandInTheFileTwiceCostsNothing) {
  const SmallFile file(true);
  const Reader whole = must(Reader::open(file.bytes, "whole"));
  for (const bool originals : {true, false}) {
    const std::vector<std::byte> bytes = with_damaged_tables(file, originals, !originals);
    const Reader reader = must(Reader::open(bytes, "tables"));
    EXPECT_EQ(reader.metadata(), whole.metadata());
    EXPECT_EQ(reader.lanes(), whole.lanes());
    EXPECT_EQ(reader.groups(), whole.groups());
    std::vector<std::string> told;
    for (const std::string& warning : reader.warnings())
      if (warning.find("strings") == std::string::npos) told.push_back(warning);
    EXPECT_THAT(told, testing::AllOf(testing::SizeIs(3),
                                     testing::Each(HasSubstr("which stand elsewhere in the file, too"))));
  }
}

TEST(Damage, OfTablesIsTold) {
  const SmallFile file(true);
  const std::vector<std::byte> bytes = with_damaged_tables(file, true, true);
  const Reader reader = must(Reader::open(bytes, "tables"));
  EXPECT_TRUE(reader.complete());
  EXPECT_THAT(reader.warnings(),
              ElementsAre(HasSubstr("25 rows of strings lost"), HasSubstr("3 rows of lanes lost"),
                          HasSubstr("2 rows of groups lost"), HasSubstr("1 rows of metadata lost"),
                          HasSubstr("1 rows of metadata lost"), HasSubstr("3 rows of lanes lost"),
                          HasSubstr("2 rows of groups lost"), "strings 1 to 25 are lost",
                          "the descriptions of 3 lanes are lost"));
  EXPECT_EQ(reader.string(1), "");
  EXPECT_EQ(reader.string(26), "name 25");
  EXPECT_EQ(reader.lanes().size(), kLanes);
  std::vector<Collective> collectives;
  Status status = reader.read(Selection{}, collectives);
  EXPECT_FALSE(status.ok());
  for (const Collective& collective : collectives) EXPECT_EQ(collective.group, kNoGroup);
  EXPECT_EQ(collectives.size(), std::get<test::Events<Collective>>(file.record).size());
}

// What version 1.0 wrote: two activities of one name, in a chunk without the columns layer, microbatch and
// pass.
TEST(Versions, AFileOfBeforeAColumnWasAddedHasItsDefault) {
  constexpr std::string_view kFile =
      "894c53540d0a1a0a0100000020000000000000000000000012440c8eb18755634c5343c5400000000000000000000000"
      "0100000001000000080000000800000000000000000000000000000000000000d259ae77ab8be40188bb2edb6e0710d2"
      "07666f72776172644c5343c541000000000000000000000000000000010000000b0000000b0000000000000000000000"
      "0000000000000000290e32612d76db5bfc11afd6829b43d10a00032a2b00046d61696e4c5343c5050001000000000000"
      "00000000000000020000002500000025000000e803000000000000860b0000000000008f9805be868ec960d87fa3711c"
      "b8487b000601000001880e02000100d00f00030000000204000000020500000000060000000000324c5343c544000000"
      "02000000000000000000000003000000410000004100000000000000000000000000000000000000707ed56fcc165be3"
      "7afb3258fedad7650007010000010a020000010003000001000400000102050000019001060000020007000002003b3c"
      "0000000101000000000100031d0000e800000300008600000b4c5345e50000000018010000000000002212545a9abe6c"
      "6e";
  std::vector<std::byte> bytes;
  for (std::size_t at = 0; at < kFile.size(); at += 2)
    bytes.push_back(static_cast<std::byte>(std::stoi(std::string(kFile.substr(at, 2)), nullptr, 16)));
  test::TemporaryFolder folder;
  test::write_file(folder / "old.lst", bytes);
  const Reader reader = must(Reader::open(folder / "old.lst"));
  EXPECT_THAT(reader.warnings(), IsEmpty());
  std::vector<DeviceActivity> events;
  expect_ok(reader.read(Selection{}, events));
  EXPECT_TRUE(events == (std::vector<DeviceActivity>{{.begin = 1000, .end = 1900, .name = 1},
                                                     {.begin = 2000, .end = 2950, .name = 1}}));
}

TEST(Versions, ANewerMinorVersionIsReadAndUnknownChunksAreSkipped) {
  for (const bool closed : {false, true}) {
    test::FileBuilder builder;
    std::vector<test::RawChunk> chunks = test::take_apart(activities(4, false));
    format::ChunkHeader unknown_events;
    unknown_events.kind = 40;
    unknown_events.count = 5;
    format::ChunkHeader unknown_table;
    unknown_table.kind = 200;
    unknown_table.count = 1;
    const std::vector<std::byte> body(100, std::byte{42});
    builder.add(unknown_table, body);
    for (const test::RawChunk& chunk : chunks) builder.add(chunk).add(unknown_events, body);
    if (closed) builder.finish();
    std::vector<std::byte> bytes = builder.bytes();
    format::store<std::uint16_t>(&bytes[10], format::kMinorVersion + 1);
    format::store<std::uint64_t>(&bytes[24], format::checksum(std::span(bytes).first(24)));
    const Reader reader = must(Reader::open(bytes, "newer"));
    EXPECT_EQ(reader.complete(), closed);
    ASSERT_EQ(reader.warnings().size(), closed ? 2U : 3U);
    EXPECT_EQ(reader.warnings()[closed ? 0 : 1],
              "3 chunks of unknown kind 40 skipped: written by a newer version of Lockstep");
    EXPECT_EQ(reader.warnings()[closed ? 1 : 2],
              "1 chunk of unknown kind 200 skipped: written by a newer version of Lockstep");
    Status status;
    EXPECT_THAT(begins(reader, status), ElementsAre(0, 10, 20, 30));
    expect_ok(status);
  }
}

TEST(Versions, ANewerMajorVersionIsRefusedWithAdvice) {
  std::vector<std::byte> bytes = activities(4, true);
  format::store<std::uint16_t>(&bytes[8], format::kMajorVersion + 1);
  format::store<std::uint64_t>(&bytes[24], format::checksum(std::span(bytes).first(24)));
  const Result<Reader> reader = Reader::open(bytes, "future.lst");
  ASSERT_FALSE(reader.ok());
  EXPECT_EQ(reader.error().message,
            "'future.lst' has version 2." + std::to_string(format::kMinorVersion) +
                " of the trace format, and this Lockstep reads versions up to 1: use the Lockstep that "
                "recorded it, or a newer one");
}

// Columns that this version does not know are skipped; fields whose column is missing keep their defaults.
TEST(Versions, ColumnsMayComeAndGo) {
  const Nanoseconds begin[2] = {100, 200};
  const Nanoseconds end[2] = {110, 220};
  const StringId name[2] = {0, 0};
  const std::uint64_t unknown[2] = {~std::uint64_t{0}, 1};
  format::ColumnEncoder encoder;
  encoder.start(2, 0);
  encoder.add(99, format::Rows::events, unknown);
  encoder.add_interval(1, 2, begin, end);
  encoder.add(3, format::Rows::events, name);
  std::vector<std::byte> body;
  for (const auto part : encoder.finish()) body.insert(body.end(), part.begin(), part.end());
  format::ChunkHeader header;
  header.kind = static_cast<std::uint8_t>(EventKind::collective);
  header.flags = format::kHasLane;
  header.count = 2;
  header.begin = 100;
  header.end = 220;
  test::FileBuilder builder;
  const Reader reader = must(Reader::open(builder.add(header, body).bytes(), "columns"));
  std::vector<Collective> events;
  expect_ok(reader.read(Selection{}, events));
  EXPECT_TRUE(events == (std::vector<Collective>{{.begin = 100, .end = 110}, {.begin = 200, .end = 220}}));
}

TEST(Hostile, ChunksBeyondTheLimitsAreRefused) {
  std::vector<test::RawChunk> chunks = test::take_apart(activities(2, false));
  ASSERT_EQ(chunks.size(), 2U);
  const auto open_with = [&](auto change) {
    test::FileBuilder builder;
    test::RawChunk changed = chunks[1];
    change(changed);
    return must(Reader::open(builder.add(chunks[0]).add(changed).finish().bytes(), "hostile")).warnings();
  };
  EXPECT_THAT(open_with([](auto& chunk) { chunk.header.count = format::kMaxEventsPerChunk + 1; }),
              ElementsAre(HasSubstr("beyond the limits")));
  EXPECT_THAT(open_with([](auto& chunk) { chunk.header.first_id = format::kMaxLanes; }),
              ElementsAre(HasSubstr("beyond the limits")));
  EXPECT_THAT(open_with([](auto& chunk) { chunk.header.first_id = 10; }),
              ElementsAre("the descriptions of 10 lanes are lost"));
}

}  // namespace
}  // namespace lockstep::trace
