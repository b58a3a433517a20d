#include "analyzer/explain/table.h"

namespace lockstep::analyzer {

std::vector<Explanation> explain_sharding() {
  return {
      {{"prefetch_off"},
       "parameters are gathered only when a layer waits for them",
       "FSDP and ZeRO-3 gather each layer's parameters before it runs. Gathered ahead, under the layer "
       "before, they cost "
       "nothing.",
       "Four all-gathers a step or more in the group that gathers longest; compute covers less than 10 % of "
       "them; what of "
       "their exposed transfer the ranks' free compute could cover reaches 5 % of all time. Groups of tensor "
       "parallelism "
       "(tp, tensor, sp or sequence in their name or description) are left out, and those in which no "
       "computation begins between one all-gather and the next (ZeRO's stages 1 and 2).",
       "The all-gathers depend on the layer before them (tensor or sequence parallelism in a group whose "
       "name does not say "
       "so).",
       "their exposed transfer, at most the compute that hides nothing yet",
       {{"FSDP", "backward_prefetch=BackwardPrefetch.BACKWARD_PRE, forward_prefetch=True"},
        {"FSDP2", "set_modules_to_forward_prefetch(), set_modules_to_backward_prefetch()"},
        {"DeepSpeed", "overlap_comm: true, stage3_prefetch_bucket_size above 0"},
        {"Megatron", "--overlap-param-gather"}}},
      {{"prefetch_shallow"},
       "parameters are gathered ahead, but not far enough",
       "An all-gather that takes longer than the layer it hides under is exposed for the rest.",
       "As prefetch_off, but compute covers between 10 % and 75 % of the all-gathers.",
       "The stream of all-gathers is never idle: then the link is full, and gathering earlier moves nothing.",
       "their exposed transfer, at most the compute that hides nothing yet",
       {{"FSDP", "forward_prefetch=True; FSDP2: set_modules_to_forward_prefetch() with two layers"},
        {"DeepSpeed", "stage3_prefetch_bucket_size and stage3_max_live_parameters twice as large"},
        {"the job", "a larger microbatch: more compute for the same parameters"}}},
      {{"all_gathers_throttled"},
       "the host holds parameter gathering back until memory is free",
       "FSDP's limit_all_gathers and DeepSpeed's stage3_max_live_parameters make the host wait before it "
       "gathers more, so "
       "that memory stays bounded; the next layer may then wait for it.",
       "Before half of the all-gathers and more the host launched nothing for at least 100 µs, and went on "
       "within 100 µs "
       "of the end of something on its device; the exposed transfer of these, at most as long as the host "
       "was silent, "
       "reaches 3 %. Not where prefetch_off is found.",
       "The host waited there for something else (.item(), a print of the loss): see its thread on the "
       "timeline.",
       "the exposed transfer of those all-gathers, at most the host's silence before each",
       {{"FSDP", "limit_all_gathers=False, where memory allows; smaller units"},
        {"DeepSpeed", "a larger stage3_max_live_parameters"}}},
      {{"sharding_not_needed"},
       "parameters are gathered although each rank could keep them all",
       "Sharding parameters saves memory and costs an all-gather of all of them, twice a step. A model that "
       "fits needs "
       "neither.",
       "All that is gathered in a step, as parameters of 16 bytes each (weights, gradients and Adam's state "
       "in mixed "
       "precision), is at most 8 GiB; the exposed transfer of the all-gathers reaches 5 %. Not on CPUs.",
       "Activations take the memory that is left: then gather, but shard the optimizer alone (stage 1).",
       "the exposed transfer of the all-gathers",
       {{"FSDP", "sharding_strategy=SHARD_GRAD_OP or NO_SHARD; FSDP2: reshard_after_forward=False"},
        {"DeepSpeed", "stage 2 or 1; stage3_param_persistence_threshold above the layers' sizes"}}},
      {{"reduce_scatter_exposed"},
       "the last gradients of a step are scattered when nothing is left to compute",
       "The first layer's gradients are the last; their reduce-scatter has no backward to hide under.",
       "The exposed transfer of each step's last reduce-scatter reaches 3 % of all time.",
       "The last reduce-scatter is as small as a layer, and the link slow: then see slow_link.",
       "that transfer",
       {{"FSDP",
         "units of a layer each, the embedding in one of its own; "
         "MixedPrecision(reduce_dtype=torch.bfloat16)"},
        {"DeepSpeed", "a smaller reduce_bucket_size; communication_data_type: bfp16"}}},
      {{"tensor_parallel_across_hosts"},
       "tensor parallelism crosses the links between hosts",
       "Tensor parallelism communicates twice in every layer, with nothing to hide under: it belongs where "
       "links are "
       "fastest.",
       "Groups with tp, tensor, sp or sequence in their name or description, whose ranks are on several "
       "hosts; their "
       "exposed transfer reaches 3 %.",
       "The hosts are one NVLink domain (GB200 NVL72).",
       "their exposed transfer",
       {{"Megatron", "--tensor-model-parallel-size at most the GPUs of a node; order tp-cp-ep-dp-pp"},
        {"PyTorch", "init_device_mesh() with tensor parallelism as the last dimension"}}},
      {{"p2p_slow_path"},
       "messages within a host take a slower path than its collectives do",
       "Without peer access between two GPUs, NCCL copies through the host's memory.",
       "At least 8 messages and 8 collectives of 1 MiB and more within a host; the messages' median wire "
       "busbw is less "
       "than half of the collectives'; what they lose to that rate, of their exposed transfer, reaches 2 %. "
       "Not on CPUs.",
       "Several messages share a link at the same time, and each gets a part.",
       "the exposed transfer that the collectives' rate would save",
       {{"NCCL",
         "NCCL_DEBUG=INFO says `via P2P`, `via SHM` or `NET`; NCCL_P2P_LEVEL=SYS, NCCL_P2P_DISABLE unset"},
        {"the machine", "IOMMU and ACS off; `nvidia-smi topo -m`: neighbouring stages on GPUs with NVLink"}}},
      {{"p2p_host_staged"},
       "GPUs of one host exchange data through the host's memory",
       "Without peer access NCCL copies into the host's memory and out of it again: over PCIe twice, at a "
       "fraction of NVLink's rate.",
       "NCCL's log (NCCL_DEBUG=INFO, given to `lockstep analyze` beside the traces) names a way via SHM, or "
       "via NET without GDRDMA, between ranks of one host; the exposed transfer of operations that stay "
       "within a host and use such a way reaches 2 %. Operations that cross hosts are not counted. Not on "
       "CPUs.",
       "The GPUs cannot reach each other (`nvidia-smi topo -p2p r` says NS, as of most GeForce), or "
       "`p2pBandwidthLatencyTest` of CUDA's samples is no faster with peer access than without.",
       "all exposed transfer of those operations: more than a direct way saves",
       {{"NCCL", "NCCL_P2P_DISABLE unset, NCCL_P2P_LEVEL=SYS; via NET: NCCL_SHM_DISABLE, NCCL_HOSTID unset"},
        {"the machine",
         "IOMMU off or in passthrough, ACS off on the PCIe bridges; containers with one /dev/shm"}}},
      {{"net_without_gpu_direct"},
       "data between hosts goes through the hosts' memory: no GPUDirect RDMA",
       "With GPUDirect RDMA the adapter reads and writes the GPU's memory itself. Without it each byte is "
       "copied through both hosts' memory.",
       "NCCL's log names a way via NET without GDRDMA between hosts; the exposed transfer of operations that "
       "use such a way reaches 2 %. Not on CPUs.",
       "`ib_write_bw` between the hosts' own memories is no faster than these operations: then the link is "
       "full, whoever copies.",
       "all exposed transfer of those operations: more than GPUDirect saves",
       {{"NCCL",
         "NCCL_NET_GDR_LEVEL=SYS; NCCL_NET_GDR_READ=1 before Ampere; NET/Socket: NCCL_IB_DISABLE unset, "
         "NCCL_IB_HCA, else the fastest NCCL_SOCKET_IFNAME"},
        {"the machine", "nvidia_peermem loaded, or DMA-BUF; ACS off; adapter and GPU on one PCIe switch"}}},
      {{"p2p_read"},
       "receivers read from their peers' memory, where senders could write",
       "Reading waits for an answer, writing does not; NCCL reads by default only over NVLink between GPUs "
       "of compute capability 8.0.",
       "NCCL's log names a way via P2P that ends in /read; the exposed transfer of operations that use one, "
       "and no way through the host's memory, reaches 2 %. A note: what writing saves is not known. Not on "
       "CPUs.",
       "all_reduce_perf or sendrecv_perf of nccl-tests is as fast with NCCL_P2P_READ_ENABLE=1 as with 0.",
       "none is claimed",
       {{"NCCL", "NCCL_P2P_READ_ENABLE=0, or unset where it is 1"}}}};
}

}  // namespace lockstep::analyzer
