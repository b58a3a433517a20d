// Where ranks wait for each other's cores, or for those of other programs: a shortage of their host, and
// nobody's lateness. From what the recorder saw of their training threads (docs/metrics.md, "On a core").
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analyzer/model/job.h"
#include "analyzer/report/report.h"

namespace lockstep::analyzer {

struct HostShortage {
  std::string host;
  std::vector<std::int32_t> ranks;  // that share the cores; sorted
  double cores = 0;  // that these may use together: by affinity, or their control group's limit
  // Training threads that ran or were ready to, in the mean over the steps and summed over the ranks.
  double wanted = 0;
  double got = 0;  // of these, the ones that ran
  // Of each rank's steps the part in which a training thread waited for a core: the median of the ranks whose
  // threads run or are ready to for a tenth of the time (kBusy), and
  // the sum of these times within the windows that losses are shares of (of a rank that has none, nothing).
  double share = 0;
  // The rank that it is the share of: of an even number the one that waits less.
  std::int32_t share_of = kNoRank;
  std::size_t busy = 0;  // ranks whose median it is
  std::int64_t waited_ns = 0;
  // Other programs have the cores: the ranks alone want no more than there are, or get so few of them that
  // their waiting is for somebody else. (Many short waits of several threads at once add up to more than a
  // thread each: what they want alone does not tell.)
  bool by_others() const { return wanted <= cores * kMargin || got < cores * kOwn; }
  // And with cores enough for others they would not all have one.
  bool by_ranks_too() const { return static_cast<double>(ranks.size()) > cores; }

  static constexpr double kLeastShare = 0.03;
  static constexpr double kBusy = 0.1;
  static constexpr double kMargin = 1.05;
  static constexpr double kOwn = 0.75;
};

// One for each set of ranks of a host whose allowed cores overlap, where more than half of those that run
// wait for kLeastShare of their steps at least, and the median of them does. Over the steps of the report, or
// where it has none the ranks' whole windows. Empty where nothing was recorded of it.
std::vector<HostShortage> find_host_shortages(const Job& job, const Report& report);

// How many cores a list of them has ("0-3,8": 5); 0: not known.
std::size_t count_cores(const std::string& core_set);

// Of ranks that wait for a core so long in windows of so much time: other programs run on their cores, be
// these short or not.
constexpr bool is_beside_others(std::int64_t waited_ns, std::int64_t window_ns) {
  return waited_ns > 0 && waited_ns >= window_ns / 100;
}

// Another rank of the rank's host may use some of the same cores.
bool shares_cores(const Job& job, std::int32_t rank);

// The one that the rank is in; null: none.
const HostShortage* shortage_of(const std::vector<HostShortage>& shortages, std::int32_t rank);

}  // namespace lockstep::analyzer
