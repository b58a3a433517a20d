#include "tracer/inject/sources/nvtx/payload_copy.h"

#include <cstring>
#include <limits>

#include "tracer/inject/sources/nvtx/nvtx_api.h"
#include "tracer/inject/sources/nvtx/payload_schema.h"

namespace lockstep::tracer::nvtx {

namespace {

struct PayloadHeader {
  std::uint64_t schema = 0;
  std::uint32_t bytes = 0;
  std::uint32_t pieces = 0;
};

constexpr std::uint64_t pad(std::uint64_t bytes) {
  return (bytes + 7) & ~std::uint64_t{7};
}

template <class Unit>
std::size_t terminated_bytes(const void* data, std::size_t most) {
  std::size_t length = 0;
  while (length + sizeof(Unit) <= most) {
    Unit unit{};
    std::memcpy(&unit, static_cast<const std::byte*>(data) + length, sizeof unit);
    if (unit == 0) break;
    length += sizeof unit;
  }
  return length;
}

std::uint64_t read_unsigned(const std::byte* data, std::uint32_t size) {
  std::uint64_t value = 0;
  std::memcpy(&value, data, size <= sizeof value ? size : sizeof value);  // little-endian, as all we run on
  return value;
}

std::size_t target_bytes(const PointerField& field, const void* target, const std::byte* payload,
                         std::size_t size, std::size_t most) {
  switch (field.target) {
    case PointerField::Target::text8:
      return strnlen(static_cast<const char*>(target), most);
    case PointerField::Target::text16:
      return terminated_bytes<std::uint16_t>(target, most);
    case PointerField::Target::text32:
      return terminated_bytes<std::uint32_t>(target, most);
    case PointerField::Target::terminated_elements:
      if (field.element_size == 1) return terminated_bytes<std::uint8_t>(target, most);
      if (field.element_size == 2) return terminated_bytes<std::uint16_t>(target, most);
      if (field.element_size == 4) return terminated_bytes<std::uint32_t>(target, most);
      if (field.element_size == 8) return terminated_bytes<std::uint64_t>(target, most);
      return 0;
    case PointerField::Target::counted_elements: {
      if (field.count_offset + std::size_t{field.count_size} > size) return 0;
      const std::uint64_t count = read_unsigned(payload + field.count_offset, field.count_size);
      return count > most / field.element_size ? most + 1 : count * field.element_size;
    }
    case PointerField::Target::elements:
      return field.count > most / field.element_size ? most + 1 : field.count * field.element_size;
  }
  return 0;
}

}  // namespace

PayloadCopy::PayloadCopy(const SchemaTable& schemas, std::uint16_t domain, const nvtxPayloadData_t* payloads,
                         std::size_t count, std::uint32_t most_bytes) noexcept {
  if (!measure(schemas, domain, payloads, count, most_bytes)) {
    payload_count_ = kPayloadsTooLarge;
    bytes_ = 2 * sizeof(std::uint32_t);
  }
}

bool PayloadCopy::measure(const SchemaTable& schemas, std::uint16_t domain, const nvtxPayloadData_t* payloads,
                          std::size_t count, std::uint32_t most_bytes) noexcept {
  if (count > kMaxPayloads) return false;
  std::uint64_t total = 2 * sizeof(std::uint32_t);
  for (std::size_t i = 0; i < count; ++i) {
    const nvtxPayloadData_t& data = payloads[i];
    const Schema* schema = schemas.find(domain, data.schemaId);
    std::size_t size = data.payload == nullptr ? 0 : data.size;
    if (size == std::numeric_limits<std::size_t>::max()) {
      // "Find out yourself": a terminated string, one value of a known type, or one of a static schema.
      if (is_string_type(data.schemaId)) {
        PointerField text;
        text.target = data.schemaId == NVTX_PAYLOAD_ENTRY_TYPE_CSTRING_UTF16   ? PointerField::Target::text16
                      : data.schemaId == NVTX_PAYLOAD_ENTRY_TYPE_CSTRING_UTF32 ? PointerField::Target::text32
                                                                               : PointerField::Target::text8;
        size = target_bytes(text, data.payload, nullptr, 0, most_bytes);
      } else {
        size = schema != nullptr ? schema->static_size : layout_of_type(data.schemaId).size;
      }
    }
    if (size > most_bytes) return false;
    Payload& payload = payloads_[payload_count_++];
    payload = Payload{data.schemaId, data.payload, static_cast<std::uint32_t>(size), 0};
    total += sizeof(PayloadHeader) + pad(size);
    if (schema == nullptr || schema->pointers.empty()) continue;

    const auto* base = static_cast<const std::byte*>(data.payload);
    for (const PointerField& field : schema->pointers) {
      if (field.offset + sizeof(void*) > size) break;
      const void* target = nullptr;
      std::memcpy(&target, base + field.offset, sizeof target);
      if (target == nullptr) continue;
      if (piece_count_ == kMaxPieces) return false;
      const std::size_t bytes = target_bytes(field, target, base, size, most_bytes);
      if (bytes > most_bytes) return false;
      pieces_[piece_count_++] = Piece{target, field.offset, static_cast<std::uint32_t>(bytes)};
      ++payload.pieces;
      total += 2 * sizeof(std::uint32_t) + pad(bytes);
    }
  }
  if (total > most_bytes) return false;
  bytes_ = static_cast<std::uint32_t>(total);
  return true;
}

void PayloadCopy::write(std::byte* out) const noexcept {
  const std::array<std::uint32_t, 2> head{payload_count_, 0};
  std::memcpy(out, head.data(), sizeof head);
  if (payload_count_ == kPayloadsTooLarge) return;
  out += sizeof head;
  std::size_t next_piece = 0;
  for (std::uint32_t i = 0; i < payload_count_; ++i) {
    const Payload& payload = payloads_[i];
    const PayloadHeader header{payload.schema, payload.bytes, payload.pieces};
    std::memcpy(out, &header, sizeof header);
    out += sizeof header;
    if (payload.bytes != 0) std::memcpy(out, payload.source, payload.bytes);
    out += pad(payload.bytes);
    for (std::uint32_t k = 0; k < payload.pieces; ++k) {
      const Piece& piece = pieces_[next_piece++];
      const std::array<std::uint32_t, 2> piece_head{piece.offset, piece.bytes};
      std::memcpy(out, piece_head.data(), sizeof piece_head);
      out += sizeof piece_head;
      if (piece.bytes != 0) std::memcpy(out, piece.source, piece.bytes);
      out += pad(piece.bytes);
    }
  }
}

bool read_payloads(std::span<const std::byte> section, std::vector<PayloadView>& payloads) {
  payloads.clear();
  std::array<std::uint32_t, 2> head{};
  if (section.size() < sizeof head) return false;
  std::memcpy(head.data(), section.data(), sizeof head);
  if (head[0] == kPayloadsTooLarge) return false;
  std::size_t position = sizeof head;
  const auto fits = [&](std::uint64_t bytes) { return bytes <= section.size() - position; };
  for (std::uint32_t i = 0; i < head[0]; ++i) {
    PayloadHeader header;
    if (!fits(sizeof header)) return false;
    std::memcpy(&header, section.data() + position, sizeof header);
    position += sizeof header;
    if (!fits(pad(header.bytes))) return false;
    PayloadView& view = payloads.emplace_back();
    view.schema = header.schema;
    view.bytes = section.subspan(position, header.bytes);
    position += pad(header.bytes);
    for (std::uint32_t k = 0; k < header.pieces; ++k) {
      std::array<std::uint32_t, 2> piece{};
      if (!fits(sizeof piece)) return false;
      std::memcpy(piece.data(), section.data() + position, sizeof piece);
      position += sizeof piece;
      if (!fits(pad(piece[1]))) return false;
      view.pieces.push_back(PieceView{piece[0], section.subspan(position, piece[1])});
      position += pad(piece[1]);
    }
  }
  return true;
}

}  // namespace lockstep::tracer::nvtx
