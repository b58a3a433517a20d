#include "cli/analysis/memory_limit/pressure.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

#include "cli/analysis/memory_limit/running_time.h"
#include "tests/sanitizers.h"
#include "tests/temporary_folder.h"

namespace lockstep::cli {
namespace {

constexpr std::uint64_t kMega = std::uint64_t{1} << 20U;

// Without a thread beside: what it takes is then the same on each run.
class PressureTest : public testing::Test {
 protected:
  void SetUp() override {
    const Status opened = space_.open(folder_.path().string());
    if (!opened.ok()) GTEST_SKIP() << "no file system that can reserve room here: " << opened.error().message;
  }
  // Three times the limit, each block touched as soon as it is there. The most that was in RAM.
  std::uint64_t most_of(std::uint64_t limit, std::uint64_t each, bool is_told) {
    Pressure pressure(limit, space_);
    const Resident resident;
    std::uint64_t most = 0;
    for (std::uint64_t taken = 0; taken < 3 * limit; taken += each) {
      if (is_told) pressure.before_allocating(each);
      void* const block = space_.allocate(each);
      if (block == nullptr) return 0;
      std::memset(block, 1, each);
      most = std::max(most, resident.now());
    }
    return most;
  }

  test::TemporaryFolder folder_;
  SpillSpace space_;
};

TEST_F(PressureTest, WhoAllocatesMakesRoomFirst) {
  if (kThreadSanitized)
    GTEST_SKIP() << "SKIPPED: what ThreadSanitizer keeps of the memory that is touched stays in RAM";
  // The test's own memory is well below it, in a sanitizer's build too.
  const std::uint64_t limit = 3 * Resident().now() + 64 * kMega;
  for (const std::uint64_t each : {std::uint64_t{128} << 10U, 8 * kMega}) {
    const std::uint64_t most = most_of(limit, each, true);
    EXPECT_GT(most, limit / 3) << each;
    EXPECT_LE(most, limit) << each;
  }
  EXPECT_GT(most_of(limit, kMega, false), 2 * limit) << "nobody made room: the test could not fail";
}

Pressure* pressure_of_handler = nullptr;

// What is there already and comes back into RAM: nobody allocates, and no thread is beside.
TEST_F(PressureTest, WhoRunsMakesRoom) {
  if (kThreadSanitized)
    GTEST_SKIP() << "SKIPPED: ThreadSanitizer puts a signal off until the next system call";
  const std::uint64_t limit = 3 * Resident().now() + 64 * kMega;
  Pressure pressure(limit, space_);
  std::vector<std::uint64_t*> blocks;
  for (std::uint64_t taken = 0; taken < 3 * limit; taken += kMega) {
    pressure.before_allocating(kMega);
    blocks.push_back(static_cast<std::uint64_t*>(space_.allocate(kMega)));
    ASSERT_NE(blocks.back(), nullptr);
    std::memset(blocks.back(), 1, kMega);
  }
  const Resident resident;
  const auto most = [&] {
    std::uint64_t seen = 0;
    for (int turn = 0; turn < 2; ++turn) {
      for (std::uint64_t* const block : blocks) {
        // Word by word: some 20 MB between two ticks of a clock that ticks 100 times a second.
        for (std::uint64_t i = 0; i < kMega / sizeof *block; ++i) block[i] = static_cast<std::uint64_t>(turn);
        seen = std::max(seen, resident.now());
      }
    }
    return seen;
  };
  pressure_of_handler = &pressure;
  ASSERT_TRUE(call_by_running_time([](int) { pressure_of_handler->relieve_in_handler(); }));
  const std::uint64_t with_handler = most();
  stop_calls_by_running_time();
  EXPECT_LE(with_handler, limit);
  EXPECT_GT(most(), 2 * limit) << "nobody made room: the test could not fail";
}

TEST_F(PressureTest, WhatWasTakenOutIsWhole) {
  Pressure pressure(3 * Resident().now() + 64 * kMega, space_);
  std::vector<std::uint64_t*> blocks;
  constexpr std::uint64_t kWords = kMega / 8;
  for (std::uint64_t i = 0; i < 256; ++i) {
    pressure.before_allocating(kMega);
    blocks.push_back(static_cast<std::uint64_t*>(space_.allocate(kMega)));
    ASSERT_NE(blocks.back(), nullptr);
    for (std::uint64_t j = 0; j < kWords; ++j) blocks.back()[j] = i * kWords + j;
  }
  std::uint64_t wrong = 0;
  for (std::uint64_t i = 0; i < 256; ++i) {
    pressure.relieve();
    for (std::uint64_t j = 0; j < kWords; ++j)
      if (blocks[i][j] != i * kWords + j) ++wrong;
  }
  EXPECT_EQ(wrong, 0U);
}

TEST_F(PressureTest, FarFromTheLimitNothingIsTakenOut) {
  Pressure pressure(3 * Resident().now() + 512 * kMega, space_);
  void* const block = space_.allocate(32 * kMega);
  ASSERT_NE(block, nullptr);
  std::memset(block, 1, 32 * kMega);
  const Resident resident;
  const std::uint64_t before = resident.now();
  pressure.relieve();
  EXPECT_EQ(resident.now() / kMega, before / kMega);
}

}  // namespace
}  // namespace lockstep::cli
