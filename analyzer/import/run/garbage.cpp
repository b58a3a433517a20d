#include "analyzer/import/run/garbage.h"

#include <utility>

#include "analyzer/import/run/cut_activities.h"
#include "trace/events/operator_ranges.h"

namespace lockstep::analyzer::run {

void GarbageCollections::take(const trace::HostRange& range) {
  if (range.category != 0 || range.lane >= reader_.lanes().size() ||
      reader_.string(range.domain) != trace::kOperatorDomain ||
      reader_.string(range.name) != trace::kGarbageCollection)
    return;
  of_thread_[reader_.lanes()[range.lane].handle].push_back({range.begin, range.end});
}

void GarbageCollections::cut_from(RankTrace& rank) && {
  if (of_thread_.empty()) return;
  std::map<std::uint64_t, IntervalSet> cuts;
  for (auto& [thread, collections] : of_thread_)
    cuts.emplace(thread, IntervalSet::from(std::move(collections)));
  cut_activities(rank, [&](const Activity& activity) {
    const auto cut = cuts.find(rank.lanes[activity.lane].handle);
    return cut == cuts.end() ? nullptr : &cut->second;
  });
}

}  // namespace lockstep::analyzer::run
