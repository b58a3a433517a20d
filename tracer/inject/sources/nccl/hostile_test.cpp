// What no sane libnccl would do, and what happens to processes: nothing of it may hurt the process, and what
// was recorded stays readable.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <array>
#include <cerrno>
#include <latch>
#include <limits>
#include <random>
#include <thread>

#include "tracer/inject/sources/nccl/stand_in/libnccl.h"
#include "tracer/inject/sources/nccl/stand_in/recorded.h"

namespace lockstep::tracer::nccl {
namespace {

using stand_in::all;
using stand_in::Communicator;
using stand_in::lost;
using stand_in::Recorded;

using World = Communicator<abi::TableV5>;

void* pointer(std::uint64_t bits) {
  return reinterpret_cast<void*>(static_cast<std::uintptr_t>(bits));
}

TEST(Hostile, NullPointersAnywhere) {
  Recorded recorded;
  recorded.run([] {
    std::int32_t mask = 0;
    void* context = nullptr;
    EXPECT_EQ(ncclProfiler_v1.init(nullptr, nullptr), 0);
    EXPECT_EQ(ncclProfiler_v4.init(&context, nullptr, nullptr, 1, 0, 0, 0, nullptr), 0);
    EXPECT_EQ(ncclProfiler_v5.init(nullptr, 1, &mask, nullptr, 0, 0, 0, nullptr), 0);
    EXPECT_EQ(ncclProfiler_v5.init(&context, 1, &mask, nullptr, -1, -5, -7, nullptr), 0);
    void* handle = pointer(16);
    abi::DescriptorV5 event{};
    EXPECT_EQ(ncclProfiler_v5.start_event(context, nullptr, &event), 0);
    EXPECT_EQ(ncclProfiler_v5.start_event(context, &handle, nullptr), 0);
    EXPECT_EQ(handle, nullptr);
    for (std::uint64_t type = 0; type < 20; ++type) {
      event = {};
      event.type = std::uint64_t{1} << type;  // all texts in it are null
      EXPECT_EQ(ncclProfiler_v5.start_event(context, &handle, &event), 0);
      EXPECT_EQ(ncclProfiler_v5.record_event_state(handle, 9, nullptr), 0);
      EXPECT_EQ(ncclProfiler_v5.stop_event(handle), 0);
      EXPECT_EQ(ncclProfiler_v5.start_event(nullptr, &handle, &event), 0);
      EXPECT_EQ(handle, nullptr);
    }
    EXPECT_EQ(ncclProfiler_v5.stop_event(nullptr), 0);
    EXPECT_EQ(ncclProfiler_v5.finalize(nullptr), 0);
  });
  EXPECT_TRUE(recorded.open().complete());
}

TEST(Hostile, RandomHandlesAndHugeNumbers) {
  Recorded recorded;
  recorded.run([] {
    std::mt19937_64 random(1);
    World world(ncclProfiler_v5, std::numeric_limits<std::uint64_t>::max(), 0,
                std::numeric_limits<std::int32_t>::max(), "x");
    for (int i = 0; i < 3000; ++i) {
      std::array<std::uint64_t, 16> noise{};
      for (std::uint64_t& word : noise) word = random() >> random() % 64;
      void* handle = nullptr;
      abi::DescriptorV5 event{};
      // Pointers to texts must be texts; everything else may be anything.
      event.type = std::uint64_t{1} << noise[0] % 13;
      event.parent = pointer(noise[1]);
      event.rank = static_cast<std::int32_t>(noise[2]);
      if (event.type == abi::kCollective) {
        event.details.collective = {
            noise[3], "AllGather", pointer(noise[4]), nullptr, noise[5], -1, "ncclFloat64", 255, 255,
            "?",      "",          pointer(noise[6])};
      } else if (event.type == abi::kPointToPoint) {
        event.details.point_to_point = {"What is this",   nullptr, "ncclFloat4", noise[5], -7, 1,
                                        pointer(noise[6])};
      }
      void* const context = i % 3 == 0 ? pointer(noise[7]) : world.context();
      ncclProfiler_v5.start_event(context, &handle, &event);
      ncclProfiler_v5.record_event_state(pointer(noise[8]), static_cast<std::int32_t>(noise[9]), nullptr);
      ncclProfiler_v5.stop_event(pointer(noise[10]));
      ncclProfiler_v5.stop_event(handle);
      ncclProfiler_v5.stop_event(handle);
      if (i % 100 == 0) usleep(1000);
    }
    ncclProfiler_v5.finalize(pointer(random()));
    world.finalize();
    world.finalize();
  });
  const trace::Reader reader = recorded.open();
  EXPECT_TRUE(reader.complete());
  EXPECT_TRUE(reader.verify().ok());
  EXPECT_GT(reader.count(trace::EventKind::collective_issue), 0U);
}

TEST(Hostile, EventsAfterFinalizeAndStopsThatComeTwice) {
  Recorded recorded;
  recorded.run([] {
    World world(ncclProfiler_v5, 5, 0, 2, nullptr);
    auto plans = world.issue({{{"AllReduce", 1, 0, 0}}});
    world.finalize();
    ncclProfiler_v5.stop_event(plans[0][0].handle);
    ncclProfiler_v5.stop_event(plans[0][0].handle);
    world.issue({{{"AllReduce", 2, 0, 0}}});
    // Long after its end the communicator is forgotten, and the operation is nobody's.
    usleep(1'500'000);
    world.issue({{{"AllReduce", 3, 0, 0}}});
  });
  const trace::Reader reader = recorded.open();
  const auto issues = all<trace::CollectiveIssue>(reader);
  ASSERT_EQ(issues.size(), 3U);
  EXPECT_EQ(issues[0].group, 0U);
  EXPECT_EQ(issues[1].group, 0U);
  EXPECT_EQ(issues[2].group, trace::kNoGroup);
  EXPECT_THAT(reader.metadata().at("source.nccl.problem"), testing::HasSubstr("1 operations"));
}

TEST(Hostile, AForkInTheMiddleLeavesBothFilesRight) {
#ifdef __SANITIZE_THREAD__
  GTEST_SKIP()
      << "ThreadSanitizer allows no threads in a child of a process with several (unless die_after_fork=0)";
#endif
  Recorded recorded;
  recorded.run([] {
    World world(ncclProfiler_v5, 5, 0, 2, nullptr);
    world.issue({{{"AllReduce", 1, 0, 0}}});
    const pid_t child = fork();
    // The child of a process that uses NCCL can't; one that tries all the same does no harm.
    world.issue({{{"AllReduce", child == 0 ? 99U : 2U, 0, 0}}});
    if (child == 0) {
      Tracer::instance().shut_down();
      _exit(0);
    }
    EXPECT_EQ(Recorded::wait(child), 0);
    world.issue({{{"AllReduce", 3, 0, 0}}});
  });
  std::vector<std::uint64_t> bytes;
  for (const trace::CollectiveIssue& issue : all<trace::CollectiveIssue>(recorded.open()))
    bytes.push_back(issue.bytes);
  EXPECT_THAT(bytes, testing::ElementsAre(1, 2, 3));
  int others = 0;
  for (const auto& file : std::filesystem::directory_iterator(recorded.folder())) {
    const std::string name = file.path().filename();
    if (name == "rank-0.lst") continue;
    const auto issues = all<trace::CollectiveIssue>(recorded.open(name));
    ASSERT_EQ(issues.size(), 1U) << name;
    EXPECT_EQ(issues[0].bytes, 99U);
    EXPECT_EQ(issues[0].group, trace::kNoGroup) << "its communicator is the parent's";
    ++others;
  }
  EXPECT_EQ(others, 1);
}

// More threads than there are rings: what finds no ring is counted.
TEST(Hostile, TwoThousandThreads) {
  static constexpr int kThreads = 2000;
  Recorded recorded;
  recorded.run([] {
    World world(ncclProfiler_v5, 5, 0, 2, nullptr);
    std::latch go{1};
    std::vector<std::thread> threads;
    for (int i = 0; i < kThreads; ++i) {
      threads.emplace_back([&] {
        go.wait();  // all are alive at once
        abi::DescriptorV5 event{};
        event.type = abi::kCollective;
        event.details.collective = {1,          "AllReduce", nullptr, nullptr, 1,    0,
                                    "ncclInt8", 1,           1,       "RING",  "LL", nullptr};
        void* handle = nullptr;
        ncclProfiler_v5.start_event(world.context(), &handle, &event);
        ncclProfiler_v5.stop_event(handle);
      });
    }
    go.count_down();
    for (std::thread& thread : threads) thread.join();
  });
  const trace::Reader reader = recorded.open();
  EXPECT_EQ(reader.count(trace::EventKind::collective_issue) + lost(reader), std::uint64_t{kThreads});
}

TEST(Hostile, KilledProcessesLeaveAllButTheirLastSecond) {
  Recorded recorded;
  const pid_t child = recorded.start([] {
    World world(ncclProfiler_v5, 5, 0, 2, nullptr);
    for (std::uint64_t i = 1;; ++i) {
      world.issue({{{"AllReduce", i, 0, 0}}});
      usleep(1000);
    }
  });
  sleep(3);
  kill(child, SIGKILL);
  EXPECT_TRUE(WIFSIGNALED(Recorded::wait(child)));
  const trace::Reader reader = recorded.open();
  EXPECT_FALSE(reader.complete());
  const auto issues = all<trace::CollectiveIssue>(reader);
  ASSERT_FALSE(issues.empty());
  for (std::size_t i = 0; i < issues.size(); ++i) {
    ASSERT_EQ(issues[i].bytes, i + 1);
    ASSERT_EQ(issues[i].sequence, static_cast<std::int64_t>(i));
  }
  EXPECT_EQ(reader.metadata().at("source.nccl"), "recording");
}

TEST(Hostile, ErrnoStaysAsItWas) {
  Recorded recorded;
  recorded.run([] {
    errno = 4711;
    World world(ncclProfiler_v5, 5, 0, 2, nullptr);
    world.issue({{{"AllReduce", 1, 0, 0}}});
    std::thread([&] {
      errno = 4712;
      world.issue({{{"AllReduce", 1, 0, 0}}});
      EXPECT_EQ(errno, 4712);
    }).join();
    EXPECT_EQ(errno, 4711);
  });
}

}  // namespace
}  // namespace lockstep::tracer::nccl
