#include "tracer/inject/survivor/survivor.h"

#include <dirent.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <functional>
#include <new>
#include <string>
#include <thread>
#include <vector>

#include "tests/temporary_folder.h"

namespace lockstep::tracer {
namespace {

// What a process that is killed and the test share.
struct Shared {
  std::atomic<int> started{0};         // 1: yes; -1: can't be had
  std::atomic<int> done{0};            // the scene is set
  std::atomic<std::int64_t> seen{-1};  // what the survivor read in the memory of the dead
  std::atomic<int> children{-1};
  std::atomic<int> descriptors{-1};
  std::atomic<pid_t> survivor{0};
};

// In the memory of the process that will die.
std::int64_t number_in_memory = 0;
Shared* shared = nullptr;

void read_memory(void*) {
  // As the writer thread would: with its heap and its thread-local storage.
  const std::vector<std::int64_t> copy(1000, number_in_memory);
  int descriptors = 0;
  if (DIR* const folder = opendir("/proc/self/fd"); folder != nullptr) {
    while (readdir(folder) != nullptr) ++descriptors;  // NOLINT(concurrency-mt-unsafe): nobody else lives
    closedir(folder);
    descriptors -= 3;  // ".", ".." and the folder's own
  }
  shared->descriptors.store(descriptors);
  shared->survivor.store(getpid());
  shared->seen.store(copy.back());
}

class SurvivorTest : public testing::Test {
 protected:
  void SetUp() override {
    void* const memory =
        mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(memory, MAP_FAILED);
    shared = new (memory) Shared;
  }
  void TearDown() override { munmap(shared, sizeof(Shared)); }

  // A process with a writer thread that has a survivor, does `then` and stays; then `end` on the main thread.
  // Returns its status once it is gone. Skips where there are no survivors.
  int run(const std::function<void(Survivor&)>& then, const std::function<void()>& end) {
    const pid_t process = fork();
    if (process == 0) {
      std::thread([&] {
        sigset_t all;
        sigfillset(&all);
        pthread_sigmask(SIG_SETMASK, &all, nullptr);
        const int file = open((folder_ / "trace").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
        {
          Survivor survivor;
          const bool started = survivor.start(file, read_memory, nullptr);
          if (started) then(survivor);
          shared->started.store(started ? 1 : -1);
          shared->done.store(1);
          if (!ends_recording) pause();
        }
        shared->done.store(2);
        pause();
      }).detach();
      while (shared->done.load() < (ends_recording ? 2 : 1)) usleep(1000);
      end();
      _exit(99);
    }
    int status = 0;
    EXPECT_EQ(waitpid(process, &status, 0), process);
    return status;
  }
  // What the survivor saw; -1: nothing, and it is not there any more or never was.
  static std::int64_t await_seen() {
    for (int turn = 0; turn < 500 && shared->seen.load() < 0; ++turn) usleep(10'000);
    return shared->seen.load();
  }
  static bool none_here() { return shared->started.load() < 0; }

  bool ends_recording = false;
  test::TemporaryFolder folder_;
};

TEST_F(SurvivorTest, WorksWithTheMemoryOfAProcessThatIsKilled) {
  const int status = run(
      [](Survivor& survivor) {
        survivor.set(Survivor::InHand::nothing);
        number_in_memory = 4711;  // after the survivor was made: it has no copy
      },
      [] { kill(getpid(), SIGKILL); });
  if (none_here()) GTEST_SKIP() << "no survivors in this build, or on this system";
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
  EXPECT_EQ(await_seen(), 4711);
  EXPECT_EQ(shared->descriptors.load(), 3) << "the file, its lock, and what tells of the process's end";
}

TEST_F(SurvivorTest, WorksAfterExit) {
  const int status = run(
      [](Survivor& survivor) {
        survivor.set(Survivor::InHand::nothing);
        number_in_memory = 1;
      },
      [] { _exit(5); });
  if (none_here()) GTEST_SKIP() << "no survivors in this build, or on this system";
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 5);
  EXPECT_EQ(await_seen(), 1);
}

TEST_F(SurvivorTest, WorksAfterExec) {
  const int status = run(
      [](Survivor& survivor) {
        survivor.set(Survivor::InHand::nothing);
        number_in_memory = 2;
      },
      // The process lives on: the survivor must not wait for its end, nor be its child.
      [] { execl("/bin/sh", "sh", "-c", "sleep 0.5; wait; exit 6", static_cast<char*>(nullptr)); });
  if (none_here()) GTEST_SKIP() << "no survivors in this build, or on this system";
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 6);
  EXPECT_EQ(await_seen(), 2);
}

TEST_F(SurvivorTest, LeavesWorkThatWasInHandAlone) {
  run([](Survivor&) {}, [] { kill(getpid(), SIGKILL); });
  if (none_here()) GTEST_SKIP() << "no survivors in this build, or on this system";
  usleep(300'000);
  EXPECT_EQ(shared->seen.load(), -1);
}

TEST_F(SurvivorTest, TakesUpWorkThatCanBeResumed) {
  run(
      [](Survivor& survivor) {
        survivor.set(Survivor::InHand::resumable_work);
        number_in_memory = 3;
      },
      [] { kill(getpid(), SIGKILL); });
  if (none_here()) GTEST_SKIP() << "no survivors in this build, or on this system";
  EXPECT_EQ(await_seen(), 3);
}

// From then on nobody would write what the process did last: it is told, once.
TEST_F(SurvivorTest, ThatIsKilledIsMissed) {
  run(
      [](Survivor& survivor) {
        survivor.set(Survivor::InHand::nothing);
        const bool said_before = survivor.look() != nullptr;
        const pid_t process = survivor.process();
        kill(process, SIGKILL);
        siginfo_t information{};
        waitid(P_PID, static_cast<id_t>(process), &information, WEXITED | WNOWAIT | __WCLONE);
        const char* const why = survivor.look();
        const bool said = why != nullptr && std::string(why) == "it was killed or asked to end";
        const bool said_again = survivor.look() != nullptr;
        shared->seen.store(!said_before && said && !said_again && survivor.process() == 0 ? 1 : 0);
      },
      [] { _exit(5); });
  if (none_here()) GTEST_SKIP() << "no survivors in this build, or on this system";
  EXPECT_EQ(shared->seen.load(), 1);
}

// By a program that waits for all children of any kind.
TEST_F(SurvivorTest, ThatIsKilledIsMissedAlsoWhereTheProgramWaitedForIt) {
  run(
      [](Survivor& survivor) {
        survivor.set(Survivor::InHand::nothing);
        const pid_t process = survivor.process();
        kill(process, SIGKILL);
        const bool waited = waitpid(process, nullptr, __WALL) == process;
        shared->seen.store(waited && survivor.look() != nullptr && survivor.process() == 0 ? 1 : 0);
      },
      [] { _exit(5); });
  if (none_here()) GTEST_SKIP() << "no survivors in this build, or on this system";
  EXPECT_EQ(shared->seen.load(), 1);
}

TEST_F(SurvivorTest, IsGoneWhenRecordingEnds) {
  ends_recording = true;
  const int status =
      run([](Survivor& survivor) { survivor.set(Survivor::InHand::nothing); }, [] { _exit(5); });
  if (none_here()) GTEST_SKIP() << "no survivors in this build, or on this system";
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 5);
  usleep(300'000);
  EXPECT_EQ(shared->seen.load(), -1);
}

// Also of a process to which orphans come.
TEST_F(SurvivorTest, IsNoChildThatIsWaitedFor) {
  run([](Survivor& survivor) { survivor.set(Survivor::InHand::nothing); },
      [] {
        prctl(PR_SET_CHILD_SUBREAPER, 1);
        const pid_t none = waitpid(-1, nullptr, WNOHANG);
        shared->children.store(none < 0 && errno == ECHILD ? 0 : 1);
        _exit(0);
      });
  if (none_here()) GTEST_SKIP() << "no survivors in this build, or on this system";
  EXPECT_EQ(shared->children.load(), 0);
}

TEST_F(SurvivorTest, ALockThatADeadThreadHeldCostsSecondsAtMost) {
  static std::atomic<std::uint32_t> lock{1};
  const int status = run(
      [](Survivor& survivor) {
        survivor.~Survivor();
        new (&survivor) Survivor;
        const int file = open("/dev/null", O_RDWR | O_CLOEXEC);
        shared->started.store(survivor.start(
                                  file,
                                  [](void*) {
                                    shared->survivor.store(getpid());
                                    while (lock.load() != 0) usleep(1000);
                                  },
                                  nullptr)
                                  ? 1
                                  : -1);
        survivor.set(Survivor::InHand::nothing);
      },
      [] { kill(getpid(), SIGKILL); });
  if (none_here()) GTEST_SKIP() << "no survivors in this build, or on this system";
  EXPECT_TRUE(WIFSIGNALED(status));
  for (int turn = 0; turn < 1000 && shared->survivor.load() == 0; ++turn) usleep(10'000);
  ASSERT_NE(shared->survivor.load(), 0);
  // A zombie where nobody collects orphans.
  const std::string path = "/proc/" + std::to_string(shared->survivor.load()) + "/stat";
  const auto lives = [&] {
    std::ifstream file(path);
    std::string text;
    std::getline(file, text);
    const std::size_t state = text.rfind(") ");
    return state != std::string::npos && text[state + 2] != 'Z' && text[state + 2] != 'X';
  };
  for (int turn = 0; turn < 2000 && lives(); ++turn) usleep(10'000);
  EXPECT_FALSE(lives());
}

}  // namespace
}  // namespace lockstep::tracer
