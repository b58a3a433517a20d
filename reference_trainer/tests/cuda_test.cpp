// --device cuda: the losses are the CPU's in every mode, and the same operations are issued in the same
// order, but for those that several threads issue.
//
// On a machine without a GPU a stand-in computes (cuda_stand_in.cpp); the tests named OnAGpu need one, and
// are skipped with the reason where there is none.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <fstream>
#include <map>

#include "reference_trainer/tests/small_job.h"
#include "reference_trainer/tests/tried_modes.h"
#include "tests/end_to_end/support.h"

namespace lockstep::trainer {
namespace {

using nlohmann::json;

const Environment kStandIn{{"LD_PRELOAD", LOCKSTEP_CUDA_STAND_IN}};
const Environment kGpu{};

// The same sum in another order, and a GPU's products in another one than the CPU's.
constexpr double kTolerance = 1e-9;

class Cuda : public SmallJob, public testing::WithParamInterface<TriedJob> {
 protected:
  Cuda()
      : SmallJob({"--layers", "4", "--hidden", "24", "--heads", "2", "--steps", "3", "--seed", "5",
                  "--sequence-length", "16"}) {}

  // In float64 where it says nothing else.
  Arguments command(const Arguments& more) const {
    const bool says = std::find(more.begin(), more.end(), "--dtype") != more.end();
    return SmallJob::command(says ? more : Arguments{"--dtype", "float64"} + more);
  }

  struct Run {
    std::vector<json> steps;
    // Of rank 0, by group, with the bytes of each, in the order in which they ran.
    std::map<int, std::vector<std::string>> operations;
  };
  // `name` tells runs of one test apart.
  Run run(const std::string& name, const Arguments& more, const Arguments& device = {},
          Environment environment = {}) const {
    const std::string heard = folder_.file("heard " + name);
    environment.merge(listening(heard));
    TrainerProcess process(command(more + device), environment);
    EXPECT_EQ(process.wait(), 0) << process.errors();
    return {events(read_json_lines(folder_.file("log")), "step"), operations(heard + ".0")};
  }

  static std::map<int, std::vector<std::string>> operations(const std::string& heard) {
    std::map<int, std::vector<std::string>> operations;
    for (const json& line : read_json_lines(heard)) {
      if (line.at("kind") != "push" || line.value("schema", "") != "lockstep.collective") continue;
      const std::string name = line.at("message");
      // On a GPU the host's own numbers travel in a group beside.
      if (name.find("loss") != std::string::npos || name.find("norm") != std::string::npos ||
          name.find("shutdown") != std::string::npos)
        continue;
      const json& fields = line.at("fields");
      operations[fields.at("group")].push_back(name + " " + fields.at("bytes").dump());
    }
    return operations;
  }

  json analyzed(const Arguments& job, const Environment& environment) const;

  // Empty where there is one.
  std::string why_no_gpu() const {
    TrainerProcess process(command({"--device", "cuda"}));
    if (process.wait() == 0) return "";
    EXPECT_THAT(process.errors(), testing::HasSubstr("--device cuda: "));
    return process.errors();
  }
};

const Arguments kGloo{"--device", "cuda", "--backend", "gloo"};
const Arguments kNccl{"--device", "cuda", "--backend", "nccl"};

TEST_P(Cuda, LossesAndOperationsAreTheCpus) {
  const TriedJob& job = GetParam();
  const Run on_cpu = run("cpu", job.flags);
  ASSERT_EQ(on_cpu.steps.size(), 3u);
  ASSERT_FALSE(on_cpu.operations.empty());
  const Run on_cuda = run("cuda", job.flags, kGloo, kStandIn);
  EXPECT_LT(largest_difference(on_cpu.steps, on_cuda.steps), kTolerance);
  if (job.in_order) {
    EXPECT_EQ(on_cuda.operations, on_cpu.operations);
  }
}

INSTANTIATE_TEST_SUITE_P(Modes, Cuda, testing::ValuesIn(tried_jobs("cuda")), [](const auto& info) {
  std::string name;
  for (const std::string& argument : info.param.flags) {
    for (const char character : argument)
      if (std::isalnum(static_cast<unsigned char>(character)) != 0) name += character;
  }
  return name;
});

TEST_F(Cuda, OneRankNeedsNobodyElse) {
  EXPECT_LT(largest_difference(run("cpu", {}).steps, run("cuda", {}, {"--device", "cuda"}, kStandIn).steps),
            kTolerance);
}

TEST_F(Cuda, Bfloat16AndDeepSpeedsOffloadStayNearTheCpu) {
  for (const char* device : {"cpu", "nvme"}) {
    write_file(folder_.file("zero.json"),
               json{{"train_micro_batch_size_per_gpu", 2},
                    {"bf16", {{"enabled", true}}},
                    {"zero_optimization",
                     {{"stage", 3},
                      {"offload_optimizer", {{"device", device}, {"nvme_path", folder_.file(".")}}},
                      {"offload_param", {{"device", device}, {"nvme_path", folder_.file(".")}}}}}}
                   .dump());
    const Arguments job{"--ranks", "2", "--deepspeed", folder_.file("zero.json"), "--dtype", "bfloat16"};
    EXPECT_LT(largest_difference(run("cpu", job).steps, run("cuda", job, kGloo, kStandIn).steps), 0.02)
        << device;
  }
}

TEST_F(Cuda, WhereThereIsNoGpuTheMessageSaysWhatToDo) {
  const std::string reason = why_no_gpu();
  if (reason.empty()) GTEST_SKIP() << "there is a GPU here";
  EXPECT_THAT(reason, testing::AnyOf(testing::HasSubstr("scripts/setup --cuda"),
                                     testing::HasSubstr("CUDA_VISIBLE_DEVICES")));
}

// Records a job of two ranks and returns what `lockstep analyze` says of it.
json Cuda::analyzed(const Arguments& job, const Environment& environment) const {
  const std::string run = folder_.file("run"), report = folder_.file("report");
  const std::string bin = LOCKSTEP_BIN_DIR;
  std::string recorded;
  for (const auto& [name, value] : environment) recorded += name + "=" + value + " ";
  recorded += bin + "/lockstep record -o " + run + " -- " + bin + "/lockstep-train";
  for (const std::string& argument : command(job)) recorded += " " + argument;
  EXPECT_EQ(std::system((recorded + " > " + folder_.file("out") + " 2>&1").c_str()), 0) << recorded;
  EXPECT_EQ(end_to_end::run({bin + "/lockstep", "analyze", run, "--json", report}).exit_code, 0);
  return json::parse(std::ifstream(report));
}

TEST_F(Cuda, ARecordedRunNamesItsDeviceAndHasItsComputations) {
  const json report =
      analyzed({"--ranks", "2", "--mode", "fsdp", "--device", "cuda", "--backend", "gloo"}, kStandIn);
  ASSERT_EQ(report.at("ranks").size(), 2u);
  for (const json& rank : report.at("ranks")) {
    EXPECT_EQ(rank.at("device"), "cuda");
    EXPECT_GT(rank.at("compute_ns"), 0);
  }
}

TEST_F(Cuda, OnAGpuComputeHidesCommunication) {
  if (const std::string reason = why_no_gpu(); !reason.empty()) GTEST_SKIP() << "SKIPPED, no GPU: " << reason;
  Arguments job{"--ranks", "2", "--dtype", "float32", "--batch-size", "16", "--device", "cuda"};
  for (const char* mode : {"ddp", "fsdp"}) {
    Arguments of_mode = job;
    of_mode.insert(of_mode.end(), {"--mode", mode, "--backend", "nccl"});
    const json report = analyzed(of_mode, kGpu);
    for (const json& rank : report.at("ranks")) EXPECT_GT(rank.at("overlap_ratio"), 0.0) << mode;
  }
}

// Two ranks share the one GPU, if there is one.
TEST_F(Cuda, OnAGpuLossesAreTheCpus) {
  if (const std::string reason = why_no_gpu(); !reason.empty()) GTEST_SKIP() << "SKIPPED, no GPU: " << reason;
  for (const char* mode : {"ddp", "fsdp", "zero3"}) {
    const Arguments job{"--ranks", "2", "--mode", mode};
    const std::vector<json> on_cpu = run("cpu", job).steps;
    EXPECT_LT(largest_difference(on_cpu, run("gloo", job, kGloo, kGpu).steps), kTolerance) << mode;
    EXPECT_LT(largest_difference(on_cpu, run("nccl", job, kNccl, kGpu).steps), kTolerance) << mode;
  }
}

}  // namespace
}  // namespace lockstep::trainer
