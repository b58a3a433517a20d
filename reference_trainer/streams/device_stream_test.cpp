// Streams of a device, on a simulated one: what is issued to it waits in queues, as on a GPU, and runs when
// the test says so, in any order that the queues and events allow. Whatever order the streams must guarantee
// holds in all of them; whatever may overlap does in some.
#include "reference_trainer/streams/device_stream.h"

#include <c10/core/Event.h>
#include <c10/core/StreamGuard.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <map>
#include <mutex>
#include <random>

namespace lockstep::trainer {
namespace {

constexpr c10::DeviceType kCuda = c10::DeviceType::CUDA;
const c10::Device kDevice(kCuda, 0);

// An event counts how often it was recorded; a stream that waits for it waits for one of these times.
struct Recording {
  std::uint64_t issued = 0, done = 0;
};

class SimulatedDevice : public c10::impl::DeviceGuardImplInterface {
 public:
  using Id = c10::StreamId;

  // From the test: a kernel on the calling thread's current stream.
  void launch(const std::string& name) {
    const std::lock_guard lock(mutex_);
    queues_[current_].push_back({.kernel = name});
  }
  // Runs all that is queued, the next one always on a stream drawn by `random`. Returns the kernels in the
  // order in which they ran.
  std::vector<std::string> run(std::mt19937& random) {
    const std::lock_guard lock(mutex_);
    ran_.clear();
    while (step(random)) {
    }
    EXPECT_TRUE(idle()) << "streams wait for each other";
    return ran_;
  }

  c10::DeviceType type() const override { return kCuda; }
  c10::Device exchangeDevice(c10::Device) const override { return kDevice; }
  c10::Device getDevice() const override { return kDevice; }
  void setDevice(c10::Device) const override {}
  void uncheckedSetDevice(c10::Device) const noexcept override {}
  c10::DeviceIndex deviceCount() const noexcept override { return 1; }
  c10::Stream getStream(c10::Device) const override { return stream(current_); }
  c10::Stream getStreamFromGlobalPool(c10::Device, bool) const override { return stream(++streams_); }
  c10::Stream exchangeStream(c10::Stream to) const override {
    return stream(std::exchange(current_, to.id()));
  }
  void record(void** event, const c10::Stream& on, c10::DeviceIndex, c10::EventFlag) const override {
    const std::lock_guard lock(mutex_);
    if (*event == nullptr) *event = &recordings_.emplace_back();
    auto* const recording = static_cast<Recording*>(*event);
    queues_[on.id()].push_back({.records = recording, .time = ++recording->issued});
  }
  void block(void* event, const c10::Stream& on) const override {
    const std::lock_guard lock(mutex_);
    auto* const recording = static_cast<Recording*>(event);
    queues_[on.id()].push_back({.waits_for = recording, .time = recording->issued});
  }
  bool queryEvent(void* event) const override {
    const std::lock_guard lock(mutex_);
    auto* const recording = static_cast<Recording*>(event);
    return recording->done == recording->issued;
  }
  void synchronizeEvent(void* event) const override {
    const std::lock_guard lock(mutex_);
    auto* const recording = static_cast<Recording*>(event);
    std::mt19937 random(1);
    while (recording->done < recording->issued && step(random)) {
    }
  }
  void synchronizeStream(const c10::Stream& on) const override {
    const std::lock_guard lock(mutex_);
    std::mt19937 random(1);
    while (!queues_[on.id()].empty() && step(random)) {
    }
  }

 private:
  struct Command {
    std::string kernel = {};
    Recording* records = nullptr;
    Recording* waits_for = nullptr;
    std::uint64_t time = 0;
  };

  static c10::Stream stream(Id id) { return c10::Stream(c10::Stream::UNSAFE, kDevice, id); }
  bool idle() const {
    return std::all_of(queues_.begin(), queues_.end(),
                       [](const auto& queue) { return queue.second.empty(); });
  }
  // One command of some stream that can go on; false where none can.
  bool step(std::mt19937& random) const {
    std::vector<Id> ready;
    for (const auto& [id, queue] : queues_) {
      if (!queue.empty() &&
          (queue.front().waits_for == nullptr || queue.front().waits_for->done >= queue.front().time))
        ready.push_back(id);
    }
    if (ready.empty()) return false;
    auto& queue = queues_[ready[random() % ready.size()]];
    const Command command = queue.front();
    queue.pop_front();
    if (command.records != nullptr) command.records->done = command.time;
    if (!command.kernel.empty()) ran_.push_back(command.kernel);
    return true;
  }

  static thread_local Id current_;
  mutable Id streams_ = 0;
  mutable std::mutex mutex_;
  mutable std::map<Id, std::deque<Command>> queues_;
  mutable std::deque<Recording> recordings_;
  mutable std::vector<std::string> ran_;
};
thread_local c10::StreamId SimulatedDevice::current_ = 0;

SimulatedDevice& device() {
  static SimulatedDevice simulated;
  static const c10::impl::DeviceGuardImplRegistrar registrar(kCuda, &simulated);
  static_cast<void>(registrar);
  return simulated;
}

// In which orders two kernels ran, over many runs of what `issue` issues.
struct Orders {
  bool first_before_second = false, second_before_first = false;
};
Orders orders(const std::string& first, const std::string& second, const std::function<void()>& issue) {
  Orders seen;
  for (unsigned seed = 0; seed < 64; ++seed) {
    issue();
    std::mt19937 random(seed);
    const std::vector<std::string> ran = device().run(random);
    const auto place = [&ran](const std::string& name) { return std::find(ran.begin(), ran.end(), name); };
    EXPECT_NE(place(first), ran.end());
    EXPECT_NE(place(second), ran.end());
    (place(first) < place(second) ? seen.first_before_second : seen.second_before_first) = true;
  }
  return seen;
}

StreamWork launches(const std::string& name) {
  return {.run = [name] { device().launch(name); }};
}

class DeviceStreams : public testing::Test {
 protected:
  DeviceStreams() { device(); }
};

TEST_F(DeviceStreams, WorkComesAfterWhatItsCallerHasIssuedAndBesideWhatComesLater) {
  DeviceStream stream(kDevice, "test");
  const auto issue = [&] {
    device().launch("before");
    stream.enqueue(launches("work"));
    device().launch("later");
  };
  const Orders before = orders("before", "work", issue);
  EXPECT_TRUE(before.first_before_second);
  EXPECT_FALSE(before.second_before_first);
  const Orders later = orders("work", "later", issue);
  EXPECT_TRUE(later.first_before_second);
  EXPECT_TRUE(later.second_before_first);
}

TEST_F(DeviceStreams, TheHostGoesOnAndTheCallersStreamWaits) {
  DeviceStream stream(kDevice, "test");
  const Orders seen = orders("work", "after", [&] {
    const Event done = stream.enqueue(launches("work"));
    EXPECT_FALSE(done.done());  // nothing runs yet, and the host is here
    done.wait();
    EXPECT_FALSE(done.done());
    device().launch("after");
  });
  EXPECT_TRUE(seen.first_before_second);
  EXPECT_FALSE(seen.second_before_first);
}

TEST_F(DeviceStreams, SynchronizeBlocksTheHostUntilTheWorkIsDone) {
  DeviceStream stream(kDevice, "test");
  const Event done = stream.enqueue(launches("work"));
  done.synchronize();
  EXPECT_TRUE(done.done());
  std::mt19937 random(0);
  device().run(random);
}

TEST_F(DeviceStreams, WorkThatIsToldSoDoesNotWaitForItsCaller) {
  DeviceStream stream(kDevice, "test");
  const auto issue = [&] {
    device().launch("update");
    stream.follow_caller();
    device().launch("compute");
    StreamWork gather = launches("gather");
    gather.after_caller = false;
    stream.enqueue(std::move(gather));
  };
  const Orders update = orders("update", "gather", issue);
  EXPECT_FALSE(update.second_before_first);
  const Orders compute = orders("compute", "gather", issue);
  EXPECT_TRUE(compute.first_before_second);
  EXPECT_TRUE(compute.second_before_first);
}

TEST_F(DeviceStreams, WorkOfOneStreamComesAfterWorkOfAnother) {
  DeviceStream sharding(kDevice, "sharding"), replication(kDevice, "replication");
  const Orders seen = orders("scatter", "reduce", [&] {
    StreamWork reduce = launches("reduce");
    reduce.after = {sharding.enqueue(launches("scatter"))};
    replication.enqueue(std::move(reduce));
  });
  EXPECT_TRUE(seen.first_before_second);
  EXPECT_FALSE(seen.second_before_first);
}

TEST_F(DeviceStreams, WhatIsIssuedWhileAStreamIsCurrentRunsOnIt) {
  DeviceStream stream(kDevice, "test");
  const Orders seen = orders("fill", "compute", [&] {
    {
      const auto here = stream.make_current();
      device().launch("fill");
    }
    device().launch("compute");
  });
  EXPECT_TRUE(seen.second_before_first);  // beside the caller's own
}

TEST_F(DeviceStreams, BlockingWorkRunsOnAThreadAfterItsCallersAndIsDoneWhenTheDeviceIs) {
  BlockingDeviceStream stream(kDevice, "test");
  const auto caller = std::this_thread::get_id();
  std::vector<std::string> transfer;
  device().launch("compute");
  const Event done = stream.enqueue({.run = [&] {
    EXPECT_NE(std::this_thread::get_id(), caller);
    transfer.push_back("transfer");
    device().launch("copy back");
  }});
  done.wait();
  EXPECT_TRUE(done.done());
  EXPECT_THAT(transfer, testing::ElementsAre("transfer"));
  std::mt19937 random(0);
  EXPECT_THAT(device().run(random), testing::IsEmpty());  // all of it has run: compute, then the copy
}

}  // namespace
}  // namespace lockstep::trainer
