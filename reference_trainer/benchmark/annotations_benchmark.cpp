// What the trainer's annotations cost where nobody listens: the ranges of one step, as it opens them, names
// and all. Each figure is for one range; `percent_of_a_step` is what a step of the default job (65 ms on one
// core of two) pays for all of its ranges.
#include <benchmark/benchmark.h>

#include <chrono>
#include <string>

#include "reference_trainer/device/compute_lane.h"
#include "reference_trainer/faults/rank_faults.h"
#include "reference_trainer/instrumentation/annotations.h"

namespace lockstep::trainer {
namespace {

// Of `lockstep train --ranks 2`, as recorded: 6 layers, embedding and head, both ways, with the optimizer;
// the phases around them; five gradient buckets, the loss and the gradient norm, each issued and run.
constexpr int kComputations = 19, kPhases = 12, kOperations = 7;
constexpr double kStepSeconds = 0.065;

class Watch {
 public:
  void report(benchmark::State& state, int of_a_step) const {
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - begin_;
    state.counters["percent_of_a_step"] =
        100 * elapsed.count() / static_cast<double>(state.iterations()) * of_a_step / kStepSeconds;
  }

 private:
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

void BM_ComputeRange(benchmark::State& state) {
  RankFaults faults;
  ComputeLane lane({}, 0, 0, faults);
  const Watch watch;
  for (auto _ : state) {
    const std::string name =
        std::string(annotations::to_string(Pass::forward)) + " layer " + std::to_string(3);
    const auto range = lane.compute({Pass::forward, name, 3, 0});
    benchmark::ClobberMemory();
  }
  watch.report(state, kComputations);
}
BENCHMARK(BM_ComputeRange);

void BM_Phase(benchmark::State& state) {
  const Watch watch;
  for (auto _ : state) {
    const auto range = annotations::Scope::phase("forward");
    benchmark::ClobberMemory();
  }
  watch.report(state, kPhases);
}
BENCHMARK(BM_Phase);

// The descriptor is made to be issued, and once more to be run.
void BM_Collective(benchmark::State& state) {
  std::uint64_t sequence = 0;
  const Watch watch;
  for (auto _ : state) {
    const annotations::Collective collective{.name = std::string("all_reduce gradients ") + std::to_string(3),
                                             .sequence = sequence++,
                                             .bytes = 1 << 20,
                                             .operation = trace::Operation::all_reduce,
                                             .data_type = trace::DataType::float32};
    const annotations::Collective copy = collective;
    const auto issued = annotations::Scope::issue(collective);
    const auto ran = annotations::Scope::collective(copy);
    benchmark::ClobberMemory();
  }
  watch.report(state, kOperations);
}
BENCHMARK(BM_Collective);

}  // namespace
}  // namespace lockstep::trainer

BENCHMARK_MAIN();
