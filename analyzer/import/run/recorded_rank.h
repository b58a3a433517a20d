// For this folder's tests: the file of one recorded rank.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "analyzer/import/test_files.h"
#include "trace/writer.h"

namespace lockstep::analyzer::run {

inline constexpr std::uint64_t kTrainer = 4711;

// What the trainer's rank 1 of 2 would leave: a step in which a batch is loaded, two layers computed, and an
// all-reduce issued that runs on its own thread.
inline void write_rank(trace::Writer& writer) {
  writer.set_metadata("rank", "1");
  writer.set_metadata("world_size", "2");
  writer.set_metadata("host", "node7");
  const trace::LaneId host = writer.add_lane({trace::LaneKind::host_thread, kTrainer, 1, 0, "main"});
  const trace::LaneId compute = writer.add_lane({trace::LaneKind::compute_thread, kTrainer, 1, 0, "main"});
  const trace::LaneId gloo = writer.add_lane({trace::LaneKind::communication, kTrainer, 2, 0, ""});
  const trace::StringId ours = writer.intern("lockstep");
  const trace::GroupId group = writer.add_group({"world", "", {1, 0}});
  writer.append(trace::ClockSnapshot{1000, 1'700'000'000'000'001'000, kUnknownTime, 0});
  writer.append(trace::Step{host, 1000, 2000, 12});
  writer.append(trace::HostRange{host, host, 1000, 2000, writer.intern("step"), ours, 0, 0, 0, true});
  writer.append(trace::HostRange{host, host, 1000, 1100, writer.intern("data_loading"), ours, 0, 0, 1, true});
  writer.append(trace::HostRange{host, host, 1100, 1900, writer.intern("backward"), ours, 0, 0, 1, true});
  writer.append(trace::DeviceActivity{compute, 1100, 1400, writer.intern("layer 1"),
                                      trace::ActivityClass::compute, 0, 0});
  writer.append(trace::DeviceActivity{compute, 1450, 1900, writer.intern("layer 0"),
                                      trace::ActivityClass::compute, 0, 0});
  writer.append(trace::ApiCall{host, 1400, 1410, writer.intern("issue all_reduce"), 77});
  trace::Collective collective;
  collective.lane = gloo;
  collective.begin = 1420;
  collective.end = 1800;
  collective.name = writer.intern("all_reduce");
  collective.group = group;
  collective.operation = Operation::all_reduce;
  collective.sequence = 5;
  collective.bytes = 4'000'000;
  collective.data_type = DataType::float32;
  collective.correlation = 77;
  writer.append(collective);
}

inline std::string write_file(const TemporaryFolder& folder, const std::string& name,
                              void (*fill)(trace::Writer&), bool close = true) {
  trace::Writer writer = must(trace::Writer::create((folder / name).c_str()));
  fill(writer);
  EXPECT_TRUE(writer.flush().ok());
  if (close) {
    EXPECT_TRUE(writer.close().ok());
  } else {
    writer.abandon();
  }
  return folder / name;
}

}  // namespace lockstep::analyzer::run
