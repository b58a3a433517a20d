// What a program does beside training, told by the start-up hook: an unedited job that saves, evaluates and
// compiles, and what the account of its run says of that.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/end_to_end/support.h"
#include "tests/pytorch/torchrun.h"

namespace lockstep::end_to_end {
namespace {

using Json = nlohmann::json;

constexpr std::int64_t kLeast = 50'000'000;  // that each takes
const std::vector<std::string>& kEnvironment = kQuietEnvironment;

std::vector<std::string> job(const std::string& output) {
  return ranks_of("run_phases_job.py", {output, "compile"});
}

std::int64_t sum(const Json& spent) {
  std::int64_t total = 0;
  for (const auto& [name, ns] : spent.items()) total += ns.get<std::int64_t>();
  return total;
}

class RunPhases : public TorchTest {};

TEST_F(RunPhases, OfAnUneditedProgramAreInItsAccount) {
  const TemporaryFolder folder;
  std::vector<std::string> command{binary("lockstep"), "record", "-o", folder / "run", "--"};
  const std::vector<std::string> recorded_job = job(folder / "own");
  command.insert(command.end(), recorded_job.begin(), recorded_job.end());
  const Outcome recorded = run(command, kEnvironment);
  ASSERT_EQ(recorded.exit_code, 0) << recorded.standard_error;
  const Outcome alone = run(job(folder / "alone"), kEnvironment);
  ASSERT_EQ(alone.exit_code, 0) << alone.standard_error;
  EXPECT_EQ(sorted_lines(recorded.standard_output), sorted_lines(alone.standard_output)) << "the same losses";

  const Outcome analyzed = run({binary("lockstep"), "analyze", folder / "run", "--json", "-"});
  ASSERT_EQ(analyzed.exit_code, 0) << analyzed.standard_error;
  const Json report = Json::parse(analyzed.standard_output);
  const Json& account = report.at("account");
  ASSERT_EQ(account.at("ranks").size(), 2U);
  std::vector<Json> owns;
  for (int number = 0; number < 2; ++number) {
    std::ifstream file(folder / fmt::format("own.{}.json", number));
    owns.push_back(Json::parse(file));
  }
  for (const Json& rank : account.at("ranks")) {
    const int number = rank.at("rank");
    SCOPED_TRACE(fmt::format("rank {}", number));
    EXPECT_EQ(sum(rank.at("spent_ns")), account.at("wall_ns"));
    const Json& own = owns.at(static_cast<std::size_t>(number));
    const Json& other = owns.at(static_cast<std::size_t>(1 - number));
    for (const char* const what : {"checkpoint", "evaluation", "compilation"}) {
      SCOPED_TRACE(what);
      const auto spent = rank.at("spent_ns").at(what).get<std::int64_t>();
      const std::int64_t measured = own.contains(what) ? own.at(what).get<std::int64_t>() : 0;
      const std::int64_t of_other = other.contains(what) ? other.at(what).get<std::int64_t>() : 0;
      EXPECT_LE(spent, measured + of_other)
          << "no more than it took from outside, and the other one's, waited for";
      // The last part of a loop that makes 50 ms full may be too short to be told.
      if (measured > 0) {
        EXPECT_GE(spent, kLeast * 4 / 5);
      }
    }
    EXPECT_GT(rank.at("spent_ns").at("start_up"), 0);
    EXPECT_GT(rank.at("spent_ns").at("steady"), 0);
    EXPECT_GE(rank.at("checkpoint_beside_ns"), 300'000'000) << "async_save writes beside training";
  }
  // By step: both evaluate, rank 0 saves, both save, evaluate, and wait for what is saved beside, rank 1
  // compiles; nothing else is left out but warm-up.
  std::vector<std::string> left_out;
  for (const Json& steps : report.at("steady").at("left_out")) {
    const std::string reason = steps.at("reason");
    if (reason == "warm-up" || reason == "start-up") continue;
    // What async_save copies before it returns may be too little to be told.
    if (reason == "checkpoint" && steps.at("first") == 15 && steps.at("last") < 17) continue;
    left_out.push_back(
        reason + (steps.at("rank").is_null() ? "" : fmt::format(" of rank {}", steps.at("rank").get<int>())));
  }
  EXPECT_THAT(left_out, testing::ElementsAre("evaluation", "checkpoint of rank 0", "checkpoint", "evaluation",
                                             "checkpoint", "compilation of rank 1"));
}

// What is under way when its process is killed was told when it began. Nobody waits for a job of one rank.
constexpr const char* kKilledInItsCompilation = R"(
import os, signal, sys, time
import torch
import torch.distributed as dist

def backend(graph, inputs):
    time.sleep(3)
    os.kill(os.getpid(), signal.SIGKILL)

dist.init_process_group("gloo", init_method="file://" + sys.argv[1], rank=0, world_size=1)
dist.all_reduce(torch.ones(4))
torch.compile(lambda x: x.sin() + 1, backend=backend)(torch.randn(4))
)";

TEST_F(RunPhases, ACompilationInWhichTheJobIsKilledIsInItsAccount) {
  const TemporaryFolder folder;
  const Outcome recorded = run({binary("lockstep"), "record", "-o", folder / "run", "--", LOCKSTEP_PYTHON,
                                "-c", kKilledInItsCompilation, folder / "store"},
                               kEnvironment);
  ASSERT_NE(recorded.exit_code, 0);
  const Outcome analyzed = run({binary("lockstep"), "analyze", folder / "run", "--json", "-"});
  ASSERT_EQ(analyzed.exit_code, 0) << analyzed.standard_error << recorded.standard_error;
  const Json spent = Json::parse(analyzed.standard_output).at("account").at("spent_ns");
  EXPECT_GE(spent.at("compilation"), 1'400'000'000) << "3 s, less what was not on disk yet";
  EXPECT_EQ(spent.at("after_failure"), 0);
}

// Nobody calls what it decorates: nothing is compiled, but the compiler is imported.
constexpr const char* kDecorates = R"(
import sys
import torch
import torch.distributed as dist

dist.init_process_group("gloo", init_method="file://" + sys.argv[1], rank=0, world_size=1)

@torch.compile
def fused(x):
    return x.sin() + 1

weight = torch.ones(4, requires_grad=True)
optimizer = torch.optim.SGD([weight], lr=0.1)
for _ in range(4):
    weight.sum().backward()
    dist.all_reduce(weight.grad)
    optimizer.step()
print("dynamo" if "torch._dynamo" in sys.modules else "no compiler")
)";

TEST_F(RunPhases, AnImportOfTheCompilerIsNoCompilation) {
  const TemporaryFolder folder;
  const Outcome recorded = run({binary("lockstep"), "record", "-o", folder / "run", "--", LOCKSTEP_PYTHON,
                                "-c", kDecorates, folder / "store"},
                               kEnvironment);
  ASSERT_EQ(recorded.exit_code, 0) << recorded.standard_error;
  EXPECT_EQ(recorded.standard_output, "dynamo\n");
  const Outcome analyzed = run({binary("lockstep"), "analyze", folder / "run", "--json", "-"});
  ASSERT_EQ(analyzed.exit_code, 0) << analyzed.standard_error;
  const Json spent = Json::parse(analyzed.standard_output).at("account").at("spent_ns");
  EXPECT_EQ(spent.at("compilation"), 0);
  EXPECT_GT(spent.at("start_up"), 0);
}

}  // namespace
}  // namespace lockstep::end_to_end
