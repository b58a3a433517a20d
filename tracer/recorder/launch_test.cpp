// Which launch a recorder belongs to, and which of its recorders it is.
#include "tracer/recorder/launch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

namespace lockstep::tracer::record {
namespace {

using testing::StartsWith;
using Variables = std::map<std::string, std::string>;

Lookup lookup_in(const Variables& variables) {
  return [&variables](const char* name) -> const char* {
    const auto found = variables.find(name);
    return found == variables.end() ? nullptr : found->second.c_str();
  };
}

std::string name_of(const Variables& variables) {
  return launch_name(lookup_in(variables));
}

Launch launch_of(const std::vector<std::string>& command, const Variables& variables = {}) {
  return find_launch(lookup_in(variables), command, identify_job(lookup_in(variables)));
}

TEST(LaunchName, IsThatOfTheStep) {
  EXPECT_EQ(name_of({}), "");
  EXPECT_EQ(name_of({{"SLURM_JOB_ID", "12"}, {"SLURM_STEP_ID", "3"}}), "slurm-12.3");
  EXPECT_EQ(name_of({{"SLURM_JOBID", "12"}, {"SLURM_STEPID", "3"}}), "slurm-12.3");
  EXPECT_EQ(name_of({{"SLURM_JOB_ID", "12"}}), "") << "the batch script itself is no step";
  EXPECT_EQ(name_of({{"PMIX_NAMESPACE", "ns"}, {"SLURM_JOB_ID", "12"}, {"SLURM_STEP_ID", "3"}}), "ompi-ns");
  EXPECT_NE(name_of({{"TORCHELASTIC_RUN_ID", "none"}, {"MASTER_PORT", "1"}}),
            name_of({{"TORCHELASTIC_RUN_ID", "none"}, {"MASTER_PORT", "2"}}));
}

TEST(LaunchName, OfRanksStartedByHandIsWhereTheyMeet) {
  Variables variables{{"RANK", "3"}, {"WORLD_SIZE", "4"}, {"MASTER_ADDR", "node0"}, {"MASTER_PORT", "29500"}};
  EXPECT_EQ(name_of(variables), "torchrun-node0:29500-4");
  EXPECT_EQ(launch_of({"python", "train.py"}, variables).place, "rank-3");
  variables["SLURM_JOB_ID"] = "12";
  variables["SLURM_STEP_ID"] = "0";
  EXPECT_EQ(name_of(variables), "slurm-12.0") << "that never comes again";
  EXPECT_EQ(name_of({{"RANK", "0"}, {"WORLD_SIZE", "4"}}), "") << "nothing to tell the job by";
  EXPECT_EQ(name_of({{"RANK", "0"}, {"WORLD_SIZE", "1"}, {"MASTER_ADDR", "node0"}, {"MASTER_PORT", "29500"}}),
            "")
      << "there is no other";
}

TEST(FindLaunch, OfRanksThatTorchrunStartedAnewIsTheSame) {
  Variables variables{{"TORCHELASTIC_RUN_ID", "job7"},
                      {"MASTER_ADDR", "node0"},
                      {"MASTER_PORT", "29500"},
                      {"RANK", "3"},
                      {"WORLD_SIZE", "4"},
                      {"TORCHELASTIC_RESTART_COUNT", "0"}};
  const Launch before = launch_of({"python", "train.py"}, variables);
  EXPECT_EQ(before.name, "torchrun-job7");
  EXPECT_EQ(before.place, "rank-3");
  variables["TORCHELASTIC_RESTART_COUNT"] = "1";
  variables["MASTER_PORT"] = "40123";
  const Launch after = launch_of({"python", "train.py"}, variables);
  EXPECT_EQ(after.name, before.name);
  EXPECT_EQ(after.place, "rank-3-restart-1");
  variables["RANK"] = "0";
  EXPECT_EQ(launch_of({"python", "train.py"}, variables).place, "rank-0-restart-1")
      << "the first place is that of rank 0 before the restart";
}

TEST(FindLaunch, OfNodesIsTorchrunsRendezvous) {
  const Launch second = launch_of({"/opt/bin/torchrun", "--nnodes=2", "--node_rank", "1", "--master-addr",
                                   "node0", "--master_port=77", "train.py"});
  EXPECT_EQ(second.name, "torchrun-node0:77-2");
  EXPECT_EQ(second.place, "node-1");
  EXPECT_TRUE(second.of_node);
  EXPECT_FALSE(second.first_come);
  const Launch first = launch_of({"python", "-m", "torch.distributed.run", "--nnodes", "2", "--node-rank=0",
                                  "--master-addr=node0", "--master-port", "77", "train.py"});
  EXPECT_EQ(first.name, second.name);
  EXPECT_EQ(first.place, "");
}

TEST(FindLaunch, NodesWithoutANumberComeAsTheyCome) {
  const Launch launch = launch_of(
      {"torchrun", "--nnodes", "1:4", "--rdzv-endpoint", "node0:29400", "--rdzv-id", "job7", "train.py"});
  EXPECT_EQ(launch.name, "torchrun-node0:29400-job7-1:4");
  EXPECT_THAT(launch.place, StartsWith("node-"));
  EXPECT_TRUE(launch.first_come);
}

TEST(FindLaunch, APodOfAPyTorchJobIsANode) {
  const Variables pod{{"RANK", "1"},
                      {"WORLD_SIZE", "2"},
                      {"MASTER_ADDR", "job-master-0"},
                      {"PET_NNODES", "2"},
                      {"MASTER_PORT", "23456"}};
  const Launch launch = launch_of({"torchrun", "--nproc-per-node", "8", "train.py"}, pod);
  EXPECT_EQ(launch.name, "torchrun-job-master-0:23456-2");
  EXPECT_EQ(launch.place, "node-1");
  EXPECT_TRUE(launch.of_node);
}

TEST(FindLaunch, TorchrunBelowSrunIsOfTheStep) {
  const Variables task{
      {"SLURM_JOB_ID", "12"}, {"SLURM_STEP_ID", "3"}, {"SLURM_PROCID", "1"}, {"SLURM_NTASKS", "2"}};
  const Launch launch =
      launch_of({"torchrun", "--nnodes", "2", "--rdzv-endpoint", "node0", "train.py"}, task);
  EXPECT_EQ(launch.name, "slurm-12.3");
  EXPECT_EQ(launch.place, "node-1");
  EXPECT_FALSE(launch.first_come);
}

TEST(FindLaunch, OneNodeSharesWithNobody) {
  EXPECT_EQ(launch_of({"torchrun", "--nproc-per-node", "8", "train.py"}).name, "");
  EXPECT_EQ(launch_of({"torchrun", "--nnodes=1", "--rdzv-endpoint=node0", "train.py"}).name, "");
  EXPECT_EQ(launch_of({"torchrun", "--nnodes=2", "train.py"}).name, "") << "no rendezvous is told";
  EXPECT_EQ(launch_of({"./train", "--nnodes", "2", "--rdzv-endpoint", "node0"}).name, "");
}

}  // namespace
}  // namespace lockstep::tracer::record
