// Turns the bytes of a typed payload into named values, by the schema that the program registered.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "trace/events/event.h"
#include "tracer/inject/sources/nvtx/payload_copy.h"
#include "tracer/inject/sources/nvtx/payload_schema.h"

namespace lockstep::tracer::nvtx {

// One value of a payload; of an array, each element has the same key. The views are valid during the call.
struct PayloadValue {
  std::string_view key;     // entry names joined with '.', or the position where an entry has no name
  std::uint64_t type = 0;   // NVTX_PAYLOAD_ENTRY_TYPE_*, or the id of an enum
  std::uint64_t flags = 0;  // NVTX_PAYLOAD_ENTRY_FLAG_*
  trace::ArgumentType kind = trace::ArgumentType::int64;
  std::uint64_t bits = 0;  // numbers and addresses; of a registered string its handle
  std::string_view text;   // strings, registered ones excepted
};

// Visits all values of a payload in the order of their entries. False if the payload is shorter than its
// schema says: the values before the cut have been visited. A payload of an unknown schema has no values.
//
// Understood: all of NVTX's number types up to 64 bits (16-bit floats and long double become float64),
// characters and strings of all widths, embedded or pointed to, enums (by name; unknown values stay numbers),
// nested schemas, arrays of fixed, given and terminated length, unions with a selector entry. Not understood,
// and shown as the bare number: offsets into the payload; 128-bit numbers are left out.
bool decode_payload(const SchemaTable& schemas, std::uint16_t domain, const PayloadView& payload,
                    const std::function<void(const PayloadValue&)>& visit);

}  // namespace lockstep::tracer::nvtx
