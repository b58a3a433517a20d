// The part of NVML that we call, declared by ourselves: numbers and signatures of its documented interface.
#pragma once

#include <cstdint>

namespace lockstep::tracer::host::nvml {

using Device = void*;
using Return = int;
inline constexpr Return kSuccess = 0;

inline constexpr unsigned kClockSm = 1;
inline constexpr unsigned kClockMemory = 2;
inline constexpr unsigned kTemperatureGpu = 0;
inline constexpr unsigned kCorrected = 0;
inline constexpr unsigned kUncorrected = 1;
inline constexpr unsigned kVolatile = 0;  // since the driver was loaded

// Why clocks are lower than asked for.
inline constexpr std::uint64_t kSoftwarePowerCap = 0x4;
inline constexpr std::uint64_t kHardwareSlowdown = 0x8;
inline constexpr std::uint64_t kSoftwareThermal = 0x20;
inline constexpr std::uint64_t kHardwareThermal = 0x40;
inline constexpr std::uint64_t kHardwarePowerBrake = 0x80;

struct Functions {
  Return (*init)() = nullptr;
  Return (*count)(unsigned*) = nullptr;
  Return (*by_index)(unsigned, Device*) = nullptr;
  Return (*by_uuid)(const char*, Device*) = nullptr;
  Return (*index)(Device, unsigned*) = nullptr;
  Return (*clock)(Device, unsigned type, unsigned* megahertz) = nullptr;
  Return (*power)(Device, unsigned* milliwatts) = nullptr;
  Return (*temperature)(Device, unsigned sensor, unsigned* celsius) = nullptr;
  Return (*throttle_reasons)(Device, unsigned long long*) = nullptr;
  Return (*ecc_errors)(Device, unsigned error, unsigned counter, unsigned long long*) = nullptr;
  Return (*pcie_replays)(Device, unsigned*) = nullptr;
};

// Fills what `library` (from dlopen) has; false if it can't give any device.
bool find_functions(void* library, Functions& functions) noexcept;

}  // namespace lockstep::tracer::host::nvml
