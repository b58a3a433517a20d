#include "analyzer/model/copy_kind.h"

namespace lockstep::analyzer {

CopyKind copy_kind(std::string_view name) {
  const auto says = [&](std::string_view part) { return name.find(part) != std::string_view::npos; };
  if (name.starts_with("Memset")) return CopyKind::fill;
  if (!name.starts_with("Memcpy")) return CopyKind::other;
  if (says("HtoD"))
    return says("(Pageable") ? CopyKind::pageable_to_device
           : says("(Pinned") ? CopyKind::pinned_to_device
                             : CopyKind::host_to_device;
  if (says("DtoH"))
    return says("-> Pageable") ? CopyKind::device_to_pageable
           : says("-> Pinned") ? CopyKind::device_to_pinned
                               : CopyKind::device_to_host;
  return says("DtoD") ? CopyKind::device_to_device : CopyKind::other;
}

const char* in_words(CopyKind kind) {
  switch (kind) {
    case CopyKind::host_to_device:
      return "copies from the host to the device";
    case CopyKind::pageable_to_device:
      return "copies from pageable host memory to the device";
    case CopyKind::pinned_to_device:
      return "copies from pinned host memory to the device";
    case CopyKind::device_to_host:
      return "copies from the device to the host";
    case CopyKind::device_to_pageable:
      return "copies from the device to pageable host memory";
    case CopyKind::device_to_pinned:
      return "copies from the device to pinned host memory";
    case CopyKind::device_to_device:
      return "copies within the device";
    case CopyKind::fill:
      return "fills of device memory";
    case CopyKind::other:
      break;
  }
  return "other copies";
}

}  // namespace lockstep::analyzer
