#include "tracer/inject/sources/cupti/device_uuids.h"

#include <cuda.h>
#include <dlfcn.h>

#include <array>
#include <cstddef>

namespace lockstep::tracer::cupti {
namespace {

// A process that sees more than a node has is not asked for the rest.
constexpr int kMaxDevices = 64;

std::string text_of(const CUuuid& uuid, bool is_slice) {
  constexpr std::array<char, 16> kDigits{'0', '1', '2', '3', '4', '5', '6', '7',
                                         '8', '9', 'a', 'b', 'c', 'd', 'e', 'f'};
  std::string text = is_slice ? "MIG" : "GPU";
  for (std::size_t i = 0; i < sizeof uuid.bytes; ++i) {
    if (i == 0 || i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    const auto byte = static_cast<unsigned char>(uuid.bytes[i]);
    text += kDigits[byte >> 4U];
    text += kDigits[byte & 15U];
  }
  return text;
}

}  // namespace

std::vector<std::string> device_uuids(void* driver) {
  if (driver == nullptr) return {};
  const auto count_of = reinterpret_cast<CUresult(CUDAAPI*)(int*)>(dlsym(driver, "cuDeviceGetCount"));
  const auto device_at = reinterpret_cast<CUresult(CUDAAPI*)(CUdevice*, int)>(dlsym(driver, "cuDeviceGet"));
  using Uuid = CUresult(CUDAAPI*)(CUuuid*, CUdevice);
  const auto uuid_of = reinterpret_cast<Uuid>(dlsym(driver, "cuDeviceGetUuid"));
  // That of the MIG slice, where it is one: since CUDA 11.4.
  const auto slice_uuid_of = reinterpret_cast<Uuid>(dlsym(driver, "cuDeviceGetUuid_v2"));
  int count = 0;
  if (count_of == nullptr || device_at == nullptr || uuid_of == nullptr || count_of(&count) != CUDA_SUCCESS)
    return {};
  std::vector<std::string> uuids;
  for (int i = 0; i < count && i < kMaxDevices; ++i) {
    CUdevice device = 0;
    CUuuid whole{};
    if (device_at(&device, i) != CUDA_SUCCESS || uuid_of(&whole, device) != CUDA_SUCCESS) return {};
    CUuuid slice = whole;
    if (slice_uuid_of != nullptr && slice_uuid_of(&slice, device) != CUDA_SUCCESS) slice = whole;
    const std::string text = text_of(whole, false);
    uuids.push_back(text_of(slice, false) == text ? text : text_of(slice, true));
  }
  return uuids;
}

}  // namespace lockstep::tracer::cupti
