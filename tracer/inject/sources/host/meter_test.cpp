// Meters on made-up and real machines, and the thread that reads them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <thread>

#include "tests/temporary_folder.h"
#include "tracer/inject/core/own_file.h"
#include "tracer/inject/sources/host/files.h"
#include "tracer/inject/sources/host/gpu_meter.h"
#include "tracer/inject/sources/host/node_meter.h"
#include "tracer/inject/sources/host/process_meter.h"
#include "tracer/inject/sources/host/sampler.h"

namespace lockstep::tracer::host {
namespace {

namespace fs = std::filesystem;
using testing::Contains;
using testing::HasSubstr;
using testing::SizeIs;

class Folder : public testing::Test {
 protected:
  void write(const fs::path& name, const std::string& text) { temporary_.write(name, text); }
  const test::TemporaryFolder temporary_;
  const fs::path folder_ = temporary_.path();
};

using Files = Folder;
TEST_F(Files, AreReadAsFarAsTheyFit) {
  write("text", "hello\n");
  std::array<char, 3> small{};
  EXPECT_EQ(read_own_file((folder_ / "text").c_str(), small), "hel");
  EXPECT_EQ(read_own_file((folder_ / "none").c_str(), small), "");
  EXPECT_EQ(read_own_file(folder_.c_str(), small), "");
  write("number", "42\n");
  EXPECT_EQ(read_number((folder_ / "number").c_str()), 42U);
  for (const char* name : {"1", "22", "x3", "4x"}) write(fs::path("list") / name, "");
  std::array<std::uint32_t, 8> numbers{};
  const std::size_t count = list_numbers((folder_ / "list").c_str(), numbers);
  EXPECT_THAT(std::vector(numbers.begin(), numbers.begin() + static_cast<std::ptrdiff_t>(count)),
              testing::UnorderedElementsAre(1, 22));
  std::array<std::uint32_t, 1> one{};
  EXPECT_EQ(list_numbers((folder_ / "list").c_str(), one), 1U);
  EXPECT_EQ(list_numbers((folder_ / "none").c_str(), one), 0U);
}

// The reading of the quantity of that name.
Amount reading(const std::vector<Quantity>& quantities, const Readings& readings, const std::string& name) {
  for (std::size_t i = 0; i < quantities.size(); ++i) {
    if (quantities[i].name == name) return readings[i];
  }
  ADD_FAILURE() << "no quantity " << name;
  return std::nullopt;
}

using Node = Folder;
TEST_F(Node, CountersOfEveryPort) {
  write("sys/class/net/eth0/statistics/rx_bytes", "1000\n");
  write("sys/class/net/eth0/statistics/tx_bytes", "2000\n");
  write("sys/class/net/eth0/statistics/rx_dropped", "1\n");
  write("sys/class/net/eth0/statistics/tx_errors", "2\n");
  write("sys/class/net/lo/statistics/rx_bytes", "5\n");
  write("sys/class/net/bonding_masters", "");
  write("sys/class/infiniband/mlx5_0/ports/1/counters/port_rcv_data", "25\n");
  write("sys/class/infiniband/mlx5_0/ports/1/counters/symbol_error", "N/A\n");
  write("proc/pressure/cpu", "some avg10=0.00 avg60=0.00 avg300=0.00 total=77\n");
  NodeMeter meter(folder_);
  std::vector<Quantity> quantities;
  meter.describe(quantities);
  ASSERT_THAT(quantities, SizeIs(3 + 4 + 1));
  Readings readings;
  meter.read(readings.data());
  EXPECT_EQ(reading(quantities, readings, "network eth0 received (bytes/s)"), 1000U);
  EXPECT_EQ(reading(quantities, readings, "network eth0 sent (bytes/s)"), 2000U);
  EXPECT_EQ(reading(quantities, readings, "network eth0 lost (packets/s)"), 3U);
  EXPECT_EQ(reading(quantities, readings, "infiniband mlx5_0/1 received (bytes/s)"), 25U);
  EXPECT_EQ(quantities[3].scale, 4) << "counted in words of four bytes";
  EXPECT_EQ(reading(quantities, readings, "infiniband mlx5_0/1 errors (per s)"), std::nullopt);
  EXPECT_EQ(reading(quantities, readings, "cpu pressure of the node (share)"), 77U);
  EXPECT_EQ(meter.problem(), "");
}

TEST_F(Node, HasABoundToWhatItFollows) {
  for (int i = 0; i < 40; ++i) write("sys/class/net/eth" + std::to_string(i) + "/statistics/rx_bytes", "1\n");
  NodeMeter meter(folder_);
  std::vector<Quantity> quantities;
  meter.describe(quantities);
  EXPECT_EQ(quantities.size(), NodeMeter::kMaxInterfaces * 3 + 1);
  EXPECT_THAT(meter.problem(), HasSubstr("first 16 interfaces"));
  NodeMeter empty(folder_ / "nothing");
  quantities.clear();
  empty.describe(quantities);
  Readings readings;
  empty.read(readings.data());
  EXPECT_EQ(readings[0], std::nullopt);
}

TEST(Process, ReadsWhatTheKernelSays) {
  ProcessMeter meter;
  std::vector<Quantity> quantities;
  meter.describe(quantities);
  rusage before{};
  getrusage(RUSAGE_SELF, &before);
  Readings readings;
  meter.read(readings.data());
  rusage after{};
  getrusage(RUSAGE_SELF, &after);
  const auto user = [](const rusage& usage) {
    return static_cast<std::uint64_t>(usage.ru_utime.tv_sec) * 1'000'000'000U +
           static_cast<std::uint64_t>(usage.ru_utime.tv_usec) * 1000U;
  };
  EXPECT_GE(readings[0], user(before));
  EXPECT_LE(readings[0], user(after));
  EXPECT_GE(readings[2], static_cast<std::uint64_t>(before.ru_minflt));
  EXPECT_LE(readings[2], static_cast<std::uint64_t>(after.ru_minflt));
  EXPECT_GT(*reading(quantities, readings, "memory resident (bytes)"), 1'000'000U);
  EXPECT_LT(*reading(quantities, readings, "main thread on processor"), 4096U);
  EXPECT_EQ(meter.problem(), "");
}

TEST(Threads, AreFollowedInTurnsAndNoneBeyondTheBound) {
  ThreadMeter meter;
  std::vector<Quantity> quantities;
  meter.describe(quantities);
  std::atomic<bool> stop{false};
  std::vector<std::thread> threads;
  for (int i = 0; i < 100; ++i) {
    threads.emplace_back([&] {
      while (!stop.load()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    });
  }
  std::uint64_t last = 0;
  for (int i = 0; i < 30; ++i) {
    Readings readings;
    meter.read(readings.data());
    ASSERT_TRUE(readings[0].has_value());
    EXPECT_GE(*readings[0], last) << "it only grows";
    last = *readings[0];
  }
  EXPECT_EQ(meter.problem(), "");
  stop = true;
  for (std::thread& thread : threads) thread.join();
  for (int i = 0; i < 12; ++i) {
    Readings readings;
    meter.read(readings.data());
    EXPECT_TRUE(!readings[0].has_value() || *readings[0] >= last);
  }
}

constexpr const char* kNvml = LOCKSTEP_STAND_INS_DIR "/libnvidia-ml.so.1";

TEST(Gpu, SpeaksNvml) {
  unsetenv("NVML_STAND_IN_ERROR");
  setenv("CUDA_VISIBLE_DEVICES", "1,GPU-stand-in-3", 1);
  GpuMeter meter(kNvml, -1);
  std::vector<Quantity> quantities;
  meter.describe(quantities);
  EXPECT_EQ(meter.problem(), "");
  Readings readings;
  meter.read(readings.data());
  EXPECT_EQ(reading(quantities, readings, "gpu 0 SM clock (MHz)"), 1901U);
  EXPECT_EQ(reading(quantities, readings, "gpu 0 memory clock (MHz)"), 2601U);
  EXPECT_EQ(reading(quantities, readings, "gpu 0 power (W)"), 251'000U);
  EXPECT_EQ(reading(quantities, readings, "gpu 0 throttled by heat"), 1U);
  EXPECT_EQ(reading(quantities, readings, "gpu 0 throttled by power"), 0U);
  EXPECT_EQ(reading(quantities, readings, "gpu 0 ECC errors uncorrected (per s)"), 0U);
  EXPECT_EQ(reading(quantities, readings, "gpu 1 temperature (°C)"), 63U);
  EXPECT_EQ(reading(quantities, readings, "gpu 1 ECC errors corrected (per s)"), std::nullopt)
      << "it has none";
  EXPECT_EQ(reading(quantities, readings, "gpu 2 power (W)"), std::nullopt);
  const Amount first = reading(quantities, readings, "gpu 0 PCIe replays (per s)");
  meter.read(readings.data());
  EXPECT_EQ(*reading(quantities, readings, "gpu 0 PCIe replays (per s)"), *first + 1);
  EXPECT_EQ(meter.problem(), "");
  unsetenv("CUDA_VISIBLE_DEVICES");
}

TEST(Gpu, WhatIsMissingIsSaid) {
  const auto problem = [](const char* library) {
    GpuMeter meter(library, 0);
    std::vector<Quantity> quantities;
    meter.describe(quantities);
    Readings readings;
    meter.read(readings.data());
    EXPECT_EQ(readings[0], std::nullopt);
    return meter.problem();
  };
  EXPECT_THAT(problem("/no/such/library.so"), HasSubstr("does not load"));
  EXPECT_THAT(problem("libc.so.6"), HasSubstr("lacks functions"));
  setenv("NVML_STAND_IN_ERROR", "9", 1);
  EXPECT_THAT(problem(kNvml), HasSubstr("error 9"));
  unsetenv("NVML_STAND_IN_ERROR");
  setenv("CUDA_VISIBLE_DEVICES", "GPU-unknown", 1);
  EXPECT_THAT(problem(kNvml), HasSubstr("can't be followed"));
  unsetenv("CUDA_VISIBLE_DEVICES");
}

// Counts how often it was read.
class Counting final : public Meter {
 public:
  void describe(std::vector<Quantity>& quantities) override { quantities.push_back({"reads"}); }
  void read(Amount* readings) noexcept override { readings[0] = ++reads; }
  std::uint64_t reads = 0;
};

TEST(SamplerThread, HandsOverEverySampleOnceAndOneMoreAtItsEnd) {
  Counting first;
  Counting second;
  Sampler sampler({&first, &second}, {1, 1});
  ASSERT_TRUE(sampler.start());
  Sample sample;
  std::uint64_t expected = 1;
  trace::Nanoseconds last = 0;
  while (expected < 4) {
    if (!sampler.fetch(sample)) {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
      continue;
    }
    EXPECT_EQ(sample.readings[0], expected);
    EXPECT_EQ(sample.readings[1], expected);
    EXPECT_EQ(sample.readings[2], std::nullopt);
    EXPECT_GT(sample.time, last);
    last = sample.time;
    ++expected;
  }
  sampler.stop();
  std::uint64_t fetched = expected - 1;
  while (sampler.fetch(sample)) ++fetched;
  EXPECT_GE(fetched, expected) << "one at the end";
  EXPECT_EQ(first.reads, fetched);
  EXPECT_EQ(sampler.lost(), 0U);
}

}  // namespace
}  // namespace lockstep::tracer::host
