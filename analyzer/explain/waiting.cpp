#include "analyzer/explain/table.h"

namespace lockstep::analyzer {

std::vector<Explanation> explain_waiting() {
  return {
      {{"straggler", "straggler_persistent", "straggler_transient", "straggler_periodic"},
       "the others wait for one rank",
       "A rank comes last to the collectives far more often than chance would have it; the rest of the group "
       "idles until it is there. Persistent: in most steps the same one. Transient: in some steps only.",
       "The rank arrives last two standard deviations above chance, or leads in most steps, and the others' "
       "exposed waits for it reach 1 % of all time. Arrivals closer than the clocks' uncertainty name "
       "nobody.",
       "Its arrivals are not later than the others' in the table of collectives, or hosts' clocks are less "
       "certain than the margins. Where the reason is that it came into the recording late, a later step is "
       "on "
       "time.",
       "the exposed waits of the others for it",
       {{"the machine",
         "`lockstep record --cpu` puts page faults, context switches, clocks and throttling beside the "
         "steps; `nvidia-smi -q -d PERFORMANCE,CLOCK`"},
        {"PyTorch", "batches of equal work: bucket samples by length, `DistributedSampler(shuffle=True)`"},
        {"the program", "what rank 0 does alone (logging, checkpoints, evaluation) off the training loop"}}},
      {{"imbalance"},
       "ranks wait for each other in turn",
       "Much time is spent waiting in collectives, and no single rank is late often enough to be a "
       "straggler.",
       "Exposed barrier waits reach 5 % of all time and no straggler explains half of them. A rank that two "
       "thirds of these waits are for is named.",
       "The waits are in a few operations only (start-up, checkpoints): select other steps with --steps.",
       "all exposed waiting",
       {{"the program",
         "lengths of batches that differ from step to step; garbage collection (gc.freeze(), or "
         "collecting on all ranks in the same step)"},
        {"PyTorch", "`no_sync()` over more accumulation steps: fewer meetings"}}},
      {{"uneven_batches"},
       "ranks have more to compute than others in turn",
       "Each step waits for the rank with the largest batch: longer sequences, larger images. It is another "
       "rank each "
       "time, so that none of them is slow.",
       "In the median step the rank that computes longest takes at least 10 % longer than the one that "
       "computes shortest, "
       "and no rank is the longest in more than half of the steps; what the ranks wait in collectives, at "
       "most what they "
       "compute less than the longest, reaches 3 %. Not of pipelines; four steps at least.",
       "The batches of a slow step hold as much as those of others: then hosts are disturbed in turn "
       "(clocks, throttling; "
       "`lockstep record --cpu`).",
       "that waiting",
       {{"PyTorch",
         "a batch sampler that puts samples of like length together; packed sequences; batches by tokens"},
        {"Megatron", "packed sequences instead of --variable-seq-lengths"},
        {"the program", "more accumulation steps between two meetings: unevenness evens out"}}},
      {{"slow_link_of_rank"},
       "one rank's transfers end later than the others', and it comes late to what follows",
       "A rank that is late because the collective before ended late on it was held up by its link, not by "
       "its "
       "work: the time between that end and its arrival is no longer than the others'.",
       "As for a straggler, and at least half of the waiting for the rank is in operations where it had "
       "ended the "
       "group's operation before later than the rank that waits, by at least half of its lateness.",
       "The rank computes longer than the others between the two operations: then it would be late without "
       "the "
       "link.",
       "the others' exposed waiting for that rank",
       {{"NCCL",
         "NCCL_DEBUG=INFO names the transport of each channel; NCCL_IB_HCA, NCCL_SOCKET_IFNAME choose the "
         "interface"},
        {"the host", "`ethtool`, `ibstat`, cables and switch ports; `lockstep record --cpu` counts drops"}}},
      {{"slow_link"},
       "the network between hosts is what everybody waits for",
       "Most transfer that nothing hides is of operations whose ranks are on several hosts, and it is "
       "transfer, "
       "not waiting: all ranks had come.",
       "`transfer` reaches 5 % of all time, no finding above explains half of it, and most is of groups "
       "across "
       "hosts. Its figure is the median bus bandwidth on the wire of those operations (nccl-tests' "
       "definition, "
       "from the last arrival), what each rank's link carried.",
       "The bandwidth is that of the link: then there is nothing slow, only much to move.",
       "all exposed transfer",
       {{"NCCL",
         "NCCL_DEBUG=INFO shows the way: `NET/IB/…/GDRDMA` is wanted, `NET/Socket` is not; "
         "NCCL_SOCKET_IFNAME, NCCL_IB_HCA choose the interface"},
        {"FSDP", "hybrid_shard (HSDP) keeps parameters' traffic within a node"},
        {"DeepSpeed", "zero_hpz_partition_size (ZeRO++), or a lower stage"},
        {"Megatron", "--tensor-model-parallel-size no larger than a node's GPUs"},
        {"the job", "gradient accumulation: fewer exchanges for the same samples"}}}};
}

}  // namespace lockstep::analyzer
