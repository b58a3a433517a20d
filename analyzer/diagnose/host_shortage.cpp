#include "analyzer/diagnose/host_shortage.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "analyzer/metrics/scheduling.h"
#include "base/numbers.h"

namespace lockstep::analyzer {
namespace {

// "0-3,8": each core. Of nonsense as much as can be read; no more than a machine has.
std::set<std::int32_t> parse_cores(std::string_view text) {
  constexpr std::int32_t kMost = 8192;
  std::set<std::int32_t> cores;
  while (const auto first = take_number<std::int32_t>(text)) {
    std::optional<std::int32_t> last = first;
    if (text.starts_with('-')) {
      text.remove_prefix(1);
      last = take_number<std::int32_t>(text);
      if (!last) break;
    }
    for (std::int32_t core = std::max(0, *first); core <= std::min(*last, kMost); ++core) cores.insert(core);
    if (!text.empty()) text.remove_prefix(1);
  }
  return cores;
}

// What was seen of one rank over the report's windows.
struct Seen {
  std::int32_t rank = 0;
  std::int64_t known_ns = 0, waited_ns = 0;
  std::int64_t lost_ns = 0;  // of waited_ns
  double wanted_ns = 0, got_ns = 0;
  double share() const { return static_cast<double>(waited_ns) / static_cast<double>(known_ns); }
};

struct Sharing {
  std::set<std::int32_t> cores;
  double quota = 0;  // the least; 0: none
  std::vector<Seen> ranks;
};

// What of a rank's waiting lies in the window that losses are shares of. A rank without steps waits as well,
// but has no window where others have steady steps; nor has one whose record has holes.
std::int64_t within_window(const Report& report, std::int32_t rank, std::int64_t waited_ns) {
  const auto own = std::find_if(report.ranks.begin(), report.ranks.end(),
                                [rank](const RankReport& one) { return one.rank == rank; });
  if (own == report.ranks.end() || !own->measures.known) return 0;
  return std::min(waited_ns, own->measures.window_ns);
}

Seen look_at(const RankTrace& trace, const Report& report, const std::vector<const StepReport*>& steps) {
  Seen seen{trace.rank};
  const auto add = [&](std::int64_t begin, std::int64_t end) {
    const auto times = scheduling_within(trace.scheduling,
                                         {begin + report.origin_aligned_ns, end + report.origin_aligned_ns});
    if (!times.has_value()) return;
    seen.known_ns += times->known_ns;
    seen.waited_ns += times->waited_ns;
    seen.wanted_ns += static_cast<double>(times->on_cpu_ns + times->runnable_ns);
    seen.got_ns += static_cast<double>(times->on_cpu_ns);
  };
  for (const StepReport* const step : steps) add(step->begin_ns, step->end_ns);
  for (const RankReport& rank : report.ranks) {
    if (steps.empty() && rank.rank == trace.rank) add(rank.begin_ns, rank.end_ns);
  }
  seen.lost_ns = within_window(report, trace.rank, seen.waited_ns);
  return seen;
}

bool overlap(const std::set<std::int32_t>& a, const std::set<std::int32_t>& b) {
  return std::any_of(a.begin(), a.end(), [&](std::int32_t core) { return b.contains(core); });
}

// Ranks of one host, put together where their cores overlap, directly or by others'.
std::vector<Sharing> find_sharing(const std::vector<std::pair<const RankTrace*, Seen>>& ranks) {
  std::vector<Sharing> all;
  for (const auto& [trace, seen] : ranks) {
    Sharing one{parse_cores(trace->core_set), trace->core_quota, {seen}};
    for (auto other = all.begin(); other != all.end();) {
      if (!overlap(one.cores, other->cores)) {
        ++other;
        continue;
      }
      one.cores.insert(other->cores.begin(), other->cores.end());
      if (other->quota > 0) one.quota = one.quota > 0 ? std::min(one.quota, other->quota) : other->quota;
      one.ranks.insert(one.ranks.end(), other->ranks.begin(), other->ranks.end());
      other = all.erase(other);
    }
    all.push_back(std::move(one));
  }
  return all;
}

}  // namespace

std::vector<HostShortage> find_host_shortages(const Job& job, const Report& report) {
  std::map<std::string, std::vector<std::pair<const RankTrace*, Seen>>> hosts;
  std::map<std::int32_t, std::vector<const StepReport*>> steps;
  for (const StepReport& step : report.steps) steps[step.rank].push_back(&step);
  for (const RankTrace& trace : job.ranks) {
    if (trace.scheduling.empty() || parse_cores(trace.core_set).empty()) continue;
    const Seen seen = look_at(trace, report, steps[trace.rank]);
    if (seen.known_ns > 0) hosts[trace.host].emplace_back(&trace, seen);
  }
  std::vector<HostShortage> shortages;
  for (const auto& [host, ranks] : hosts) {
    for (Sharing& sharing : find_sharing(ranks)) {
      HostShortage shortage;
      shortage.host = host;
      const auto cores = static_cast<double>(sharing.cores.size());
      shortage.cores = sharing.quota > 0 ? std::min(cores, sharing.quota) : cores;
      for (const Seen& one : sharing.ranks) {
        shortage.ranks.push_back(one.rank);
        shortage.wanted += one.wanted_ns / static_cast<double>(one.known_ns);
        shortage.got += one.got_ns / static_cast<double>(one.known_ns);
        shortage.waited_ns += one.lost_ns;
      }
      std::sort(shortage.ranks.begin(), shortage.ranks.end());
      // The lower median: with two ranks both wait.
      std::sort(sharing.ranks.begin(), sharing.ranks.end(),
                [](const Seen& a, const Seen& b) { return a.share() < b.share(); });
      // Ranks that hardly run, a server's or a teacher's beside those that train, say nothing of the cores.
      const auto busy =
          std::stable_partition(sharing.ranks.begin(), sharing.ranks.end(), [](const Seen& one) {
            return one.wanted_ns < HostShortage::kBusy * static_cast<double>(one.known_ns);
          });
      if (busy != sharing.ranks.end()) sharing.ranks.erase(sharing.ranks.begin(), busy);
      const Seen& median = sharing.ranks[(sharing.ranks.size() - 1) / 2];
      shortage.share = median.share();
      shortage.share_of = median.rank;
      shortage.busy = sharing.ranks.size();
      if (shortage.share >= HostShortage::kLeastShare) shortages.push_back(std::move(shortage));
    }
  }
  return shortages;
}

std::size_t count_cores(const std::string& core_set) {
  return parse_cores(core_set).size();
}

bool shares_cores(const Job& job, std::int32_t rank) {
  const auto own = std::find_if(job.ranks.begin(), job.ranks.end(),
                                [&](const RankTrace& trace) { return trace.rank == rank; });
  if (own == job.ranks.end()) return false;
  const std::set<std::int32_t> cores = parse_cores(own->core_set);
  return std::any_of(job.ranks.begin(), job.ranks.end(), [&](const RankTrace& trace) {
    return trace.rank != rank && trace.host == own->host && overlap(cores, parse_cores(trace.core_set));
  });
}

const HostShortage* shortage_of(const std::vector<HostShortage>& shortages, std::int32_t rank) {
  for (const HostShortage& one : shortages) {
    if (std::binary_search(one.ranks.begin(), one.ranks.end(), rank)) return &one;
  }
  return nullptr;
}

}  // namespace lockstep::analyzer
