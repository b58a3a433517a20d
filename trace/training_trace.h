// What the trace of one rank of a training job looks like, made up from a seed: for benchmarks and tests.
//
// Per step: a data-loading range; for each layer forward and backward ranges, launch calls and kernels (the
// same sequence of names every step, durations typical of the kernel); all-reduces in the backward pass; an
// optimizer range; a loss value. Times of one kind differ by some per cent, with a few outliers.
#pragma once

#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "trace/events/event.h"
#include "trace/writer.h"

namespace lockstep::trace {

struct TrainingTrace {
  static constexpr LaneId kThread = 0;
  static constexpr LaneId kStream = 1;
  static constexpr LaneId kCommunication = 2;
  static constexpr LaneId kLoss = 3;
  static constexpr int kLayers = 24;
  static constexpr int kKernelsPerLayer = 14;

  std::vector<HostRange> host_ranges;
  std::vector<ApiCall> api_calls;
  std::vector<DeviceActivity> device_activities;
  std::vector<Collective> collectives;
  std::vector<Step> steps;
  std::vector<Counter> counters;

  std::size_t size() const {
    return host_ranges.size() + api_calls.size() + device_activities.size() + collectives.size() +
           steps.size() + counters.size();
  }

  static TrainingTrace generate(int steps, std::uint64_t seed = 1);
  // Lanes, names and one group, with the ids that the events use.
  static void describe(Writer& writer);
  void append_to(Writer& writer) const;
};

namespace training_trace_detail {

enum Name : StringId {
  step = 1,
  data_loading,
  forward,
  backward,
  optimizer,
  layer,
  all_reduce,
  launch,
  first_kernel
};

class Generator {
 public:
  Generator(std::uint64_t seed, TrainingTrace& trace) : engine_(seed), trace_(trace) {
    for (int i = 0; i < TrainingTrace::kKernelsPerLayer; ++i) {
      kernel_durations_.push_back(static_cast<Nanoseconds>(2000 * std::pow(1.5, engine_() % 12)));
    }
  }

  void add_step(std::int64_t number) {
    const Nanoseconds begin = host_;
    range(data_loading, 1, [&] { host_ += noisy(400'000); });
    range(forward, 1, [&] {
      for (int layer_number = 0; layer_number < TrainingTrace::kLayers; ++layer_number) pass();
    });
    range(backward, 1, [&] {
      for (int layer_number = 0; layer_number < TrainingTrace::kLayers; ++layer_number) {
        pass();
        pass();
        reduce();
      }
    });
    range(optimizer, 1, [&] { launch_kernels(60, 40); });
    host_ = std::max(host_, device_) + noisy(5000);
    trace_.host_ranges.push_back({.begin = begin, .end = host_, .name = step});
    trace_.steps.push_back({TrainingTrace::kThread, begin, host_, number});
    trace_.counters.push_back({TrainingTrace::kLoss, host_, 4.0 / (1 + 0.01 * static_cast<double>(number))});
    host_ += noisy(2000);
  }

 private:
  // Mostly within 10 % of `typical`; one in 50 takes up to four times as long.
  Nanoseconds noisy(Nanoseconds typical) {
    const auto spread = static_cast<std::uint64_t>(engine_() % 50 == 0 ? 3 * typical : typical / 5) + 1;
    return typical + static_cast<Nanoseconds>(engine_() % spread) - typical / 10;
  }

  template <class Body>
  void range(StringId name, std::uint16_t depth, Body body) {
    const Nanoseconds begin = host_;
    host_ += noisy(300);
    body();
    host_ += noisy(300);
    trace_.host_ranges.push_back({.begin = begin, .end = host_, .name = name, .depth = depth});
  }

  void pass() {
    range(layer, 2, [&] { launch_kernels(TrainingTrace::kKernelsPerLayer, 0); });
  }

  void launch_kernels(int count, int first) {
    for (int i = 0; i < count; ++i) {
      const Nanoseconds begin = host_ += noisy(3000);
      host_ += noisy(4000);
      const CorrelationId correlation = ++correlation_;
      trace_.api_calls.push_back({TrainingTrace::kThread, begin, host_, launch, correlation});
      const Nanoseconds duration =
          noisy(kernel_durations_[static_cast<std::size_t>(i) % kernel_durations_.size()]);
      device_ = std::max(device_ + noisy(1200), host_ + noisy(2000));
      trace_.device_activities.push_back({TrainingTrace::kStream, device_, device_ + duration,
                                          first_kernel + static_cast<StringId>(first + i),
                                          ActivityClass::compute, correlation, 0});
      device_ += duration;
    }
  }

  void reduce() {
    communication_ = std::max(communication_ + noisy(2000), device_ + noisy(10'000));
    const Nanoseconds end = communication_ + noisy(350'000);
    trace_.collectives.push_back({TrainingTrace::kCommunication, communication_, end, all_reduce, 0,
                                  Operation::all_reduce, sequence_++, 25U << 20, DataType::float32, kNoRank,
                                  ++correlation_});
    communication_ = end;
  }

  std::mt19937_64 engine_;
  TrainingTrace& trace_;
  std::vector<Nanoseconds> kernel_durations_;
  Nanoseconds host_ = 81'234'567'890'123;
  Nanoseconds device_ = host_;
  Nanoseconds communication_ = host_;
  CorrelationId correlation_ = 1000;
  std::int64_t sequence_ = 0;
};

}  // namespace training_trace_detail

inline TrainingTrace TrainingTrace::generate(int steps, std::uint64_t seed) {
  TrainingTrace trace;
  training_trace_detail::Generator generator(seed, trace);
  for (int step = 0; step < steps; ++step) generator.add_step(step);
  return trace;
}

inline void TrainingTrace::describe(Writer& writer) {
  writer.add_lane({LaneKind::host_thread, 100, 100, 0, "main thread"});
  writer.add_lane({LaneKind::device_stream, 100, 7, 0, "stream 7"});
  writer.add_lane({LaneKind::communication, 100, 20, 0, "stream 20"});
  writer.add_lane({LaneKind::counter, 100, 0, 0, "loss"});
  writer.add_group({"0", "default", {0, 1, 2, 3}});
  for (const char* name :
       {"step", "data_loading", "forward", "backward", "optimizer", "layer", "all_reduce", "launch"}) {
    writer.intern(name);
  }
  for (int i = 0; i < 100; ++i)
    writer.intern("void kernel_number_" + std::to_string(i) + "<float, 4>(int, float*)");
}

inline void TrainingTrace::append_to(Writer& writer) const {
  for (const auto& event : host_ranges) writer.append(event);
  for (const auto& event : api_calls) writer.append(event);
  for (const auto& event : device_activities) writer.append(event);
  for (const auto& event : collectives) writer.append(event);
  for (const auto& event : steps) writer.append(event);
  for (const auto& event : counters) writer.append(event);
}

}  // namespace lockstep::trace
