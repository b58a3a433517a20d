# Scenarios that compare ways to order communication (sourced by scripts/scenario).

scenario ddp_buckets "one large gradient bucket beside small ones"
run_ddp_buckets() {
  hidden=128 sequence_length=16 flops=5e8 # large gradients; a network that needs about as long as backward
  record one_bucket --mode ddp --bandwidth 5e7 --bucket-cap-mb 1000 --first-bucket-mb 1000
  record small_buckets --mode ddp --bandwidth 5e7 --bucket-cap-mb 1 --first-bucket-mb 0.1
  compare one_bucket small_buckets
}

scenario fsdp_prefetch "parameters gathered when they are needed, and one layer ahead"
run_fsdp_prefetch() {
  flops=5e8
  record none --mode fsdp --bandwidth 2e7 --backward-prefetch none
  record pre --mode fsdp --bandwidth 2e7 --backward-prefetch pre --forward-prefetch
  compare none pre
}

scenario pipeline_schedules "GPipe, 1F1B and interleaved 1F1B on 4 stages and 8 microbatches"
run_pipeline_schedules() {
  layers=8
  for schedule in gpipe 1f1b interleaved; do
    record $schedule --mode pipeline --microbatches 8 --schedule $schedule
  done
  compare gpipe 1f1b interleaved
}
