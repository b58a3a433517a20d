#include "tracer/inject/sources/host/visible_devices.h"

#include <algorithm>
#include <optional>

#include "base/numbers.h"

namespace lockstep::tracer::host {

namespace {

std::optional<DeviceName> parse_entry(std::string_view entry) {
  while (!entry.empty() && entry.front() == ' ') entry.remove_prefix(1);
  while (!entry.empty() && entry.back() == ' ') entry.remove_suffix(1);
  if (entry.starts_with("GPU-") || entry.starts_with("MIG-")) return DeviceName{-1, std::string(entry)};
  const auto index = lockstep::parse_number<std::int32_t>(entry, 0);
  return index ? std::optional(DeviceName{*index, {}}) : std::nullopt;
}

// As CUDA reads it: what stands behind the first entry that makes no sense is not visible.
std::vector<DeviceName> parse_visible(std::string_view text) {
  std::vector<DeviceName> devices;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.size(), text.find(',', begin));
    const std::optional<DeviceName> device = parse_entry(text.substr(begin, end - begin));
    if (!device.has_value()) break;
    devices.push_back(*device);
    begin = end + 1;
  }
  return devices;
}

}  // namespace

DeviceChoice choose_devices(const char* visible, std::int32_t local_rank, std::uint32_t count) {
  DeviceChoice choice;
  if (visible != nullptr) {
    choice.devices = parse_visible(visible);
  } else {
    for (std::uint32_t i = 0; i < count; ++i) choice.devices.push_back({static_cast<std::int32_t>(i), {}});
  }
  if (local_rank >= 0 && choice.devices.size() > 1) {
    const auto own = static_cast<std::size_t>(local_rank) % choice.devices.size();
    choice.devices = {choice.devices[own]};
  }
  const auto is_slice = [](const DeviceName& device) { return device.uuid.starts_with("MIG-"); };
  if (std::erase_if(choice.devices, is_slice) != 0) {
    choice.problem = "a MIG slice has no clocks and no power of its own: its GPU is not followed";
  }
  const auto beyond = [&](const DeviceName& device) {
    return device.uuid.empty() && device.index >= static_cast<std::int32_t>(count);
  };
  if (std::erase_if(choice.devices, beyond) != 0) {
    choice.problem = "CUDA_VISIBLE_DEVICES names a GPU that NVML does not see";
  }
  return choice;
}

}  // namespace lockstep::tracer::host
