// What an NVTX call costs the program that makes it: without a tool, with one that does nothing, and recorded
// by us, side by side. Times are nanoseconds per call pair, as the emitting process measured them.
//
// Each tool gets a process of its own (emitter.h), which makes its calls in bursts that the ring holds, with
// a pause between bursts for the writer thread. That nothing was dropped is checked in the recorded file at
// the end: a dropped event would be cheaper than a recorded one.
#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "tests/temporary_folder.h"
#include "trace/reader.h"
#include "tracer/benchmark/emitter.h"

namespace {

using lockstep::tracer::benchmark_support::Request;
using lockstep::tracer::benchmark_support::Workload;

constexpr std::uint32_t kPairsPerBurst = 500;
constexpr int kBursts = 400;
constexpr long kPauseNanoseconds = 1'500'000;

struct Tool {
  const char* name;
  const char* library;  // nullptr: none
  const char* steps;    // that are recorded; "": all
};
// outside_steps: the job is recorded, but only in a step that never comes.
constexpr std::array kTools{Tool{"no_tool", nullptr, ""}, Tool{"do_nothing_tool", DO_NOTHING_TOOL, ""},
                            Tool{"outside_steps", LOCKSTEP_INJECT, "1000000"},
                            Tool{"recorded", LOCKSTEP_INJECT, ""}};

class Emitter {
 public:
  Emitter(const Tool& tool, const std::string& run_folder) {
    std::array<int, 2> to{};
    std::array<int, 2> from{};
    if (pipe(to.data()) != 0 || pipe(from.data()) != 0) std::abort();
    child_ = fork();
    if (child_ == 0) {
      close(to[1]);
      close(from[0]);
      unsetenv("NVTX_INJECTION64_PATH");
      if (tool.library != nullptr) setenv("NVTX_INJECTION64_PATH", tool.library, 1);
      setenv("LOCKSTEP_RUN", run_folder.c_str(), 1);
      setenv("LOCKSTEP_STEPS", tool.steps, 1);
      const std::string requests = std::to_string(to[0]);
      const std::string answers = std::to_string(from[1]);
      execl("/proc/self/exe", "emitter", "--emit", requests.c_str(), answers.c_str(), nullptr);
      _exit(127);
    }
    close(to[0]);
    close(from[1]);
    requests_ = to[1];
    answers_ = from[0];
  }
  ~Emitter() {
    const Request end;
    (void)!write(requests_, &end, sizeof end);
    close(requests_);
    close(answers_);
    waitpid(child_, nullptr, 0);
  }
  Emitter(const Emitter&) = delete;
  Emitter& operator=(const Emitter&) = delete;

  // Seconds that the calls took.
  double run(Workload workload) {
    const Request request{workload, kPairsPerBurst};
    std::int64_t nanoseconds = 0;
    if (write(requests_, &request, sizeof request) != sizeof request) std::abort();
    if (read(answers_, &nanoseconds, sizeof nanoseconds) != sizeof nanoseconds) std::abort();
    calls_ += kPairsPerBurst;
    return static_cast<double>(nanoseconds) * 1e-9;
  }
  std::uint64_t calls() const { return calls_; }

 private:
  pid_t child_ = -1;
  int requests_ = -1;
  int answers_ = -1;
  std::uint64_t calls_ = 0;
};

void measure(benchmark::State& state, Emitter* emitter, Workload workload) {
  const timespec pause{0, kPauseNanoseconds};
  for (auto _ : state) {
    // A pair is an iteration of its own in the report: Google Benchmark divides by the number of bursts.
    state.SetIterationTime(emitter->run(workload) / kPairsPerBurst);
    nanosleep(&pause, nullptr);
  }
}

// Every call made must be in the file.
bool everything_was_recorded(const std::string& run_folder, std::uint64_t calls) {
  using lockstep::trace::EventKind;
  for (const auto& entry : std::filesystem::directory_iterator(run_folder)) {
    const auto reader = lockstep::trace::Reader::open(entry.path());
    if (!reader.ok()) continue;
    const std::uint64_t found =
        reader.value().count(EventKind::host_range) + reader.value().count(EventKind::mark);
    fmt::print(stderr, "recorded {} of {} ranges and marks, {:.2f} bytes each\n", found, calls,
               static_cast<double>(entry.file_size()) / static_cast<double>(found));
    return found == calls;
  }
  fmt::print(stderr, "no trace was left in {}\n", run_folder);
  return calls == 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 4 && std::strcmp(argv[1], "--emit") == 0) {
    return lockstep::tracer::benchmark_support::serve(std::atoi(argv[2]), std::atoi(argv[3]));
  }
  signal(SIGPIPE, SIG_IGN);
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  const lockstep::test::TemporaryFolder run_folder;

  std::vector<std::unique_ptr<Emitter>> emitters;
  for (const Tool& tool : kTools) {
    const std::string folder = run_folder / tool.name;
    std::filesystem::create_directory(folder);
    emitters.push_back(std::make_unique<Emitter>(tool, folder));
  }
  constexpr std::array<std::pair<const char*, Workload>, 6> kWorkloads{{
      {"push_pop", Workload::push_pop},
      {"push_pop_60_characters", Workload::push_pop_long},
      {"push_pop_registered_string", Workload::registered},
      {"push_pop_typed_payload", Workload::payload},
      {"mark", Workload::mark},
      {"start_end", Workload::start_end},
  }};
  for (const auto& [name, workload] : kWorkloads) {
    for (std::size_t i = 0; i < kTools.size(); ++i) {
      benchmark::RegisterBenchmark(fmt::format("{}/{}", name, kTools[i].name).c_str(), measure,
                                   emitters[i].get(), workload)
          ->UseManualTime()
          ->Unit(benchmark::kNanosecond)
          ->Iterations(1)
          ->Repetitions(kBursts)
          ->ComputeStatistics(
              "fastest",
              [](const std::vector<double>& times) { return *std::min_element(times.begin(), times.end()); })
          ->ReportAggregatesOnly();
    }
  }
  benchmark::RunSpecifiedBenchmarks();
  const std::uint64_t calls = emitters.back()->calls();
  emitters.clear();
  const bool whole = everything_was_recorded(run_folder / "recorded", calls);
  if (!whole) {
    fmt::print(stderr, "some calls were dropped: the times of 'recorded' are too low\n");
    return 1;
  }
  return 0;
}
