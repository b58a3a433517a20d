// Typed payloads on their way through the ring: copied during the NVTX call, since the program's pointers are
// valid no longer. Hot path: no allocation, no lock.
//
// In a record: {uint32 payloads, uint32 0}, then for each payload {uint64 schema, uint32 bytes, uint32
// pieces}, its bytes and for each piece {uint32 offset of the pointer in the payload, uint32 bytes} and what
// the pointer points to; bytes are padded to 8.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

struct nvtxPayloadData_v1;

namespace lockstep::tracer::nvtx {

class SchemaTable;

// Stands for the number of payloads where they didn't fit into a record.
inline constexpr std::uint32_t kPayloadsTooLarge = 0xFFFFFFFFU;

class PayloadCopy {
 public:
  // Finds out what to copy. Payloads that need more than `most_bytes` together, or more than 32 payloads or
  // 64 pieces, are left out as a whole, and the record says so.
  PayloadCopy(const SchemaTable& schemas, std::uint16_t domain, const nvtxPayloadData_v1* payloads,
              std::size_t count, std::uint32_t most_bytes) noexcept;

  std::uint32_t bytes() const noexcept { return bytes_; }
  // Writes exactly bytes() bytes.
  void write(std::byte* out) const noexcept;

 private:
  struct Piece {
    const void* source = nullptr;
    std::uint32_t offset = 0;
    std::uint32_t bytes = 0;
  };
  struct Payload {
    std::uint64_t schema = 0;
    const void* source = nullptr;
    std::uint32_t bytes = 0;
    std::uint32_t pieces = 0;
  };
  static constexpr std::size_t kMaxPayloads = 32;
  static constexpr std::size_t kMaxPieces = 64;

  bool measure(const SchemaTable& schemas, std::uint16_t domain, const nvtxPayloadData_v1* payloads,
               std::size_t count, std::uint32_t most_bytes) noexcept;

  // Left uninitialised on purpose: only what is used is written.
  std::array<Payload, kMaxPayloads> payloads_;
  std::array<Piece, kMaxPieces> pieces_;
  std::uint32_t payload_count_ = 0;
  std::uint32_t piece_count_ = 0;
  std::uint32_t bytes_ = 0;
};

// The other side: views into a record.
struct PieceView {
  std::uint32_t offset = 0;
  std::span<const std::byte> bytes;
};
struct PayloadView {
  std::uint64_t schema = 0;
  std::span<const std::byte> bytes;
  std::vector<PieceView> pieces;
};
// Reads what write() wrote into `payloads` (reused between calls). False if they were too large to be kept.
bool read_payloads(std::span<const std::byte> section, std::vector<PayloadView>& payloads);

}  // namespace lockstep::tracer::nvtx
