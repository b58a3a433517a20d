// Kineto JSON made by hand, small enough to know every figure: what cli_test.cpp feeds to the command line.
#pragma once

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
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

}  // namespace lockstep::end_to_end
