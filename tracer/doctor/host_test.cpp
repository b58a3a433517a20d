// Clock, disk, limits, isolation, ranks and other tools.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "tracer/doctor/cgroup.h"
#include "tracer/doctor/fake_machine.h"
#include "tracer/doctor/versions.h"

namespace lockstep::tracer::doctor {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

const Check* find(const Checks& checks, const std::string& name) {
  const auto found =
      std::find_if(checks.begin(), checks.end(), [&](const Check& check) { return check.name == name; });
  return found == checks.end() ? nullptr : &*found;
}

constexpr const char* kClockSource = "/sys/devices/system/clocksource/clocksource0/current_clocksource";

TEST(Clock, IsTheCounterWhereItCanBeTrusted) {
  FakeMachine machine;
  machine.files[kClockSource] = "tsc\n";
  machine.files["/proc/cpuinfo"] = "processor\t: 0\nflags\t\t: fpu constant_tsc rep_good nonstop_tsc\n";
#if defined(__x86_64__)
  Check check = look(check_clock, machine)[0];
  EXPECT_EQ(check.state, State::ok);
  EXPECT_EQ(check.values.at("ticks"), "tsc");
#endif
  machine.files["/proc/cpuinfo"] = "flags\t\t: fpu constant_tsc_x nonstop_tsc\n";
  EXPECT_EQ(look(check_clock, machine)[0].values.at("invariant_tsc"), "no");
  machine.files[kClockSource] = "hpet\n";
  EXPECT_EQ(look(check_clock, machine)[0].state, State::limited);
  EXPECT_EQ(look(check_clock, FakeMachine())[0].state, State::limited) << "nothing is known";
}

TEST(Disk, FileSystemsAreKnownByName) {
  FakeMachine machine;
  const auto state = [&](std::uint64_t type) {
    machine.disk->type = type;
    return find(look(check_disk, machine), "disk.file_system")->state;
  };
  EXPECT_EQ(state(0xEF53), State::ok);
  EXPECT_EQ(state(0x6969), State::note);
  EXPECT_EQ(state(0x0BD00BD0), State::note);
  EXPECT_EQ(state(0x794C7630), State::limited);
  EXPECT_EQ(state(0x01021994), State::limited);
  EXPECT_EQ(state(0x12345), State::ok);
  EXPECT_EQ(find(look(check_disk, machine), "disk.file_system")->values.at("file_system"), "type 0x12345");
  machine.disk->free_bytes = 1'000'000'000;
  EXPECT_EQ(state(0xEF53), State::limited);
}

TEST(Disk, RateAndRefusal) {
  FakeMachine machine;
  machine.rate = {50'000'000, 500'000'000, ""};
  EXPECT_EQ(find(look(check_disk, machine), "disk.writing")->values.at("bytes_per_second"), "100000000");
  EXPECT_EQ(find(look(check_disk, machine), "disk.writing")->state, State::ok);
  machine.rate = {5'000'000, 1'000'000'000, ""};
  EXPECT_EQ(find(look(check_disk, machine), "disk.writing")->state, State::limited);
  machine.rate = {0, 0, "Permission denied"};
  const Checks checks = look(check_disk, machine);
  EXPECT_EQ(find(checks, "disk.writing")->state, State::missing);
  for (const SourceVerdict& source : judge(checks)) EXPECT_EQ(source.state, State::missing) << source.name;
}

TEST(Cgroup, PathsAndQuotas) {
  const std::string groups = "9:name=systemd:/a\n4:cpu,cpuacct:/b\n0::/c/d\n";
  EXPECT_EQ(cgroup_path(groups, ""), "/c/d");
  EXPECT_EQ(cgroup_path(groups, "cpu"), "/b");
  EXPECT_EQ(cgroup_path(groups, "cpuacct"), "/b");
  EXPECT_EQ(cgroup_path(groups, "cp"), std::nullopt);
  EXPECT_EQ(cgroup_path("garbage\n::\n:", "cpu"), std::nullopt);
  EXPECT_EQ(parse_cpu_max("max 100000\n"), std::nullopt);
  EXPECT_EQ(parse_cpu_max("150000 100000\n"), 1.5);
  EXPECT_EQ(parse_cpu_max("150000 0\n"), std::nullopt);
  EXPECT_EQ(parse_cpu_max("150000"), std::nullopt);
  EXPECT_EQ(parse_cpu_max(""), std::nullopt);
}

TEST(Cgroup, TheTightestLimitOfAllLevelsCounts) {
  FakeMachine machine;
  machine.files = {{"/proc/self/cgroup", "0::/pod/job\n"},
                   {"/sys/fs/cgroup/pod/job/cpu.max", "max 100000\n"},
                   {"/sys/fs/cgroup/pod/cpu.max", "200000 100000\n"},
                   {"/sys/fs/cgroup/pod/cpu.stat", "usage_usec 5\nnr_periods 100\nnr_throttled 40\n"},
                   {"/sys/fs/cgroup/pod/job/memory.max", "8000000000\n"},
                   {"/sys/fs/cgroup/pod/job/memory.current", "7900000000\n"},
                   {"/sys/fs/cgroup/pod/memory.max", "max\n"},
                   {"/sys/fs/cgroup/pod/job/pids.max", "100\n"},
                   {"/sys/fs/cgroup/pod/job/pids.current", "99\n"}};
  const Checks checks = look(check_limits, machine);
  EXPECT_THAT(find(checks, "limits.cpu")->finding, HasSubstr("a quota allows 2.0; in 40 % of the periods"));
  EXPECT_EQ(find(checks, "limits.cpu")->state, State::limited);
  EXPECT_THAT(find(checks, "limits.memory")->finding, HasSubstr("7.9 of 8.0 GB used"));
  EXPECT_EQ(find(checks, "limits.memory")->state, State::limited);
  EXPECT_EQ(find(checks, "limits.tasks")->state, State::limited);
}

TEST(Cgroup, VersionOne) {
  FakeMachine machine;
  machine.files = {{"/proc/self/cgroup", "5:memory:/x\n3:cpu,cpuacct:/\n2:pids:/\n"},
                   {"/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n"},
                   {"/sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n"},
                   {"/sys/fs/cgroup/memory/x/memory.limit_in_bytes", "9223372036854771712\n"},
                   {"/sys/fs/cgroup/memory/x/memory.usage_in_bytes", "1\n"}};
  EXPECT_FALSE(read_cgroup_limits(machine).processors.has_value());
  EXPECT_FALSE(read_cgroup_limits(machine).memory.has_value()) << "that number is version 1's word for none";
  machine.files["/sys/fs/cgroup/cpu/cpu.cfs_quota_us"] = "50000\n";
  machine.files["/sys/fs/cgroup/memory/x/memory.limit_in_bytes"] = "1000\n";
  EXPECT_EQ(read_cgroup_limits(machine).processors, 0.5);
  EXPECT_EQ(read_cgroup_limits(machine).memory, 1000U);
}

TEST(Limits, WhereThereAreNone) {
  const Checks checks = look(check_limits, FakeMachine());
  for (const Check& check : checks) EXPECT_EQ(check.state, State::ok) << check.name;
  EXPECT_THAT(checks, SizeIs(3));
}

TEST(Limits, SharedMemoryAndFileSize) {
  FakeMachine machine;
  machine.shared_memory = FileSystemFacts{0x01021994, 64U << 20U, 64U << 20U};
  machine.files["/proc/self/limits"] =
      "Limit                     Soft Limit           Hard Limit           Units     \n"
      "Max file size             1048576              unlimited            bytes     \n";
  const Checks checks = look(check_limits, machine);
  EXPECT_THAT(find(checks, "limits.shared_memory")->remedy, HasSubstr("--shm-size"));
  EXPECT_THAT(find(checks, "limits.file_size")->finding, HasSubstr("1048576 bytes"));
  machine.files["/proc/self/limits"] =
      "Max file size             unlimited            unlimited            bytes\n";
  EXPECT_EQ(find(look(check_limits, machine), "limits.file_size"), nullptr);
}

TEST(Isolation, StacksNeedPermissionAndRecordingDoesNot) {
  FakeMachine machine;
  machine.files["/proc/self/status"] = "Name:\tx\nSeccomp:\t2\nSeccomp_filters:\t1\n";
  machine.files["/proc/sys/kernel/yama/ptrace_scope"] = "1\n";
  Check check = look(check_isolation, machine)[0];
  EXPECT_EQ(check.state, State::note);
  EXPECT_THAT(check.finding, HasSubstr("seccomp filter is on"));
  machine.files["/proc/sys/kernel/yama/ptrace_scope"] = "3\n";
  check = look(check_isolation, machine)[0];
  EXPECT_EQ(check.state, State::limited);
  EXPECT_THAT(check.sources, IsEmpty());
}

TEST(Scheduling, NeedsTheKernelToCountWaits) {
  FakeMachine machine;
  EXPECT_EQ(look(check_scheduling, machine)[0].state, State::missing);
  machine.files["/proc/self/stat"] = "1 (x) S";
  EXPECT_EQ(look(check_scheduling, machine)[0].state, State::limited) << "when threads ran is known";
  machine.files["/proc/self/schedstat"] = "0 0 1";
  EXPECT_EQ(look(check_scheduling, machine)[0].state, State::ok);
}

TEST(HostCounters, NeedProc) {
  FakeMachine machine;
  EXPECT_EQ(look(check_host_counters, machine)[0].state, State::missing);
  machine.files["/proc/self/stat"] = "1 (x) S";
  EXPECT_EQ(look(check_host_counters, machine)[0].state, State::limited);
  machine.files["/proc/self/schedstat"] = "0 0 1";
  machine.files["/sys/class/net/eth0/mtu"] = "1500";
  machine.files["/sys/class/net/lo/mtu"] = "1500";
  machine.files["/sys/class/infiniband/mlx5_0/x"] = "";
  const Checks checks = look(check_host_counters, machine);
  EXPECT_EQ(checks[0].state, State::ok);
  EXPECT_EQ(checks[1].finding, "network counters of eth0; of InfiniBand or RoCE: mlx5_0");
}

TEST(Ranks, AreReadAsTheRecorderReadsThem) {
  FakeMachine machine;
  EXPECT_EQ(look(check_ranks, machine)[0].state, State::note);
  machine.variables = {{"SLURM_PROCID", "3"}, {"SLURM_NTASKS", "8"}};
  EXPECT_EQ(look(check_ranks, machine)[0].finding, "rank 3 of 8, from Slurm");
  machine.variables = {{"RANK", "9"}, {"WORLD_SIZE", "8"}};
  EXPECT_EQ(look(check_ranks, machine)[0].state, State::limited);
  EXPECT_THAT(look(check_ranks, machine)[0].finding, HasSubstr("RANK=9, WORLD_SIZE=8"));
}

TEST(OtherTools, AreNamedWithWhatTheyTake) {
  FakeMachine machine;
  EXPECT_EQ(look(check_other_tools, machine)[0].name, "tools.none");
  machine.variables["NVTX_INJECTION64_PATH"] = "/opt/lockstep/lib/liblockstep-inject.so";
  EXPECT_EQ(look(check_other_tools, machine)[0].name, "tools.none") << "that is us";
  machine.variables = {{"NVTX_INJECTION64_PATH", "/nsys/libToolsInjection64.so"},
                       {"CUDA_INJECTION64_PATH", "/nsys/libToolsInjection64.so"},
                       {"NCCL_PROFILER_PLUGIN", "/x/libnccl-profiler.so"},
                       {"NSYS_PROFILING_SESSION_ID", "1"},
                       {"KINETO_USE_DAEMON", "1"},
                       {"LD_PRELOAD", "/x/libjemalloc.so"}};
  machine.files["/proc/self/status"] = "TracerPid:\t4711\n";
  const Checks checks = look(check_other_tools, machine);
  EXPECT_EQ(find(checks, "tools.nvtx")->state, State::missing);
  EXPECT_EQ(find(checks, "tools.cuda")->state, State::limited);
  EXPECT_EQ(find(checks, "tools.nccl")->state, State::limited);
  EXPECT_THAT(find(checks, "tools.nsight")->finding, HasSubstr("NSYS_PROFILING_SESSION_ID"));
  EXPECT_EQ(find(checks, "tools.kineto")->state, State::note);
  EXPECT_EQ(find(checks, "tools.preload")->state, State::note);
  EXPECT_THAT(find(checks, "tools.debugger")->finding, HasSubstr("process 4711"));
  machine.variables = {{"KINETO_USE_DAEMON", "0"}};
  machine.files["/proc/self/status"] = "TracerPid:\t0\n";
  EXPECT_THAT(look(check_other_tools, machine), SizeIs(1));
}

TEST(ValueOfLine, TakesTheWholeName) {
  EXPECT_EQ(value_of_line("a: 1\nbb:\t 2 \r\n", "bb:"), "2");
  EXPECT_EQ(value_of_line("a: 1\n", "b:"), "");
  EXPECT_EQ(value_of_line("a:   \n", "a:"), "");
  EXPECT_EQ(value_of_line("a:", "a:"), "");
}

}  // namespace
}  // namespace lockstep::tracer::doctor
