#include "tracer/inject/sources/host/gpu_meter.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>

namespace lockstep::tracer::host {

namespace {

constexpr std::size_t kQuantitiesADevice = 10;

// The value is looked at after the call that fills it: both are arguments here, in no order.
template <class Value>
Amount when(nvml::Return code, const Value& value) {
  return code == nvml::kSuccess ? Amount(value) : Amount();
}

}  // namespace

void GpuMeter::describe(std::vector<Quantity>& quantities) {
  using enum Quantity::Kind;
  visible_ = std::getenv("CUDA_VISIBLE_DEVICES");
  // Which GPUs these are is known when NVML has started, on the other thread: of several they are numbered as
  // the process sees them.
  const std::int32_t own = std::max(local_rank_, 0);
  for (std::size_t i = 0; i < (local_rank_ >= 0 ? 1 : kMaxDevices); ++i) {
    const auto device = static_cast<std::uint32_t>(local_rank_ >= 0 ? own : static_cast<std::int32_t>(i));
    const std::string gpu = "gpu " + std::to_string(device) + " ";
    const std::array<Quantity, kQuantitiesADevice> all{
        {{gpu + "SM clock (MHz)", gauge, 1, device},
         {gpu + "memory clock (MHz)", gauge, 1, device},
         {gpu + "power (W)", gauge, 1e-3, device},
         {gpu + "temperature (°C)", gauge, 1, device},
         {gpu + "throttled by power", gauge, 1, device},
         {gpu + "throttled by heat", gauge, 1, device},
         {gpu + "throttled by hardware", gauge, 1, device},
         {gpu + "ECC errors corrected (per s)", rate, 1, device},
         {gpu + "ECC errors uncorrected (per s)", rate, 1, device},
         {gpu + "PCIe replays (per s)", rate, 1, device}}};
    quantities.insert(quantities.end(), all.begin(), all.end());
  }
}

// On the sampling thread: NVML takes its time to start.
void GpuMeter::start() noexcept {
  void* const library = dlopen(library_, RTLD_LAZY | RTLD_LOCAL);
  if (library == nullptr) return state_.store(State::absent);
  if (!nvml::find_functions(library, functions_)) return state_.store(State::unusable);
  unsigned count = 0;
  nvml::Return code = functions_.init();
  if (code == nvml::kSuccess) code = functions_.count(&count);
  if (code != nvml::kSuccess) {
    code_.store(code);
    return state_.store(State::failed);
  }
  try {
    const DeviceChoice choice = choose_devices(visible_, local_rank_, count);
    had_problem_ = !choice.problem.empty();
    for (const DeviceName& name : choice.devices) {
      if (count_ == kMaxDevices) break;
      nvml::Device device = nullptr;
      const bool by_uuid = !name.uuid.empty() && functions_.by_uuid != nullptr;
      code = by_uuid ? functions_.by_uuid(name.uuid.c_str(), &device)
                     : functions_.by_index(static_cast<unsigned>(std::max(name.index, 0)), &device);
      if (code != nvml::kSuccess) {
        had_problem_ = true;
        continue;
      }
      devices_[count_++] = device;
    }
  } catch (...) {
    return state_.store(State::unusable);
  }
  state_.store(State::ready);
}

void GpuMeter::read(Amount* readings) noexcept {
  if (state_.load(std::memory_order_relaxed) == State::untried) start();
  if (state_.load(std::memory_order_relaxed) != State::ready) return;
  for (std::size_t i = 0; i < count_; ++i) {
    Amount* const out = readings + i * kQuantitiesADevice;
    nvml::Device const device = devices_[i];
    unsigned value = 0;
    unsigned long long wide = 0;
    if (functions_.clock != nullptr) {
      out[0] = when(functions_.clock(device, nvml::kClockSm, &value), value);
      out[1] = when(functions_.clock(device, nvml::kClockMemory, &value), value);
    }
    if (functions_.power != nullptr) out[2] = when(functions_.power(device, &value), value);
    if (functions_.temperature != nullptr) {
      out[3] = when(functions_.temperature(device, nvml::kTemperatureGpu, &value), value);
    }
    if (functions_.throttle_reasons != nullptr &&
        functions_.throttle_reasons(device, &wide) == nvml::kSuccess) {
      out[4] = (wide & nvml::kSoftwarePowerCap) != 0;
      out[5] = (wide & (nvml::kSoftwareThermal | nvml::kHardwareThermal)) != 0;
      out[6] = (wide & (nvml::kHardwareSlowdown | nvml::kHardwarePowerBrake)) != 0;
    }
    if (functions_.ecc_errors != nullptr) {
      out[7] = when(functions_.ecc_errors(device, nvml::kCorrected, nvml::kVolatile, &wide), wide);
      out[8] = when(functions_.ecc_errors(device, nvml::kUncorrected, nvml::kVolatile, &wide), wide);
    }
    if (functions_.pcie_replays != nullptr) out[9] = when(functions_.pcie_replays(device, &value), value);
  }
}

std::string GpuMeter::problem() const {
  switch (state_.load()) {
    case State::untried:
      return {};
    case State::absent:
      return "libnvidia-ml.so.1 does not load: no GPU clocks, power, throttling and errors";
    case State::unusable:
      return "libnvidia-ml.so.1 lacks functions: no GPU clocks, power, throttling and errors";
    case State::failed:
      return "NVML does not start (error " + std::to_string(code_.load()) + ")";
    case State::ready:
      return had_problem_ ? "some of the visible GPUs can't be followed (MIG slices, or not seen by NVML)"
                          : "";
  }
  return {};
}

}  // namespace lockstep::tracer::host
