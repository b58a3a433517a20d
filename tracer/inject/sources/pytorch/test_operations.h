// What Operations writes, read back: for its tests.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "tests/temporary_folder.h"
#include "trace/reader.h"
#include "tracer/inject/sources/pytorch/operations.h"

namespace lockstep::tracer::pytorch {

inline constexpr std::uint64_t kBackend = 0x1000;
inline constexpr trace::LaneId kHost = 0;
inline constexpr trace::LaneId kWorker = 1;
inline constexpr trace::LaneId kWorkerHost = 2;

struct Written {
  std::vector<trace::Collective> collectives;
  std::vector<trace::ApiCall> calls;
  std::vector<trace::CollectiveIssue> issues;
  std::vector<std::string> issue_names;
  std::vector<trace::OpenRange> open;        // all that was noted
  std::vector<trace::OpenRange> unfinished;  // what of it did not end
  std::vector<trace::Group> groups;
  std::vector<trace::Lane> lanes;
};

// Lets `fill` write a trace, and reads it back.
inline Written write(const std::function<void(Operations&)>& fill) {
  const test::TemporaryFolder folder;
  const std::filesystem::path path = folder.path() / "rank-0.lst";
  {
    Result<trace::Writer> writer = trace::Writer::create(path.c_str());
    EXPECT_TRUE(writer.ok());
    for (const auto kind :
         {trace::LaneKind::host_thread, trace::LaneKind::communication, trace::LaneKind::host_thread}) {
      trace::Lane lane;
      lane.kind = kind;
      writer.value().add_lane(lane);
    }
    Operations operations(writer.value(), 7);
    fill(operations);
    EXPECT_TRUE(writer.value().close().ok());
  }
  Written written;
  const Result<trace::Reader> reader = trace::Reader::open(path);
  EXPECT_TRUE(reader.ok());
  EXPECT_TRUE(reader.value().read(trace::Selection{}, written.collectives).ok());
  EXPECT_TRUE(reader.value().read(trace::Selection{}, written.calls).ok());
  EXPECT_TRUE(reader.value().read(trace::Selection{}, written.issues).ok());
  EXPECT_TRUE(reader.value().read(trace::Selection{}, written.open).ok());
  for (const trace::CollectiveIssue& issue : written.issues)
    written.issue_names.emplace_back(reader.value().string(issue.name));
  const Result<std::vector<trace::OpenRange>> unfinished = reader.value().unfinished_ranges();
  EXPECT_TRUE(unfinished.ok());
  written.unfinished = unfinished.value();
  written.groups = reader.value().groups();
  written.lanes = reader.value().lanes();
  return written;
}

inline void declare(Operations& operations, const std::string& name, const std::vector<RankRun>& runs,
                    std::uint64_t backend = kBackend) {
  GroupRecord record;
  record.backend = backend;
  record.name_bytes = static_cast<std::uint16_t>(name.size());
  record.run_count = static_cast<std::uint32_t>(runs.size());
  std::string body(reinterpret_cast<const char*>(&record), sizeof record);
  body += name;
  body.append(reinterpret_cast<const char*>(runs.data()), runs.size() * sizeof(RankRun));
  operations.group(reinterpret_cast<const std::byte*>(body.data()), static_cast<std::uint32_t>(body.size()));
}

inline CallRecord call(std::uint64_t number, std::uint32_t works, std::int64_t sequence = 0) {
  CallRecord record;
  record.call = number;
  record.backend = kBackend;
  record.works = works;
  record.sequence = sequence;
  record.bytes = 64;
  record.operation = trace::Operation::all_reduce;
  record.data_type = trace::DataType::float32;
  return record;
}

}  // namespace lockstep::tracer::pytorch
