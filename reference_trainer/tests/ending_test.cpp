// How a running job ends when one of its ranks is killed, or the user has enough of it: every rank ends,
// soon, says why, and leaves nothing behind. In each mode, because each waits in other places.
#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <fstream>
#include <memory>

#include "reference_trainer/tests/small_job.h"
#include "reference_trainer/tests/tried_modes.h"
#include "tests/end_to_end/support.h"

namespace lockstep::trainer {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

constexpr int kRanks = 3;

class RunningJob : public SmallJob, public testing::WithParamInterface<TriedMode> {
 protected:
  RunningJob() : SmallJob({"--layers", "3", "--hidden", "16", "--heads", "1", "--sequence-length", "16"}) {}

  Arguments endless_job() const {
    return command(Arguments{"--mode", GetParam().name, "--steps", "1000000"} + GetParam().flags);
  }
  static void await_second_step(TrainerProcess& process) {
    for (std::string line; !line.starts_with("step 2");)
      ASSERT_TRUE(process.read_line(line)) << "the job ended before its second step";
  }
};

TEST_P(RunningJob, EndsWhenARankIsKilled) {
  TrainerProcess process(endless_job() + Arguments{"--ranks", std::to_string(kRanks)});
  ASSERT_NO_FATAL_FAILURE(await_second_step(process));
  const std::map<int, pid_t> ranks = ranks_of(process.pid());
  ASSERT_EQ(ranks.size(), std::size_t{kRanks});
  kill(ranks.at(1), SIGKILL);
  EXPECT_EQ(process.wait(), 128 + SIGKILL);
  EXPECT_THAT(process.errors(), HasSubstr("rank 1 was killed by signal 9 (SIGKILL)"));
  for (const auto& [rank, pid] : ranks) EXPECT_NE(kill(pid, 0), 0) << "rank " << rank << " still runs";
}

// Without a launcher that ends the others each rank must find out by itself, and say of what.
TEST_P(RunningJob, EveryRankFindsOutThatOneIsKilled) {
  const std::string port = std::to_string(end_to_end::free_port());
  std::vector<std::unique_ptr<TrainerProcess>> ranks;
  for (int rank = 0; rank < kRanks; ++rank)
    ranks.push_back(
        std::make_unique<TrainerProcess>(endless_job(), Environment{{"RANK", std::to_string(rank)},
                                                                    {"WORLD_SIZE", std::to_string(kRanks)},
                                                                    {"MASTER_ADDR", "127.0.0.1"},
                                                                    {"MASTER_PORT", port}}));
  ASSERT_NO_FATAL_FAILURE(await_second_step(*ranks[0]));
  kill(ranks[2]->pid(), SIGKILL);
  EXPECT_EQ(ranks[2]->wait(), 128 + SIGKILL);
  for (const int rank : {0, 1}) {
    TrainerProcess& survivor = *ranks[static_cast<std::size_t>(rank)];
    EXPECT_EQ(survivor.wait(), 1) << "rank " << rank;
    const std::string stopped = "rank " + std::to_string(rank) + ": training stopped: ";
    // Where it was: a collective of a group, the Reducer's, a message to or from a rank, a sum over all
    // ranks.
    EXPECT_THAT(
        survivor.errors(),
        ContainsRegex(stopped + "(.* \\(number [0-9]+ of group .*\\)|backward of micro-step 0, .*|"
                                "(send|recv) .* (to|from) rank [0-9]|sum of the .* over all ranks): "));
  }
}

// Of what is left of signal `number` in /proc/PID/status, where bit 0 stands for signal 1.
bool ignores(pid_t pid, int number) {
  std::ifstream status("/proc/" + std::to_string(pid) + "/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("SigIgn:"))
      return (std::stoull(line.substr(7), nullptr, 16) >> (number - 1) & 1) != 0;
  return false;
}

// Gloo writes to its sockets in a way that raises SIGPIPE in a rank whose peer has just been killed.
TEST_P(RunningJob, NoRankEndsByWritingToOneThatIsGone) {
  TrainerProcess process(endless_job() + Arguments{"--ranks", std::to_string(kRanks)});
  ASSERT_NO_FATAL_FAILURE(await_second_step(process));
  for (const auto& [rank, pid] : ranks_of(process.pid()))
    EXPECT_TRUE(ignores(pid, SIGPIPE)) << "rank " << rank;
  kill(process.pid(), SIGTERM);
  process.wait();
}

TEST_P(RunningJob, PassesSignalsOn) {
  TrainerProcess process(endless_job() + Arguments{"--ranks", std::to_string(kRanks)});
  ASSERT_NO_FATAL_FAILURE(await_second_step(process));
  const std::map<int, pid_t> ranks = ranks_of(process.pid());
  kill(process.pid(), SIGINT);
  EXPECT_EQ(process.wait(), 128 + SIGINT);
  EXPECT_THAT(process.errors(), HasSubstr("ended by SIGINT"));
  for (const auto& [rank, pid] : ranks) EXPECT_NE(kill(pid, 0), 0) << "rank " << rank << " still runs";
}

// A wrong sum is worse than a job that ends: in these modes the skipped operation is one of c10d's.
TEST_P(RunningJob, EndsWhenARankSkipsACollective) {
  TrainerProcess process(endless_job() + Arguments{"--ranks", "3", "--timeout", "2", "--fault",
                                                   "skip_collective:rank=0,steps=2"});
  EXPECT_EQ(process.wait(), 1);
  EXPECT_THAT(process.errors(), HasSubstr("training stopped: "));
  EXPECT_THAT(process.output(), Not(HasSubstr("step 3")));
}

INSTANTIATE_TEST_SUITE_P(Modes, RunningJob, testing::ValuesIn(tried_modes()),
                         [](const auto& info) { return info.param.name; });

// A user who has seen enough: `lockstep-train | head -1`.
class OneRank : public SmallJob {
 protected:
  OneRank() : SmallJob({"--layers", "1", "--hidden", "16", "--heads", "1", "--sequence-length", "16"}) {}
};

TEST_F(OneRank, EndsWhenNobodyReadsItsOutput) {
  std::string line;
  for (const std::string& word :
       Arguments{end_to_end::binary("lockstep-train")} + command({"--steps", "1000000"}))
    line += "'" + word + "' ";
  const end_to_end::Outcome outcome =
      end_to_end::run({"bash", "-c", line + "| head -1 >/dev/null; echo ${PIPESTATUS[0]}"});
  EXPECT_EQ(outcome.standard_output, "141\n") << outcome.standard_error;
}

// Ranks as a launcher elsewhere starts them.
class Rendezvous : public SmallJob {
 protected:
  Rendezvous() : SmallJob({"--layers", "1", "--hidden", "16", "--heads", "1", "--sequence-length", "16"}) {}

  std::unique_ptr<TrainerProcess> rank(int rank, int world_size, int port, const Arguments& more = {}) const {
    return std::make_unique<TrainerProcess>(command(Arguments{"--steps", "1", "--timeout", "2"} + more),
                                            Environment{{"RANK", std::to_string(rank)},
                                                        {"WORLD_SIZE", std::to_string(world_size)},
                                                        {"MASTER_ADDR", "127.0.0.1"},
                                                        {"MASTER_PORT", std::to_string(port)}});
  }
};

TEST_F(Rendezvous, WhoDoesNotComeIsNamed) {
  const int port = end_to_end::free_port();
  const auto zero = rank(0, 4, port), two = rank(2, 4, port);
  EXPECT_EQ(zero->wait(), 1);
  EXPECT_EQ(two->wait(), 1);
  const std::string where =
      "did not come to the rendezvous at 127.0.0.1:" + std::to_string(port) + " within 2 s: ";
  EXPECT_THAT(zero->errors(), HasSubstr("rank 0: training stopped: of 4 ranks these " + where + "1, 3\n"));
  EXPECT_THAT(two->errors(), HasSubstr("rank 2: training stopped: "));
  for (const auto* process : {zero.get(), two.get()})
    EXPECT_THAT(process->errors(), Not(HasSubstr("frame #"))) << "c10d's own stacks";
}

TEST_F(Rendezvous, WithoutRankZeroEveryRankEnds) {
  const int port = end_to_end::free_port();
  const auto one = rank(1, 2, port);
  EXPECT_EQ(one->wait(), 1);
  EXPECT_THAT(one->errors(), HasSubstr("rank 1: training stopped: the rendezvous at 127.0.0.1:" +
                                       std::to_string(port) + " did not answer within 2 s"));
}

TEST_F(Rendezvous, RanksWithOtherFlagsAreRefusedByAll) {
  for (const auto& [flag, value, usual] :
       {std::array{"--hidden", "32", "16"}, std::array{"--learning-rate", "0.5", "0.001"}}) {
    const int port = end_to_end::free_port();
    const auto zero = rank(0, 3, port), one = rank(1, 3, port, {flag, value}), two = rank(2, 3, port);
    const std::string refused = std::string("training stopped: rank 1 has ") + flag + " " + value +
                                ", rank 0 has " + usual + ": give all ranks the same flags\n";
    for (const auto* process : {&zero, &one, &two}) {
      EXPECT_EQ((*process)->wait(), 1);
      EXPECT_THAT((*process)->errors(), HasSubstr(refused));
      EXPECT_THAT((*process)->output(), Not(HasSubstr("step 1")));
    }
  }
}

TEST_F(Rendezvous, ANameThatDoesNotResolveIsNamed) {
  TrainerProcess one(command({"--steps", "1", "--timeout", "1"}), {{"RANK", "1"},
                                                                   {"WORLD_SIZE", "2"},
                                                                   {"MASTER_ADDR", "no-such-host.invalid"},
                                                                   {"MASTER_PORT", "29777"}});
  EXPECT_EQ(one.wait(), 1);
  EXPECT_THAT(one.errors(), HasSubstr("MASTER_ADDR=no-such-host.invalid did not resolve within 1 s"));
}

// Something else has the port, takes connections and says nothing.
TEST_F(Rendezvous, AStrangerAtThePortHoldsNobody) {
  const int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof address;
  ASSERT_EQ(bind(listener, reinterpret_cast<sockaddr*>(&address), length), 0);
  ASSERT_EQ(listen(listener, 8), 0);
  ASSERT_EQ(getsockname(listener, reinterpret_cast<sockaddr*>(&address), &length), 0);
  const auto one = rank(1, 2, ntohs(address.sin_port));
  EXPECT_EQ(one->wait(), 1);
  EXPECT_THAT(one->errors(), HasSubstr("did not answer within 2 s: is rank 0 there, and the port its own?"));
  close(listener);
}

}  // namespace
}  // namespace lockstep::trainer
