#include "tracer/inject/core/source.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "trace/reader.h"
#include "tracer/inject/writer/prepare.h"
#include "tracer/protocol/environment.h"

namespace lockstep::tracer {
namespace {

namespace fs = std::filesystem;

// Writes each record that it gets as a counter point, and how often it was asked as metadata.
class Recording final : public Source {
 public:
  const char* name() const noexcept override { return "recording"; }
  void begin(SourceContext& context) override {
    context_ = &context;
    trace::Lane lane;
    lane.kind = trace::LaneKind::counter;
    lane.name = "values";
    lane_ = context.writer.add_lane(lane);
  }
  void consume(std::uint32_t, std::uint8_t type, const std::byte* body, std::uint32_t bytes,
               trace::Nanoseconds time) override {
    double value = 0;
    ASSERT_EQ(bytes, sizeof value);
    ASSERT_EQ(type, 7);
    std::memcpy(&value, body, sizeof value);
    context_->writer.append(trace::Counter{lane_, time, value});
  }
  void end_drain(trace::Nanoseconds now) override {
    EXPECT_GE(now, last_);
    last_ = now;
  }
  void finish(trace::Nanoseconds now) override {
    note_drops(context_->writer, name(), "for the test", exiting_ ? 3 : 0, now, now);
  }
  void before_exit() noexcept override { exiting_ = true; }

 private:
  SourceContext* context_ = nullptr;
  trace::LaneId lane_ = 0;
  trace::Nanoseconds last_ = 0;
  bool exiting_ = false;
};

constexpr int kThreads = 4;
constexpr int kEach = 1000;

// In a process of its own: the tracer lives until its process ends.
void record_values() {
  static Recording source;
  Tracer& tracer = Tracer::instance();
  if (!prepare() || tracer.source(0) != nullptr) _exit(3);
  const SourceId id = tracer.add_source(source);
  if (id != 0 || tracer.add_source(source) != id || tracer.source(id) != &source) _exit(4);
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([id, t] {
      for (int i = 0; i < kEach; ++i) {
        const double value = t * kEach + i;
        if (!emit(id, 7, &value, sizeof value)) _exit(5);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  tracer.shut_down();
  _exit(::testing::Test::HasFailure() ? 6 : 0);
}

TEST(Source, RecordsOfAllThreadsArriveOnceAndInOrder) {
  const fs::path folder = fs::temp_directory_path() / ("lockstep-source-" + std::to_string(getpid()));
  fs::create_directories(folder);
  const pid_t child = fork();
  if (child == 0) {
    setenv("LOCKSTEP_RUN", folder.c_str(), 1);
    setenv("RANK", "0", 1);
    record_values();
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status));
  ASSERT_EQ(WEXITSTATUS(status), 0);
  Result<trace::Reader> reader = trace::Reader::open((folder / "rank-0.lst").c_str());
  ASSERT_TRUE(reader.ok()) << reader.error().message;
  std::vector<trace::Counter> points;
  ASSERT_TRUE(reader.value().read(trace::Selection{}, points).ok());
  ASSERT_EQ(points.size(), std::size_t{kThreads} * kEach);
  std::vector<int> next(kThreads, 0);
  for (const trace::Counter& point : points) {
    const int thread = static_cast<int>(point.value) / kEach;
    EXPECT_EQ(static_cast<int>(point.value) % kEach, next[static_cast<std::size_t>(thread)]++);
  }
  std::vector<trace::Drop> drops;
  ASSERT_TRUE(reader.value().read(trace::Selection{}, drops).ok());
  ASSERT_EQ(drops.size(), 1U);
  EXPECT_EQ(drops[0].count, 3U);
  EXPECT_EQ(reader.value().string(drops[0].source), "recording");
  fs::remove_all(folder);
}

TEST(Source, OnlyTheListedOnesAreWanted) {
  unsetenv("LOCKSTEP_SOURCES");
  EXPECT_TRUE(is_wanted("cupti"));
  EXPECT_FALSE(is_wanted("cpu"));
  setenv("LOCKSTEP_SOURCES", "nvtx,cpu", 1);
  EXPECT_FALSE(is_wanted("cupti"));
  EXPECT_TRUE(is_wanted("nvtx"));
  EXPECT_TRUE(is_wanted("cpu"));
  EXPECT_FALSE(is_wanted("cp"));
  setenv("LOCKSTEP_SOURCES", "", 1);
  EXPECT_FALSE(is_wanted("nvtx"));
  unsetenv("LOCKSTEP_SOURCES");
}

}  // namespace
}  // namespace lockstep::tracer
