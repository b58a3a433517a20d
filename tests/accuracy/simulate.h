// Simulated data-parallel training jobs as the analyzer sees them: healthy with the noise of real runs, or
// with a fault planted whose truth is known.
#pragma once

#include <cstdint>
#include <string_view>

#include "analyzer/model/job.h"
#include "tests/accuracy/noise.h"

namespace lockstep::accuracy {

// A step of either: loading, what the host does besides, forward, backward in three parts with an all-reduce
// each (under the compute that follows, the last one exposed), optimizer.
enum class Platform : std::uint8_t {
  gpu,  // kernels with launches; the host waits for the device at the end of each step; 8 ranks a host
  cpu,  // the thread itself computes, Gloo-like collectives beside it; 8 ranks a host
};

enum class Fault : std::uint8_t {
  none,
  compute,   // the rank computes longer
  loader,    // its batches come later
  host,      // it launches its work later; on a CPU it does something else first, in a range with a name
  link,      // its transfers take longer, each by the effect: compute hides all but the last of a step; each
             // rank is on a host of its own
  periodic,  // in every tenth step it computes longer, by ten times the effect
  growing,   // it computes longer from 0 at the beginning to twice the effect at the end
  changing,  // in each step another rank computes longer: nobody is to blame
  midway,    // from a step in the middle of the run on it computes longer, by the effect in each of these
};
inline constexpr int kFaultCount = 9;
std::string_view to_string(Fault fault);
std::string_view to_string(Platform platform);

struct Plan {
  std::int32_t ranks = 2;
  int steps = 50;
  Platform platform = Platform::gpu;
  Fault fault = Fault::none;
  double effect = 0;  // lost by the rank (changing: by each step) on average, as a share of a typical step
  std::int32_t slow_rank = 0;    // that the fault is planted in
  double noise_scale = 1;        // of the recording's deviations (scale_for)
  bool levelled = true;          // RankNoise
  double transfer_share = 0.03;  // of a step, each of the three all-reduces
  std::uint64_t seed = 0;
};

analyzer::Job simulate(const Plan& plan, const NoiseRecording& noise);

}  // namespace lockstep::accuracy
