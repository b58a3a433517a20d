// The body of a source's record, put together from two parts: a struct and a text, for instance.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "tracer/inject/core/source.h"
#include "tracer/inject/ring/ring.h"

namespace lockstep::tracer {

struct RecordBody {
  const void* first;
  std::uint32_t first_bytes;
  const void* second;
  std::uint32_t second_bytes;

  // What is recorded of it: the rest is cut off.
  std::uint32_t bytes() const noexcept { return std::min(first_bytes + second_bytes, kMaxBodyBytes); }
  // Header and body in a ring.
  std::uint32_t record_bytes() const noexcept { return sizeof(RecordHeader) + round_up_to_unit(bytes()); }
  // Behind the header of a record of record_bytes().
  void copy_to(std::byte* record) const noexcept {
    std::byte* const out = record + sizeof(RecordHeader);
    const std::uint32_t head = std::min(first_bytes, bytes());
    if (head != 0) std::memcpy(out, first, head);
    if (bytes() > head) std::memcpy(out + head, second, bytes() - head);
  }
};

}  // namespace lockstep::tracer
