// What a host range of a run's file is: a step, data loading, a module, …
#pragma once

#include <set>
#include <tuple>
#include <unordered_map>

#include "analyzer/model/job.h"
#include "trace/reader.h"

namespace lockstep::analyzer::run {

class HostKinds {
 public:
  explicit HostKinds(const trace::Reader& reader) : reader_(reader) {}

  // Before any range is asked for: the range of a step is told by its times.
  void add_step(const trace::Step& step) { steps_.emplace(step.lane, step.begin, step.end); }

  HostKind of(const trace::HostRange& range);
  // Of a range without a category.
  HostKind of(trace::StringId name, trace::StringId domain, trace::LaneId lane, Nanoseconds begin,
              Nanoseconds end);

 private:
  HostKind of_category(trace::StringId category);

  const trace::Reader& reader_;
  std::unordered_map<trace::StringId, bool> loads_data_;  // by name
  std::unordered_map<trace::StringId, HostKind> categories_;
  std::set<std::tuple<trace::LaneId, Nanoseconds, Nanoseconds>> steps_;
};

}  // namespace lockstep::analyzer::run
