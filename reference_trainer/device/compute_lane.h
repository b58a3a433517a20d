// Where a rank computes. Every piece of compute is a range of this lane: NVTX hears its layer, microbatch and
// pass, and the paced device holds the lane for as long as a modelled accelerator would need.
//
//   { const auto range = lane.compute({Pass::forward, "forward layer 3", 3, microbatch, flops});  …
//   arithmetic … }
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "reference_trainer/faults/rank_faults.h"
#include "reference_trainer/instrumentation/annotations.h"
#include "reference_trainer/options/options.h"
#include "reference_trainer/streams/stream.h"

namespace lockstep::trainer {

using annotations::Pass;

struct Computation {
  Pass pass = Pass::other;
  std::string_view name;
  std::int64_t layer = annotations::kNoLayer;
  std::int64_t microbatch = -1;
  double flops = 0;  // of the model, for the paced device; 0: takes as long as it takes
};

class ComputeLane {
 public:
  // `rank` makes the jitter of each rank its own. `faults` must live as long as this.
  ComputeLane(const PaceOptions& pace, std::uint64_t seed, int rank, RankFaults& faults);
  // From now on ranges are those of a device: each lasts while the device computes what was issued in it, as
  // events say (streams/device_stream.h: mark()), and a thread named `name` shows it to tools.
  void follow_device(std::string name, std::function<Event()> mark);
  bool on_device() const { return mark_ != nullptr; }

  class [[nodiscard]] Range {
   public:
    ~Range() { end(); }
    Range(const Range&) = delete;
    Range& operator=(const Range&) = delete;
    // Before the end of the scope; then that does nothing.
    void end();

   private:
    friend class ComputeLane;
    Range(ComputeLane& lane, const Computation& computation);
    ComputeLane* lane_;
    std::int64_t start_ns_ = 0;  // of the arithmetic
    std::int64_t end_ns_ = 0;    // modelled; 0: takes as long as it takes
    Pass pass_ = Pass::other;
  };
  // Don't nest them, and don't leave one open while waiting for communication. Where faults say so, it begins
  // late; on the paced device it takes longer.
  Range compute(const Computation& computation) { return {*this, computation}; }

  // Off the paced device a slow rank really computes more: so many times a layer's forward, besides the one
  // that counts.
  double extra_forwards(std::int64_t microbatch) const {
    return paced() ? 0 : faults_.compute_factor(microbatch) - 1;
  }

  bool paced() const { return pace_.flops_per_second > 0; }
  // Ranges with a modelled time so far, and those whose real arithmetic took longer than it.
  std::uint64_t held() const { return held_; }
  std::uint64_t late() const { return late_; }

 private:
  std::int64_t modelled_ns(const Computation& computation);
  void begin_on_device(const Computation& computation);
  void end_on_device();

  PaceOptions pace_;
  RankFaults& faults_;
  std::uint64_t random_;
  std::uint64_t held_ = 0, late_ = 0;
  // How long the arithmetic of each pass has lately taken at most: it starts so long before its modelled end.
  std::array<std::int64_t, 5> arithmetic_ns_{};
  std::function<Event()> mark_;           // null on the CPU
  std::unique_ptr<HostStream> follower_;  // null: no device, or no tool
};

}  // namespace lockstep::trainer
