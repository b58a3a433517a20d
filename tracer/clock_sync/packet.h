// What two recorders say to each other: a question and an answer of equal size, in one UDP packet each.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace lockstep::tracer::clock_sync {

using Token = std::array<std::uint8_t, 16>;

// The same for all recorders of a job, and hardly for those of another. It keeps jobs apart; it is no secret
// unless LOCKSTEP_SYNC_TOKEN is one.
Token make_token(std::string_view text);

struct Packet {
  bool answer = false;
  Token token{};
  std::uint64_t sequence = 0;
  // Nanoseconds of CLOCK_MONOTONIC: the asker's, then twice the answerer's.
  std::int64_t asked = 0;
  std::int64_t heard = 0;
  std::int64_t answered = 0;
  std::string clock;  // the sender's clock_identity(); cut after 111 bytes
};

inline constexpr std::size_t kPacketSize = 176;
using PacketBytes = std::array<std::uint8_t, kPacketSize>;

// Little-endian, whatever the machine.
PacketBytes encode(const Packet& packet);
// Nothing for what is no packet of ours.
std::optional<Packet> decode(std::span<const std::uint8_t> bytes);

}  // namespace lockstep::tracer::clock_sync
