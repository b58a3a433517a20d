#include "tracer/clock_sync/packet.h"

#include <algorithm>
#include <cstring>

namespace lockstep::tracer::clock_sync {
namespace {

constexpr std::string_view kMagic = "lsclock1";
constexpr std::size_t kKindAt = 8, kTokenAt = 16, kSequenceAt = 32, kAskedAt = 40, kHeardAt = 48,
                      kAnsweredAt = 56, kClockAt = 64;
constexpr std::size_t kClockRoom = kPacketSize - kClockAt;

void put(PacketBytes& bytes, std::size_t at, std::uint64_t value) {
  for (std::size_t i = 0; i < 8; ++i) bytes[at + i] = static_cast<std::uint8_t>(value >> (8 * i));
}

std::uint64_t get(std::span<const std::uint8_t> bytes, std::size_t at) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < 8; ++i) value |= std::uint64_t{bytes[at + i]} << (8 * i);
  return value;
}

// FNV-1a.
std::uint64_t hash(std::string_view text, std::uint64_t start) {
  for (const char c : text) start = (start ^ static_cast<std::uint8_t>(c)) * 0x100000001b3U;
  return start;
}

}  // namespace

Token make_token(std::string_view text) {
  Token token{};
  std::uint64_t halves[] = {hash(text, 0xcbf29ce484222325U), hash(text, 0x9ae16a3b2f90404fU)};
  for (std::size_t i = 0; i < token.size(); ++i)
    token[i] = static_cast<std::uint8_t>(halves[i / 8] >> (8 * (i % 8)));
  return token;
}

PacketBytes encode(const Packet& packet) {
  PacketBytes bytes{};
  std::copy(kMagic.begin(), kMagic.end(), bytes.begin());
  bytes[kKindAt] = packet.answer ? 2 : 1;
  std::copy(packet.token.begin(), packet.token.end(), bytes.begin() + kTokenAt);
  put(bytes, kSequenceAt, packet.sequence);
  put(bytes, kAskedAt, static_cast<std::uint64_t>(packet.asked));
  put(bytes, kHeardAt, static_cast<std::uint64_t>(packet.heard));
  put(bytes, kAnsweredAt, static_cast<std::uint64_t>(packet.answered));
  const std::size_t length = std::min(packet.clock.size(), kClockRoom - 1);
  std::copy_n(packet.clock.begin(), length, bytes.begin() + kClockAt);
  return bytes;
}

std::optional<Packet> decode(std::span<const std::uint8_t> bytes) {
  if (bytes.size() != kPacketSize || !std::equal(kMagic.begin(), kMagic.end(), bytes.begin()))
    return std::nullopt;
  const std::uint8_t kind = bytes[kKindAt];
  if (kind != 1 && kind != 2) return std::nullopt;
  Packet packet;
  packet.answer = kind == 2;
  std::copy_n(bytes.begin() + kTokenAt, packet.token.size(), packet.token.begin());
  packet.sequence = get(bytes, kSequenceAt);
  packet.asked = static_cast<std::int64_t>(get(bytes, kAskedAt));
  packet.heard = static_cast<std::int64_t>(get(bytes, kHeardAt));
  packet.answered = static_cast<std::int64_t>(get(bytes, kAnsweredAt));
  const std::span<const std::uint8_t> clock = bytes.subspan(kClockAt);
  const auto end = std::find(clock.begin(), clock.end(), std::uint8_t{0});
  for (auto at = clock.begin(); at != end; ++at) {
    if (*at < 0x20 || *at > 0x7e) return std::nullopt;
    packet.clock.push_back(static_cast<char>(*at));
  }
  return packet;
}

}  // namespace lockstep::tracer::clock_sync
