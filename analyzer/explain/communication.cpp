#include "analyzer/explain/table.h"

namespace lockstep::analyzer {

std::vector<Explanation> explain_communication() {
  return {
      {{"no_overlap"},
       "nothing computes while communication runs",
       "Communication and computation take turns, although one could hide the other.",
       "Compute covers at most 1 % of communication, and the exposed transfer that it could cover reaches 5 "
       "% "
       "of all time.",
       "The operations depend on each other: there is no computation that could run meanwhile (tensor "
       "parallelism within a layer).",
       "the exposed transfer that compute could cover",
       {{"DDP", "DistributedDataParallel instead of one all_reduce after backward; bucket_cap_mb=25"},
        {"FSDP", "backward_prefetch=BACKWARD_PRE, forward_prefetch=True, limit_all_gathers=True"},
        {"DeepSpeed", "overlap_comm: true, contiguous_gradients: true"},
        {"Megatron", "--overlap-grad-reduce, --overlap-param-gather, --tp-comm-overlap"}}},
      {{"buckets_too_large"},
       "gradients travel in so few pieces that backward cannot hide them",
       "A bucket leaves when its last gradient is there. With one or two of them the last ends long after "
       "backward.",
       "At most 2 all-reduces a step, of 2 MiB and more; the exposed transfer that compute could cover "
       "reaches "
       "5 %. Only where all-reduces of known size are three quarters of all transfer.",
       "Smaller buckets do not shorten the step: then starts cost what overlap gains.",
       "the exposed transfer that compute could cover",
       {{"DDP", "bucket_cap_mb: a quarter of what it is, 25 by default"},
        {"DeepSpeed", "reduce_bucket_size (elements): a quarter of what it is"},
        {"Megatron", "--ddp-bucket-size"}}},
      {{"buckets_too_small"},
       "gradients travel in so many pieces that starting them costs more than moving them",
       "Each all-reduce costs a start, whatever its size.",
       "16 all-reduces a step and more, whose start (the line through the smallest and the largest size, at "
       "no "
       "bytes) costs more than moving their bytes; the starts that 8 a step would save reach 3 %.",
       "The sizes do not explain the durations: look at the table of collectives.",
       "the starts saved with 8 a step",
       {{"DDP", "a larger bucket_cap_mb"}, {"DeepSpeed", "a larger reduce_bucket_size"}}},
      {{"first_bucket_late"},
       "the first bucket leaves late in backward",
       "Nothing travels while most of backward runs, and then everything at once.",
       "The first all-reduce is at least as large as the median one, and starts after 70 % of the time until "
       "the "
       "last one starts; its exposed transfer reaches 3 %.",
       "The first gradients that are ready are not in the first bucket because the model runs in another "
       "order: "
       "DDP learns that after its first step.",
       "its exposed transfer",
       {{"DDP",
         "static_graph=True, or the order of parameters as they are used; find_unused_parameters=False; "
         "its first bucket is 1 MiB by design (dist._DEFAULT_FIRST_BUCKET_BYTES)"}}},
      {{"exposed_transfer", "exposed_communication"},
       "data moves while nothing computes",
       "Communication that no computation hides, and that no finding above explains. The second name stands "
       "where no partner of any rank left a trace: then it may be waiting as well.",
       "`transfer` reaches 5 % of all time.",
       "The operations run beside computations on the timeline.",
       "all exposed transfer",
       {{"DDP", "bucket_cap_mb, gradient_as_bucket_view; bf16 compression (bf16_compress_hook)"},
        {"FSDP", "backward_prefetch, forward_prefetch; MixedPrecision(reduce_dtype=torch.bfloat16)"},
        {"DeepSpeed", "overlap_comm; stage3_prefetch_bucket_size; stage3_param_persistence_threshold"},
        {"Megatron", "--overlap-grad-reduce, --overlap-param-gather"}}},
      {{"pipeline_bubble"},
       "pipeline stages wait for each other",
       "Stages idle while their neighbours fill or drain the pipeline, or wait for a slower stage.",
       "The bubble of all pipelines reaches 5 % of all time; that of the pipeline with the greatest is set "
       "against its schedule's ideal: (p−1)/(m+p−1) of GPipe and 1F1B, (p−1)/(v·m+p−1) interleaved. Up to "
       "1.1 times the ideal the schedule itself costs it, and the finding is a note.",
       "The table of stages shows a bubble at its ideal: then only more microbatches or another schedule "
       "make it smaller.",
       "what is above the ideal; all of the bubble where it is a note, or where no ideal is known",
       {{"Megatron",
         "more microbatches: a smaller --micro-batch-size at the same --global-batch-size; "
         "--num-layers-per-virtual-pipeline-stage interleaves"},
        {"DeepSpeed", "gradient_accumulation_steps of the pipeline engine"},
        {"PyTorch", "Schedule1F1B, ScheduleInterleaved1F1B; n_microbatches"}}},
      {{"unbalanced_stages"},
       "one pipeline stage computes more than the others",
       "The slowest stage sets the pace of all.",
       "A stage computes at least 10 % more than the median stage, and what the others compute less reaches "
       "2 %.",
       "Its computations are as long as the others': it has more of them on purpose (recomputation).",
       "what the others compute less, at most the pipeline's bubble",
       {{"Megatron",
         "--decoder-first-pipeline-num-layers, --decoder-last-pipeline-num-layers; "
         "--account-for-embedding-in-pipeline-split"},
        {"DeepSpeed", "PipelineModule(partition_method=\"parameters\" or \"type:regex\")"},
        {"PyTorch", "other split points: the embedding and the head count as layers"}}}};
}

}  // namespace lockstep::analyzer
