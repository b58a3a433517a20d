// How a model is cut into the units that are gathered and given up together, and which ranks share one copy.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace lockstep::trainer {

struct UnitParts {
  std::string name;        // "root", "layer 3", "layers 4-7"
  std::vector<int> parts;  // of the model, ascending: 0 embedding, 1 … n layers, n + 1 head
};

// `layer_parameters`: of each layer. With `least` 0 each layer is a unit; else layers are joined, from the
// first on, until a unit has so many parameters, and what is left at the end belongs to the root, as
// PyTorch's size-based policy leaves it with the module around it. The root comes first, with embedding and
// head.
std::vector<UnitParts> cut_into_units(const std::vector<std::int64_t>& layer_parameters, std::int64_t least);

// The ranks of a hybrid-sharded job of `world_size`, in groups of `shard_size` neighbours. Both of these hold
// `rank`, ascending.
struct HybridRanks {
  std::vector<int> sharding;     // share one copy
  std::vector<int> replication;  // hold the same shard
};
HybridRanks hybrid_ranks(int rank, int world_size, int shard_size);

}  // namespace lockstep::trainer
