#include "analyzer/metrics/waits.h"

#include <algorithm>

#include "analyzer/match/uncertainty.h"
#include "base/time_math.h"

namespace lockstep::analyzer {
namespace {

struct Arrivals {
  const Job& job;
  std::span<const MatchRecord> records;
  Nanoseconds begin(std::size_t i) const { return activity_of(job, records[i]).begin; }
  Nanoseconds end(std::size_t i) const { return activity_of(job, records[i]).end; }
  std::int64_t uncertainty(std::size_t i, std::size_t j) const {
    return uncertainty_between(job.ranks[records[i].rank], job.ranks[records[j].rank]);
  }
  std::size_t latest() const {
    std::size_t last = 0;
    for (std::size_t i = 1; i < records.size(); ++i) {
      if (begin(i) > begin(last)) last = i;
    }
    return last;
  }
  // Beyond the uncertainty between the two: matching lets only sends do so.
  bool ended_without(std::size_t i, std::size_t other) const {
    return begin(other) - end(i) > uncertainty(i, other);
  }
  std::int64_t wait_until(std::size_t i, Nanoseconds arrival) const {
    return std::max<std::int64_t>(0, std::min(end(i), arrival) - begin(i));
  }
};

// Names `last` where it beats every other arrival by more than the uncertainty between the two.
void name_last(const Arrivals& arrivals, std::size_t last, MatchWaits& result) {
  if (arrivals.records.size() < 2) return;
  Nanoseconds runner_up = kUnknownTime;
  for (std::size_t i = 0; i < arrivals.records.size(); ++i) {
    if (i == last) continue;
    if (arrivals.begin(last) - arrivals.begin(i) <= arrivals.uncertainty(last, i)) return;
    runner_up = std::max(runner_up, arrivals.begin(i));
  }
  result.last_arriver = static_cast<std::uint32_t>(last);
  result.margin_ns = arrivals.begin(last) - runner_up;
}

// Of `messages`, a send that was over before its receive began waited for nobody.
void wait_for_all(const Arrivals& arrivals, bool messages, MatchWaits& result) {
  const std::size_t last = arrivals.latest();
  for (std::size_t i = 0; i < arrivals.records.size(); ++i) {
    if (messages && arrivals.ended_without(i, last)) continue;
    result.wait_ns[i] = arrivals.wait_until(i, arrivals.begin(last));
  }
  name_last(arrivals, last, result);
}

// Broadcast, scatter: everyone waits for the root, the root for nobody.
void wait_for_root(const Arrivals& arrivals, std::size_t root, MatchWaits& result) {
  bool beyond_doubt = false;
  for (std::size_t i = 0; i < arrivals.records.size(); ++i) {
    if (i == root) continue;
    result.wait_ns[i] = arrivals.wait_until(i, arrivals.begin(root));
    beyond_doubt = beyond_doubt || result.wait_ns[i] > arrivals.uncertainty(root, i);
  }
  if (!beyond_doubt) return;
  result.last_arriver = static_cast<std::uint32_t>(root);
  result.margin_ns = *std::max_element(result.wait_ns.begin(), result.wait_ns.end());
}

// Reduce, gather: the root waits for the last, the others for nobody.
void root_waits(const Arrivals& arrivals, std::size_t root, MatchWaits& result) {
  const std::size_t last = arrivals.latest();
  result.wait_ns[root] = arrivals.wait_until(root, arrivals.begin(last));
  if (last != root) name_last(arrivals, last, result);
}

}  // namespace

bool is_rooted(Operation operation) {
  return operation == Operation::broadcast || operation == Operation::scatter ||
         operation == Operation::reduce || operation == Operation::gather;
}

MatchWaits compute_waits(const Job& job, const Matching& matching, const Match& match) {
  MatchWaits result;
  const Arrivals arrivals{job, matching.records_of(match)};
  result.wait_ns.assign(match.record_count, 0);
  if (match.unfinished) {
    for (std::size_t i = 0; i < arrivals.records.size(); ++i)
      result.wait_ns[i] = arrivals.end(i) - arrivals.begin(i);
    return result;
  }
  const RankTrace& first = job.ranks[arrivals.records.front().rank];
  const bool comparable =
      std::all_of(arrivals.records.begin(), arrivals.records.end(),
                  [&](MatchRecord record) { return clocks_are_related(first, job.ranks[record.rank]); });
  if (!comparable) return result;
  if (!is_rooted(match.operation)) {
    wait_for_all(arrivals, match.point_to_point, result);
  } else if (match.root == kNoRank) {
    result.root_unknown = true;
    wait_for_all(arrivals, false, result);
  } else {
    std::size_t root = 0;
    while (root < arrivals.records.size() && job.ranks[arrivals.records[root].rank].rank != match.root)
      ++root;
    const bool from_root = match.operation == Operation::broadcast || match.operation == Operation::scatter;
    if (root < arrivals.records.size()) {
      from_root ? wait_for_root(arrivals, root, result) : root_waits(arrivals, root, result);
    }
  }
  const bool someone_waits =
      std::any_of(result.wait_ns.begin(), result.wait_ns.end(), [](auto wait) { return wait > 0; });
  if (!someone_waits) {
    result.last_arriver.reset();
    result.margin_ns = 0;
  }
  return result;
}

JobWaits collect_waits(const Job& job, const Matching& matching, std::vector<MatchWaits>& of_matches) {
  JobWaits waits(job.ranks.size());
  for (std::size_t r = 0; r < job.ranks.size(); ++r) {
    const RankTrace& rank = job.ranks[r];
    waits[r].reserve(rank.communications.size());
    for (const Communication& communication : rank.communications) {
      waits[r].push_back({rank.activities[communication.activity].begin, WaitKind::collective});
    }
  }
  for (std::size_t m = 0; m < matching.matches.size(); ++m) {
    const Match& match = matching.matches[m];
    const std::span<const MatchRecord> records = matching.records_of(match);
    const WaitKind p2p = matching.groups[match.group].pipeline ? WaitKind::pipeline_p2p : WaitKind::p2p;
    for (std::size_t i = 0; i < records.size(); ++i) {
      CommunicationWait& wait = waits[records[i].rank][records[i].communication];
      wait.until += of_matches[m].wait_ns[i];
      wait.kind = match.point_to_point ? p2p : WaitKind::collective;
    }
    std::vector<std::int64_t>().swap(of_matches[m].wait_ns);
  }
  return waits;
}

std::int64_t wait_of(const Job& job, const JobWaits& waits, MatchRecord record) {
  return waits[record.rank][record.communication].until - activity_of(job, record).begin;
}

}  // namespace lockstep::analyzer
