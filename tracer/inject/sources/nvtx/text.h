// Wide characters to UTF-8. Invalid code units become U+FFFD: never a failure, never lost bytes elsewhere.
#pragma once

#include <cstddef>
#include <string>

namespace lockstep::tracer::nvtx {

// `bytes` is a number of bytes; a cut unit at the end is ignored. Reads unaligned memory.
void append_utf8_from_utf16(const std::byte* data, std::size_t bytes, std::string& out);
void append_utf8_from_utf32(const std::byte* data, std::size_t bytes, std::string& out);
void append_utf8_from_wide(const std::byte* data, std::size_t bytes, std::string& out);

}  // namespace lockstep::tracer::nvtx
