// What a rank's GPU was read to do while it computed: clocks, power, temperature, throttling (docs/host.md).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "analyzer/lateness/step_table.h"
#include "analyzer/model/job.h"
#include "analyzer/report/report.h"

namespace lockstep::analyzer {

enum class Throttle : std::uint8_t { heat, hardware, power };
inline constexpr std::size_t kThrottleCount = 3;

// Medians of the readings that lie within the rank's computations in the table's steps: a GPU that waits may
// clock down, and that slows nothing.
struct GpuReadings {
  std::size_t count = 0;  // of its SM clock; 0: never read while it computed
  bool tells = false;     // five at least, in half of the steps' parts (of ten) at least
  double sm_mhz = 0;
  std::optional<double> memory_mhz = std::nullopt, watts = std::nullopt, celsius = std::nullopt;
  // By Throttle: the share of readings in which it was throttled so; absent where that was not read.
  std::array<std::optional<double>, kThrottleCount> throttled = {};
};

// Absent where no SM clock of the GPU that the rank computes on was recorded, or several ranks share that
// GPU. `rank`: an index into the table. O(activities + readings · log activities).
std::optional<GpuReadings> gpu_readings(const Job& job, const Report& report, const StepTable& steps,
                                        std::size_t rank);

}  // namespace lockstep::analyzer
