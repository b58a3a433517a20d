// Unmodified PyTorch programs under `lockstep record`: what the trace says beside what the programs counted
// themselves (jobs.py), and what they print with and without us.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "tests/end_to_end/support.h"
#include "tests/pytorch/torchrun.h"
#include "trace/events/wait_range.h"
#include "trace/reader.h"

namespace lockstep::end_to_end {
namespace {

using Json = nlohmann::json;
using trace::Operation;

// What a program hands to a process group.
struct Call {
  std::string group;
  std::int64_t sequence = 0;
  std::string operation;
  std::int64_t bytes = 0;
  auto key() const { return std::pair(operation, bytes); }
};

constexpr int kSteps = 4;  // of every job
constexpr std::int64_t kUnknown = -1;

// Another interpreter, with another version of torch, may be named without building again.
std::string python() {
  const char* const named = std::getenv("LOCKSTEP_PYTHON");
  return named != nullptr ? named : LOCKSTEP_PYTHON;
}

std::vector<std::string> torchrun(const std::string& mode, int ranks, const std::string& output) {
  return torchrun_of("jobs.py", {mode, output}, ranks, python());
}

const std::vector<std::string>& kEnvironment = kQuietEnvironment;

// All that a rank's file holds of what these tests ask for.
struct Recorded {
  std::vector<Call> collectives;  // in the order of issue
  std::vector<Call> messages;     // the same; `group` is the peer
  std::vector<trace::Step> steps;
  std::vector<trace::DeviceActivity> computed;
  std::map<std::string, int> ranges;
  std::map<std::string, std::string> metadata;
  std::vector<std::pair<std::string, std::int64_t>> in_step(std::size_t step) const {
    std::vector<std::pair<std::string, std::int64_t>> calls;
    for (std::size_t i = 0; i < collectives.size(); ++i)
      if (issued[i] >= steps[step].begin && issued[i] < steps[step].end)
        calls.push_back(collectives[i].key());
    return calls;
  }
  std::vector<trace::Nanoseconds> issued;  // of the collectives
  // Of all-reduces: when the call returned, and when it ended; and what the program waited for communication.
  std::vector<std::pair<trace::Nanoseconds, trace::Nanoseconds>> reduced;
  std::vector<trace::HostRange> waits;  // by their begins

  // How many all-reduces ended after the first wait behind their call.
  std::int64_t ended_after_their_wait() const {
    return std::ranges::count_if(reduced, [&](const auto& one) {
      const auto wait = std::ranges::lower_bound(waits, one.first, {}, &trace::HostRange::begin);
      return wait != waits.end() && one.second > wait->end;
    });
  }
};

Recorded read(const std::string& path) {
  Recorded recorded;
  const Result<trace::Reader> opened = trace::Reader::open(path);
  if (!opened.ok()) {
    ADD_FAILURE() << opened.error().message;
    return recorded;
  }
  const trace::Reader& reader = opened.value();
  EXPECT_TRUE(reader.complete()) << path;
  recorded.metadata = reader.metadata();
  const auto all = [&](auto& events) { EXPECT_TRUE(reader.read(trace::Selection{}, events).ok()); };
  std::vector<trace::ApiCall> calls;
  all(calls);
  std::vector<trace::Collective> events;
  all(events);
  std::map<trace::CorrelationId, trace::Collective> of_call;
  for (const trace::Collective& event : events) {
    EXPECT_TRUE(of_call.emplace(event.correlation, event).second) << "one operation a call";
    EXPECT_LE(event.begin, event.end);
  }
  std::sort(calls.begin(), calls.end(), [](const auto& a, const auto& b) { return a.begin < b.begin; });
  for (const trace::ApiCall& call : calls) {
    const auto found = of_call.find(call.correlation);
    if (found == of_call.end()) {
      ADD_FAILURE() << "a call without its operation in " << path;
      continue;
    }
    const trace::Collective& event = found->second;
    EXPECT_GE(event.begin, call.begin) << "nothing runs before it is handed over";
    EXPECT_LT(event.group, reader.groups().size());
    Call made{reader.groups()[event.group].name, event.sequence, to_string(event.operation),
              static_cast<std::int64_t>(event.bytes)};
    if (event.operation == Operation::send || event.operation == Operation::recv) {
      made.group = std::to_string(event.peer);
      recorded.messages.push_back(made);
    } else {
      recorded.collectives.push_back(made);
      recorded.issued.push_back(call.begin);
      if (event.operation == Operation::all_reduce) recorded.reduced.emplace_back(call.end, event.end);
    }
  }
  EXPECT_EQ(of_call.size(), calls.size());
  all(recorded.steps);
  all(recorded.computed);
  std::vector<trace::HostRange> ranges;
  all(ranges);
  for (const trace::HostRange& range : ranges) {
    ++recorded.ranges[std::string(reader.string(range.name))];
    if (reader.string(range.name) == trace::kWaitForCommunication) recorded.waits.push_back(range);
  }
  std::ranges::sort(recorded.waits, {}, &trace::HostRange::begin);
  return recorded;
}

Json read_json(const std::string& path) {
  std::ifstream file(path);
  return Json::parse(file);
}

std::int64_t flight_bytes(const Json& sizes, const Json& types) {
  static const std::map<std::string, int> kBytes{{"Float", 4}, {"Double", 8}, {"Long", 8}, {"Int", 4},
                                                 {"Byte", 1},  {"Char", 1},   {"Half", 2}, {"BFloat16", 2},
                                                 {"Bool", 1},  {"Short", 2}};
  std::int64_t bytes = 0;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    std::int64_t elements = 1;
    for (const Json& extent : sizes[i]) elements *= extent.get<std::int64_t>();
    bytes += elements * kBytes.at(types.at(i).get<std::string>());
  }
  return bytes;
}

// What PyTorch's flight recorder counted, or its profiler, which sees the inputs alone. Gloo's reduce-scatter
// is an all-reduce inside, and stands there as one.
std::vector<Call> counted_by_pytorch(const Json& own, int ranks) {
  std::vector<Call> calls;
  for (const Json& entry : own.at("flight_recorder")) {
    if (entry.at("is_p2p").get<bool>()) continue;
    Call call;
    const std::int64_t input = flight_bytes(entry.at("input_sizes"), entry.at("input_dtypes"));
    if (!entry.contains("output_sizes")) {
      call.operation = entry.at("profiling_name").get<std::string>().substr(std::string("gloo:").size());
      const bool parts = call.operation == "all_gather" || call.operation == "gather";
      // A scatter's input is the root's alone.
      call.bytes = call.operation == "scatter" ? kUnknown : (parts ? ranks : 1) * input;
      calls.push_back(call);
      continue;
    }
    call.group = entry.at("process_group").at(0);
    call.operation = entry.at("profiling_name").get<std::string>().substr(std::string("gloo:").size());
    const std::int64_t output = flight_bytes(entry.at("output_sizes"), entry.at("output_dtypes"));
    call.bytes = std::max(input, output);
    // Only the root has all parts.
    if (call.operation == "scatter") call.bytes = ranks * output;
    if (call.operation == "gather") call.bytes = ranks * input;
    calls.push_back(call);
  }
  return calls;
}

class StockPytorch : public testing::TestWithParam<std::tuple<std::string, int>> {
 protected:
  static void SetUpTestSuite() {
    const Outcome torch = run({python(), "-c", "import torch; print(torch.__version__)"});
    available_ = torch.exit_code == 0;
    if (!available_) why_ = torch.standard_error;
  }
  void SetUp() override {
    if (!why_no_torch_here().empty()) GTEST_SKIP() << "SKIPPED: " << why_no_torch_here();
    if (!available_) GTEST_SKIP() << "SKIPPED: " << python() << " has no torch: " << why_;
  }
  static bool available_;
  static std::string why_;
};
bool StockPytorch::available_ = false;
std::string StockPytorch::why_;

TEST_P(StockPytorch, IsRecordedAsItCountsItself) {
  const auto& [mode, ranks] = GetParam();
  const TemporaryFolder folder;
  std::vector<std::string> command{binary("lockstep"), "record", "-o", folder / "run", "--"};
  const std::vector<std::string> job = torchrun(mode, ranks, folder / "own");
  command.insert(command.end(), job.begin(), job.end());
  const Outcome recorded = run(command, kEnvironment);
  const std::size_t why = recorded.standard_error.find("does not run on CPUs in torch");
  if (why != std::string::npos) GTEST_SKIP() << "SKIPPED: " << mode << " does not run on CPUs in this torch";
  ASSERT_EQ(recorded.exit_code, 0) << recorded.standard_error;
  std::vector<std::string> profiled = torchrun(mode, ranks, folder / "alone");
  profiled.emplace_back("profile");
  const Outcome alone = run(profiled, kEnvironment);
  ASSERT_EQ(alone.exit_code, 0) << alone.standard_error;
  EXPECT_EQ(sorted_lines(recorded.standard_output), sorted_lines(alone.standard_output)) << "the same losses";

  std::vector<Recorded> traces;
  for (int rank = 0; rank < ranks; ++rank) {
    SCOPED_TRACE(fmt::format("rank {}", rank));
    const Recorded trace = read(folder / fmt::format("run/rank-{}.lst", rank));
    const Json own = read_json(folder / fmt::format("own.{}.json", rank));
    const bool has_recorder = !own.at("flight_recorder").is_null();

    // The job's own last barrier comes after it wrote down what it had counted.
    std::vector<Call> mine = trace.collectives;
    ASSERT_FALSE(mine.empty());
    EXPECT_EQ(mine.back().operation, "barrier");
    mine.pop_back();
    // Without a flight recorder, the run that was not recorded has counted.
    const std::vector<Call> theirs = counted_by_pytorch(
        has_recorder ? own : read_json(folder / fmt::format("alone.{}.json", rank)), ranks);
    ASSERT_EQ(mine.size(), theirs.size());
    std::map<std::string, std::int64_t> next;
    for (std::size_t i = 0; i < mine.size(); ++i) {
      const bool scattered = mine[i].operation == "reduce_scatter";
      EXPECT_EQ(scattered ? "all_reduce" : mine[i].operation, theirs[i].operation) << i;
      if (theirs[i].bytes != kUnknown) {
        EXPECT_EQ(mine[i].bytes, theirs[i].bytes) << i << " " << mine[i].operation;
      }
      if (has_recorder) {
        EXPECT_EQ(mine[i].group, theirs[i].group) << i;
      }
      EXPECT_EQ(mine[i].sequence, next[mine[i].group]++) << i;
    }
    // Of the functions that it calls from Python, all are there, in that order, under their own names.
    std::vector<std::pair<std::string, std::int64_t>> called;
    std::vector<std::tuple<std::string, std::int64_t, std::string>> sent;
    for (const Json& entry : own.at("counted")) {
      if (entry.size() == 3) {
        sent.emplace_back(entry[0], entry[1], std::to_string(entry[2].get<int>()));
      } else {
        called.emplace_back(entry[0], entry[1]);
      }
    }
    std::size_t found = 0;
    for (const Call& call : mine)
      if (found < called.size() && call.key() == called[found]) ++found;
    EXPECT_EQ(found, called.size());
    std::vector<std::tuple<std::string, std::int64_t, std::string>> messages;
    for (const Call& call : trace.messages) messages.emplace_back(call.operation, call.bytes, call.group);
    EXPECT_EQ(messages, sent);

    // Steps, and what fills them.
    ASSERT_EQ(trace.steps.size(), std::size_t{kSteps});
    for (std::size_t i = 0; i < trace.steps.size(); ++i) {
      EXPECT_EQ(trace.steps[i].number, static_cast<std::int64_t>(i));
      if (i > 0) {
        EXPECT_EQ(trace.steps[i].begin, trace.steps[i - 1].end);
      }
      std::set<trace::Pass> passes;
      for (const trace::DeviceActivity& activity : trace.computed)
        if (activity.begin >= trace.steps[i].begin && activity.end <= trace.steps[i].end)
          passes.insert(activity.pass);
      EXPECT_THAT(passes, testing::IsSupersetOf(
                              {trace::Pass::forward, trace::Pass::backward, trace::Pass::optimizer}))
          << "step " << i;
    }
    EXPECT_EQ(trace.metadata.at("source.pytorch"), "recording");
    EXPECT_EQ(trace.metadata.at("source.pytorch.problem"), "");
    if (mode == "ddp") {
      // Backward ends by waiting for all buckets: by their futures, which tells no work that it was waited
      // for.
      EXPECT_FALSE(trace.waits.empty());
      EXPECT_EQ(trace.ended_after_their_wait(), 0);
      EXPECT_EQ(trace.ranges.at("DistributedDataParallel.forward"), 2 * kSteps);
      EXPECT_EQ(trace.ranges.at("backward"), 2 * kSteps);
      EXPECT_EQ(trace.ranges.at("Optimizer.step#AdamW.step"), kSteps);
      // One more than there are batches: the last finds that there are none.
      EXPECT_EQ(trace.ranges.at("enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__"),
                2 * kSteps + 1);
    }
    traces.push_back(trace);
  }
  for (const Recorded& trace : traces) {
    for (std::size_t step = 0; step < kSteps; ++step)
      EXPECT_EQ(trace.in_step(step), traces.front().in_step(step)) << "all ranks issue alike";
  }
  // And the analyzer makes one job of it, with nothing left over.
  const Outcome analyzed = run({binary("lockstep"), "analyze", folder / "run", "--json", "-"});
  ASSERT_EQ(analyzed.exit_code, 0) << analyzed.standard_error;
  const Json report = Json::parse(analyzed.standard_output);
  EXPECT_EQ(report.at("ranks").size(), static_cast<std::size_t>(ranks));
}

#ifdef LOCKSTEP_HAS_TRAINER
// 'A' and 'R' for every all-gather and reduce-scatter, in the order of issue.
std::string issue_order(const std::vector<Call>& calls) {
  std::string order;
  for (const Call& call : calls) {
    if (call.operation == "all_gather") order += 'A';
    if (call.operation == "reduce_scatter") order += 'R';
  }
  return order;
}

// Five units: the root and four layers, in PyTorch's FSDP2 and in ours.
TEST_F(StockPytorch, FullyShardedIssuesAsTheReferenceTrainerDoes) {
  const TemporaryFolder folder;
  std::vector<std::string> command{binary("lockstep"), "record", "-o", folder / "stock", "--"};
  const std::vector<std::string> job = torchrun("fsdp2", 2, folder / "own");
  command.insert(command.end(), job.begin(), job.end());
  const Outcome stock = run(command, kEnvironment);
  ASSERT_EQ(stock.exit_code, 0) << stock.standard_error;
  const Outcome ours = run({binary("lockstep"),
                            "record",
                            "-o",
                            folder / "ours",
                            "--",
                            binary("lockstep-train"),
                            "--mode",
                            "fsdp",
                            "--ranks",
                            "2",
                            "--layers",
                            "4",
                            "--hidden",
                            "32",
                            "--heads",
                            "2",
                            "--sequence-length",
                            "8",
                            "--batch-size",
                            "2",
                            "--steps",
                            std::to_string(kSteps)});
  ASSERT_EQ(ours.exit_code, 0) << ours.standard_error;
  const std::string of_a_step =
      "AAAAA"
      "AARARARRR";
  std::string expected;
  for (int step = 0; step < kSteps; ++step) expected += of_a_step;
  for (int rank = 0; rank < 2; ++rank) {
    EXPECT_EQ(issue_order(read(folder / fmt::format("stock/rank-{}.lst", rank)).collectives), expected);
    EXPECT_EQ(issue_order(read(folder / fmt::format("ours/rank-{}.lst", rank)).collectives), expected);
  }
}
#endif

// Killed in the middle of its third step: what it did before can be read, and says how it ended.
TEST_F(StockPytorch, AKilledRankLeavesWhatItDid) {
  const TemporaryFolder folder;
  std::vector<std::string> command{binary("lockstep"), "record", "-o", folder / "run", "--"};
  const std::vector<std::string> job = torchrun("killed", 2, folder / "own");
  command.insert(command.end(), job.begin(), job.end());
  const Outcome outcome = run(command, kEnvironment);
  EXPECT_NE(outcome.exit_code, 0);
  for (int rank = 0; rank < 2; ++rank) {
    const Result<trace::Reader> reader = trace::Reader::open(folder / fmt::format("run/rank-{}.lst", rank));
    ASSERT_TRUE(reader.ok()) << reader.error().message;
    std::vector<trace::Step> steps;
    ASSERT_TRUE(reader.value().read(trace::Selection{}, steps).ok());
    EXPECT_GE(steps.size(), 1U);
    std::vector<trace::Collective> collectives;
    ASSERT_TRUE(reader.value().read(trace::Selection{}, collectives).ok());
    EXPECT_GE(collectives.size(), 2U);
  }
}

INSTANTIATE_TEST_SUITE_P(Modes, StockPytorch,
                         testing::Values(std::tuple("ddp", 2), std::tuple("ddp", 4), std::tuple("fsdp2", 2),
                                         std::tuple("fsdp2", 4), std::tuple("fsdp1", 2),
                                         std::tuple("tensor_parallel", 2), std::tuple("tensor_parallel", 4),
                                         std::tuple("pipeline", 2), std::tuple("pipeline", 4),
                                         std::tuple("interleaved", 2)),
                         [](const auto& info) {
                           return fmt::format("{}On{}", std::get<0>(info.param), std::get<1>(info.param));
                         });

}  // namespace
}  // namespace lockstep::end_to_end
