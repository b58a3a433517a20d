// How fast events are written and read, and how much room they take. One thread; the file lies in the
// temporary folder.
#include <benchmark/benchmark.h>
#include <stdlib.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "tests/temporary_folder.h"
#include "trace/format/checksum.h"
#include "trace/reader.h"
#include "trace/training_trace.h"
#include "trace/writer.h"

namespace lockstep::trace {
namespace {

using lockstep::test::TemporaryFolder;

const TrainingTrace& training_trace() {
  static const TrainingTrace trace = TrainingTrace::generate(1000);
  return trace;
}

Writer must_create(const std::string& path) {
  WriterOptions options;
  options.exclusive = false;
  Result<Writer> writer = Writer::create(path.c_str(), options);
  if (!writer.ok()) abort();
  return std::move(writer).value();
}

void events_per_second(benchmark::State& state, std::size_t events) {
  state.SetItemsProcessed(static_cast<std::int64_t>(events) * state.iterations());
}

// The whole trace of a rank: all kinds.
void write_training_trace(benchmark::State& state) {
  const TrainingTrace& trace = training_trace();
  TemporaryFolder folder;
  double bytes = 0;
  for (auto _ : state) {
    Writer writer = must_create(folder / "trace.lst");
    TrainingTrace::describe(writer);
    trace.append_to(writer);
    if (!writer.close().ok()) abort();
    bytes = static_cast<double>(writer.bytes_written());
  }
  events_per_second(state, trace.size());
  state.counters["bytes_per_event"] = bytes / static_cast<double>(trace.size());
}
BENCHMARK(write_training_trace)->Unit(benchmark::kMillisecond);

template <class E>
void write_kind(benchmark::State& state, const std::vector<E>& events) {
  TemporaryFolder folder;
  double bytes = 0;
  for (auto _ : state) {
    Writer writer = must_create(folder / "trace.lst");
    TrainingTrace::describe(writer);
    for (const E& event : events) writer.append(event);
    if (!writer.close().ok()) abort();
    bytes = static_cast<double>(writer.bytes_written());
  }
  events_per_second(state, events.size());
  state.counters["bytes_per_event"] = bytes / static_cast<double>(events.size());
}
void write_device_activities(benchmark::State& state) {
  write_kind(state, training_trace().device_activities);
}
void write_host_ranges(benchmark::State& state) {
  std::vector<HostRange> ranges;
  for (int i = 0; i < 10; ++i) {
    ranges.insert(ranges.end(), training_trace().host_ranges.begin(), training_trace().host_ranges.end());
  }
  write_kind(state, ranges);
}
void write_api_calls(benchmark::State& state) {
  write_kind(state, training_trace().api_calls);
}
BENCHMARK(write_device_activities)->Unit(benchmark::kMillisecond);
BENCHMARK(write_host_ranges)->Unit(benchmark::kMillisecond);
BENCHMARK(write_api_calls)->Unit(benchmark::kMillisecond);

// Flushed every 200 events, as a recorder that holds nothing for longer than a second does.
void write_with_many_flushes(benchmark::State& state) {
  const TrainingTrace& trace = training_trace();
  TemporaryFolder folder;
  double bytes = 0;
  for (auto _ : state) {
    Writer writer = must_create(folder / "trace.lst");
    TrainingTrace::describe(writer);
    std::size_t since_flush = 0;
    for (const DeviceActivity& event : trace.device_activities) {
      writer.append(event);
      if (++since_flush < 200) continue;
      since_flush = 0;
      if (!writer.flush().ok()) abort();
    }
    if (!writer.close().ok()) abort();
    bytes = static_cast<double>(writer.bytes_written());
  }
  events_per_second(state, trace.device_activities.size());
  state.counters["bytes_per_event"] = bytes / static_cast<double>(trace.device_activities.size());
}
BENCHMARK(write_with_many_flushes)->Unit(benchmark::kMillisecond);

class WrittenTrace {
 public:
  WrittenTrace() {
    Writer writer = must_create(path());
    TrainingTrace::describe(writer);
    training_trace().append_to(writer);
    if (!writer.close().ok()) abort();
  }
  std::string path() const { return (folder_ / "trace.lst"); }
  Reader open() const {
    Result<Reader> reader = Reader::open(path());
    if (!reader.ok()) abort();
    return std::move(reader).value();
  }

 private:
  TemporaryFolder folder_;
};

const WrittenTrace& written_trace() {
  static const WrittenTrace trace;
  return trace;
}

template <class E>
std::size_t read_kind(const Reader& reader, std::vector<E>& events) {
  events.clear();
  if (!reader.read(Selection{}, events).ok()) abort();
  return events.size();
}

// All events of all kinds, into vectors whose memory is there already.
void read_training_trace(benchmark::State& state) {
  const Reader reader = written_trace().open();
  TrainingTrace read;
  std::size_t events = 0;
  for (auto _ : state) {
    events = read_kind(reader, read.host_ranges) + read_kind(reader, read.api_calls) +
             read_kind(reader, read.device_activities) + read_kind(reader, read.collectives) +
             read_kind(reader, read.steps) + read_kind(reader, read.counters);
    benchmark::ClobberMemory();
  }
  if (events != training_trace().size()) abort();
  events_per_second(state, events);
}
BENCHMARK(read_training_trace)->Unit(benchmark::kMillisecond);

// The same, opening included and into fresh memory, which the kernel must clear.
void open_and_read_training_trace(benchmark::State& state) {
  std::size_t events = 0;
  for (auto _ : state) {
    const Reader reader = written_trace().open();
    TrainingTrace read;
    events = read_kind(reader, read.host_ranges) + read_kind(reader, read.api_calls) +
             read_kind(reader, read.device_activities) + read_kind(reader, read.collectives) +
             read_kind(reader, read.steps) + read_kind(reader, read.counters);
    benchmark::ClobberMemory();
  }
  events_per_second(state, events);
}
BENCHMARK(open_and_read_training_trace)->Unit(benchmark::kMillisecond);

template <class E>
void read_one_kind(benchmark::State& state) {
  const Reader reader = written_trace().open();
  std::vector<E> events;
  for (auto _ : state) {
    read_kind(reader, events);
    benchmark::ClobberMemory();
  }
  events_per_second(state, events.size());
}
BENCHMARK(read_one_kind<DeviceActivity>)->Unit(benchmark::kMillisecond);
BENCHMARK(read_one_kind<HostRange>)->Unit(benchmark::kMillisecond);
BENCHMARK(read_one_kind<ApiCall>)->Unit(benchmark::kMillisecond);

// One call for each event.
void visit_device_activities(benchmark::State& state) {
  const Reader reader = written_trace().open();
  std::size_t events = 0;
  Nanoseconds busy = 0;
  for (auto _ : state) {
    events = 0;
    const std::function<void(const DeviceActivity&)> visit = [&](const DeviceActivity& event) {
      ++events;
      busy += event.end - event.begin;
    };
    if (!reader.read(Selection{}, visit).ok()) abort();
  }
  benchmark::DoNotOptimize(busy);
  events_per_second(state, events);
}
BENCHMARK(visit_device_activities)->Unit(benchmark::kMillisecond);

// What a viewer does: one lane, a thousandth of the time.
void read_a_moment(benchmark::State& state) {
  const Reader reader = written_trace().open();
  const auto& all = training_trace().device_activities;
  const Nanoseconds middle = all[all.size() / 2].begin;
  const Nanoseconds length = (all.back().end - all.front().begin) / 1000;
  std::vector<DeviceActivity> events;
  for (auto _ : state) {
    events.clear();
    if (!reader.read({TrainingTrace::kStream, middle, middle + length}, events).ok()) abort();
  }
  state.counters["events"] = static_cast<double>(events.size());
}
BENCHMARK(read_a_moment)->Unit(benchmark::kMicrosecond);

void open_by_footer(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(written_trace().open().chunks().size());
}
BENCHMARK(open_by_footer)->Unit(benchmark::kMicrosecond);

void checksum_of_a_chunk(benchmark::State& state) {
  const std::vector<std::byte> bytes(128U << 10, std::byte{7});
  for (auto _ : state) benchmark::DoNotOptimize(format::checksum(bytes));
  state.SetBytesProcessed(static_cast<std::int64_t>(bytes.size()) * state.iterations());
}
BENCHMARK(checksum_of_a_chunk)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace lockstep::trace

BENCHMARK_MAIN();
