#include "tracer/inject/sources/cupti/buffer_pool.h"

#include <gtest/gtest.h>

#include <cstring>
#include <set>
#include <thread>
#include <vector>

namespace lockstep::tracer::cupti {
namespace {

constexpr std::uint64_t kMebibyte = std::uint64_t{1} << 20U;

TEST(BufferPool, KeepsToItsBudget) {
  for (const std::uint64_t budget : {1U, 100'000U, 1'000'000U, 32U << 20U, 300U << 20U}) {
    const auto pool = std::make_unique<BufferPool>();
    ASSERT_TRUE(pool->reserve(budget));
    std::set<std::uint8_t*> buffers;
    std::uint64_t bytes = 0;
    while (const BufferPool::Lent lent = pool->lend(0)) {
      EXPECT_TRUE(buffers.insert(lent.data).second);
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(lent.data) % 8, 0U);
      bytes += lent.bytes;
    }
    EXPECT_LE(bytes, std::max<std::uint64_t>(budget, BufferPool::kSmallest));
    EXPECT_LE(buffers.size(), BufferPool::kBuffers);
    EXPECT_GE(buffers.size(), 1U);
  }
}

TEST(BufferPool, FullBuffersAreReadInTheOrderInWhichTheyCameBack) {
  const auto pool = std::make_unique<BufferPool>();
  ASSERT_TRUE(pool->reserve(kMebibyte));
  std::vector<BufferPool::Lent> lent;
  for (int i = 0; i < 8; ++i) lent.push_back(pool->lend(5));
  for (const int index : {3, 0, 7}) {
    EXPECT_TRUE(
        pool->bring_back(lent[static_cast<std::size_t>(index)].data, 100U + static_cast<unsigned>(index)));
  }
  EXPECT_TRUE(pool->bring_back(lent[1].data, 0));  // nothing in it
  EXPECT_EQ(pool->full_count(), 3U);
  for (const unsigned index : {3U, 0U, 7U}) {
    const auto full = pool->take_full();
    ASSERT_TRUE(full.has_value());
    EXPECT_EQ(full->data, lent[index].data);
    EXPECT_EQ(full->valid_bytes, 100U + index);
    EXPECT_EQ(full->generation, 5U);
    pool->give_back(*full);
  }
  EXPECT_FALSE(pool->take_full().has_value());
  EXPECT_EQ(pool->lent_count(), 4U);
}

TEST(BufferPool, LeavesForeignBuffersAlone) {
  const auto pool = std::make_unique<BufferPool>();
  std::uint8_t elsewhere = 0;
  EXPECT_FALSE(pool->bring_back(&elsewhere, 1));
  ASSERT_TRUE(pool->reserve(kMebibyte));
  const BufferPool::Lent lent = pool->lend(0);
  EXPECT_FALSE(pool->bring_back(&elsewhere, 1));
  EXPECT_FALSE(pool->bring_back(nullptr, 1));
  EXPECT_FALSE(pool->bring_back(lent.data + 8, 1));
  EXPECT_TRUE(pool->bring_back(lent.data, 1));
  EXPECT_TRUE(pool->bring_back(lent.data, 1));  // twice: once
  EXPECT_EQ(pool->full_count(), 1U);
}

TEST(BufferPool, ReclaimsWhatWentElsewhere) {
  const auto pool = std::make_unique<BufferPool>();
  ASSERT_TRUE(pool->reserve(kMebibyte));
  (void)pool->lend(1);
  const BufferPool::Lent kept = pool->lend(2);
  EXPECT_EQ(pool->reclaim_before(2), 1U);
  EXPECT_EQ(pool->lent_count(), 1U);
  EXPECT_TRUE(pool->bring_back(kept.data, 8));
  EXPECT_EQ(pool->full_count(), 1U);
}

// Threads lend, fill and bring back while one reads: each buffer holds what its thread wrote, once.
TEST(BufferPool, ManyThreads) {
  constexpr int kThreads = 4;
  constexpr std::uint64_t kEach = 5000;
  const auto pool = std::make_unique<BufferPool>();
  ASSERT_TRUE(pool->reserve(kMebibyte));
  std::atomic<int> running{kThreads};
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (std::uint64_t i = 0; i < kEach;) {
        const BufferPool::Lent lent = pool->lend(0);
        if (!lent) {
          std::this_thread::yield();
          continue;
        }
        const std::uint64_t value = static_cast<std::uint64_t>(t) * kEach + i++;
        std::memcpy(lent.data, &value, sizeof value);
        pool->bring_back(lent.data, sizeof value);
      }
      --running;
    });
  }
  std::vector<int> seen(kThreads * kEach, 0);
  while (true) {
    const bool last = running == 0;
    while (const auto full = pool->take_full()) {
      std::uint64_t value = 0;
      std::memcpy(&value, full->data, sizeof value);
      ++seen.at(value);
      pool->give_back(*full);
    }
    if (last) break;
    std::this_thread::yield();
  }
  for (std::thread& thread : threads) thread.join();
  for (const int count : seen) ASSERT_EQ(count, 1);
}

}  // namespace
}  // namespace lockstep::tracer::cupti
