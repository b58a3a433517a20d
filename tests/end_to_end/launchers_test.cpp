// Jobs that mpirun (Open MPI) and srun (Slurm) start, recorded from outside and with one recorder a rank.
// Slurm is a cluster of one node that the test starts and ends itself.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "tests/end_to_end/recorded_run.h"
#include "tests/end_to_end/support.h"
#include "trace/reader.h"

namespace lockstep::end_to_end {
namespace {

constexpr int kRanks = 3;

std::string find_program(const std::string& name) {
  for (const char* folder : {"/usr/bin/", "/usr/sbin/", "/usr/local/bin/", "/usr/local/sbin/"})
    if (access((folder + name).c_str(), X_OK) == 0) return folder + name;
  return {};
}

// Every rank has its file, and knows who it is.
void expect_all_ranks(const std::string& run, const std::string& launcher) {
  for (int rank = 0; rank < kRanks; ++rank) {
    SCOPED_TRACE(fmt::format("rank {}", rank));
    const Result<trace::Reader> reader = trace::Reader::open(run + fmt::format("/rank-{}.lst", rank));
    ASSERT_TRUE(reader.ok()) << reader.error().message;
    const auto& metadata = reader.value().metadata();
    EXPECT_EQ(metadata.at("rank"), std::to_string(rank));
    EXPECT_EQ(metadata.at("world_size"), std::to_string(kRanks));
    EXPECT_EQ(metadata.at("launcher"), launcher);
    EXPECT_EQ(reader.value().count(trace::EventKind::step), 3U);
    EXPECT_TRUE(reader.value().complete());
  }
  EXPECT_FALSE(std::filesystem::exists(run + fmt::format("/rank-{}.lst", kRanks)));
}

std::vector<std::string> recorded(const std::string& run) {
  return {binary("lockstep"), "record", "--quiet", "-o", run, "--"};
}

std::vector<std::string> joined(std::vector<std::string> one, const std::vector<std::string>& other) {
  one.insert(one.end(), other.begin(), other.end());
  return one;
}

class Launchers : public testing::Test {
 protected:
  const std::vector<std::string> job_{program("nvtx_steps"), "3"};
  TemporaryFolder folder_;
};

class OpenMpi : public Launchers {
 protected:
  void SetUp() override {
    mpirun_ = find_program("mpirun");
    if (mpirun_.empty()) GTEST_SKIP() << "SKIPPED: no mpirun (Debian package openmpi-bin)";
    mpirun_command_ = {mpirun_, "--oversubscribe", "-n", std::to_string(kRanks)};
    const std::string as_root = "--allow-run-as-root";
    if (geteuid() == 0) mpirun_command_.insert(mpirun_command_.begin() + 1, as_root);
  }
  std::string mpirun_;
  std::vector<std::string> mpirun_command_;
};

TEST_F(OpenMpi, RecordedFromOutside) {
  const Outcome outcome = run(joined(joined(recorded(folder_ / "run"), mpirun_command_), job_));
  ASSERT_EQ(outcome.exit_code, 0) << outcome.standard_error;
  expect_all_ranks(folder_ / "run", "Open MPI");
}

TEST_F(OpenMpi, OneRecorderARank) {
  const Outcome outcome = run(joined(joined(mpirun_command_, recorded(folder_ / "run")), job_));
  ASSERT_EQ(outcome.exit_code, 0) << outcome.standard_error;
  expect_all_ranks(folder_ / "run", "Open MPI");
}

// A process of ours in the background, ended with the object.
class Background {
 public:
  Background() = default;
  Background(const Background&) = delete;
  Background& operator=(const Background&) = delete;
  ~Background() {
    if (process_ <= 0) return;
    kill(process_, SIGTERM);
    waitpid(process_, nullptr, 0);
  }
  void start(const std::vector<std::string>& command) {
    std::vector<char*> arguments;
    for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
    arguments.push_back(nullptr);
    process_ = fork();
    if (process_ == 0) {
      if (freopen("/dev/null", "w", stdout) == nullptr || freopen("/dev/null", "w", stderr) == nullptr)
        _exit(1);
      execv(arguments[0], arguments.data());
      _exit(127);
    }
  }

 private:
  pid_t process_ = -1;
};

class Slurm : public Launchers {
 protected:
  void SetUp() override {
    for (const char* name : {"srun", "sinfo", "slurmctld", "slurmd"})
      if (find_program(name).empty())
        GTEST_SKIP() << "SKIPPED: no " << name << " (Debian packages slurm-client, slurmctld, slurmd)";
    if (geteuid() != 0) GTEST_SKIP() << "SKIPPED: slurmd needs root";
    std::array<char, 256> host{};
    gethostname(host.data(), host.size() - 1);
    std::string name(host.data());
    name = name.substr(0, name.find('.'));
    configuration_ = folder_ / "slurm.conf";
    std::filesystem::create_directory(folder_ / "state");
    std::filesystem::create_directory(folder_ / "spool");
    // Nobody but us speaks to it, over loopback: no authentication, no accounting, no process tracking.
    std::ofstream(configuration_) << fmt::format(
        "ClusterName=lockstep\nSlurmctldHost={0}(127.0.0.1)\nAuthType=auth/none\nCredType=cred/none\n"
        "SlurmUser=root\nSlurmctldPort={1}\nSlurmdPort={2}\nStateSaveLocation={3}/state\n"
        "SlurmdSpoolDir={3}/spool\nSlurmctldPidFile={3}/slurmctld.pid\nSlurmdPidFile={3}/slurmd.pid\n"
        "SlurmctldLogFile={3}/slurmctld.log\nSlurmdLogFile={3}/slurmd.log\nProctrackType=proctrack/pgid\n"
        "TaskPlugin=task/none\nSchedulerType=sched/builtin\nReturnToService=2\nMpiDefault=none\n"
        "SlurmdParameters=config_overrides\nNodeName={0} NodeAddr=127.0.0.1 CPUs={4} State=UNKNOWN\n"
        "PartitionName=all Nodes={0} Default=YES MaxTime=INFINITE State=UP\n",
        name, free_port(), free_port(), folder_.path().string(), kRanks);
    controller_.start({find_program("slurmctld"), "-D", "-f", configuration_});
    daemon_.start({find_program("slurmd"), "-D", "-f", configuration_});
    environment_ = {"SLURM_CONF=" + configuration_};
    for (int attempt = 0; attempt < 200; ++attempt) {
      const Outcome state = run({find_program("sinfo"), "--noheader", "--format=%T"}, environment_);
      if (state.standard_output.starts_with("idle")) return;
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
    std::ifstream log(folder_ / "slurmd.log");
    GTEST_SKIP() << "SKIPPED: Slurm does not start here: "
                 << std::string(std::istreambuf_iterator<char>(log), {});
  }
  std::vector<std::string> srun() const { return {find_program("srun"), "-n", std::to_string(kRanks)}; }

  std::string configuration_;
  std::vector<std::string> environment_;
  Background controller_;
  Background daemon_;
};

TEST_F(Slurm, RecordedFromOutside) {
  const Outcome outcome = run(joined(joined(recorded(folder_ / "run"), srun()), job_), environment_);
  ASSERT_EQ(outcome.exit_code, 0) << outcome.standard_error;
  expect_all_ranks(folder_ / "run", "Slurm");
}

TEST_F(Slurm, OneRecorderARank) {
  const Outcome outcome = run(joined(joined(srun(), recorded(folder_ / "run")), job_), environment_);
  ASSERT_EQ(outcome.exit_code, 0) << outcome.standard_error;
  expect_all_ranks(folder_ / "run", "Slurm");
}

}  // namespace
}  // namespace lockstep::end_to_end
