// From where to where a copy goes, by its name: what importers call copies says the direction, and where it
// is known the memory on both sides ("Memcpy HtoD (Pageable -> Device)", "Memset (Device)").
#pragma once

#include <cstdint>
#include <string_view>

namespace lockstep::analyzer {

enum class CopyKind : std::uint8_t {
  other,           // between GPUs, arrays, the host itself; or the name says nothing
  host_to_device,  // what the host's memory is, is not known
  pageable_to_device,
  pinned_to_device,
  device_to_host,  // the same
  device_to_pageable,
  device_to_pinned,
  device_to_device,
  fill,
};
inline constexpr int kCopyKinds = 9;

CopyKind copy_kind(std::string_view name);
// "copies from pageable host memory to the device": in the middle of a sentence.
const char* in_words(CopyKind kind);

}  // namespace lockstep::analyzer
