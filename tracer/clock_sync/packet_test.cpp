#include "tracer/clock_sync/packet.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

namespace lockstep::tracer::clock_sync {
namespace {

Packet sample() {
  Packet packet;
  packet.answer = true;
  packet.token = make_token("job 7");
  packet.sequence = 0x0123456789abcdefU;
  packet.asked = -5;
  packet.heard = INT64_MAX;
  packet.answered = INT64_MIN;
  packet.clock = "0b6f9d8e-boot/time:[4026531834]";
  return packet;
}

TEST(Packet, ComesBackAsItWas) {
  const std::optional<Packet> packet = decode(encode(sample()));
  ASSERT_TRUE(packet);
  EXPECT_TRUE(packet->answer);
  EXPECT_EQ(packet->token, make_token("job 7"));
  EXPECT_EQ(packet->sequence, 0x0123456789abcdefU);
  EXPECT_EQ(packet->asked, -5);
  EXPECT_EQ(packet->heard, INT64_MAX);
  EXPECT_EQ(packet->answered, INT64_MIN);
  EXPECT_EQ(packet->clock, sample().clock);
}

TEST(Packet, ALongNameIsCut) {
  Packet packet = sample();
  packet.clock.assign(500, 'x');
  EXPECT_EQ(decode(encode(packet))->clock, std::string(111, 'x'));
}

TEST(Packet, TokensOfDifferentJobsDiffer) {
  EXPECT_EQ(make_token("a"), make_token("a"));
  EXPECT_NE(make_token("a"), make_token("b"));
  EXPECT_NE(make_token(""), make_token("b"));
}

TEST(Packet, WhatIsNoneIsNotTaken) {
  const PacketBytes bytes = encode(sample());
  for (std::size_t size = 0; size < kPacketSize; ++size) EXPECT_FALSE(decode(std::span(bytes).first(size)));
  PacketBytes other = bytes;
  other[0] = 'x';
  EXPECT_FALSE(decode(other));
  other = bytes;
  other[8] = 3;
  EXPECT_FALSE(decode(other));
  other = bytes;
  other[64] = '\n';
  EXPECT_FALSE(decode(other));
  std::mt19937 random(1);
  for (int round = 0; round < 2000; ++round) {
    for (std::uint8_t& byte : other) byte = static_cast<std::uint8_t>(random());
    EXPECT_FALSE(decode(other));
  }
}

}  // namespace
}  // namespace lockstep::tracer::clock_sync
