#include "reference_trainer/faults/rank_faults.h"

#include <algorithm>
#include <thread>

namespace lockstep::trainer {

using std::chrono::nanoseconds;

void RankFaults::begin_step(std::int64_t step) {
  computations_of_step_before_ = std::max(1, std::exchange(computations_, 0));
  skip_next_ = plan_.skips_collective(place_.rank, step);
  step_ = step;
}

void RankFaults::before_computation() {
  if (plan_.empty()) return;
  const nanoseconds late = plan_.launch_delay(place_.rank, step_) +
                           plan_.pause(place_.rank, step_, computations_++, computations_of_step_before_);
  if (late > nanoseconds::zero()) std::this_thread::sleep_for(late);
}

void RankFaults::wait_for_batch() const {
  const nanoseconds late = plan_.loader_delay(place_.rank, step_);
  if (late > nanoseconds::zero()) std::this_thread::sleep_for(late);
}

double RankFaults::compute_factor(std::int64_t microbatch) const {
  if (plan_.empty()) return 1;
  return plan_.compute_factor(place_.rank, place_.stage, step_) *
         (microbatch >= 0 ? batch_factor(microbatch) : 1);
}

double RankFaults::batch_factor(std::int64_t microbatch) const {
  return plan_.batch_factor(place_.replica, step_, static_cast<int>(microbatch), place_.samples);
}

nanoseconds RankFaults::sending_time(std::int64_t bytes) const {
  return plan_.sending_time(place_.rank, step_, bytes).value_or(nanoseconds::zero());
}

bool RankFaults::skip_collective() {
  return skip_next_.exchange(false);
}

}  // namespace lockstep::trainer
