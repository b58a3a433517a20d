// What a report holds of each traced process, and of each device that one uses: a rank.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analyzer/import/rank/kept_ranges.h"
#include "analyzer/import/rank/launches.h"
#include "analyzer/import/rank/names.h"
#include "analyzer/import/rank/passes.h"
#include "analyzer/import/rank/rank_import.h"

namespace lockstep::analyzer::nsys {

// nsys packs host, process and thread into one number, the thread in the lowest 24 bits.
constexpr std::int64_t process_of(std::int64_t global_id) {
  return global_id >> 24;
}
constexpr std::int64_t pid_of(std::int64_t global_id) {
  return (global_id >> 24) & 0xFFFFFF;
}
constexpr std::uint32_t thread_of(std::int64_t global_id) {
  return static_cast<std::uint32_t>(global_id & 0xFFFFFF);
}

// A host range before it is known which ranks its process has.
struct RangeOfProcess {
  Nanoseconds begin = 0;
  Nanoseconds end = 0;
  std::uint32_t thread = 0;
  std::uint32_t name = 0;  // Process::names
  HostKind kind = HostKind::other;
};

struct Process {
  std::int64_t pid = 0;
  LaunchTable launches;
  RangeTable ranges;  // NCCL's, and PyTorch's around them
  KeptRanges kept;
  std::vector<RangeOfProcess> host_ranges;
  std::vector<PassRange> passes;
  std::vector<StepMark> steps;
  StringTable names;
  std::string training;  // the last mark of it; empty: none
  std::map<std::uint32_t, std::string> thread_names;
};

struct KnownName {
  std::uint32_t id = 0;  // StringTable of the rank
  KernelKind kind = KernelKind::compute;
  Operation operation = Operation::unknown;
};

struct DeviceOfProcess {
  RankImport import;
  std::size_t kernels = 0;
  std::size_t nameless = 0;                           // of the kernels
  std::size_t activities = 0;                         // waits apart
  std::unordered_map<std::int64_t, KnownName> names;  // by the report's number of the string
  std::map<std::pair<std::int64_t, std::int64_t>, std::uint32_t> lanes;  // by context and stream
};

struct Report {
  std::string file;
  std::unordered_map<std::int64_t, std::string> strings;
  std::map<std::int64_t, Process> processes;                                 // by process_of()
  std::map<std::pair<std::int64_t, std::int64_t>, DeviceOfProcess> devices;  // by process and device
  std::string host;
  std::optional<std::int64_t> realtime_of_zero;
  std::uint64_t dropped = 0;  // rows whose times make no sense
  std::vector<std::string> damage;
  std::uint64_t nameless_ranges = 0;
  std::vector<std::string> lacks;  // what the report's tables can't tell, and why
  // Of the table of devices that is being read: rows stand by their starts in what nsys writes.
  Nanoseconds last_begin = -kLatest;
  bool begins_ascend = true;
  // What devices did from then on is not all known.
  Nanoseconds lost_from = kLatest;

  std::string_view string(std::int64_t id) const {
    const auto found = strings.find(id);
    return found == strings.end() ? std::string_view() : std::string_view(found->second);
  }
  // False, and counted, where the times are no interval.
  bool take_times(std::int64_t begin, std::int64_t end) {
    if (begin >= -kLatest && end <= kLatest && begin <= end) return true;
    ++dropped;
    return false;
  }
};

}  // namespace lockstep::analyzer::nsys
