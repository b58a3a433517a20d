// XXH64, the 64-bit checksum of headers and chunk bodies, as its specification describes it
// (Yann Collet, "xxHash fast digest algorithm", XXH64). Not a cryptographic hash: it detects damage, not
// forgery.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace lockstep::trace::format {

std::uint64_t checksum(std::span<const std::byte> bytes, std::uint64_t seed = 0) noexcept;

}  // namespace lockstep::trace::format
