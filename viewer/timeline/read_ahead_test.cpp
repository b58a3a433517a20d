#include "viewer/timeline/read_ahead.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "tests/temporary_folder.h"
#include "viewer/prepared/mapping_guard.h"
#include "viewer/prepared/serialize.h"
#include "viewer/testing/large_run.h"
#include "viewer/timeline/bytes_drawn.h"

namespace lockstep::viewer {
namespace {

const bool kGoOn = true;

bool pages_can_be_told() {
  return ::access("/proc/self/pagemap", R_OK) == 0;
}

// Of the pages that hold these bytes, how many this process can read without a fault.
std::size_t pages_present(std::span<const std::byte> bytes) {
  const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  const auto first = reinterpret_cast<std::uintptr_t>(bytes.data()) / page;
  const auto last = (reinterpret_cast<std::uintptr_t>(bytes.data()) + bytes.size() - 1) / page;
  const int map = ::open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
  EXPECT_GE(map, 0);
  std::vector<std::uint64_t> entries(last - first + 1);
  const auto read = ::pread(map, entries.data(), entries.size() * sizeof(std::uint64_t),
                            static_cast<off_t>(first * sizeof(std::uint64_t)));
  EXPECT_EQ(read, static_cast<ssize_t>(entries.size() * sizeof(std::uint64_t)));
  ::close(map);
  std::size_t present = 0;
  for (const std::uint64_t entry : entries) present += entry >> 63U;
  return present;
}

std::size_t pages_of(std::span<const std::byte> bytes) {
  const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  return (reinterpret_cast<std::uintptr_t>(bytes.data()) + bytes.size() - 1) / page -
         reinterpret_cast<std::uintptr_t>(bytes.data()) / page + 1;
}

// Five megabytes that nobody has touched.
struct MappedFile {
  static constexpr std::size_t kSize = std::size_t{5} << 20U;
  MappedFile() : descriptor(::memfd_create("pages", MFD_CLOEXEC)) {
    EXPECT_EQ(::ftruncate(descriptor, kSize), 0);
    void* const mapped = ::mmap(nullptr, kSize, PROT_READ, MAP_SHARED, descriptor, 0);
    if (mapped != MAP_FAILED) bytes = {static_cast<const std::byte*>(mapped), kSize};
    EXPECT_FALSE(bytes.empty());
  }
  ~MappedFile() {
    ::munmap(const_cast<std::byte*>(bytes.data()), bytes.size());
    ::close(descriptor);
  }
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  int descriptor;
  std::span<const std::byte> bytes;
};

TEST(ReadIn, MakesAllPagesPresent) {
  if (!pages_can_be_told()) GTEST_SKIP() << "SKIPPED: /proc/self/pagemap cannot be read here";
  const MappedFile file;
  const std::span<const std::byte> bytes = file.bytes;
  const std::span wanted = bytes.subspan(5'000, 3'000'000);
  EXPECT_EQ(pages_present(bytes), 0u);
  read_in(wanted, [] { return kGoOn; });
  EXPECT_EQ(pages_present(wanted), pages_of(wanted));
  EXPECT_LT(pages_present(bytes), pages_of(bytes));
  // Cut behind: what is gone is not read, and nothing ends for it.
  const MappingGuard guard(bytes);
  ASSERT_EQ(::ftruncate(file.descriptor, 4096), 0);
  read_in(bytes, [] { return kGoOn; });
}

TEST(ReadIn, StopsWhenItIsTold) {
  if (!pages_can_be_told()) GTEST_SKIP() << "SKIPPED: /proc/self/pagemap cannot be read here";
  const MappedFile file;
  const std::span<const std::byte> bytes = file.bytes;
  int parts = 0;
  read_in(bytes, [&] { return parts++ < 2; });
  EXPECT_EQ(pages_present(bytes),
            (std::size_t{2} << 20U) / static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)));
}

class ReadAheadOfARun : public testing::Test {
 protected:
  void SetUp() override {
    if (!pages_can_be_told()) GTEST_SKIP() << "SKIPPED: /proc/self/pagemap cannot be read here";
    const std::filesystem::path path = folder_.path() / "run.lockstep-view";
    ASSERT_TRUE(write_large_run({6, 20'000}, path));
    scene_ = Scene::load(Tables::open(path, {layout_of_contents(), 0}).value()).value();
  }
  // Whether all that is drawn of the rank in the range could be read without a fault.
  bool is_present(std::uint32_t rank, const TimeRange& range) const {
    for (const auto bytes : bytes_drawn(*scene_, rows_of({rank}), range))
      if (pages_present(bytes) != pages_of(bytes)) return false;
    return true;
  }
  std::vector<RowOfRank> rows_of(std::initializer_list<std::uint32_t> ranks) const {
    std::vector<RowOfRank> rows;
    for (const std::uint32_t rank : ranks)
      for (std::uint32_t lane = 0; lane < scene_->timeline().ranks[rank].lanes.size(); ++lane)
        rows.push_back({rank, lane, 0});
    return rows;
  }
  TimeRange middle() const {
    const TimeRange content = scene_->timeline().content;
    const auto length = static_cast<Nanoseconds>(distance(content.begin, content.end));
    return {content.begin + length / 4, content.begin + length / 2};
  }

  test::TemporaryFolder folder_;
  std::unique_ptr<Scene> scene_;
};

TEST_F(ReadAheadOfARun, MakesPresentWhatIsDrawnOfTheRanksThatAreWanted) {
  EXPECT_FALSE(is_present(0, middle()));
  ReadAhead ahead(*scene_, 0);
  ahead.want(rows_of({0, 1}), middle());
  ahead.wait();
  EXPECT_TRUE(is_present(0, middle()));
  EXPECT_TRUE(is_present(1, middle()));
  EXPECT_FALSE(is_present(5, middle()));
}

TEST_F(ReadAheadOfARun, WhatIsWantedLastIsPresent) {
  ReadAhead ahead(*scene_, 0);
  for (std::uint32_t rank = 0; rank < 5; ++rank) ahead.want(rows_of({rank}), scene_->timeline().content);
  ahead.wait();
  EXPECT_TRUE(is_present(4, scene_->timeline().content));
}

TEST_F(ReadAheadOfARun, LeavesSmallRunsAlone) {
  ReadAhead ahead(*scene_);
  ahead.want(rows_of({2}), middle());
  ahead.wait();
  EXPECT_FALSE(is_present(2, middle()));
}

TEST_F(ReadAheadOfARun, EndsWhateverItIsDoing) {
  for (int round = 0; round < 50; ++round) {
    ReadAhead ahead(*scene_, 0);
    for (std::uint32_t rank = 0; rank < static_cast<std::uint32_t>(round) % 7; ++rank)
      ahead.want(rows_of({rank % 6, (rank + 1) % 6}), scene_->timeline().content);
  }
}

}  // namespace
}  // namespace lockstep::viewer
