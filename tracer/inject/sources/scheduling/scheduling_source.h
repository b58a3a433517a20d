// The source "scheduling": when the threads that train ran, slept, and waited for a core
// (trace/events/scheduling.h). Recorded by default, once a thread of the process is seen to train.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>

#include "tracer/inject/core/source.h"
#include "tracer/inject/sources/scheduling/run_sampler.h"

namespace lockstep::tracer::scheduling {

class SchedulingSource final : public Source {
 public:
  const char* name() const noexcept override { return "scheduling"; }
  void begin(SourceContext& context) override;
  void end_drain(trace::Nanoseconds now) override;
  void finish(trace::Nanoseconds now) override;
  void after_fork_in_child() noexcept override;
  void before_exit() noexcept override;
  void pause() noexcept override;
  void resume() noexcept override;

 private:
  // Of one process, never destroyed: a forked child inherits it without its thread, and a thread that does
  // not stop in time may still use it.
  struct Work {
    RunSampler sampler;
    Work* inherited = nullptr;
    explicit Work(Work* before);
  };
  // A counter whose values are written in steps of 1/1024: what rounding leaves goes to the next one, so that
  // the sum is right.
  struct Track {
    trace::LaneId lane = 0;
    std::int64_t left_ns = 0;
  };

  void start();
  void write(const RunInterval& interval);
  void write(Track& track, const RunInterval& interval, std::uint64_t ns);
  void tell_threads();
  void tell_cores(trace::Nanoseconds now);

  SourceContext* context_ = nullptr;
  Work* work_ = nullptr;
  std::atomic<RunSampler*> running_{nullptr};
  std::atomic<bool> paused_{false};
  std::atomic<bool> stopped_{false};
  bool tried_ = false;  // to start: once a file
  bool told_problem_ = false;
  std::size_t told_threads_ = 0;
  std::string threads_text_;
  std::optional<trace::Nanoseconds> written_to_;
  std::optional<trace::Nanoseconds> cores_told_at_;
  std::string core_set_;
  double core_quota_ = 0;
  Track on_cpu_, runnable_, waited_;
};

// Registers the source, if it is wanted and anything is to be recorded. To be called wherever our library
// comes into a process. May be called often.
void register_if_wanted() noexcept;

}  // namespace lockstep::tracer::scheduling
