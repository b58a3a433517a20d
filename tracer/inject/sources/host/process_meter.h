// This process: CPU time, page faults, context switches, memory, where its main thread runs, and how long its
// threads waited for a processor.
#pragma once

#include <array>
#include <atomic>

#include "tracer/inject/sources/host/quantity.h"

namespace lockstep::tracer::host {

class ProcessMeter final : public Meter {
 public:
  void describe(std::vector<Quantity>& quantities) override;
  void read(Amount* readings) noexcept override;
  std::string problem() const override;

 private:
  std::atomic<bool> has_resident_{true};  // told by the sampler, asked by the writer
};

// Run-queue delay of all threads together. A process may have thousands: only so many are read at a time, in
// turns, and threads beyond kMaxThreads are not followed.
class ThreadMeter final : public Meter {
 public:
  static constexpr std::size_t kMaxThreads = 512;
  static constexpr std::size_t kThreadsATime = 16;
  static constexpr unsigned kSamplesAListing = 10;

  void describe(std::vector<Quantity>& quantities) override;
  void read(Amount* readings) noexcept override;
  std::string problem() const override;

 private:
  struct Followed {
    std::uint32_t thread = 0;
    std::uint64_t waiting_ns = 0;  // as last read
  };
  void list() noexcept;

  std::array<Followed, kMaxThreads> followed_{};
  std::array<std::uint32_t, kMaxThreads> listed_{};
  std::size_t count_ = 0;
  std::size_t next_ = 0;
  unsigned sample_ = 0;
  bool first_ = true;
  std::atomic<bool> available_{true};  // told by the sampler, asked by the writer
  std::atomic<bool> too_many_{false};
  std::uint64_t waiting_ns_ = 0;  // of all, since we look
};

}  // namespace lockstep::tracer::host
