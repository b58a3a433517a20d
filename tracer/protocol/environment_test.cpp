#include "tracer/protocol/environment.h"

#include <gtest/gtest.h>

#include <map>

namespace lockstep::tracer {
namespace {

JobIdentity identify(const std::map<std::string, std::string>& variables) {
  return identify_job([&](const char* name) -> const char* {
    const auto found = variables.find(name);
    return found == variables.end() ? nullptr : found->second.c_str();
  });
}

TEST(JobIdentity, NoLauncher) {
  const JobIdentity job = identify({{"HOME", "/root"}});
  EXPECT_EQ(job.rank, -1);
  EXPECT_EQ(job.world_size, -1);
  EXPECT_EQ(job.local_rank, -1);
  EXPECT_EQ(job.launcher, "");
}

TEST(JobIdentity, EachLauncher) {
  const JobIdentity torchrun = identify({{"RANK", "5"}, {"WORLD_SIZE", "8"}, {"LOCAL_RANK", "1"}});
  EXPECT_EQ(torchrun.rank, 5);
  EXPECT_EQ(torchrun.world_size, 8);
  EXPECT_EQ(torchrun.local_rank, 1);
  EXPECT_EQ(torchrun.launcher, "torchrun");
  const JobIdentity mpi = identify(
      {{"OMPI_COMM_WORLD_RANK", "0"}, {"OMPI_COMM_WORLD_SIZE", "2"}, {"OMPI_COMM_WORLD_LOCAL_RANK", "0"}});
  EXPECT_EQ(mpi.rank, 0);
  EXPECT_EQ(mpi.world_size, 2);
  EXPECT_EQ(mpi.local_rank, 0);
  EXPECT_EQ(mpi.launcher, "Open MPI");
  const JobIdentity pmi = identify({{"PMI_RANK", "3"}, {"PMI_SIZE", "4"}, {"MPI_LOCALRANKID", "3"}});
  EXPECT_EQ(pmi.rank, 3);
  EXPECT_EQ(pmi.launcher, "PMI");
  const JobIdentity slurm = identify({{"SLURM_PROCID", "9"}, {"SLURM_NTASKS", "16"}, {"SLURM_LOCALID", "1"}});
  EXPECT_EQ(slurm.rank, 9);
  EXPECT_EQ(slurm.world_size, 16);
  EXPECT_EQ(slurm.local_rank, 1);
  EXPECT_EQ(slurm.launcher, "Slurm");
}

TEST(JobIdentity, TorchrunTellsHowOftenItBeganAnew) {
  EXPECT_EQ(identify({{"RANK", "5"}, {"WORLD_SIZE", "8"}}).restart, 0);
  EXPECT_EQ(identify({{"RANK", "5"}, {"WORLD_SIZE", "8"}, {"TORCHELASTIC_RESTART_COUNT", "0"}}).restart, 0);
  EXPECT_EQ(identify({{"RANK", "5"}, {"WORLD_SIZE", "8"}, {"TORCHELASTIC_RESTART_COUNT", "2"}}).restart, 2);
  EXPECT_EQ(identify({{"RANK", "5"}, {"WORLD_SIZE", "8"}, {"TORCHELASTIC_RESTART_COUNT", "x"}}).restart, 0);
}

TEST(TraceFileName, OfWorkersThatWereStartedAnew) {
  EXPECT_EQ(rank_file_name(3), "rank-3.lst");
  EXPECT_EQ(rank_file_name(3, 2), "rank-3-restart-2.lst");
  EXPECT_TRUE(is_trace_file_name("rank-3-restart-2.lst"));
  for (const char* name :
       {"rank-3-restart-.lst", "rank--restart-2.lst", "rank-3-restart-2x.lst", "rank-3-restart2.lst"})
    EXPECT_FALSE(is_trace_file_name(name)) << name;
}

TEST(JobIdentity, TheInnermostLauncherWins) {
  EXPECT_EQ(identify({{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "2"}, {"RANK", "7"}, {"WORLD_SIZE", "8"}}).rank,
            7);
  EXPECT_EQ(identify({{"SLURM_PROCID", "0"},
                      {"SLURM_NTASKS", "1"},
                      {"OMPI_COMM_WORLD_RANK", "1"},
                      {"OMPI_COMM_WORLD_SIZE", "2"}})
                .rank,
            1);
}

TEST(JobIdentity, WhatIsNoRankIsNotTaken) {
  for (const char* value : {"", "x", "-1", "1x", " 1", "4294967296", "1.5", "0x1"}) {
    EXPECT_EQ(identify({{"RANK", value}}).rank, -1) << value;
  }
  EXPECT_EQ(identify({{"RANK", "8"}, {"WORLD_SIZE", "8"}}).rank, -1) << "ranks go from 0 to 7";
  const JobIdentity next = identify({{"RANK", "gold"}, {"PMI_RANK", "1"}, {"PMI_SIZE", "2"}});
  EXPECT_EQ(next.rank, 1);
  EXPECT_EQ(next.launcher, "PMI");
}

TEST(JobIdentity, WorldSizeAndLocalRankMayBeUnknown) {
  const JobIdentity job = identify({{"RANK", "3"}, {"LOCAL_RANK", "?"}});
  EXPECT_EQ(job.rank, 3);
  EXPECT_EQ(job.world_size, -1);
  EXPECT_EQ(job.local_rank, -1);
}

TEST(FileNames, AreThoseOfTheRunFolder) {
  EXPECT_EQ(rank_file_name(0), "rank-0.lst");
  EXPECT_EQ(rank_file_name(1023), "rank-1023.lst");
  EXPECT_EQ(process_file_name("node7", 4711, 1), "proc-node7-4711.lst");
  EXPECT_EQ(process_file_name("node7", 4711, 3), "proc-node7-4711-3.lst");
  EXPECT_EQ(process_file_name("../etc", 1, 1), "proc-.._etc-1.lst");
  EXPECT_EQ(process_file_name("", 1, 1), "proc-host-1.lst");
}

TEST(FileNames, AreToldFromOthers) {
  for (const char* name : {"rank-0.lst", "rank-12.lst", "proc-node-1.lst", "proc-a-b-1-2.lst"}) {
    EXPECT_TRUE(is_trace_file_name(name)) << name;
  }
  for (const char* name :
       {"", ".lst", "rank-.lst", "rank-1", "rank-x.lst", "rank-1.lst.bak", "proc-.lst", "proc-1.lst",
        "proc--.lst", "xrank-1.lst", "listing.lst", "manifest.json", "rank--1.lst"}) {
    EXPECT_FALSE(is_trace_file_name(name)) << name;
  }
}

TEST(TraceFileNames, TellTheirRank) {
  EXPECT_EQ(rank_of_file_name("rank-12.lst"), 12);
  EXPECT_EQ(rank_of_file_name("rank-12-restart-3.lst"), 12);
  EXPECT_EQ(restart_of_file_name("rank-12-restart-3.lst"), 3);
  for (const char* name : {"rank-12.lst", "proc-node-restart-3.lst", "rank-1-restart-99999999999.lst", ""})
    EXPECT_EQ(restart_of_file_name(name), 0) << name;
  for (const char* name :
       {"proc-node7-12.lst", "rank-.lst", "rank-12.json", "rank-x.lst", "rank-99999999999.lst"})
    EXPECT_FALSE(rank_of_file_name(name).has_value()) << name;
}

}  // namespace
}  // namespace lockstep::tracer
