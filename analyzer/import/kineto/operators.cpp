#include "analyzer/import/kineto/operators.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "analyzer/model/operation.h"
#include "trace/events/communication_names.h"

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
  for (const std::string_view other : {"autograd", "torch", "profiler", "inductor"})
    if (library == other) return false;
  return !trace::communication_range(name);
}

void OperatorTable::add_computation(const TimeSpan& time, std::uint32_t thread, std::uint32_t name) {
  calls_.push_back({time, thread, name, std::nullopt});
}

void OperatorTable::add_call(const TimeSpan& time, std::uint32_t thread, std::uint32_t name,
                             Operation operation) {
  calls_.push_back({time, thread, name, operation});
}

void OperatorTable::add_communication(const TimeSpan& time, std::uint32_t name, Operation operation) {
  communications_.push_back({time, 0, name, operation});
}

void OperatorTable::drop_calls_that_only_issue() {
  std::map<Operation, std::vector<Nanoseconds>> begins;
  for (const Entry& entry : communications_) {
    begins[*entry.operation].push_back(entry.time.begin);
    begins[Operation::unknown].push_back(entry.time.begin);
  }
  for (auto& [operation, of_operation] : begins) std::sort(of_operation.begin(), of_operation.end());
  std::erase_if(calls_, [&](const Entry& entry) {
    if (!entry.operation) return false;
    const auto of_operation = begins.find(*entry.operation);
    if (of_operation == begins.end()) return false;
    const auto next =
        std::lower_bound(of_operation->second.begin(), of_operation->second.end(), entry.time.begin);
    return next != of_operation->second.end() && *next <= entry.time.end;
  });
}

void OperatorTable::give(const ThreadTable& threads, RankTrace& trace) {
  drop_calls_that_only_issue();
  std::sort(calls_.begin(), calls_.end(), [](const Entry& a, const Entry& b) {
    return std::tie(a.thread, a.time.begin, b.time.end) < std::tie(b.thread, b.time.begin, a.time.end);
  });
  std::uint32_t thread = kNone;
  std::uint32_t lane = kNone;
  Nanoseconds computes_until = kUnknownTime, communicates_until = kUnknownTime;
  for (const Entry& entry : calls_) {
    if (entry.thread != thread) {
      thread = entry.thread;
      lane = kNone;
      computes_until = communicates_until = kUnknownTime;
    }
    const auto within = [&](Nanoseconds until) { return until != kUnknownTime && entry.time.begin < until; };
    // What is computed within communication is part of it.
    if (within(communicates_until)) continue;
    if (entry.operation) {
      communicates_until = entry.time.end;
      communications_.push_back(entry);
      continue;
    }
    if (within(computes_until)) continue;
    computes_until = entry.time.end;
    if (lane == kNone) {
      lane = static_cast<std::uint32_t>(trace.lanes.size());
      trace.lanes.push_back(threads.lane(thread));
      trace.lanes.back().kind = trace::LaneKind::compute_thread;
    }
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
    activity.activity_class = is_point_to_point(*entry.operation) ? Class::p2p : Class::collective;
    activity.communication = static_cast<std::uint32_t>(trace.communications.size());
    Communication communication;
    communication.activity = static_cast<std::uint32_t>(trace.activities.size());
    communication.operation = *entry.operation;
    trace.communications.push_back(communication);
    trace.activities.push_back(activity);
  }
  calls_ = {};
  communications_ = {};
}

}  // namespace lockstep::analyzer::kineto
