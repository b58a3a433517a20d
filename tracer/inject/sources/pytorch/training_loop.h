// Finds the steps and phases of a training loop that nobody annotated, from what its thread is seen to do.
//
// A step ends with its optimizer: at the end of the last optimizer step before an optimizer steps that had
// stepped already, and where the process counts steps (StepCounter), before the count has gone on. That is
// right with one optimizer, with several that take turns, with one for each parameter (optimizer in
// backward), and with gradient accumulation, where many backward passes come before one optimizer step. A
// second optimizer that steps less often than the first makes no steps of its own: it belongs to the step
// that it comes behind. Steps follow each other without a gap: what happens between two of them (loading,
// logging, evaluation) belongs to the second.
//
// Computation is told only where the model computes on the CPU: phases, less what the thread waits for
// communication. A forward pass shows itself as a range where a wrapper (DistributedDataParallel, a pipeline
// stage) names it; elsewhere it is what happens between the data, or the step's begin, and the backward pass.
// What lies between a backward pass and its optimizer (clipping, unscaling) is the optimizer's, as far as the
// thread ran there.
#pragma once

#include <cstdint>
#include <set>
#include <string_view>
#include <vector>

#include "trace/events/event.h"
#include "tracer/inject/sources/pytorch/records.h"

namespace lockstep::tracer::pytorch {

class TrainingLoop {
 public:
  struct Computed {
    trace::Nanoseconds begin = 0;
    trace::Nanoseconds end = 0;
    trace::Pass pass = trace::Pass::other;
    std::int32_t microbatch = -1;
  };

  // Times don't decrease. Phases nest. `ran`: how long the thread has run on a core, ever, ns; negative: not
  // known.
  void begin(Phase phase, std::uint64_t identity, std::int32_t microbatch, trace::Nanoseconds time,
             std::int64_t ran = -1);
  void end(Phase phase, trace::Nanoseconds time, std::int64_t ran = -1);
  void begin_wait(trace::Nanoseconds time);
  void end_wait(trace::Nanoseconds time);
  // The forward pass is under way, as the first of its parts tells (FSDP names them, and not the whole).
  void forward_part(trace::Nanoseconds time);
  // The forward pass of a whole model without gradients, in a program that has not trained: it is computation
  // whatever comes behind it, and no part of a step. Not where a phase, which tells more, is open.
  void begin_alone(trace::Nanoseconds time);
  void end_alone(trace::Nanoseconds time);
  // The loop has begun, as a range tells that belongs to no phase (an optimizer that sets gradients to zero).
  void touch(trace::Nanoseconds time);
  // The process counts that a step begins here (StepCounter), also while nothing else of it is recorded:
  // gives the steps their numbers, and where none of the one before was seen, the begin.
  void step_began(std::int64_t number, trace::Nanoseconds time);
  // What is held is to be written now (--ring): a step that is counted as over is told without waiting for
  // the next one's optimizer. Only once the first steps have shown which optimizers belong to one
  // (StepCounter).
  void close_counted_step();
  // The same of a step that was counted as over before `time`, as the next one's optimizer may never come:
  // the job hangs, or the process is killed. Of the first steps none.
  void close_step_counted_before(trace::Nanoseconds time);
  // Nothing more comes.
  void finish();

  // What has become clear since it was last taken.
  std::vector<trace::Step> take_steps();  // lane is not set
  std::vector<Computed> take_computed();

 private:
  struct Open {
    Phase phase = Phase::data;
    std::int32_t microbatch = -1;
  };

  // Ends the piece of computation that runs, and begins the next, of what the thread does now.
  void cut(trace::Nanoseconds time);
  void compute(const Computed& piece);
  // What to call the pieces since the last phase, which are only now understood; Pass::other: nothing, but of
  // forward passes alone.
  void settle_gap(trace::Pass pass, std::int32_t microbatch = -1);
  // Where the thread ran for less than half of the gap, it did something else there (it slept, or waited for
  // a file): of the gap's end, as long as it ran is left.
  void leave_what_ran(std::int64_t ran);
  void tell_step(trace::Nanoseconds end);
  static bool is_alone(const Computed& of_gap);
  bool in_gap() const { return open_.empty(); }

  static constexpr std::size_t kMaxGapPieces = 65536;

  std::vector<Open> open_;
  int waits_ = 0;
  bool started_ = false;
  trace::Nanoseconds piece_begin_ = 0;
  std::vector<Computed> gap_;  // Pass::other, or of a forward pass alone
  bool alone_ = false;
  bool forward_seen_ = false;  // in this gap
  Phase before_gap_ = Phase::data;
  std::int64_t ran_before_gap_ = -1;
  std::int32_t microbatch_before_gap_ = -1;
  std::set<std::uint64_t> stepped_;  // optimizers that have stepped in this step
  trace::Nanoseconds step_begin_ = 0;
  trace::Nanoseconds optimizer_end_ = 0;
  std::int64_t step_ = 0;  // the number of the next that is told
  bool optimizer_since_count_ = false;
  bool counts_ = false;   // the process counts steps
  bool counted_ = false;  // the step is over by count, and no optimizer of the next one has begun
  trace::Nanoseconds counted_at_ = 0;
  std::set<std::uint64_t> of_counted_;  // optimizers that had stepped by then
  std::vector<trace::Step> steps_;
  std::vector<Computed> computed_;
};

// What a range of PyTorch's own tells about the loop.
struct RangeMeaning {
  enum class Kind : std::uint8_t { none, data, forward, forward_part, forward_alone, loop } kind = Kind::none;
};
// By its name: "DistributedDataParallel.forward", "enumerate(DataLoader)#…__next__", "FSDP::pre_forward …",
// "Optimizer.zero_grad#…". A pipeline's "Forward 3" is none: it holds the wait for its message as well, and
// the stage itself says when it computes. "forward of …" has a meaning where the hook `is_ours`.
RangeMeaning meaning_of_range(std::string_view name, bool is_ours = false);

}  // namespace lockstep::tracer::pytorch
