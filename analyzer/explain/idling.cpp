#include "analyzer/explain/table.h"

namespace lockstep::analyzer {

std::vector<Explanation> explain_idling() {
  return {
      {{"data_loading"},
       "devices wait for the next batch",
       "The training loop is in its data loader while nothing runs on the device.",
       "`data_wait` reaches 2 % of all time: idle, and a host thread of the rank is inside a range of data "
       "loading.",
       "The time is in the first steps only, while workers start: select later steps with --steps.",
       "all of it",
       {{"DataLoader", "num_workers, prefetch_factor, persistent_workers=True, pin_memory=True"},
        {"the program", "decoding and augmenting on the GPU, or ahead of time; data on local disks"}}},
      {{"host_bound"},
       "devices idle because the host has not launched their next work yet",
       "The CPU is slower at launching kernels than the GPU at running them.",
       "`host_bound` reaches 10 % of all time (5 % where nothing else explains it), nine of ten gaps end in "
       "a "
       "kernel whose launch is known, and the device is not the CPU.",
       "The launching thread waits for something itself (a lock, the GIL, a copy) in the gaps: see its "
       "ranges.",
       "all of it",
       {{"PyTorch", "torch.compile(mode=\"reduce-overhead\"), CUDA graphs; fused optimizers (fused=True)"},
        {"the program",
         "no .item(), .cpu(), print(tensor) or torch.cuda.synchronize() in the step; larger batches"},
        {"the machine", "a core for each rank and its threads: numactl, OMP_NUM_THREADS"}}},
      {{"exposed_copies"},
       "nothing runs but copies of memory",
       "Copies between host and device, or within it, with nothing beside them.",
       "`copy` reaches 3 % of all time.",
       "The copies run beside kernels on the timeline.",
       "all of it",
       {{"PyTorch",
         "pin_memory=True and .to(device, non_blocking=True) on a stream of its own, one batch ahead"},
        {"DeepSpeed", "pin_memory: true in offload_param and offload_optimizer"}}},
      {{"queued"},
       "devices idle although their next work has been launched",
       "The work waits for something on the device: another stream, an event, a copy.",
       "`queued` reaches 5 % of all time: idle, and the launching call had returned.",
       "The gaps are launch latency alone: a few µs each, in their thousands.",
       "all of it",
       {{"the program",
         "wait_stream() and wait_event() where they are needed only; no default stream beside others"},
        {"Megatron",
         "CUDA_DEVICE_MAX_CONNECTIONS=1 orders launches: needed for some overlaps, harmful to others"}}},
      {{"idle_between_computations"},
       "ranks do what the trace does not name between their computations",
       "On the CPU the rank's own thread computes: what it does between computations is no launch that came "
       "late, but work without a name.",
       "`host_bound` reaches 5 % of all time, and the ranks compute on the CPU.",
       "NVTX ranges of the program fill that time, or another process had the cores.",
       "all of it",
       {{"the program", "NVTX ranges around it (docs/instrumentation.md)"},
        {"the machine", "what else runs on these cores: `lockstep record --cpu`"}}},
      {{"idle_without_launches"},
       "devices idle, and too few launches were recorded to say why",
       "Without the launching calls nobody can tell a late host from a waiting stream.",
       "`host_bound` reaches 5 % of all time on a GPU, and one gap in ten or more ends in work whose launch "
       "is not "
       "known.",
       "The trace holds the runtime's calls after all: in `lockstep export`, the activities behind the gaps "
       "have a `launch_begin_ns`.",
       "all of it",
       {{"torch.profiler", "activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]"},
        {"nsys", "--trace=cuda,nvtx; --cuda-graph-trace=node"},
        {"Lockstep", "`lockstep record`, which always records launches"}}},
      {{"unexplained_idle"},
       "time that the trace does not explain",
       "Neither compute nor communication nor a known reason to idle.",
       "`other` reaches 5 % of all time.",
       "The time lies outside of the steps, or between two recordings: `lockstep view` shows it, --steps "
       "leaves "
       "it out.",
       "all of it",
       {{"torch.profiler", "whole steps, with activities CPU and CUDA"},
        {"the program", "ranges around data loading, checkpoints and evaluation"}}}};
}

}  // namespace lockstep::analyzer
