// The source "cpu": counters of the process, its node and its GPUs, ten times a second. On request only:
// LOCKSTEP_CPU=1 (`record --cpu`), or "cpu" in LOCKSTEP_SOURCES; the GPUs alone: "nvml".
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tracer/inject/core/source.h"
#include "tracer/inject/sources/host/sampler.h"
#include "tracer/inject/sources/host/series.h"

namespace lockstep::tracer::host {

class HostSource final : public Source {
 public:
  const char* name() const noexcept override { return "cpu"; }
  void begin(SourceContext& context) override;
  void end_drain(trace::Nanoseconds now) override;
  void finish(trace::Nanoseconds now) override;
  void after_fork_in_child() noexcept override;
  void before_exit() noexcept override;

 private:
  // Of one process: what its sampling thread works with. A forked child inherits the memory without the
  // thread and leaves it as it is; a thread that does not stop in time may still use it. So it is never
  // destroyed.
  struct Work {
    std::vector<std::unique_ptr<Meter>> meters;
    std::vector<Quantity> quantities;
    std::unique_ptr<Sampler> sampler;
    Work* inherited = nullptr;
  };
  void add_meter(Work& work, std::vector<std::size_t>& counts, std::unique_ptr<Meter> meter);
  void describe();

  SourceContext* context_ = nullptr;
  Work* work_ = nullptr;
  std::atomic<Sampler*> running_{nullptr};
  std::atomic<bool> stopped_{false};  // its last sample is taken
  std::optional<SeriesWriter> series_;
  std::string described_;
  std::uint64_t lost_ = 0;
  trace::Nanoseconds last_drain_ = 0;
  bool in_child_ = false;
};

// Registers the source with the tracer, if it is wanted and anything is to be recorded. With a list of
// sources (LOCKSTEP_SOURCES) that also begins the recording: the counters may be all that is wanted. To be
// called wherever our library comes into a process. May be called often.
void register_if_wanted() noexcept;

}  // namespace lockstep::tracer::host
