#include "tracer/inject/sources/scheduling/run_sampler.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

#include "tracer/inject/core/training_threads.h"
#include "tracer/inject/sources/scheduling/followed_threads.h"
#include "tracer/inject/sources/scheduling/thread_times.h"
#include "tracer/protocol/clock.h"

namespace lockstep::tracer::scheduling {
namespace {

std::uint32_t this_thread() {
  return static_cast<std::uint32_t>(gettid());
}

std::uint64_t own_time() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000U + static_cast<std::uint64_t>(time.tv_nsec);
}

void burn(std::uint64_t ns) {
  for (const std::uint64_t end = own_time() + ns; own_time() < end;) {
  }
}

trace::Nanoseconds now() {
  return static_cast<trace::Nanoseconds>(read_monotonic());
}

class RunSamplerTest : public testing::Test {
 protected:
  void SetUp() override {
    burn(1'000'000);
    if (!read_waited(this_thread()).has_value()) GTEST_SKIP() << "no schedstat on this machine";
    forget_training_threads();
  }
  void TearDown() override { forget_training_threads(); }

  static std::vector<RunInterval> fetch(RunSampler& sampler) {
    std::vector<RunInterval> all;
    for (RunInterval one; sampler.fetch(one);) all.push_back(one);
    return all;
  }
};

TEST_F(RunSamplerTest, TellsWhatATrainingThreadRan) {
  note_training_thread(this_thread());
  RunSampler sampler;
  const std::uint64_t outer = own_time();
  sampler.look(now());
  const std::uint64_t inner = own_time();
  burn(5'000'000);
  const std::uint64_t least = own_time() - inner;
  sampler.look(now());
  const std::uint64_t most = own_time() - outer;
  sampler.flush();
  const std::vector<RunInterval> all = fetch(sampler);
  ASSERT_EQ(all.size(), 1U);
  EXPECT_GE(all[0].on_cpu_ns, least);
  EXPECT_LE(all[0].on_cpu_ns, most);
  ASSERT_EQ(sampler.threads().logged(), 1U);
  EXPECT_EQ(sampler.threads().log(0).thread, this_thread());
}

TEST_F(RunSamplerTest, AThreadThatSleepsRunsNothingAndOneThatEndsIsLeft) {
  std::mutex mutex;
  std::condition_variable changed;
  std::uint32_t sleeper_id = 0;
  bool end = false;
  std::thread sleeper([&] {
    std::unique_lock lock(mutex);
    burn(100'000);
    sleeper_id = this_thread();
    changed.notify_all();
    changed.wait(lock, [&] { return end; });
  });
  {
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return sleeper_id != 0; });
    note_training_thread(sleeper_id);
  }
  // Taken away from us, the lock tells that it sleeps.
  RunSampler sampler;
  sampler.look(now());
  burn(1'000'000);
  sampler.look(now());
  burn(1'000'000);
  sampler.look(now());
  {
    std::lock_guard lock(mutex);
    end = true;
  }
  changed.notify_all();
  sleeper.join();
  // On busy cores the system is done with it only later.
  for (int turn = 0; turn < 10'000 && tgkill(getpid(), static_cast<pid_t>(sleeper_id), 0) == 0; ++turn)
    usleep(1000);
  sampler.look(now());
  sampler.flush();
  EXPECT_EQ(sampler.threads().in_slot(0), 0U);
  const std::vector<RunInterval> all = fetch(sampler);
  ASSERT_FALSE(all.empty());
  EXPECT_EQ(all.back().on_cpu_ns, 0U);
}

TEST_F(RunSamplerTest, FollowsThePoolAndNotThoseThatCommunicate) {
  // Threads get their maker's name, as OpenMP's do.
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<std::uint32_t> threads;
  bool end = false;
  const auto idle = [&] {
    std::unique_lock lock(mutex);
    burn(100'000);
    threads.push_back(this_thread());
    changed.notify_all();
    changed.wait(lock, [&] { return end; });
  };
  std::vector<std::thread> running;
  for (int i = 0; i < 3; ++i) {
    running.emplace_back(idle);
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return threads.size() == running.size(); });
  }
  pthread_setname_np(running[2].native_handle(), "something else");
  note_training_thread(this_thread());
  note_communication_thread(threads[1]);
  RunSampler sampler;
  sampler.look(now());
  std::vector<std::uint32_t> followed;
  for (std::size_t n = 0; n < sampler.threads().logged(); ++n)
    followed.push_back(sampler.threads().log(n).thread);
  EXPECT_EQ(followed, (std::vector<std::uint32_t>{this_thread(), threads[0]}));
  {
    std::lock_guard lock(mutex);
    end = true;
  }
  changed.notify_all();
  for (std::thread& one : running) one.join();
}

// Gloo's thread has the name of the thread that made it: while it runs it looks like one of the pool.
TEST_F(RunSamplerTest, AThreadThatIsSeenToWaitForEventsIsLeftForGood) {
  note_training_thread(this_thread());
  std::array<int, 2> pipe_ends{};
  ASSERT_EQ(pipe(pipe_ends.data()), 0);
  std::atomic<std::uint32_t> id{0};
  std::atomic<bool> waits{false};
  std::atomic<int> turns{0};
  std::thread transport([&] {
    burn(100'000);
    id = this_thread();
    while (turns < 2) {
      while (!waits) burn(10'000);
      char byte = 0;
      (void)!read(pipe_ends[0], &byte, 1);
      waits = false;
      ++turns;
    }
  });
  while (id == 0) burn(10'000);
  FollowedThreads threads;
  RunProfile profile;
  const auto follows_it = [&] {
    threads.update(profile, now(), true);
    for (std::size_t slot = 0; slot < threads.slots(); ++slot)
      if (threads.in_slot(slot) == id) return true;
    return false;
  };
  EXPECT_TRUE(follows_it()) << "it runs, and has the name";
  waits = true;
  while (!waits_for_events(id)) burn(10'000);
  EXPECT_FALSE(follows_it());
  ASSERT_EQ(write(pipe_ends[1], "x", 1), 1);
  while (waits) burn(10'000);
  EXPECT_FALSE(follows_it()) << "it runs again";
  waits = true;
  ASSERT_EQ(write(pipe_ends[1], "x", 1), 1);
  transport.join();
  close(pipe_ends[0]);
  close(pipe_ends[1]);
}

// The program's own Python threads have the name, too, and sleep in futexes. Who they are may be told late.
TEST_F(RunSamplerTest, AThreadOfPythonIsFollowedOnlyIfItTrainsOrIsAutograds) {
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<std::uint32_t> threads;
  bool end = false;
  std::vector<std::thread> running;
  for (int i = 0; i < 4; ++i) {
    std::unique_lock lock(mutex);
    running.emplace_back([&] {
      std::unique_lock own(mutex);
      burn(100'000);
      threads.push_back(this_thread());
      changed.notify_all();
      changed.wait(own, [&] { return end; });
    });
    changed.wait(lock, [&] { return threads.size() == running.size(); });
  }
  const std::uint32_t pool = threads[0], exporter = threads[1], autograd = threads[2], trainer = threads[3];
  pthread_setname_np(running[2].native_handle(), "pt_autograd_0");
  note_training_thread(this_thread());
  note_training_thread(trainer);
  FollowedThreads followed;
  RunProfile profile;
  const auto followed_now = [&] {
    followed.update(profile, now(), true);
    std::vector<std::uint32_t> all;
    for (std::size_t slot = 0; slot < followed.slots(); ++slot)
      if (followed.in_slot(slot) != 0) all.push_back(followed.in_slot(slot));
    std::sort(all.begin(), all.end());
    return all;
  };
  const auto sorted = [](std::vector<std::uint32_t> all) {
    std::sort(all.begin(), all.end());
    return all;
  };
  EXPECT_EQ(followed_now(), sorted({this_thread(), pool, exporter, autograd, trainer})) << "nobody has told";
  set_python_threads(std::array{this_thread(), exporter, autograd, trainer});
  EXPECT_EQ(followed_now(), sorted({this_thread(), pool, autograd, trainer}));
  EXPECT_EQ(followed_now(), sorted({this_thread(), pool, autograd, trainer})) << "nor does it come back";
  set_python_threads(std::array{this_thread(), autograd, trainer});
  EXPECT_EQ(followed_now(), sorted({this_thread(), pool, exporter, autograd, trainer}))
      << "the number may be another thread's by now";
  {
    std::lock_guard lock(mutex);
    end = true;
  }
  changed.notify_all();
  for (std::thread& one : running) one.join();
}

TEST_F(RunSamplerTest, MorePythonThreadsThanAreRememberedDoNoHarm) {
  std::vector<std::uint32_t> many(kMaxPythonThreads + 10);
  for (std::size_t n = 0; n < many.size(); ++n) many[n] = static_cast<std::uint32_t>(n + 1);
  set_python_threads(many);
  EXPECT_TRUE(is_python_thread(kMaxPythonThreads));
  EXPECT_FALSE(is_python_thread(kMaxPythonThreads + 1));
  EXPECT_FALSE(is_python_thread(0));
  forget_training_threads();
  EXPECT_FALSE(is_python_thread(1)) << "a forked child has none of them";
}

TEST_F(RunSamplerTest, RunsUntilItIsStoppedAndSaysWhatItSaw) {
  note_training_thread(this_thread());
  RunSampler sampler;
  ASSERT_TRUE(sampler.start());
  burn(30'000'000);
  sampler.stop();
  std::uint64_t on_cpu = 0;
  for (const RunInterval& one : fetch(sampler)) on_cpu += one.on_cpu_ns;
  EXPECT_GT(on_cpu, 0U);
}

TEST_F(RunSamplerTest, SaysNothingOfTimesInWhichNobodyWantedToKnow) {
  note_training_thread(this_thread());
  RunSampler sampler;
  const trace::Nanoseconds begin = now();
  sampler.look(begin);
  sampler.look(begin + 10);
  sampler.flush();
  sampler.look(begin + 1000);
  sampler.look(begin + 1010);
  sampler.flush();
  const std::vector<RunInterval> all = fetch(sampler);
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].end, begin + 10);
  EXPECT_EQ(all[1].begin, begin + 1000);
}

}  // namespace
}  // namespace lockstep::tracer::scheduling
