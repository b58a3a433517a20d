#include "cli/analysis/memory_limit/memory_limit.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "cli/analysis/memory_limit/large_blocks.h"
#include "tests/temporary_folder.h"

namespace lockstep::cli {
namespace {

TEST(MemoryLimit, WhatIsTooLittleIsRefused) {
  const Status limited = limit_memory(1'000'000, "");
  ASSERT_FALSE(limited.ok());
  EXPECT_EQ(limited.error().message, "--memory: 1 MB are too few; give 64 MB or more");
}

TEST(MemoryLimit, AFolderThatIsNotThereIsNamed) {
  const Status limited = limit_memory(64'000'000, "/no/such/folder");
  ASSERT_FALSE(limited.ok());
  EXPECT_EQ(limited.error().message, "--scratch '/no/such/folder': No such file or directory");
}

// The last one: from here on this process is limited.
TEST(MemoryLimit, WorkOnMoreThanFitsGivesTheSameResult) {
  const test::TemporaryFolder folder;
  const Status limited = limit_memory(kLeastLimit, folder.path().string());
  if (!limited.ok()) GTEST_SKIP() << "no file system that can reserve room here: " << limited.error().message;
  // 192 MB.
  constexpr std::size_t kEach = 1'000'000;
  std::vector<std::vector<std::uint64_t>> tables(24);
  for (std::size_t i = 0; i < tables.size(); ++i) {
    for (std::size_t j = 0; j < kEach; ++j) tables[i].push_back((j * 7919 + i) % 1'000'003);
    EXPECT_TRUE(large_blocks.space.owns(tables[i].data()));
  }
  std::uint64_t sum = 0, expected = 0;
  for (std::size_t i = 0; i < tables.size(); ++i) {
    std::sort(tables[i].begin(), tables[i].end());
    EXPECT_TRUE(std::is_sorted(tables[i].begin(), tables[i].end()));
    sum = std::accumulate(tables[i].begin(), tables[i].end(), sum);
    for (std::size_t j = 0; j < kEach; ++j) expected += (j * 7919 + i) % 1'000'003;
  }
  EXPECT_EQ(sum, expected);
  EXPECT_GE(large_blocks.space.reserved(), tables.size() * kEach * 8);
  tables.clear();
  EXPECT_LE(large_blocks.space.reserved(), SpillSpace::kKeptTogether);
  const std::vector<char> small(1000);
  EXPECT_FALSE(large_blocks.space.owns(small.data()));
  EXPECT_FALSE(disk_refused());
}

}  // namespace
}  // namespace lockstep::cli
