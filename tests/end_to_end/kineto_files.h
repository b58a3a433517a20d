// Kineto JSON made by hand, small enough to know every figure: what tests feed to the command line.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>

namespace lockstep::end_to_end {

// Two ranks. Each computes and takes part in one all-reduce of 4 MB; rank 1 comes 300 µs later and rank 0
// waits for it. Both leave at 2000 µs.
inline void write_two_ranks(const std::filesystem::path& folder) {
  std::filesystem::create_directories(folder);
  for (int rank = 0; rank < 2; ++rank) {
    const int arrival = rank == 0 ? 1200 : 1500;
    std::ofstream(folder / fmt::format("rank-{}.json", rank)) << fmt::format(
        R"({{"schemaVersion": 1, "distributedInfo": {{"backend": "nccl", "rank": {0}, "world_size": 2}},
"traceEvents": [
{{"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#7", "pid": 10, "tid": 10, "ts": 900.000, "dur": 1150.000}},
{{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 10, "tid": 10, "ts": 950.000, "dur": 10.000,
  "args": {{"correlation": 1}}}},
{{"ph": "X", "cat": "kernel", "name": "gemm \"a\\b\"", "pid": 0, "tid": 7, "ts": 1000.000, "dur": {1}.000,
  "args": {{"device": 0, "stream": 7, "correlation": 1}}}},
{{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 10, "tid": 10, "ts": 980.000, "dur": 10.000,
  "args": {{"correlation": 2}}}},
{{"ph": "X", "cat": "kernel", "name": "ncclDevKernel_AllReduce_Sum_f32_RING_LL", "pid": 0, "tid": 20, "ts": {2}.000,
  "dur": {3}.000, "args": {{"device": 0, "stream": 20, "correlation": 2, "Collective name": "allreduce",
  "In msg nelems": 1000000, "Out msg nelems": 1000000, "Group size": 2, "dtype": "Float", "Process Group Name": "0",
  "Process Group Ranks": "[0, 1]", "Seq": 3}}}}
]}})",
        rank, arrival - 1000, arrival, 2000 - arrival);
  }
}

// Two ranks that train, or one of them alone: in each step either computes for `compute_us(rank, step)` µs,
// and a little that moves from step to step alike in all runs, then both all-reduce for 100 µs once both are
// there. `number` tells runs apart.
inline void write_training_run(const std::filesystem::path& folder, int number, int steps,
                               const std::function<int(int rank, int step)>& compute_us, int ranks = 2) {
  std::filesystem::create_directories(folder);
  constexpr int kTransfer = 100;
  const char* const members = ranks == 1 ? "[0]" : "[0, 1]";
  for (int rank = 0; rank < ranks; ++rank) {
    std::string events;
    int begin = 1000;
    for (int step = 0; step < steps; ++step) {
      const int own = compute_us(rank, step) + step % 3;
      const int longest = std::max(compute_us(0, step), compute_us(1, step)) + step % 3;
      const int arrival = begin + 10 + own, end = begin + 10 + longest + kTransfer;
      events += fmt::format(
          R"({}{{"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#{}", "pid": 10, "tid": 10, "ts": {}, "dur": {}}},
{{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 10, "tid": 10, "ts": {}, "dur": 1, "args": {{"correlation": {}}}}},
{{"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": {}, "dur": {}, "args": {{"device": 0, "stream": 7, "correlation": {}}}}},
{{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 10, "tid": 10, "ts": {}, "dur": 1, "args": {{"correlation": {}}}}},
{{"ph": "X", "cat": "kernel", "name": "ncclDevKernel_AllReduce_Sum_f32_RING_LL", "pid": 0, "tid": 20, "ts": {}, "dur": {},
  "args": {{"device": 0, "stream": 20, "correlation": {}, "Collective name": "allreduce", "In msg nelems": 1000000,
  "Out msg nelems": 1000000, "Group size": {}, "dtype": "Float", "Process Group Name": "0", "Process Group Ranks": "{}", "Seq": {}}}}})",
          step == 0 ? "" : ",\n", step, begin, longest + 190, begin + 1, 2 * step + 1, begin + 10, own,
          2 * step + 1, begin + 3, 2 * step + 2, arrival, end - arrival, 2 * step + 2, ranks, members, step);
      begin += longest + 200;
    }
    std::ofstream(folder / fmt::format("rank-{}.json", rank)) << fmt::format(
        R"({{"schemaVersion": 1, "baseTimeNanoseconds": {}, "distributedInfo": {{"backend": "nccl", "rank": {}, "world_size": {}}},
"traceEvents": [
{}
]}})",
        1'700'000'000'000'000'000 + number * 1'000'000'000LL, rank, ranks, events);
  }
}

}  // namespace lockstep::end_to_end
