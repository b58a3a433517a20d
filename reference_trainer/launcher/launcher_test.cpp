// The launcher with shell scripts as ranks.
#include "reference_trainer/launcher/launcher.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <fstream>

#include "reference_trainer/tests/trainer_process.h"

namespace lockstep::trainer {
namespace {

using ::testing::HasSubstr;

class Launcher : public ::testing::Test {
 protected:
  Launcher() {
    sigprocmask(SIG_SETMASK, nullptr, &mask_);
    block_launcher_signals();
  }
  ~Launcher() override { sigprocmask(SIG_SETMASK, &mask_, nullptr); }

  static JobOutcome run(const std::string& script, int ranks = 3,
                        std::chrono::milliseconds grace = std::chrono::seconds(60)) {
    const Result<JobOutcome> outcome = run_ranks({.executable = "/bin/sh",
                                                  .arguments = {"sh", "-c", script},
                                                  .ranks = ranks,
                                                  .master_port = 1234,
                                                  .grace = grace});
    EXPECT_TRUE(outcome.ok());
    return outcome.ok() ? outcome.value() : JobOutcome{-1, ""};
  }

 private:
  sigset_t mask_{};
};

TEST_F(Launcher, AllRanksDoWell) {
  const JobOutcome outcome = run("exit 0");
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(outcome.message, "");
}

TEST_F(Launcher, RanksLearnWhereTheyStand) {
  const TemporaryFolder folder;
  setenv("RANK", "77", 1);  // what a rank learns replaces what stood there
  const JobOutcome outcome =
      run("echo $RANK $WORLD_SIZE $LOCAL_RANK $MASTER_ADDR $MASTER_PORT $TORCHELASTIC_USE_AGENT_STORE > " +
              folder.file("") + "$RANK",
          2);
  unsetenv("RANK");
  EXPECT_EQ(outcome.exit_code, 0);
  for (const std::string rank : {"0", "1"}) {
    std::ifstream file(folder.file(rank));
    std::string line;
    std::getline(file, line);
    EXPECT_EQ(line, rank + " 2 " + rank + " 127.0.0.1 1234 True");
  }
}

TEST_F(Launcher, OneFailsAndTheOthersAreEnded) {
  const JobOutcome outcome = run("test $RANK = 1 && exit 7; exec sleep 1000");
  EXPECT_EQ(outcome.exit_code, 7);
  EXPECT_THAT(outcome.message, HasSubstr("rank 1 exited with code 7"));
}

TEST_F(Launcher, OneIsKilledAndTheOthersAreEnded) {
  const JobOutcome outcome = run("test $RANK = 2 && kill -SEGV $$; exec sleep 1000");
  EXPECT_EQ(outcome.exit_code, 128 + SIGSEGV);
  EXPECT_THAT(outcome.message, HasSubstr("rank 2 was killed by signal 11 (SIGSEGV)"));
}

TEST_F(Launcher, ARankThatIgnoresSigtermIsKilled) {
  const JobOutcome outcome =
      run("trap '' TERM; test $RANK = 0 && exit 3; exec sleep 1000", 2, std::chrono::milliseconds(20));
  EXPECT_EQ(outcome.exit_code, 3);
}

TEST_F(Launcher, SignalsArePassedOn) {
  kill(getpid(), SIGTERM);  // stays pending until the launcher looks
  const JobOutcome outcome = run("exec sleep 1000");
  EXPECT_EQ(outcome.exit_code, 128 + SIGTERM);
  EXPECT_THAT(outcome.message, HasSubstr("ended by SIGTERM"));
}

TEST_F(Launcher, ExecutableThatIsMissing) {
  const Result<JobOutcome> outcome =
      run_ranks({.executable = "/no/such/program", .arguments = {"x"}, .ranks = 2, .master_port = 1});
  ASSERT_TRUE(outcome.ok());
  EXPECT_EQ(outcome.value().exit_code, 127);
}

}  // namespace
}  // namespace lockstep::trainer
