#include "tracer/inject/sources/pytorch/training_loop.h"

#include <algorithm>
#include <utility>

#include "trace/events/operator_ranges.h"

namespace lockstep::tracer::pytorch {

namespace {

// Another optimizer may join one of these although it was counted as over (StepCounter).
constexpr std::int64_t kFirstSteps = 2;

trace::Pass pass_of(Phase phase) {
  switch (phase) {
    case Phase::forward:
      return trace::Pass::forward;
    case Phase::backward:
      return trace::Pass::backward;
    case Phase::optimizer:
      return trace::Pass::optimizer;
    case Phase::data:
      break;
  }
  return trace::Pass::other;
}

}  // namespace

bool TrainingLoop::is_alone(const Computed& of_gap) {
  return of_gap.pass != trace::Pass::other;
}

void TrainingLoop::cut(trace::Nanoseconds time) {
  const trace::Nanoseconds begin = std::exchange(piece_begin_, time);
  const bool alone = alone_ && in_gap();
  if ((!started_ && !alone) || waits_ > 0 || time <= begin) return;
  if (in_gap()) {
    if (gap_.size() < kMaxGapPieces)
      gap_.push_back({begin, time, alone ? trace::Pass::forward : trace::Pass::other, -1});
    return;
  }
  const Open& now = open_.back();
  if (now.phase != Phase::data) compute({begin, time, pass_of(now.phase), now.microbatch});
}

void TrainingLoop::compute(const Computed& piece) {
  if (!computed_.empty()) {
    Computed& last = computed_.back();
    if (last.end == piece.begin && last.pass == piece.pass && last.microbatch == piece.microbatch) {
      last.end = piece.end;
      return;
    }
  }
  computed_.push_back(piece);
}

void TrainingLoop::settle_gap(trace::Pass pass, std::int32_t microbatch) {
  for (Computed& piece : gap_) {
    if (pass != trace::Pass::other) {
      piece.pass = pass;
      piece.microbatch = microbatch;
    }
    if (piece.pass != trace::Pass::other) compute(piece);
  }
  gap_.clear();
}

void TrainingLoop::leave_what_ran(std::int64_t ran) {
  if (before_gap_ != Phase::backward || ran_before_gap_ < 0 || ran < ran_before_gap_) return;
  std::int64_t length = 0, left = ran - ran_before_gap_;
  for (const Computed& piece : gap_) length += piece.end - piece.begin;
  if (2 * left >= length) return;
  for (auto piece = gap_.rbegin(); piece != gap_.rend(); ++piece) {
    const std::int64_t kept = std::min(left, piece->end - piece->begin);
    piece->begin = piece->end - kept;
    left -= kept;
  }
  std::erase_if(gap_, [](const Computed& piece) { return piece.begin == piece.end; });
}

void TrainingLoop::begin(Phase phase, std::uint64_t identity, std::int32_t microbatch,
                         trace::Nanoseconds time, std::int64_t ran) {
  cut(time);
  if (!started_) {
    started_ = true;
    step_begin_ = time;
  }
  if (in_gap()) {
    if (phase == Phase::backward) {
      // In a pipeline that is the loss of the microbatch that turns round, or the schedule's own work.
      const bool turns_round =
          microbatch < 0 || (before_gap_ == Phase::forward && microbatch == microbatch_before_gap_);
      settle_gap(turns_round ? trace::Pass::forward : trace::Pass::other, microbatch);
    } else if (phase == Phase::optimizer) {
      leave_what_ran(ran);
      // Clipping, unscaling: of the optimizer. After a forward pass without a backward pass: not understood.
      settle_gap(before_gap_ == Phase::backward ? trace::Pass::optimizer : trace::Pass::other);
    } else {
      settle_gap(trace::Pass::other);
    }
    forward_seen_ = false;
  }
  // By count, another step has begun if one steps that belonged to the last: not one that comes behind it,
  // twice.
  const bool may_be_over = !counts_ || (counted_ && of_counted_.contains(identity));
  if (phase == Phase::optimizer && !stepped_.insert(identity).second && may_be_over) {
    // Should the end of its step before have been lost, this one is it.
    const trace::Nanoseconds end = optimizer_end_ > step_begin_ ? optimizer_end_ : time;
    tell_step(end);
    stepped_ = {identity};
    counted_ = false;
  }
  // A backward pass inside a range that names it (a pipeline stage's) is of the same microbatch.
  if (microbatch < 0 && !open_.empty()) microbatch = open_.back().microbatch;
  open_.push_back({phase, microbatch});
}

void TrainingLoop::end(Phase phase, trace::Nanoseconds time, std::int64_t ran) {
  const auto found =
      std::find_if(open_.rbegin(), open_.rend(), [phase](const Open& open) { return open.phase == phase; });
  if (found == open_.rend()) return;  // it began before recording did
  cut(time);
  const std::int32_t microbatch = found->microbatch;
  // What was opened inside it and not closed (an exception) ends with it.
  open_.erase(std::next(found).base(), open_.end());
  if (phase == Phase::optimizer) {
    optimizer_end_ = time;
    optimizer_since_count_ = true;
  }
  if (in_gap()) {
    before_gap_ = phase;
    microbatch_before_gap_ = microbatch;
    ran_before_gap_ = ran;
  }
}

void TrainingLoop::begin_wait(trace::Nanoseconds time) {
  cut(time);
  ++waits_;
}

void TrainingLoop::end_wait(trace::Nanoseconds time) {
  if (waits_ == 0) return;
  cut(time);
  --waits_;
}

void TrainingLoop::touch(trace::Nanoseconds time) {
  if (started_) return;
  started_ = true;
  step_begin_ = piece_begin_ = time;
}

void TrainingLoop::forward_part(trace::Nanoseconds time) {
  touch(time);
  if (!in_gap() || forward_seen_) return;
  cut(time);
  settle_gap(trace::Pass::other);  // what came before it was no forward pass
  forward_seen_ = true;
}

void TrainingLoop::begin_alone(trace::Nanoseconds time) {
  cut(time);
  // One may be a teacher's in the first step, whose backward pass comes; after two nothing is waited for.
  if (in_gap() && std::any_of(gap_.begin(), gap_.end(), is_alone)) settle_gap(trace::Pass::other);
  alone_ = true;
}

void TrainingLoop::end_alone(trace::Nanoseconds time) {
  cut(time);
  alone_ = false;
}

void TrainingLoop::tell_step(trace::Nanoseconds end) {
  steps_.push_back(trace::Step{0, step_begin_, end, step_++});
  step_begin_ = end;
}

void TrainingLoop::step_began(std::int64_t number, trace::Nanoseconds time) {
  counts_ = true;
  if (std::exchange(optimizer_since_count_, false)) {
    step_ = number - 1;  // of the step whose optimizers were seen: it is told when another one's are
    counted_ = true;
    counted_at_ = time;
    of_counted_ = stepped_;
    return;
  }
  // Nothing of the step before was recorded: this one begins here.
  finish();
  cut(time);
  gap_.clear();
  started_ = true;
  step_begin_ = time;
  step_ = number;
}

void TrainingLoop::close_counted_step() {
  if (counted_) finish();
}

void TrainingLoop::close_step_counted_before(trace::Nanoseconds time) {
  if (step_ >= kFirstSteps && counted_at_ < time) close_counted_step();
}

void TrainingLoop::finish() {
  counted_ = false;
  if (!stepped_.empty() && optimizer_end_ > step_begin_) tell_step(optimizer_end_);
  stepped_.clear();
  // What is not understood yet stays: a backward pass may come.
  for (const Computed& piece : gap_)
    if (is_alone(piece)) compute(piece);
  std::erase_if(gap_, is_alone);
}

std::vector<trace::Step> TrainingLoop::take_steps() {
  return std::exchange(steps_, {});
}

std::vector<TrainingLoop::Computed> TrainingLoop::take_computed() {
  return std::exchange(computed_, {});
}

RangeMeaning meaning_of_range(std::string_view name, bool is_ours) {
  using Kind = RangeMeaning::Kind;
  if (is_ours && name.starts_with(trace::kForwardOf)) return {Kind::forward_alone};
  if (name.starts_with("enumerate(DataLoader)#")) return {Kind::data};
  if (name == "DistributedDataParallel.forward" || name == "FullyShardedDataParallel.forward")
    return {Kind::forward};
  if (name.starts_with("FSDP::pre_forward") || name.starts_with("FSDP::root_pre_forward"))
    return {Kind::forward_part};
  if (name.starts_with("Optimizer.zero_grad#")) return {Kind::loop};
  return {};
}

}  // namespace lockstep::tracer::pytorch
