// GPUs through NVML: clocks, power, temperature, throttling, ECC errors, PCIe replays.
#pragma once

#include <array>
#include <atomic>
#include <string>
#include <vector>

#include "tracer/inject/sources/host/nvml.h"
#include "tracer/inject/sources/host/quantity.h"
#include "tracer/inject/sources/host/visible_devices.h"

namespace lockstep::tracer::host {

class GpuMeter final : public Meter {
 public:
  static constexpr std::size_t kMaxDevices = 8;

  // `library`: libnvidia-ml.so.1, or what a test has in its place.
  GpuMeter(const char* library, std::int32_t local_rank) : library_(library), local_rank_(local_rank) {}
  void describe(std::vector<Quantity>& quantities) override;
  void read(Amount* readings) noexcept override;
  std::string problem() const override;

 private:
  enum class State : std::uint8_t { untried, absent, failed, unusable, ready };
  void start() noexcept;

  const char* library_;
  std::int32_t local_rank_;
  const char* visible_ = nullptr;
  nvml::Functions functions_;
  std::array<nvml::Device, kMaxDevices> devices_{};
  std::size_t count_ = 0;
  bool had_problem_ = false;  // with the choice of devices
  std::atomic<State> state_{State::untried};
  std::atomic<int> code_{0};  // of the call that failed
};

}  // namespace lockstep::tracer::host
