#include "trace/format/tables.h"

#include "trace/format/bytes.h"

namespace lockstep::trace::format {
namespace {

// Rows of lanes, groups and metadata begin with their size, so that a reader can skip fields that a later
// version adds.
void append_row(const std::vector<std::byte>& row, std::vector<std::byte>& body) {
  ByteWriter(body).varint(row.size());
  body.insert(body.end(), row.begin(), row.end());
}

// Calls decode(row) for each of `count` rows; decode returns false if the row is malformed.
template <class Decode>
bool for_each_row(std::span<const std::byte> body, std::uint32_t count, Decode decode) {
  ByteReader in(body);
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::string_view bytes = in.text();
    if (!in.ok()) return false;
    ByteReader row(std::as_bytes(std::span(bytes)));
    if (!decode(row)) return false;
  }
  return in.remaining() == 0;
}

}  // namespace

void encode_strings(std::span<const std::string_view> strings, std::vector<std::byte>& body) {
  ByteWriter out(body);
  for (const std::string_view text : strings) out.varint(text.size());
  for (const std::string_view text : strings) out.bytes(text);
}

bool decode_strings(std::span<const std::byte> body, std::uint32_t count,
                    std::vector<std::string_view>& strings) {
  ByteReader lengths(body);
  std::uint64_t total = 0;
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::uint64_t length = lengths.varint();
    if (!lengths.ok() || length > body.size()) return false;
    total += length;
  }
  if (lengths.remaining() != total) return false;
  ByteReader texts(body.subspan(lengths.position()));
  lengths = ByteReader(body);
  strings.reserve(strings.size() + count);
  for (std::uint32_t i = 0; i < count; ++i) strings.push_back(texts.bytes(lengths.varint()));
  return true;
}

void encode_lane(LaneId id, const Lane& lane, std::vector<std::byte>& body) {
  std::vector<std::byte> row;
  ByteWriter out(row);
  out.varint(id);
  out.u8(static_cast<std::uint8_t>(lane.kind));
  out.varint(lane.process);
  out.varint(lane.handle);
  out.varint(lane.device);
  out.text(lane.name);
  append_row(row, body);
}

bool decode_lanes(std::span<const std::byte> body, std::uint32_t count, std::vector<LaneRow>& rows) {
  return for_each_row(body, count, [&](ByteReader& in) {
    LaneRow row;
    row.id = static_cast<LaneId>(in.varint());
    row.lane.kind = static_cast<LaneKind>(in.u8());
    row.lane.process = in.varint();
    row.lane.handle = in.varint();
    row.lane.device = static_cast<std::uint32_t>(in.varint());
    row.lane.name = in.text();
    if (in.ok()) rows.push_back(std::move(row));
    return in.ok();
  });
}

void encode_group(const Group& group, std::vector<std::byte>& body) {
  std::vector<std::byte> row;
  ByteWriter out(row);
  out.text(group.name);
  out.text(group.description);
  out.varint(group.ranks.size());
  for (const std::int32_t rank : group.ranks) out.signed_varint(rank);
  out.signed_varint(group.own_rank);
  out.signed_varint(group.size);
  append_row(row, body);
}

bool decode_groups(std::span<const std::byte> body, std::uint32_t count, std::vector<Group>& groups) {
  return for_each_row(body, count, [&](ByteReader& in) {
    Group group;
    group.name = in.text();
    group.description = in.text();
    const std::uint64_t ranks = in.varint();
    if (!in.ok() || ranks > in.remaining()) return false;
    group.ranks.reserve(ranks);
    for (std::uint64_t i = 0; i < ranks; ++i)
      group.ranks.push_back(static_cast<std::int32_t>(in.signed_varint()));
    if (in.ok() && in.remaining() != 0) {  // since 1.2
      group.own_rank = static_cast<std::int32_t>(in.signed_varint());
      group.size = static_cast<std::int32_t>(in.signed_varint());
    }
    if (in.ok()) groups.push_back(std::move(group));
    return in.ok();
  });
}

void encode_metadata(std::string_view key, std::string_view value, std::vector<std::byte>& body) {
  std::vector<std::byte> row;
  ByteWriter out(row);
  out.text(key);
  out.text(value);
  append_row(row, body);
}

bool decode_metadata(std::span<const std::byte> body, std::uint32_t count,
                     std::map<std::string, std::string>& metadata) {
  return for_each_row(body, count, [&](ByteReader& in) {
    const std::string_view key = in.text();
    const std::string_view value = in.text();
    if (in.ok()) metadata[std::string(key)] = value;
    return in.ok();
  });
}

}  // namespace lockstep::trace::format
