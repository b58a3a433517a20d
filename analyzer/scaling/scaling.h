// How a job scales: scaling efficiency of runs on different numbers of ranks, and over which causes its loss
// spreads (docs/scale.md). Figures alone: scaling_outputs.h says them.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/scaling/message_law.h"
#include "analyzer/scaling/scale_run.h"
#include "analyzer/scaling/speedup_law.h"
#include "base/result.h"

namespace lockstep::analyzer {

enum class ScalingKind : std::uint8_t {
  weak,    // each rank does as much, however many there are: the ideal step takes as long
  strong,  // the job does as much: the ideal step takes as much less as there are more ranks
};
const char* to_string(ScalingKind kind);  // "weak"

// A ratio, and where it lies with 95 % confidence; the ends are absent where one run alone is known of every
// size.
struct Estimate {
  double value = 0;
  std::optional<double> low, high;
};

// The runs of one size.
struct ScalePoint {
  std::int32_t ranks = 0;
  std::vector<std::string> paths;
  std::int64_t step_ns = 0;                           // the mean over runs
  std::array<std::int64_t, kCauseCount> causes_ns{};  // sum to the step
  std::int64_t ideal_ns = 0;                          // of the step, after the smallest size
  std::array<std::int64_t, kCauseCount> loss_ns{};    // sum to step_ns - ideal_ns
  std::int64_t total_loss_ns() const { return step_ns - ideal_ns; }
  Estimate efficiency;                             // after the smallest size
  std::optional<Estimate> efficiency_distributed;  // after the smallest size of two ranks and more
  // POP's: parallel efficiency is the product of the first two, global efficiency of all three.
  std::optional<double> load_balance, communication_efficiency, computation_scaling;
  std::string shared;  // as ScaleRun has it
};

struct Scaling {
  ScalingKind kind = ScalingKind::weak;
  bool kind_is_guessed = false;    // from how much a rank computes
  std::vector<ScalePoint> points;  // by ranks, the smallest first; at least two
  std::vector<MessageLaw> messages;
  std::optional<SpeedupLaw> law;  // of five sizes and more
  // In what runs differ beside their number of ranks and where they ran: "--batch-size", "command".
  std::vector<std::string> differences;
  bool waits_known = true;  // else waiting is a part of transfer
};

// `kind` absent: told from how much a rank computes on the smallest and the largest size. The error says what
// is missing.
Result<Scaling> scaling_of(const std::vector<ScaleRun>& runs, std::optional<ScalingKind> kind);

}  // namespace lockstep::analyzer
