#include "reference_trainer/modes/fsdp/units.h"

namespace lockstep::trainer {
namespace {

std::string name_of_layers(int first, int last) {
  if (first == last) return "layer " + std::to_string(first);
  return "layers " + std::to_string(first) + "-" + std::to_string(last);
}

}  // namespace

std::vector<UnitParts> cut_into_units(const std::vector<std::int64_t>& layer_parameters, std::int64_t least) {
  const int layers = static_cast<int>(layer_parameters.size());
  std::vector<UnitParts> units{{"root", {0}}};
  std::vector<int> open;
  std::int64_t sum = 0;
  for (int layer = 0; layer < layers; ++layer) {
    open.push_back(layer + 1);
    sum += layer_parameters[static_cast<std::size_t>(layer)];
    if (sum < least) continue;
    units.push_back({name_of_layers(open.front() - 1, layer), open});
    open.clear();
    sum = 0;
  }
  std::vector<int>& root = units.front().parts;
  root.insert(root.end(), open.begin(), open.end());
  root.push_back(layers + 1);
  return units;
}

HybridRanks hybrid_ranks(int rank, int world_size, int shard_size) {
  HybridRanks ranks;
  const int first = rank / shard_size * shard_size;
  for (int other = first; other < first + shard_size; ++other) ranks.sharding.push_back(other);
  for (int other = rank % shard_size; other < world_size; other += shard_size)
    ranks.replication.push_back(other);
  return ranks;
}

}  // namespace lockstep::trainer
