#include "analyzer/explain/table.h"

namespace lockstep::analyzer {

std::vector<Explanation> explain_endings() {
  return {
      {{"hang"},
       "the job hung, or hung for a while",
       "Some ranks are in an operation that never ended, because another rank never came to it, or because "
       "the network or a device stands still. NCCL itself says so only after its timeout, ten minutes by "
       "default, and names whoever noticed, which is rarely whoever is the cause.",
       "`lockstep record --hang-timeout` noted a silence, or a flight recorder was dumped; else an operation "
       "was open for 5 s and for ten times the longest that ended. Ranks of its group whose trace shows that "
       "they neither wait in it nor ended it are missing. Named are those that others wait for and that wait "
       "for nobody themselves; where all ranks are in the operation, nobody is. Of a rank without a trace it "
       "is said that nobody knows whether it came; what other ranks of the group have ended lacks nobody.",
       "A named rank's trace ends earlier than the others' because it was killed first, or its file is cut: "
       "then it says so beside the finding.",
       "",
       {{"the program",
         "look for a branch, a `continue` or an exception handler that only some ranks take; data that ran "
         "out "
         "on one rank (`join()` of DDP, `drop_last=True`); evaluation or a checkpoint on rank 0 alone"},
        {"PyTorch",
         "TORCH_NCCL_TRACE_BUFFER_SIZE=2000 and TORCH_NCCL_DUMP_ON_TIMEOUT=1 write flight recorders, which "
         "`lockstep analyze` reads"},
        {"Lockstep",
         "`lockstep record --hang-timeout 8m` writes every rank's stacks, Python's and native ones"}}},
      {{"device_stuck"},
       "a rank's device stands still",
       "A rank has not ended operations that all the other ranks of their groups have ended. They could end "
       "only because its part was done, so what does not go on is its device, or the thread that watches it.",
       "A hang was noted, and a rank on a GPU has two open operations or more in which every rank needs "
       "every "
       "other (all-reduce, all-gather, reduce-scatter, all-to-all, barrier) and which all others have ended.",
       "The traces of the others end much later than this rank's: then its operations may have ended unseen.",
       "",
       {{"the machine",
         "Xid errors in `dmesg`; `nvidia-smi -q -d ECC,PAGE_RETIREMENT,ROW_REMAPPER`; "
         "`dcgmi diag -r 3` on its node"},
        {"the program",
         "a kernel that never ends: compute-sanitizer, or CUDA_LAUNCH_BLOCKING=1 on that rank"}}},
      {{"job_failed"},
       "the job ended with an error",
       "The launcher's exit code or signal is not zero. The first rank to end is the one to look at: the "
       "others "
       "mostly end because it did.",
       "The run's manifest has the exit code. A rank is named as the first where its trace ended before all "
       "others could have (a file that was not closed may lack its last 1.5 s), or where it alone closed its "
       "file, which means that it ended by itself.",
       "The named rank's own output shows that it was ended by its launcher.",
       "",
       {{"the program", "what the named rank printed last"},
        {"the machine",
         "`dmesg` of its node for the OOM killer; the scheduler's limits of memory and time"}}}};
}

}  // namespace lockstep::analyzer
