// How much later a command starts under `lockstep record`, and how much later it is over.
//
// Each round runs `date` plain and recorded; what it prints is when it ran. Counters, medians over rounds:
// start_ms (from starting `lockstep record` to what the command prints, less the same of the plain command),
// whole_ms (from start to end, likewise), plain_ms (of the plain command alone).
#include <benchmark/benchmark.h>
#include <time.h>

#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/intervals/median.h"
#include "tests/end_to_end/support.h"

namespace lockstep {
namespace {

constexpr int kRounds = 100;

std::int64_t now() {
  timespec time{};
  clock_gettime(CLOCK_REALTIME, &time);
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

// In milliseconds since the first process was started.
struct Times {
  double printed = 0, over = 0;
};

std::optional<Times> times_of(std::vector<std::string> command) {
  command.insert(command.end(), {"/bin/date", "+%s%N"});
  const std::int64_t begin = now();
  const end_to_end::Outcome outcome = end_to_end::run(command);
  const std::int64_t end = now();
  if (outcome.exit_code != 0) return std::nullopt;
  const std::int64_t printed = std::atoll(outcome.standard_output.c_str());
  return Times{1e-6 * static_cast<double>(printed - begin), 1e-6 * static_cast<double>(end - begin)};
}

void BM_StartOfRecord(benchmark::State& state) {
  std::vector<double> start, whole, plain;
  for (auto _ : state) {
    for (int round = 0; round < kRounds; ++round) {
      const end_to_end::TemporaryFolder folder;
      const auto bare = times_of({});
      const auto recorded =
          times_of({end_to_end::binary("lockstep"), "record", "--quiet", "-o", folder / "run", "--"});
      if (!bare || !recorded) {
        state.SkipWithError("date could not be run");
        return;
      }
      start.push_back(recorded->printed - bare->printed);
      whole.push_back(recorded->over - bare->over);
      plain.push_back(bare->over);
    }
  }
  state.counters["start_ms"] = analyzer::lower_median(start);
  state.counters["whole_ms"] = analyzer::lower_median(whole);
  state.counters["plain_ms"] = analyzer::lower_median(plain);
}
BENCHMARK(BM_StartOfRecord)->Iterations(1)->Unit(benchmark::kSecond);

}  // namespace
}  // namespace lockstep

BENCHMARK_MAIN();
