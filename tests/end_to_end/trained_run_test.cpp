// The main job, checked against what must be true of it: a recorded training run holds exactly the
// collectives that DDP's bucket rule predicts, moves exactly the model's gradients, and its analysis accounts
// for every nanosecond.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/end_to_end/support.h"
#include "trace/reader.h"

namespace lockstep {
namespace {

using end_to_end::binary;
using end_to_end::Outcome;
using end_to_end::TemporaryFolder;
using nlohmann::json;

constexpr int kRanks = 2;
constexpr int kSteps = 4;

struct TrainedRun {
  TemporaryFolder folder;
  std::vector<json> log;

  std::string run_path() const { return folder / "run"; }
  const json& parameters() const { return log.at(0).at("parameters"); }
  std::int64_t gradient_bytes() const { return log.at(0).at("gradient_bytes"); }
};

// Records a small transformer; the model has about 13 MB of gradients, so that a 1 MB bucket and a 25 MB
// bucket differ.
void record(TrainedRun& run, const std::string& bucket_cap_mb) {
  const std::string log = run.folder / "log.jsonl";
  const Outcome outcome = end_to_end::run({binary("lockstep"),
                                           "record",
                                           "-o",
                                           run.run_path(),
                                           "--",
                                           binary("lockstep"),
                                           "train",
                                           "--ranks",
                                           std::to_string(kRanks),
                                           "--steps",
                                           std::to_string(kSteps),
                                           "--layers",
                                           "4",
                                           "--hidden",
                                           "256",
                                           "--heads",
                                           "4",
                                           "--sequence-length",
                                           "16",
                                           "--batch-size",
                                           "1",
                                           "--bucket-cap-mb",
                                           bucket_cap_mb,
                                           "--first-bucket-mb",
                                           "1",
                                           "--log",
                                           log});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.standard_error;
  std::ifstream lines(log);
  for (std::string line; std::getline(lines, line);) run.log.push_back(json::parse(line));
  ASSERT_GE(run.log.size(), 1u + kSteps);
}

// DDP's rule, written from its description: parameters in reverse order of registration (the order in which a
// plain chain of layers gets its gradients is taken from the log, below) fill a bucket until it holds at
// least the limit; the first bucket has its own limit.
std::vector<std::int64_t> buckets_by_rule(const std::vector<std::int64_t>& parameter_bytes,
                                          std::int64_t first_limit, std::int64_t limit) {
  std::vector<std::int64_t> buckets;
  std::int64_t open = 0;
  for (const std::int64_t bytes : parameter_bytes) {
    open += bytes;
    if (open >= (buckets.empty() ? first_limit : limit)) {
      buckets.push_back(open);
      open = 0;
    }
  }
  if (open > 0) buckets.push_back(open);
  return buckets;
}

struct TracedStep {
  std::vector<std::int64_t> all_reduce_bytes;  // of those issued during backward, in order of issue
};

// step number -> gradient all-reduces of one rank's trace, in order.
std::map<std::int64_t, TracedStep> gradient_all_reduces(const std::string& path) {
  Result<trace::Reader> reader = trace::Reader::open(path);
  EXPECT_TRUE(reader.ok()) << (reader.ok() ? "" : reader.error().message);
  if (!reader.ok()) return {};
  const trace::Reader& file = reader.value();
  EXPECT_TRUE(file.complete());

  std::vector<trace::HostRange> backward;
  std::vector<trace::Step> steps;
  std::vector<trace::ApiCall> calls;
  std::vector<trace::Collective> collectives;
  EXPECT_TRUE(file.read<trace::HostRange>({},
                                          [&](const trace::HostRange& range) {
                                            if (file.string(range.name) == "backward")
                                              backward.push_back(range);
                                          })
                  .ok());
  EXPECT_TRUE(file.read({}, steps).ok());
  EXPECT_TRUE(file.read({}, calls).ok());
  EXPECT_TRUE(file.read({}, collectives).ok());
  EXPECT_EQ(steps.size(), static_cast<std::size_t>(kSteps));

  std::map<trace::CorrelationId, trace::ApiCall> issued;
  for (const trace::ApiCall& call : calls) issued[call.correlation] = call;
  std::sort(collectives.begin(), collectives.end(),
            [](const auto& a, const auto& b) { return a.sequence < b.sequence; });
  std::map<std::int64_t, TracedStep> result;
  for (const trace::Collective& collective : collectives) {
    EXPECT_TRUE(issued.contains(collective.correlation)) << "a collective without the call that issued it";
    const trace::ApiCall call = issued[collective.correlation];
    EXPECT_LE(call.begin, collective.begin) << "executed before it was issued";
    if (collective.operation != trace::Operation::all_reduce) continue;
    for (const trace::HostRange& range : backward) {
      if (call.begin < range.begin || call.end > range.end) continue;
      for (const trace::Step& step : steps) {
        if (step.begin <= range.begin && range.end <= step.end) {
          result[step.number].all_reduce_bytes.push_back(static_cast<std::int64_t>(collective.bytes));
        }
      }
    }
  }
  return result;
}

class BucketRule : public testing::TestWithParam<const char*> {};

TEST_P(BucketRule, PredictsTheRecordedAllReduces) {
  TrainedRun run;
  ASSERT_NO_FATAL_FAILURE(record(run, GetParam()));
  const std::int64_t megabyte = 1 << 20;
  const std::int64_t limit = static_cast<std::int64_t>(std::stod(GetParam()) * megabyte);

  // First iteration: one bucket with everything. Later ones: the rule, over the order in which gradients
  // became ready in the first, which for a chain of layers is the reverse of registration up to order within
  // a layer. The bytes of that order come from the log; that it holds each parameter once is checked here.
  std::map<std::string, std::int64_t> bytes_of;
  for (const json& parameter : run.parameters()) bytes_of[parameter.at("name")] = parameter.at("bytes");
  std::vector<std::int64_t> ready_order;
  std::map<std::string, int> seen;
  for (const json& line : run.log) {
    if (line.at("event") != "buckets") continue;
    ready_order.clear();
    seen.clear();
    for (const json& bucket : line.at("buckets")) {
      for (const json& name : bucket.at("parameters")) {
        ++seen[name];
        ready_order.push_back(bytes_of.at(name));
      }
    }
  }
  ASSERT_EQ(seen.size(), bytes_of.size());
  const std::vector<std::int64_t> expected = buckets_by_rule(ready_order, megabyte, limit);

  std::int64_t gradient_bytes = 0;
  for (const auto& [name, bytes] : bytes_of) gradient_bytes += bytes;
  ASSERT_EQ(gradient_bytes, run.gradient_bytes());

  for (int rank = 0; rank < kRanks; ++rank) {
    const auto steps = gradient_all_reduces(run.run_path() + "/rank-" + std::to_string(rank) + ".lst");
    ASSERT_EQ(steps.size(), static_cast<std::size_t>(kSteps)) << "rank " << rank;
    bool first = true;
    for (const auto& [number, step] : steps) {
      SCOPED_TRACE("rank " + std::to_string(rank) + ", step " + std::to_string(number));
      if (!first) {
        EXPECT_EQ(step.all_reduce_bytes, expected);
      } else {
        EXPECT_EQ(step.all_reduce_bytes, std::vector<std::int64_t>{gradient_bytes});
      }
      first = false;
    }
  }
  if (limit < gradient_bytes / 4) {
    EXPECT_GE(expected.size(), 4u);
  } else {
    EXPECT_LE(expected.size(), 2u);
  }
}

INSTANTIATE_TEST_SUITE_P(Caps, BucketRule, testing::Values("1", "25"),
                         [](const auto& info) { return std::string("Megabytes") + info.param; });

TEST(TrainedRun, IsAnalyzedToTheLastNanosecond) {
  TrainedRun run;
  ASSERT_NO_FATAL_FAILURE(record(run, "1"));
  const json manifest = json::parse(std::ifstream(run.run_path() + "/manifest.json"));
  EXPECT_EQ(manifest.at("groups"), json::parse(R"([{"name": "data_parallel", "ranks": [0, 1]}])"));
  ASSERT_EQ(manifest.at("topology").size(), 1u);
  EXPECT_EQ(manifest.at("topology").at(0).at("ranks"), json({0, 1}));
  const std::string report_path = run.folder / "report.json";
  const Outcome outcome =
      end_to_end::run({binary("lockstep"), "analyze", run.run_path(), "--json", report_path});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.standard_error;
  const json report = json::parse(std::ifstream(report_path));

  EXPECT_EQ(report.at("schema"), "lockstep.report/2");
  EXPECT_EQ(report.at("run").at("world_size"), kRanks);
  EXPECT_EQ(report.at("run").at("ranks_present"), json({0, 1}));
  EXPECT_EQ(report.at("run").at("unmatched"), 0);
  EXPECT_EQ(report.at("steps").size(), static_cast<std::size_t>(kRanks * kSteps));
  for (const char* table : {"ranks", "steps"}) {
    for (const json& row : report.at(table)) {
      std::int64_t sum = 0;
      for (const auto& [cause, ns] : row.at("partition").items()) {
        EXPECT_GE(ns.get<std::int64_t>(), 0) << cause;
        sum += ns.get<std::int64_t>();
      }
      EXPECT_EQ(sum, row.at("window_ns").get<std::int64_t>());
      EXPECT_GT(row.at("compute_ns").get<std::int64_t>(), 0);
      EXPECT_GT(row.at("communication_ns").get<std::int64_t>(), 0);
    }
  }
  // Every collective was seen by both ranks, matched by sequence, and nobody left it before the last one
  // came.
  for (const json& collective : report.at("collectives")) {
    ASSERT_EQ(collective.at("ranks").size(), static_cast<std::size_t>(kRanks)) << collective.dump();
    EXPECT_FALSE(collective.at("partial").get<bool>());
    std::int64_t last_arrival = 0;
    for (const json& rank : collective.at("ranks")) {
      last_arrival = std::max(last_arrival, rank.at("arrival_ns").get<std::int64_t>());
    }
    for (const json& rank : collective.at("ranks")) {
      EXPECT_GE(rank.at("end_ns").get<std::int64_t>(), last_arrival)
          << "an all-reduce cannot end before everyone has begun: " << collective.dump();
    }
  }
}

const json& theory_of(const json& report, const std::string& quantity) {
  for (const json& row : report.at("theory"))
    if (row.at("quantity") == quantity) return row;
  throw std::runtime_error("no theory of " + quantity);
}

// Memory, traffic and batch of three ways of training are what theory makes of what the trainer tells of
// itself.
class BesideTheory : public testing::TestWithParam<std::vector<std::string>> {};

TEST_P(BesideTheory, MeasurementAndTheoryAgree) {
  TemporaryFolder folder;
  std::vector<std::string> command{binary("lockstep"), "record", "-q", "-o", folder / "run", "--",
                                   binary("lockstep"), "train"};
  for (const char* flag : {"--ranks", "2", "--steps", "4", "--layers", "3", "--hidden", "64", "--heads", "2",
                           "--sequence-length", "16", "--batch-size", "3", "--gradient-accumulation", "2"})
    command.emplace_back(flag);
  command.insert(command.end(), GetParam().begin(), GetParam().end());
  Outcome outcome = end_to_end::run(command);
  ASSERT_EQ(outcome.exit_code, 0) << outcome.standard_error;
  outcome = end_to_end::run({binary("lockstep"), "analyze", folder / "run", "--steps", "3:4", "--json", "-"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.standard_error;
  const json report = json::parse(outcome.standard_output);

  const json& batch = theory_of(report, "effective batch");
  EXPECT_EQ(batch.at("theory"), 3 * 2 * 2);
  EXPECT_EQ(batch.at("measured"), 3 * 2 * 2);
  for (const char* quantity : {"parameters", "gradients", "optimizer state", "sent by collectives"}) {
    const json& row = theory_of(report, quantity);
    ASSERT_TRUE(row.at("measured").is_number()) << row.dump();
    const double ratio = row.at("measured").get<double>() / row.at("theory").get<double>();
    const bool fsdp_sends = GetParam().back() == "fsdp" && std::string(quantity) == "sent by collectives";
    if (fsdp_sends) {
      // The root is gathered once for both passes: at most a third is saved.
      EXPECT_GT(ratio, 2.0 / 3) << row.dump();
      EXPECT_LT(ratio, 1.01) << row.dump();
    } else {
      // Padding to whole parts, and the sum of the loss.
      EXPECT_NEAR(ratio, 1, 0.01) << row.dump();
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Modes, BesideTheory,
                         testing::Values(std::vector<std::string>{"--mode", "ddp"},
                                         std::vector<std::string>{"--mode", "zero1"},
                                         std::vector<std::string>{"--mode", "zero2"},
                                         std::vector<std::string>{"--mode", "fsdp"}),
                         [](const auto& info) { return info.param.back(); });

}  // namespace
}  // namespace lockstep
