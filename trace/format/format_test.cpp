// The pieces of the format one by one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zstd.h>

#include <limits>
#include <string>
#include <vector>

#include "trace/format/bytes.h"
#include "trace/format/checksum.h"
#include "trace/format/chunk.h"
#include "trace/format/columns.h"
#include "trace/format/string_pool.h"
#include "trace/format/tables.h"
#include "trace/test_support.h"

namespace lockstep::trace::format {
namespace {

using testing::ElementsAre;

std::vector<std::byte> bytes_of(std::initializer_list<int> values) {
  std::vector<std::byte> bytes;
  for (const int value : values) bytes.push_back(static_cast<std::byte>(value));
  return bytes;
}

TEST(Bytes, AreLittleEndian) {
  std::vector<std::byte> bytes(8);
  store<std::uint64_t>(bytes.data(), 0x0102030405060708);
  EXPECT_EQ(bytes, bytes_of({8, 7, 6, 5, 4, 3, 2, 1}));
  EXPECT_EQ(load<std::uint16_t>(bytes.data()), 0x0708);
  EXPECT_EQ(load<std::int32_t>(bytes_of({0xfe, 0xff, 0xff, 0xff}).data()), -2);
}

TEST(Varint, KnownBytes) {
  std::vector<std::byte> bytes;
  ByteWriter out(bytes);
  out.varint(0);
  out.varint(127);
  out.varint(128);
  out.varint(std::numeric_limits<std::uint64_t>::max());
  out.signed_varint(-1);
  out.signed_varint(1);
  EXPECT_EQ(bytes,
            bytes_of({0, 127, 0x80, 1, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1, 1, 2}));
}

TEST(Varint, ReadsWhatItWrote) {
  test::RandomEvents random(1);
  std::vector<std::uint64_t> values;
  for (unsigned bit = 0; bit < 64; ++bit) {
    for (const std::uint64_t offset : {-1, 0, 1}) values.push_back((std::uint64_t{1} << bit) + offset);
  }
  for (int i = 0; i < 1000; ++i) values.push_back(random.number());
  std::vector<std::byte> bytes;
  ByteWriter out(bytes);
  for (const std::uint64_t value : values) {
    out.varint(value);
    out.signed_varint(static_cast<std::int64_t>(value));
  }
  ByteReader in(bytes);
  for (const std::uint64_t value : values) {
    ASSERT_EQ(in.varint(), value);
    ASSERT_EQ(in.signed_varint(), static_cast<std::int64_t>(value));
  }
  EXPECT_TRUE(in.ok());
  EXPECT_EQ(in.remaining(), 0U);
}

TEST(Varint, MalformedOnesAreNoticed) {
  for (const auto& bytes : {bytes_of({}), bytes_of({0x80}), bytes_of({0xff, 0xff}),
                            bytes_of({0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2}),
                            bytes_of({0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 1})}) {
    ByteReader in(bytes);
    EXPECT_EQ(in.varint(), 0U);
    EXPECT_FALSE(in.ok());
    EXPECT_EQ(in.text(), "");
  }
  const auto text = bytes_of({5, 'a', 'b'});
  ByteReader in(text);
  EXPECT_EQ(in.text(), "");
  EXPECT_FALSE(in.ok());
}

TEST(Checksum, KnownValues) {
  EXPECT_EQ(checksum({}), 0xEF46DB3751D8E999U);
  EXPECT_EQ(checksum(std::as_bytes(std::span("a", 1))), 0xD24EC4F1A98C6E5BU);
  EXPECT_NE(checksum({}, 1), checksum({}, 0));
}

// zstd ends a frame with the low half of the XXH64 of its contents: an independent implementation.
TEST(Checksum, AgreesWithZstd) {
  test::RandomEvents random(2);
  ZSTD_CCtx* context = ZSTD_createCCtx();
  ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
  for (std::size_t size = 0; size < 200; ++size) {
    const std::string text = random.text(size);
    std::vector<std::byte> frame(ZSTD_compressBound(size));
    const std::size_t written = ZSTD_compress2(context, frame.data(), frame.size(), text.data(), text.size());
    ASSERT_FALSE(ZSTD_isError(written));
    EXPECT_EQ(load<std::uint32_t>(&frame[written - 4]),
              static_cast<std::uint32_t>(checksum(std::as_bytes(std::span(text)))))
        << size;
  }
  ZSTD_freeCCtx(context);
}

std::vector<std::byte> concatenated(std::span<const std::span<const std::byte>> parts) {
  std::vector<std::byte> bytes;
  for (const auto part : parts) bytes.insert(bytes.end(), part.begin(), part.end());
  return bytes;
}

TEST(Columns, RandomOnesAreReadBackInPiecesOfAnySize) {
  test::RandomEvents random(3);
  for (int round = 0; round < 500; ++round) {
    const std::size_t count = random.below(4) == 0 ? random.below(3) : random.below(2000);
    const std::uint64_t mask = ~std::uint64_t{0} >> random.below(64);
    const std::uint64_t slope = random.below(2) * random.number();
    std::vector<std::uint64_t> values(count);
    std::vector<Nanoseconds> begins(count);
    std::vector<Nanoseconds> ends(count);
    std::uint64_t clock = random.number();
    for (std::size_t i = 0; i < count; ++i) {
      values[i] = (random.number() & mask) + slope * i;
      clock += random.number() & mask;
      begins[i] = static_cast<Nanoseconds>(clock);
      clock += random.number() & mask;
      ends[i] = static_cast<Nanoseconds>(clock);
    }
    ColumnEncoder encoder;
    encoder.start(count, 0);
    encoder.add(7, Rows::events, values.data());
    encoder.add_interval(1, 2, begins.data(), ends.data());
    const std::vector<std::byte> body = concatenated(encoder.finish());
    ColumnTable table;
    ASSERT_EQ(table.parse(body, static_cast<std::uint32_t>(count)), "");
    EXPECT_EQ(table.find(Rows::events, 3), nullptr);
    EXPECT_EQ(table.find(Rows::arguments, 7), nullptr);
    ColumnCursor value_cursor(table.find(Rows::events, 7));
    ColumnCursor duration_cursor(table.find(Rows::events, 1));
    ColumnCursor begin_cursor(table.find(Rows::events, 2));
    for (std::size_t done = 0; done < count;) {
      const std::size_t piece = std::min<std::size_t>(count - done, 1 + random.below(700));
      std::vector<std::uint64_t> got(piece), durations(piece), got_begins(piece);
      value_cursor.next(piece, got.data());
      duration_cursor.next(piece, durations.data());
      begin_cursor.next_begins(piece, durations.data(), got_begins.data());
      for (std::size_t i = 0; i < piece; ++i) {
        ASSERT_EQ(got[i], values[done + i]);
        ASSERT_EQ(static_cast<Nanoseconds>(got_begins[i]), begins[done + i]);
        ASSERT_EQ(static_cast<Nanoseconds>(got_begins[i] + durations[i]), ends[done + i]);
      }
      done += piece;
    }
  }
}

std::size_t encoded_size(const std::vector<std::uint64_t>& values) {
  ColumnEncoder encoder;
  encoder.start(values.size(), 0);
  encoder.add(1, Rows::events, values.data());
  return concatenated(encoder.finish()).size();
}

TEST(Columns, TakeNoMoreRoomThanTheirValuesNeed) {
  std::vector<std::uint64_t> constant(1000, 1'000'000'000'000);
  std::vector<std::uint64_t> counting(1000);
  std::vector<std::uint64_t> near(1000);
  for (std::size_t i = 0; i < 1000; ++i) {
    counting[i] = 1'000'000'000'000 + 3 * i;
    near[i] = 1'000'000'000'000 + (i * i) % 256;
  }
  EXPECT_LT(encoded_size(constant), 20U);
  EXPECT_LT(encoded_size(counting), 30U);
  EXPECT_LT(encoded_size(near), 1020U);
}

// One byte per row for events that follow each other closely, whichever way they are recorded.
TEST(Columns, BeginsArePredicted) {
  const auto width_of_begins = [](const std::vector<std::pair<Nanoseconds, Nanoseconds>>& intervals) {
    std::vector<Nanoseconds> begins;
    std::vector<Nanoseconds> ends;
    for (const auto& [begin, end] : intervals) {
      begins.push_back(begin);
      ends.push_back(end);
    }
    ColumnEncoder encoder;
    encoder.start(begins.size(), 0);
    encoder.add_interval(1, 2, begins.data(), ends.data());
    const std::vector<std::byte> body = concatenated(encoder.finish());
    ColumnTable table;
    EXPECT_EQ(table.parse(body, static_cast<std::uint32_t>(begins.size())), "");
    const Column* column = table.find(Rows::events, 2);
    return std::pair(column->predictor, static_cast<int>(column->width));
  };
  std::vector<std::pair<Nanoseconds, Nanoseconds>> back_to_back;
  std::vector<std::pair<Nanoseconds, Nanoseconds>> regular;
  std::vector<std::pair<Nanoseconds, Nanoseconds>> ended_regularly;
  for (Nanoseconds i = 0; i < 1000; ++i) {
    const Nanoseconds duration = 1000 + (i * 7919) % 60'000;
    const Nanoseconds begin = back_to_back.empty() ? 0 : back_to_back.back().second + i % 100;
    back_to_back.emplace_back(begin, begin + duration);
    regular.emplace_back(1000 * i, 1000 * i + duration);
    ended_regularly.emplace_back(1000 * i - duration, 1000 * i);
  }
  EXPECT_EQ(width_of_begins(back_to_back), std::pair(Predictor::gap, 1));
  EXPECT_EQ(width_of_begins(regular), std::pair(Predictor::previous, 0));
  EXPECT_EQ(width_of_begins(ended_regularly), std::pair(Predictor::ends, 0));
}

TEST(Columns, MalformedTablesAreRefused) {
  ColumnTable table;
  EXPECT_EQ(table.parse(bytes_of({0, 0}), 5), "");
  EXPECT_EQ(table.parse({}, 5), "its column table is malformed");
  EXPECT_EQ(table.parse(bytes_of({0, 1}), 5), "its column table is malformed");
  EXPECT_EQ(table.parse(bytes_of({0, 1, 1, 0, 0, 9, 0}), 0), "its column table is malformed");
  EXPECT_EQ(table.parse(bytes_of({0, 1, 1, 2, 0, 0, 0}), 0), "its column table is malformed");
  EXPECT_EQ(table.parse(bytes_of({0, 1, 1, 0, 4, 0, 0, 0}), 0), "column 1 uses an unknown predictor, 4");
  EXPECT_EQ(table.parse(bytes_of({0, 1, 1, 0, 0, 1, 0, 'x'}), 2), "column 1 is longer than the chunk");
  EXPECT_EQ(table.parse(bytes_of({0, 1, 1, 0, 0, 1, 0, 'x', 'y'}), 1), "bytes follow its last column");
  EXPECT_EQ(table.parse(bytes_of({0xff, 0xff, 0xff, 0x7f, 0}), 0),
            "it has 268435455 arguments, more than allowed");
}

TEST(ChunkHeader, IsBoundToItsPlace) {
  ChunkHeader header;
  header.kind = 5;
  header.count = 7;
  header.begin = -1;
  const ChunkHeaderBytes bytes = encode_chunk_header(header, 0);
  const auto decoded = decode_chunk_header(bytes, 0);
  ASSERT_TRUE(decoded.has_value());
  EXPECT_EQ(decoded->count, 7U);
  EXPECT_EQ(decoded->begin, -1);
  std::vector<std::byte> moved(1);
  moved.insert(moved.end(), bytes.begin(), bytes.end());
  EXPECT_FALSE(decode_chunk_header(moved, 1).has_value());
  EXPECT_EQ(find_chunk(moved, 0), moved.size());
}

TEST(StringPool, ForgetsTextsBeyondItsLimit) {
  StringPool pool(1);
  const StringId first = pool.intern("text");
  EXPECT_EQ(pool.intern("text"), first);
  EXPECT_THAT(pool.pending(), ElementsAre("text"));
  pool.pending_written();
  EXPECT_NE(pool.intern("text"), first);
  EXPECT_EQ(pool.first_pending(), 2U);
  EXPECT_EQ(pool.size(), 3U);
}

TEST(StringPool, KeepsManyApart) {
  StringPool pool;
  std::vector<std::string> texts;
  texts.reserve(10'000);
  for (int i = 0; i < 10'000; ++i) texts.push_back(std::to_string(i * 31));
  for (std::size_t i = 0; i < texts.size(); ++i) ASSERT_EQ(pool.intern(texts[i]), i + 1);
  pool.pending_written();
  for (std::size_t i = 0; i < texts.size(); ++i) ASSERT_EQ(pool.intern(texts[i]), i + 1);
  EXPECT_TRUE(pool.pending().empty());
}

TEST(Tables, SkipFieldsOfLaterVersions) {
  std::vector<std::byte> body;
  encode_lane(4, {LaneKind::counter, 1, 2, 3, "name"}, body);
  body[0] = static_cast<std::byte>(static_cast<int>(body[0]) + 2);  // the row's size
  body.push_back(std::byte{99});
  body.push_back(std::byte{99});
  std::vector<LaneRow> rows;
  ASSERT_TRUE(decode_lanes(body, 1, rows));
  EXPECT_EQ(rows.at(0).id, 4U);
  EXPECT_EQ(rows.at(0).lane.name, "name");
}

TEST(Tables, RefuseWhatDoesNotAddUp) {
  std::vector<std::string_view> strings;
  EXPECT_FALSE(decode_strings(bytes_of({2, 'a'}), 1, strings));
  EXPECT_FALSE(decode_strings(bytes_of({1, 'a', 'b'}), 1, strings));
  EXPECT_FALSE(decode_strings(bytes_of({1}), 2, strings));
  std::vector<Group> groups;
  EXPECT_FALSE(decode_groups(bytes_of({3, 0, 0, 9}), 1, groups));
  // A row of version 1.1 ends with its ranks; one of a later version goes on.
  ASSERT_TRUE(decode_groups(bytes_of({4, 0, 0, 1, 10, 7, 0, 0, 1, 10, 2, 8, 99}), 2, groups));
  ASSERT_EQ(groups.size(), 2U);
  EXPECT_TRUE(groups[0] == (Group{"", "", {5}}));
  EXPECT_TRUE(groups[1] == (Group{"", "", {5}, 1, 4}));
  EXPECT_FALSE(decode_groups(bytes_of({5, 0, 0, 1, 10, 2}), 1, groups));  // cut between the two
  std::map<std::string, std::string> metadata;
  EXPECT_FALSE(decode_metadata(bytes_of({2, 0, 0, 0}), 1, metadata));
}

}  // namespace
}  // namespace lockstep::trace::format
