// The options of fully sharded data parallelism: as the arguments of PyTorch's FullyShardedDataParallel of
// these names.
#pragma once

#include <cstdint>

namespace lockstep::trainer {

enum class ShardingStrategy { full_shard, shard_grad_op, no_shard, hybrid_shard };
enum class BackwardPrefetch { none, pre, post };

struct FsdpOptions {
  ShardingStrategy strategy = ShardingStrategy::full_shard;
  BackwardPrefetch backward_prefetch = BackwardPrefetch::pre;
  bool forward_prefetch = false;
  bool limit_all_gathers = true;
  bool cpu_offload = false;
  // 0: a unit per layer; else layers are joined until a unit has so many parameters.
  std::int64_t unit_parameters = 0;
  int shard_size = 0;              // hybrid_shard: ranks that share a copy; 0: those of a node
  bool reduce_in_float32 = false;  // with bfloat16: what gradients are reduced in
};

}  // namespace lockstep::trainer
