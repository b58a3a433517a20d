// What fully sharded training moves, as each rank tells it in each step, is what theory says: with S the
// bytes of all units, each padded to a multiple of the ranks, three times S, of which the root saves one
// part: it is needed again as soon as forward is over, and is gathered once. Bytes count as
// docs/instrumentation.md says: the larger side, which here is a whole unit.
#include <gtest/gtest.h>

#include <map>

#include "reference_trainer/tests/small_job.h"

namespace lockstep::trainer {
namespace {

using nlohmann::json;

constexpr int kSteps = 3;
constexpr std::int64_t kFloat = 4;  // bytes

using Bytes = std::map<std::string, std::int64_t>;  // by operation

std::int64_t padded(std::int64_t elements, std::int64_t ranks) {
  return (elements + ranks - 1) / ranks * ranks;
}

// Of the units: the layers together, and the root, which is everything else.
struct UnitBytes {
  std::int64_t layers = 0, root = 0;
  std::int64_t unpadded = 0;
  std::int64_t all() const { return layers + root; }
};

UnitBytes unit_bytes(const json& start, int ranks) {
  std::map<std::string, std::int64_t> elements;
  UnitBytes bytes;
  for (const json& parameter : start.at("parameters")) {
    const std::string name = parameter.at("name");
    const bool of_layer = name.starts_with("layer_");
    elements[of_layer ? name.substr(0, name.find('.')) : ""] += parameter.at("elements").get<std::int64_t>();
    bytes.unpadded += parameter.at("bytes").get<std::int64_t>();
  }
  for (const auto& [unit, count] : elements)
    (unit.empty() ? bytes.root : bytes.layers) += padded(count, ranks) * kFloat;
  return bytes;
}

// What a rank of a ring sends (docs/metrics.md, "Groups").
double wire_bytes(const Bytes& bytes, int ranks) {
  const double share = (ranks - 1.0) / ranks;
  double sum = 0;
  for (const auto& [operation, moved] : bytes)
    sum += (operation == "all_reduce" ? 2 : 1) * share * static_cast<double>(moved);
  return sum;
}

// Of parameters and gradients. The group of all ranks, 0, carries loss and norm too, whose bytes are not
// meant.
Bytes bytes_in_step(const std::vector<json>& heard, int step) {
  Bytes bytes;
  for (const json& line : begun_in_step(heard, step)) {
    if (line.value("schema", "") != "lockstep.collective") continue;
    const std::string message = line.at("message");
    if (line.at("fields").at("group") == 0 && !message.starts_with("all_reduce gradients")) continue;
    bytes[message.substr(0, message.find(' '))] += line.at("fields").at("bytes").get<std::int64_t>();
  }
  return bytes;
}

class FsdpBytes : public SmallJob {
 protected:
  explicit FsdpBytes(const char* hidden = "24")
      : SmallJob({"--layers", "3", "--hidden", hidden, "--heads", "2", "--sequence-length", "16", "--steps",
                  std::to_string(kSteps), "--batch-size", "2"}) {}

  // Of a step of one rank, which must be that of every step and rank.
  Bytes moved(int ranks, const Arguments& more) {
    const auto heard = SmallJob::heard(ranks, more);
    units_ = unit_bytes(events(read_json_lines(folder_.file("log")), "start").at(0), ranks);
    const Bytes bytes = bytes_in_step(heard.at(0), kSteps);
    for (int rank = 0; rank < ranks; ++rank) {
      for (int step = 1; step <= kSteps; ++step)
        EXPECT_EQ(bytes_in_step(heard[static_cast<std::size_t>(rank)], step), bytes)
            << "rank " << rank << ", step " << step;
    }
    return bytes;
  }
  Bytes moved_by_fsdp(int ranks, const Arguments& more) {
    return moved(ranks, Arguments{"--mode", "fsdp"} + more);
  }

  UnitBytes units_;  // of the last job
};

TEST_F(FsdpBytes, FullShardGathersLayersTwiceAndTheRootOnce) {
  for (const char* prefetch : {"pre", "post", "none"}) {
    const Bytes bytes = moved_by_fsdp(2, {"--backward-prefetch", prefetch});
    EXPECT_EQ(bytes,
              (Bytes{{"all_gather", units_.root + 2 * units_.layers}, {"reduce_scatter", units_.all()}}))
        << prefetch;
  }
}

TEST_F(FsdpBytes, ShardGradOpGathersOnce) {
  for (const char* prefetch : {"pre", "none"}) {
    const Bytes bytes =
        moved_by_fsdp(2, {"--sharding-strategy", "shard_grad_op", "--backward-prefetch", prefetch});
    EXPECT_EQ(bytes, (Bytes{{"all_gather", units_.all()}, {"reduce_scatter", units_.all()}})) << prefetch;
  }
}

// Every micro-step gathers, the last one alone reduces.
TEST_F(FsdpBytes, AccumulationGathersInEveryMicroStep) {
  const Bytes bytes = moved_by_fsdp(2, {"--gradient-accumulation", "2"});
  EXPECT_EQ(bytes,
            (Bytes{{"all_gather", 2 * (units_.root + 2 * units_.layers)}, {"reduce_scatter", units_.all()}}));
}

TEST_F(FsdpBytes, HybridShardReducesShardsAcrossBesides) {
  const Bytes bytes = moved_by_fsdp(4, {"--sharding-strategy", "hybrid_shard", "--shard-size", "2"});
  EXPECT_EQ(bytes, (Bytes{{"all_gather", units_.root + 2 * units_.layers},
                          {"reduce_scatter", units_.all()},
                          {"all_reduce", units_.all() / 2}}));
}

TEST_F(FsdpBytes, NoShardReducesAll) {
  const Bytes bytes = moved_by_fsdp(2, {"--sharding-strategy", "no_shard"});
  EXPECT_EQ(bytes, (Bytes{{"all_reduce", units_.all()}}));
}

// Half as much again as data parallelism for what is given up between forward and backward, and exactly as
// much for what is kept: 2 (n − 1)/n S against 3 (n − 1)/n S, and the root's second gather saved.
TEST_F(FsdpBytes, OnTheWireBesideDataParallelism) {
  constexpr int kRanks = 2;
  const double share = (kRanks - 1.0) / kRanks;
  const double data_parallel = wire_bytes(moved(kRanks, {"--mode", "ddp", "--first-bucket-mb", "1"}), kRanks);
  EXPECT_EQ(units_.all(), units_.unpadded);
  EXPECT_EQ(data_parallel, 2 * share * static_cast<double>(units_.all()));
  const double root = share * static_cast<double>(units_.root);
  EXPECT_EQ(wire_bytes(moved_by_fsdp(kRanks, {}), kRanks), 1.5 * data_parallel - root);
  EXPECT_EQ(wire_bytes(moved_by_fsdp(kRanks, {"--sharding-strategy", "shard_grad_op"}), kRanks),
            data_parallel);
}

class UnevenFsdpBytes : public FsdpBytes {
 protected:
  UnevenFsdpBytes() : FsdpBytes("22") {}
};

TEST_F(UnevenFsdpBytes, ArePaddedToAMultipleOfTheRanks) {
  const Bytes bytes = moved_by_fsdp(3, {});
  EXPECT_GT(units_.all(), units_.unpadded);
  EXPECT_EQ(bytes,
            (Bytes{{"all_gather", units_.root + 2 * units_.layers}, {"reduce_scatter", units_.all()}}));
}

}  // namespace
}  // namespace lockstep::trainer
