// In which order a rank of a pipeline computes the forward and backward passes of a step's microbatches.
//
// A rank is one of P stages. In the interleaved schedule it holds `chunks` pieces of the model: piece c of
// stage r is model stage c · P + r, and a microbatch goes around the ranks `chunks` times. In the others it
// holds one.
//
//   gpipe        all forwards, then all backwards (Huang et al. 2019)
//   1f1b         min(M, P − r) forwards, then backward and forward in turns, then the backwards that are left
//                (Narayanan et al. 2019): as soon as a microbatch can go back, it does
//   interleaved  1f1b over chunks, in rounds of as many microbatches as there are stages (Narayanan et al.
//                2021): warm-up, then forward and backward in turns, then the backwards that are left
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace lockstep::trainer {

enum class PipelineSchedule { gpipe, one_forward_one_backward, interleaved };

struct PipelineShape {
  PipelineSchedule schedule = PipelineSchedule::one_forward_one_backward;
  int stages = 2;  // P: ranks in a row
  int microbatches = 1;
  int chunks = 1;  // of the model on each rank

  int model_stages() const { return stages * chunks; }
};

struct Action {
  enum class Kind { forward, backward };
  Kind kind = Kind::forward;
  int microbatch = 0;
  int chunk = 0;

  bool operator==(const Action&) const = default;
};

// Whether there is a schedule for this shape; the error names flags and says which values would do.
Status check_shape(const PipelineShape& shape);

// What the rank at `stage` (from 0) computes, in order: each microbatch and chunk once forward, once
// backward. Precondition: check_shape(shape) is ok.
std::vector<Action> make_schedule(const PipelineShape& shape, int stage);

const char* to_string(PipelineSchedule schedule);  // "1f1b"

// The values next to `value` that `divisor` divides, as words: "8 or 12", or "4" where there is none below.
std::string nearest_multiples(int value, int divisor);

}  // namespace lockstep::trainer
