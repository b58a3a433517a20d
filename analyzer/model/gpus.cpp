#include "analyzer/model/gpus.h"

#include <map>
#include <string>
#include <utility>

namespace lockstep::analyzer {

bool is_gpu_lane(const JobLane& lane) {
  if (lane.kind == trace::LaneKind::device_stream) return true;
  return lane.kind == trace::LaneKind::communication &&
         (lane.name.starts_with("GPU") || lane.name.starts_with("stream "));
}

bool is_host_wait(const Activity& activity, const StringTable& strings) {
  return activity.activity_class == Class::sync &&
         !strings.view(activity.name).starts_with("Stream Wait Event");
}

std::vector<std::vector<const RankTrace*>> ranks_that_share_gpus(const Job& job) {
  std::map<std::pair<std::string, std::string>, std::vector<const RankTrace*>> by_gpu;
  for (const RankTrace& rank : job.ranks)
    if (!rank.device_uuid.empty()) by_gpu[{rank.host, rank.device_uuid}].push_back(&rank);
  std::vector<std::vector<const RankTrace*>> shared;
  for (auto& [gpu, ranks] : by_gpu)
    if (ranks.size() > 1) shared.push_back(std::move(ranks));
  return shared;
}

}  // namespace lockstep::analyzer
