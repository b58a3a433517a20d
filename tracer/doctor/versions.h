// Version numbers as NVIDIA's libraries and files give them.
#pragma once

#include <compare>
#include <string>
#include <string_view>

namespace lockstep::tracer::doctor {

struct CudaVersion {
  int major = 0;  // 0: not known
  int minor = 0;
  std::string text() const;  // "13.0"; "unknown"
};

// cuDriverGetVersion: 13000 is 13.0.
CudaVersion cuda_version_of_driver(int version);
// cuptiGetVersion: 130001 is 13.0; below 14000 a running number, 26 is 12.8.
CudaVersion cuda_version_of_cupti(int version);

// ncclGetVersion: 22809 is 2.28.9.
struct NcclVersion {
  int major = 0;
  int minor = 0;
  int patch = 0;
  std::string text() const;
  // NOLINTNEXTLINE(modernize-use-nullptr): what the compiler makes of it compares with 0
  auto operator<=>(const NcclVersion&) const = default;
};
NcclVersion nccl_version(int version);

// The driver's version in /proc/driver/nvidia/version ("580.65.06"); empty if there is none.
std::string driver_version(std::string_view text);

// What follows `name` on its line, without blanks: value_of_line(text, "Seccomp:"). Empty if there is none.
std::string value_of_line(std::string_view text, std::string_view name);

}  // namespace lockstep::tracer::doctor
