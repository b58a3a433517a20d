// A file cut at every byte, and with every byte flipped.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "trace/file_surgery.h"
#include "trace/test_small_file.h"
#include "trace/test_support.h"

namespace lockstep::trace {
namespace {

using test::expect_ok;
using test::kGroups;
using test::kLanes;
using test::must;
using test::SmallFile;
using testing::AnyOf;
using testing::HasSubstr;

// What the chunks that lie in the first `size` bytes hold.
test::Record whole_chunks(const SmallFile& file, std::span<const ChunkInfo> chunks, std::size_t size) {
  test::Record expected;
  test::for_each_kind([&]<class E>(const E&) {
    std::map<std::optional<LaneId>, std::size_t> taken;
    for (const ChunkInfo& chunk : chunks) {
      if (chunk.kind != format::Schema<E>::kKind || chunk.offset + chunk.size > size) continue;
      const auto of_lane = test::of_lane(std::get<test::Events<E>>(file.record), chunk.lane.value_or(0));
      for (std::uint64_t i = 0; i < chunk.count; ++i) {
        std::get<test::Events<E>>(expected).push_back(of_lane.at(taken[chunk.lane]++));
      }
    }
  });
  return expected;
}

class CutAtEveryByte : public testing::TestWithParam<bool> {};

TEST_P(CutAtEveryByte, WholeChunksAreReadAndTheRestIsTold) {
  const SmallFile file(GetParam());
  const Reader whole = must(Reader::open(file.bytes, "whole"));
  for (std::size_t size = 0; size < file.bytes.size(); ++size) {
    // A copy of its own, so that AddressSanitizer sees a read beyond the cut.
    const std::vector<std::byte> bytes(file.bytes.begin(),
                                       file.bytes.begin() + static_cast<std::ptrdiff_t>(size));
    Result<Reader> cut = Reader::open(bytes, "cut.lst");
    if (size < format::kFileHeaderSize) {
      ASSERT_FALSE(cut.ok());
      EXPECT_THAT(cut.error().message, HasSubstr("'cut.lst'"));
      continue;
    }
    ASSERT_TRUE(cut.ok()) << cut.error().message;
    EXPECT_FALSE(cut.value().complete());
    ASSERT_FALSE(cut.value().warnings().empty());
    EXPECT_THAT(cut.value().warnings().back(), HasSubstr("no footer"));
    Status status;
    const test::Record expected = whole_chunks(file, whole.chunks(), size);
    ASSERT_TRUE(test::read_everything(cut.value(), status) == expected) << "cut to " << size;
    expect_ok(status);
    expect_ok(cut.value().verify());
    // Every name that an event in the file may use stands before it.
    std::size_t strings = cut.value().string_count();
    for (StringId id = 1; id < strings; ++id) ASSERT_EQ(cut.value().string(id), whole.string(id));
  }
}

INSTANTIATE_TEST_SUITE_P(ClosedOrNot, CutAtEveryByte, testing::Bool());

template <class T>
bool is_subsequence(const std::vector<T>& part, const std::vector<T>& whole) {
  auto at = whole.begin();
  for (const T& each : part) {
    at = std::find(at, whole.end(), each);
    if (at == whole.end()) return false;
    ++at;
  }
  return true;
}

// True if all that is read was written, in order.
bool holds_nothing_wrong(const test::Record& actual, const test::Record& written) {
  bool right = true;
  test::for_each_kind([&]<class E>(const E&) {
    for (LaneId lane = 0; lane < kLanes; ++lane) {
      right = right && is_subsequence(test::of_lane(std::get<test::Events<E>>(actual), lane),
                                      test::of_lane(std::get<test::Events<E>>(written), lane));
    }
  });
  return right;
}

class EveryByteFlipped : public testing::TestWithParam<std::tuple<bool, int>> {};

TEST_P(EveryByteFlipped, IsNoticed) {
  const auto [closed, mask] = GetParam();
  const SmallFile file(closed);
  const Reader whole = must(Reader::open(file.bytes, "whole"));
  const std::size_t usual_warnings = whole.warnings().size();
  std::vector<std::byte> bytes = file.bytes;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] ^= static_cast<std::byte>(mask);
    Result<Reader> reader = Reader::open(bytes, "flipped");
    ASSERT_TRUE(reader.ok()) << "byte " << i << ": " << reader.error().message;
    Status status;
    const test::Record read = test::read_everything(reader.value(), status);
    const bool told = reader.value().warnings().size() > usual_warnings || !status.ok();
    ASSERT_TRUE(told) << "byte " << i;
    EXPECT_EQ(status.ok(), reader.value().verify().ok());
    if (closed) {
      // What a file can't be used without stands in it twice.
      ASSERT_EQ(reader.value().metadata(), whole.metadata()) << "byte " << i;
      ASSERT_EQ(reader.value().lanes(), whole.lanes()) << "byte " << i;
      ASSERT_EQ(reader.value().groups(), whole.groups()) << "byte " << i;
    }
    // Without the tables ids may be lost, which is told; everything else is right.
    ASSERT_TRUE(holds_nothing_wrong(read, file.record) || reader.value().lanes().size() < kLanes ||
                reader.value().groups().size() < kGroups)
        << "byte " << i;
    for (StringId id = 1; id < reader.value().string_count(); ++id) {
      ASSERT_THAT(reader.value().string(id), AnyOf("", whole.string(id)));
    }
    bytes[i] ^= static_cast<std::byte>(mask);
  }
}

INSTANTIATE_TEST_SUITE_P(ClosedOrNot, EveryByteFlipped,
                         testing::Combine(testing::Bool(), testing::Values(0x01, 0x80, 0xff)));

}  // namespace
}  // namespace lockstep::trace
