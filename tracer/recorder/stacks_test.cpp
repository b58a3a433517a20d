// Stacks of a child, from outside.
#include "tracer/recorder/stacks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <thread>

#include "tests/sanitizers.h"
#include "tracer/recorder/symbols.h"

namespace lockstep::tracer::record {
namespace {

using testing::Contains;
using testing::HasSubstr;

// Two that are not inlined, and do something after the call, so that it is no jump.
extern "C" __attribute__((noinline)) long lockstep_test_waits_here(int pipe) {
  char byte = 0;
  const ssize_t count = read(pipe, &byte, 1);
  asm volatile("" ::: "memory");
  return count + 1;
}
extern "C" __attribute__((noinline)) long lockstep_test_waits_for_its_batch(int pipe) {
  const long value = lockstep_test_waits_here(pipe);
  asm volatile("" ::: "memory");
  return value + 1;
}

TEST(Stacks, ShowWhereAChildWaits) {
  std::array<int, 2> ready{};
  std::array<int, 2> never{};
  ASSERT_EQ(pipe(ready.data()), 0);
  ASSERT_EQ(pipe(never.data()), 0);
  const pid_t child = fork();
  if (child == 0) {
    (void)!write(ready[1], "x", 1);
    _exit(static_cast<int>(lockstep_test_waits_for_its_batch(never[0])));
  }
  char byte = 0;
  ASSERT_EQ(read(ready[0], &byte, 1), 1);
  // It is on its way into read(): asked until it is there.
  std::vector<ThreadStack> threads;
  for (int i = 0; i < 1000; ++i) {
    threads = read_stacks(child);
    if (!threads.empty() && (threads[0].system_call == "read" || threads[0].state.starts_with("S"))) break;
    std::this_thread::yield();
  }
  // Thread sanitizer has a thread of its own in every process.
  if (!kThreadSanitized) {
    ASSERT_EQ(threads.size(), 1U);
  }
  ASSERT_FALSE(threads.empty());
  EXPECT_EQ(threads[0].id, child);
  EXPECT_FALSE(threads[0].name.empty());
  const bool may_look = !threads[0].system_call.empty();
  if (may_look) {
    EXPECT_EQ(threads[0].system_call, "read");
#if defined(__x86_64__)
    // Frames are what looks like a return address on the stack, the topmost 32. Address sanitizer's read()
    // has a buffer there, in which more of them stand that calls have left which ended long ago.
    if (!kAddressSanitized) {
      EXPECT_THAT(threads[0].frames, Contains(HasSubstr("lockstep_test_waits_for_its_batch")));
    }
    EXPECT_THAT(summary_of(threads), HasSubstr("read, called from "));
#endif
  }
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  for (const int number : {ready[0], ready[1], never[0], never[1]}) close(number);
  if (!may_look) GTEST_SKIP() << "this machine does not let a parent look into its child";
}

TEST(Stacks, OfAProcessThatIsGoneAreNone) {
  const pid_t child = fork();
  if (child == 0) _exit(0);
  waitpid(child, nullptr, 0);
  EXPECT_TRUE(read_stacks(child).empty());
  EXPECT_EQ(summary_of({}), "");
}

TEST(Stacks, OfAProcessThatStandsStillSayWhy) {
  ThreadStack stopped;
  stopped.state = "T (stopped)";
  stopped.system_call = "read";
  stopped.frames = {"read in libc.so.6", "load in a.out"};
  EXPECT_EQ(summary_of({stopped}), "stopped by a signal (SIGSTOP, Ctrl-Z), in load in a.out");
  stopped.state = "t (tracing stop)";
  EXPECT_THAT(summary_of({stopped}), HasSubstr("held by a debugger"));
}

TEST(Stacks, NamesAreReadableAndShort) {
  EXPECT_EQ(readable_name("_ZN5torch8autograd6Engine11thread_mainEv"),
            "torch::autograd::Engine::thread_main()");
  EXPECT_EQ(readable_name("main"), "main");
  const std::string cut = readable_name(std::string(1000, 'x'));
  EXPECT_EQ(cut.size(), 160U + 3U);
  EXPECT_TRUE(cut.ends_with("x…"));
}

}  // namespace
}  // namespace lockstep::tracer::record
