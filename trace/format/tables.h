// Rows of the chunks that are not events: strings, lanes, groups, metadata. Encoding may throw
// std::bad_alloc.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "trace/events/event.h"

namespace lockstep::trace::format {

void encode_strings(std::span<const std::string_view> strings, std::vector<std::byte>& body);
void encode_lane(LaneId id, const Lane& lane, std::vector<std::byte>& body);
void encode_group(const Group& group, std::vector<std::byte>& body);
void encode_metadata(std::string_view key, std::string_view value, std::vector<std::byte>& body);

// The decoders read `count` rows and return false if the body is malformed; what was read before is kept.
bool decode_strings(std::span<const std::byte> body, std::uint32_t count,
                    std::vector<std::string_view>& strings);
struct LaneRow {
  LaneId id = 0;
  Lane lane;
};
bool decode_lanes(std::span<const std::byte> body, std::uint32_t count, std::vector<LaneRow>& rows);
bool decode_groups(std::span<const std::byte> body, std::uint32_t count, std::vector<Group>& groups);
bool decode_metadata(std::span<const std::byte> body, std::uint32_t count,
                     std::map<std::string, std::string>& metadata);

}  // namespace lockstep::trace::format
