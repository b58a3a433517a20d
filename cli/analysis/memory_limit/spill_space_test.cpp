#include "cli/analysis/memory_limit/spill_space.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <atomic>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <map>
#include <random>
#include <thread>
#include <vector>

#include "cli/analysis/memory_limit/resident.h"
#include "tests/temporary_folder.h"

namespace lockstep::cli {
namespace {

constexpr std::size_t kMega = std::size_t{1} << 20U;

// Words that tell which block they belong to, and where in it they stand.
void fill(void* block, std::size_t bytes, std::uint64_t number) {
  auto* const words = static_cast<std::uint64_t*>(block);
  for (std::size_t i = 0; i < bytes / 8; ++i) words[i] = number * 1'000'003 + i;
}
bool holds(const void* block, std::size_t bytes, std::uint64_t number) {
  const auto* const words = static_cast<const std::uint64_t*>(block);
  for (std::size_t i = 0; i < bytes / 8; ++i)
    if (words[i] != number * 1'000'003 + i) return false;
  return true;
}

class SpillSpaceTest : public testing::Test {
 protected:
  void SetUp() override {
    const Status opened = space_.open(folder_.path().string());
    if (!opened.ok()) GTEST_SKIP() << "no file system that can reserve room here: " << opened.error().message;
  }

  test::TemporaryFolder folder_;
  SpillSpace space_;
};

TEST_F(SpillSpaceTest, BlocksAreAlignedAndDoNotOverlap) {
  std::vector<void*> blocks;
  for (std::uint64_t i = 0; i < 20; ++i) {
    void* const block = space_.allocate(100'000 + i * 8);
    ASSERT_NE(block, nullptr);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(block) % SpillSpace::kAlignment, 0U);
    EXPECT_TRUE(space_.owns(block));
    fill(block, 100'000 + i * 8, i);
    blocks.push_back(block);
  }
  for (std::uint64_t i = 0; i < 20; ++i) EXPECT_TRUE(holds(blocks[i], 100'000 + i * 8, i)) << i;
}

TEST_F(SpillSpaceTest, WhatIsTakenOutComesBackAsItWas) {
  void* const block = space_.allocate(8 * kMega);
  ASSERT_NE(block, nullptr);
  fill(block, 8 * kMega, 7);
  space_.take_out(space_.extent());
  space_.take_out(3 * kMega);
  EXPECT_TRUE(holds(block, 8 * kMega, 7));
}

TEST_F(SpillSpaceTest, WhatIsTakenOutTakesNoMemory) {
  constexpr std::size_t kBytes = 64 * kMega;
  void* const block = space_.allocate(kBytes);
  ASSERT_NE(block, nullptr);
  fill(block, kBytes, 1);
  const Resident resident;
  const std::uint64_t before = resident.now();
  ASSERT_GT(before, kBytes);
  space_.take_out(space_.extent());
  EXPECT_LT(resident.now() + kBytes / 2, before);
}

TEST_F(SpillSpaceTest, RoomOnTheDiskIsGivenBack) {
  void* const large = space_.allocate(16 * kMega);
  ASSERT_NE(large, nullptr);
  EXPECT_GE(space_.reserved(), 16 * kMega);
  space_.give_back(large);
  EXPECT_EQ(space_.reserved(), 0U);
}

TEST_F(SpillSpaceTest, SmallBlocksAreUsedAgain) {
  void* const first = space_.allocate(kMega);
  space_.give_back(first);
  EXPECT_EQ(space_.allocate(kMega), first);
}

TEST_F(SpillSpaceTest, KeepsNoMoreThanItSays) {
  std::vector<void*> blocks;
  for (int i = 0; i < 100; ++i) blocks.push_back(space_.allocate(kMega));
  for (void* const block : blocks) space_.give_back(block);
  EXPECT_LE(space_.reserved(), SpillSpace::kKeptTogether);
}

TEST_F(SpillSpaceTest, KnowsWhatIsNotItsOwn) {
  int local = 0;
  EXPECT_FALSE(space_.owns(&local));
  EXPECT_FALSE(space_.owns(nullptr));
}

TEST_F(SpillSpaceTest, LeavesNoFileBehind) {
  ASSERT_NE(space_.allocate(kMega), nullptr);
  EXPECT_TRUE(std::filesystem::is_empty(folder_.path()));
}

// A slow and obvious account beside it: what each block was filled with.
TEST_F(SpillSpaceTest, AnyOrderOfCallsKeepsWhatBlocksHold) {
  struct Block {
    std::size_t bytes;
    std::uint64_t number;
  };
  std::map<void*, Block> blocks;
  std::mt19937 random(20261126);
  for (std::uint64_t turn = 0; turn < 2000; ++turn) {
    const unsigned what = random() % 10;
    if (what < 5 || blocks.empty()) {
      const std::size_t bytes = 8 * (1 + random() % (what == 0 ? kMega : 20'000));
      void* const block = space_.allocate(bytes);
      ASSERT_NE(block, nullptr);
      fill(block, bytes, turn);
      ASSERT_TRUE(blocks.emplace(block, Block{bytes, turn}).second) << "handed out twice";
    } else if (what < 9) {
      auto victim = std::next(blocks.begin(), static_cast<std::ptrdiff_t>(random() % blocks.size()));
      ASSERT_TRUE(holds(victim->first, victim->second.bytes, victim->second.number)) << "turn " << turn;
      space_.give_back(victim->first);
      blocks.erase(victim);
    } else {
      space_.take_out(random() % (8 * kMega));
    }
  }
  for (const auto& [block, of] : blocks) EXPECT_TRUE(holds(block, of.bytes, of.number));
}

TEST_F(SpillSpaceTest, TakesOutWhileOthersWrite) {
  std::atomic<bool> done = false;
  std::vector<std::thread> workers;
  std::atomic<int> wrong = 0;
  for (std::uint64_t worker = 0; worker < 2; ++worker) {
    workers.emplace_back([&, worker] {
      for (std::uint64_t i = 0; i < 60; ++i) {
        void* const block = space_.allocate(kMega);
        fill(block, kMega, worker * 1000 + i);
        if (!holds(block, kMega, worker * 1000 + i)) ++wrong;
        space_.give_back(block);
      }
    });
  }
  std::thread taker([&] {
    while (!done) space_.take_out(kMega);
  });
  for (std::thread& worker : workers) worker.join();
  done = true;
  taker.join();
  EXPECT_EQ(wrong, 0);
}

TEST_F(SpillSpaceTest, AFullDiskIsNoBlock) {
  // A limit on the size of files says no where a full disk would.
  struct rlimit before {};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  struct rlimit few = before;
  few.rlim_cur = 4 * kMega;
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &few), 0);
  EXPECT_EQ(space_.allocate(16 * kMega), nullptr);
  EXPECT_NE(space_.why_not(), 0);
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
  (void)std::signal(SIGXFSZ, handler);
  EXPECT_NE(space_.allocate(16 * kMega), nullptr) << "there is room again";
}

TEST(SpillSpace, NeedsAFolder) {
  SpillSpace space;
  const Status opened = space.open("/no/such/folder");
  ASSERT_FALSE(opened.ok());
  EXPECT_EQ(opened.error().message, "'/no/such/folder': No such file or directory");
}

TEST(SpillSpace, RefusesAFolderThatIsMemory) {
  if (!std::filesystem::exists("/dev/shm")) GTEST_SKIP() << "no /dev/shm";
  SpillSpace space;
  const Status opened = space.open("/dev/shm");
  ASSERT_FALSE(opened.ok());
  EXPECT_EQ(opened.error().message, "'/dev/shm': this folder is held in memory itself; name one on a disk");
}

TEST(SpillSpace, GivesNothingBeforeItIsOpen) {
  SpillSpace space;
  EXPECT_EQ(space.allocate(kMega), nullptr);
  EXPECT_FALSE(space.is_open());
}

}  // namespace
}  // namespace lockstep::cli
