#include "analyzer/import/kineto/operators.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <utility>

#include "analyzer/model/operation.h"

namespace lockstep::analyzer::kineto {
namespace {

Activity activity_of(const TimeSpan& time, std::uint32_t name, std::uint32_t lane) {
  Activity activity;
  activity.begin = activity.launch_begin = activity.launch_end = time.begin;
  activity.end = time.end;
  activity.name = name;
  activity.lane = lane;
  return activity;
}

}  // namespace

bool computes(std::string_view name) {
  const std::size_t colons = name.find("::");
  if (colons == std::string_view::npos || colons == 0) return false;
  const std::string_view library = name.substr(0, colons);
  for (const std::string_view other :
       {"autograd", "torch", "c10d", "_c10d_functional", "profiler", "inductor"})
    if (library == other) return false;
  return true;
}

void OperatorTable::add_computation(const TimeSpan& time, std::uint32_t thread, std::uint32_t name) {
  computations_.push_back({time, thread, name, Operation::unknown});
}

void OperatorTable::add_communication(const TimeSpan& time, std::uint32_t name, Operation operation) {
  communications_.push_back({time, 0, name, operation});
}

void OperatorTable::give(const ThreadTable& threads, RankTrace& trace) {
  std::sort(computations_.begin(), computations_.end(), [](const Entry& a, const Entry& b) {
    return std::tie(a.thread, a.time.begin, b.time.end) < std::tie(b.thread, b.time.begin, a.time.end);
  });
  std::uint32_t thread = kNone;
  std::uint32_t lane = 0;
  Nanoseconds until = 0;
  for (const Entry& entry : computations_) {
    if (entry.thread != thread) {
      thread = entry.thread;
      lane = static_cast<std::uint32_t>(trace.lanes.size());
      trace.lanes.push_back(threads.lane(thread));
      trace.lanes.back().kind = trace::LaneKind::compute_thread;
    } else if (entry.time.begin < until) {
      continue;  // within the one before
    }
    until = entry.time.end;
    trace.activities.push_back(activity_of(entry.time, entry.name, lane));
  }
  std::sort(communications_.begin(), communications_.end(), [](const Entry& a, const Entry& b) {
    return std::tie(a.time.begin, a.time.end, a.name) < std::tie(b.time.begin, b.time.end, b.name);
  });
  std::vector<std::pair<Nanoseconds, std::uint32_t>> lanes;  // until when, which
  for (const Entry& entry : communications_) {
    auto free = std::find_if(lanes.begin(), lanes.end(),
                             [&](const auto& one) { return one.first <= entry.time.begin; });
    if (free == lanes.end()) {
      const auto made = static_cast<std::uint32_t>(trace.lanes.size());
      trace.lanes.push_back(
          {trace::LaneKind::communication, lanes.size(),
           lanes.empty() ? "communication" : fmt::format("communication {}", lanes.size() + 1)});
      free = lanes.insert(lanes.end(), {0, made});
    }
    free->first = entry.time.end;
    Activity activity = activity_of(entry.time, entry.name, free->second);
    activity.activity_class = is_point_to_point(entry.operation) ? Class::p2p : Class::collective;
    activity.communication = static_cast<std::uint32_t>(trace.communications.size());
    Communication communication;
    communication.activity = static_cast<std::uint32_t>(trace.activities.size());
    communication.operation = entry.operation;
    trace.communications.push_back(communication);
    trace.activities.push_back(activity);
  }
  computations_ = {};
  communications_ = {};
}

}  // namespace lockstep::analyzer::kineto
