#include "analyzer/model/check_job.h"

#include <fmt/format.h>

#include <string_view>
#include <tuple>

#include "analyzer/model/is_communication.h"
#include "analyzer/model/stopped.h"

namespace lockstep::analyzer {
namespace {

bool in_range(Nanoseconds time) {
  return time > -kTimeLimit && time < kTimeLimit;
}
bool in_range_or_unknown(Nanoseconds time) {
  return time == kUnknownTime || in_range(time);
}

Error broken(const RankTrace& rank, std::string_view table, std::size_t row, std::string_view what) {
  return Error{fmt::format("rank {} ({}): {} {}: {}", rank.rank, rank.file.empty() ? "no file" : rank.file,
                           table, row, what)};
}

// What is wrong with this activity by itself; empty where nothing is.
std::string_view fault_of(const RankTrace& rank, std::size_t row) {
  const Activity& activity = rank.activities[row];
  if (!in_range(activity.begin) || !in_range(activity.end)) return "its time is out of range (±146 years)";
  if (activity.end < activity.begin) return "it ends before it begins";
  if (!in_range_or_unknown(activity.launch_begin) || !in_range_or_unknown(activity.launch_end)) {
    return "its launch time is out of range (±146 years)";
  }
  if (activity.lane >= rank.lanes.size()) return "its lane does not exist";
  if (activity.step != kNone && activity.step >= rank.steps.size()) return "its step does not exist";
  if (activity.compute != kNone && activity.compute >= rank.computations.size())
    return "its computation does not exist";
  if (!is_communication(activity.activity_class)) return {};
  if (activity.communication >= rank.communications.size() ||
      rank.communications[activity.communication].activity != row) {
    return "it is communication, but its communication record does not point back to it";
  }
  return {};
}

Status check_activities(const RankTrace& rank) {
  const auto key = [](const Activity& activity) {
    return std::tuple(activity.begin, activity.launch_begin, activity.end);
  };
  for (std::size_t row = 0; row < rank.activities.size(); ++row) {
    const std::string_view fault = fault_of(rank, row);
    if (!fault.empty()) return broken(rank, "activity", row, fault);
    if (row > 0 && key(rank.activities[row]) < key(rank.activities[row - 1])) {
      return broken(rank, "activity", row, "it is not in order of (begin, launch_begin, end)");
    }
  }
  return {};
}

Status check_rank(const Job& job, const RankTrace& rank) {
  if (Status status = check_activities(rank); !status.ok()) return status;
  for (std::size_t row = 0; row < rank.communications.size(); ++row) {
    const Communication& communication = rank.communications[row];
    if (communication.activity >= rank.activities.size() ||
        rank.activities[communication.activity].communication != row) {
      return broken(rank, "communication", row, "its activity does not point back to it");
    }
    if (row > 0 && communication.activity < rank.communications[row - 1].activity) {
      return broken(rank, "communication", row, "it is not in the order of its activity");
    }
    if (communication.group != kNone && communication.group >= job.groups.size()) {
      return broken(rank, "communication", row, "its group does not exist");
    }
  }
  for (std::size_t row = 0; row < rank.steps.size(); ++row) {
    const StepMark& step = rank.steps[row];
    if (!in_range(step.begin) || !in_range(step.end))
      return broken(rank, "step", row, "its time is out of range");
    if (step.end < step.begin) return broken(rank, "step", row, "it ends before it begins");
    if (row > 0 && step.begin < rank.steps[row - 1].end)
      return broken(rank, "step", row, "it overlaps the one before");
  }
  for (std::size_t row = 0; row < rank.host_ranges.size(); ++row) {
    const HostRange& range = rank.host_ranges[row];
    if (!in_range(range.begin) || !in_range(range.end))
      return broken(rank, "host range", row, "its time is out of range");
    if (range.end < range.begin) return broken(rank, "host range", row, "it ends before it begins");
  }
  for (const CounterTrack& counter : rank.counters) {
    for (std::size_t row = 0; row < counter.points.size(); ++row) {
      if (!in_range(counter.points[row].time))
        return broken(rank, "counter point", row, "its time is out of range");
      if (row > 0 && counter.points[row].time < counter.points[row - 1].time)
        return broken(rank, "counter point", row, "it is earlier than the one before");
    }
  }
  return {};
}

}  // namespace

Status check_job(const Job& job, const std::stop_token& stop) {
  for (std::size_t index = 0; index < job.ranks.size(); ++index) {
    throw_if_stopped(stop);
    const RankTrace& rank = job.ranks[index];
    if (index > 0 && rank.rank <= job.ranks[index - 1].rank) {
      return Error{fmt::format("rank {} stands after rank {}: ranks must be sorted, each once", rank.rank,
                               job.ranks[index - 1].rank)};
    }
    if (Status status = check_rank(job, rank); !status.ok()) return status;
  }
  return {};
}

}  // namespace lockstep::analyzer
