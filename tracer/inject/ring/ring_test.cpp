#include "tracer/inject/ring/ring.h"

#include <gtest/gtest.h>

#include <cstring>
#include <deque>
#include <random>
#include <thread>
#include <vector>

namespace lockstep::tracer {
namespace {

class RingTest : public testing::Test {
 protected:
  void make(std::uint64_t capacity) {
    buffer_.assign(capacity, std::byte{0});
    ring_.attach(buffer_.data(), capacity, stacks_.data(), &wake_);
  }

  bool write(std::uint32_t bytes, std::uint64_t ticks, std::uint32_t later = 0) {
    std::byte* record = ring_.claim(bytes, later);
    if (record == nullptr) return false;
    std::memset(record + sizeof(RecordHeader), static_cast<int>(ticks & 0xFF), bytes - sizeof(RecordHeader));
    write_header(record, bytes, RecordKind::mark, 0, 0, 0, ticks);
    ring_.publish(bytes);
    return true;
  }

  // Reads one record that isn't padding; false if there is none.
  bool read(RecordHeader& header) {
    std::uint64_t position = ring_.tail();
    while (position != ring_.head()) {
      std::memcpy(&header, ring_.at(position), sizeof header);
      const std::byte* body = ring_.at(position) + sizeof header;
      position += std::uint64_t{header.units} * kRecordUnit;
      ring_.consume_to(position);
      if (header.kind == RecordKind::padding) continue;
      for (std::size_t i = 0; i < header.units * kRecordUnit - sizeof header; ++i) {
        if (header.kind == RecordKind::mark && body[i] != static_cast<std::byte>(header.ticks & 0xFF))
          return false;
      }
      return true;
    }
    return false;
  }

  std::vector<std::byte> buffer_;
  std::vector<DomainStack> stacks_ = std::vector<DomainStack>(Ring::kMaxDomains);
  std::atomic<std::uint32_t> wake_{0};
  Ring ring_;
};

TEST_F(RingTest, HeaderSurvivesItsTwoStores) {
  std::array<std::byte, 16> bytes{};
  write_header(bytes.data(), 65535 * 16, RecordKind::end, 0xC7, 1023, 65535, 0x0123456789ABCDEF);
  RecordHeader header;
  std::memcpy(&header, bytes.data(), sizeof header);
  EXPECT_EQ(header.units, 65535);
  EXPECT_EQ(header.kind, RecordKind::end);
  EXPECT_EQ(header.flags, 0xC7);
  EXPECT_EQ(header.domain, 1023);
  EXPECT_EQ(header.message_bytes, 65535);
  EXPECT_EQ(header.ticks, 0x0123456789ABCDEFU);
}

TEST_F(RingTest, RecordsComeOutInOrderOverManyLaps) {
  make(4096);
  std::mt19937 random(1);
  std::deque<std::pair<std::uint32_t, std::uint64_t>> expected;
  std::uint64_t ticks = 0;
  for (int turn = 0; turn < 100000; ++turn) {
    if (random() % 2 == 0) {
      const std::uint32_t bytes = 16 * (1 + random() % 20);
      if (write(bytes, ++ticks)) expected.emplace_back(bytes, ticks);
    } else {
      RecordHeader header;
      const bool found = read(header);
      ASSERT_EQ(found, !expected.empty());
      if (!found) continue;
      EXPECT_EQ(header.units * kRecordUnit, expected.front().first);
      EXPECT_EQ(header.ticks, expected.front().second);
      expected.pop_front();
    }
  }
}

TEST_F(RingTest, FullRingTakesNothingAndWakesTheWriter) {
  make(1024);
  int written = 0;
  while (write(64, 1)) ++written;
  // A sixteenth is kept for ends.
  EXPECT_EQ(written, (1024 - 64) / 64);
  EXPECT_EQ(wake_.load(), 1U);
  EXPECT_NE(ring_.claim_end(64), nullptr);
  ring_.publish(64);
  EXPECT_EQ(ring_.claim_end(16), nullptr);
  ring_.consume_to(ring_.tail() + 64);
  EXPECT_NE(ring_.claim_end(16), nullptr);
}

TEST_F(RingTest, HalfFullRingWakesTheWriterOnce) {
  make(1024);
  for (int i = 0; i < 7; ++i) ASSERT_TRUE(write(64, 1));
  EXPECT_EQ(wake_.load(), 0U);
  ASSERT_TRUE(write(64, 1));
  ASSERT_TRUE(write(64, 1));
  EXPECT_EQ(wake_.load(), 1U);
}

TEST_F(RingTest, RoomForPopsIsKeptHoweverFullTheRing) {
  make(1024);
  int open = 0;
  while (ring_.claim(32, Ring::kPopBytes) != nullptr) {
    ring_.publish(32);
    ring_.reserve_pop();
    ++open;
  }
  EXPECT_GT(open, 0);
  while (write(16, 1)) {
  }
  for (; open > 0; --open) {
    ring_.release_pop();
    ASSERT_NE(ring_.claim_end(Ring::kPopBytes), nullptr) << open;
    ring_.publish(Ring::kPopBytes);
  }
}

// Against a model that counts bytes: pushes and pops at random, the writer now and then.
TEST_F(RingTest, PromisedPopsAlwaysFit) {
  make(2048);
  std::mt19937 random(7);
  int open = 0;
  for (int turn = 0; turn < 200000; ++turn) {
    switch (random() % 8) {
      case 0:
      case 1:
      case 2:
      case 3: {
        const std::uint32_t bytes = 16 * (1 + random() % 6);
        if (ring_.claim(bytes, Ring::kPopBytes) == nullptr) break;
        std::byte* record = ring_.claim(bytes, Ring::kPopBytes);
        write_header(record, bytes, RecordKind::push, 0, 0, 0, 0);
        ring_.publish(bytes);
        ring_.reserve_pop();
        ++open;
        break;
      }
      case 4:
      case 5:
      case 6:
        if (open > 0) {
          ring_.release_pop();
          std::byte* record = ring_.claim_end(Ring::kPopBytes);
          ASSERT_NE(record, nullptr);
          write_header(record, Ring::kPopBytes, RecordKind::pop, 0, 0, 0, 0);
          ring_.publish(Ring::kPopBytes);
          --open;
        }
        break;
      default: {
        RecordHeader header;
        for (unsigned i = random() % 40; i > 0 && read(header); --i) {
        }
      }
    }
    ASSERT_LE(ring_.head() - ring_.tail(), 2048U);
  }
}

TEST_F(RingTest, OneThreadWritesWhileAnotherReads) {
  make(8192);
  constexpr std::uint64_t kCount = 200000;
  std::uint64_t dropped = 0;
  std::thread producer([&] {
    std::mt19937 random(3);
    for (std::uint64_t i = 1; i <= kCount; ++i) {
      if (!write(16 * (1 + random() % 8), i)) ++dropped;
    }
    while (!write(16, kCount + 1)) std::this_thread::yield();
  });
  std::uint64_t last = 0;
  std::uint64_t received = 0;
  bool in_order = true;
  while (last != kCount + 1) {
    RecordHeader header;
    if (!read(header)) continue;
    in_order = in_order && header.ticks > last;
    last = header.ticks;
    ++received;
  }
  producer.join();
  EXPECT_TRUE(in_order);
  EXPECT_EQ(received + dropped, kCount + 1);
}

}  // namespace
}  // namespace lockstep::tracer
