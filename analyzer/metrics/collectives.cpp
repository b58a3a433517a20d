#include "analyzer/metrics/collectives.h"

#include <algorithm>
#include <iterator>
#include <string_view>

#include "analyzer/metrics/bandwidth.h"
#include "analyzer/metrics/wait_states.h"
#include "analyzer/metrics/windows.h"
#include "analyzer/model/stopped.h"
#include "base/time_math.h"

namespace lockstep::analyzer {
namespace {

using Windows = std::vector<RankWindows>;

std::optional<std::int64_t> step_at(const RankWindows& windows, Nanoseconds time) {
  const auto next = std::upper_bound(
      windows.steps.begin(), windows.steps.end(), time,
      [](Nanoseconds instant, const StepWindow& step) { return instant < step.window.begin; });
  if (next == windows.steps.begin() || time >= std::prev(next)->window.end) return std::nullopt;
  return std::prev(next)->number;
}

std::optional<std::int64_t> step_of(const Job& job, const Windows& windows,
                                    std::span<const MatchRecord> records) {
  for (const MatchRecord record : records) {
    const RankTrace& rank = job.ranks[record.rank];
    const std::uint32_t step = launching_step(rank, activity_of(job, record));
    if (step != kNone) return rank.steps[step].number;
  }
  for (const MatchRecord record : records) {
    if (activity_of(job, record).launch_end != kUnknownTime) continue;  // known to be of no step
    if (const auto step = step_at(windows[record.rank], activity_of(job, record).begin)) return step;
  }
  return std::nullopt;
}

Nanoseconds first_arrival(const Job& job, std::span<const MatchRecord> records) {
  Nanoseconds first = activity_of(job, records.front()).begin;
  for (const MatchRecord record : records) first = std::min(first, activity_of(job, record).begin);
  return first;
}

// Mean over the ranks, as nccl-tests averages by default. `group_size` 0: not known.
void add_bandwidths(std::int32_t group_size, CollectiveReport& report) {
  if (!report.bytes || report.unfinished) return;
  double own = 0, wire = 0;
  for (const CollectiveRank& rank : report.ranks) {
    own += static_cast<double>(rank.end_ns - rank.arrival_ns);
    wire += static_cast<double>(rank.transfer_ns);
  }
  const auto count = static_cast<double>(report.ranks.size());
  const std::optional<double> factor = bus_factor(report.operation, group_size);
  report.algbw_gbps = bandwidth_gbps(*report.bytes, own / count);
  if (!factor) return;
  if (report.algbw_gbps) report.busbw_gbps = *report.algbw_gbps * *factor;
  // A rank that is not in the trace may have come later than all that are.
  const std::optional<double> wire_gbps = bandwidth_gbps(*report.bytes, wire / count);
  if (wire_gbps && !report.partial) report.busbw_wire_gbps = *wire_gbps * *factor;
}

// "layer 3" of an activity "all_gather layer 3": programs that are instrumented name it so, kernels do not.
std::string name_within(std::string_view activity, std::string_view operation) {
  if (!activity.starts_with(operation)) return {};
  activity.remove_prefix(operation.size());
  if (activity.size() < 2 || activity.front() != ' ') return {};
  return std::string(activity.substr(1));
}

CollectiveReport describe(const Job& job, const Matching& matching, const Match& match,
                          const MatchWaits& waits, const JobWaits& job_waits,
                          const CommunicationCovers& covered, const Windows& windows, Nanoseconds origin) {
  CollectiveReport report;
  const std::span<const MatchRecord> records = matching.records_of(match);
  const MatchGroup& group = matching.groups[match.group];
  report.step = step_of(job, windows, records);
  report.operation = match.operation;
  report.name = name_within(job.strings.view(activity_of(job, records.front()).name),
                            trace::to_string(match.operation));
  report.group_name = group.name;
  report.group_ranks = group.ranks;
  const std::int32_t size = group.has_unnamed ? 0 : group.size;
  report.group_size = size;
  if (match.sequence != kNoSequence) report.sequence = match.sequence;
  if (match.bytes >= 0) report.bytes = match.bytes;
  report.data_type = match.data_type;
  report.evidence = to_string(match.evidence);
  report.partial = match.partial;
  report.unfinished = match.unfinished;
  report.root_unknown = waits.root_unknown;
  report.ranks.reserve(records.size());
  for (const MatchRecord record : records) {
    const Activity& activity = activity_of(job, record);
    CollectiveRank rank;
    rank.rank = job.ranks[record.rank].rank;
    rank.arrival_ns = activity.begin - origin;
    rank.end_ns = activity.end - origin;
    rank.wait_ns = wait_of(job, job_waits, record);
    rank.transfer_ns = activity.end - activity.begin - rank.wait_ns;
    const RankTimeline::CommunicationCover& cover = covered[record.rank][record.communication];
    rank.compute_before_ns = cover.before_ns;
    rank.hidden_ns = cover.wait_ns;
    rank.covered_ns = cover.all_ns;
    rank.wait_state =
        wait_state_of(communication_of(job, record).operation, match.point_to_point, waits.root_unknown);
    rank.hidden_known = job.ranks[record.rank].lost.empty();
    rank.activity = communication_of(job, record).activity;
    report.wait_ns = saturating_add(report.wait_ns, rank.wait_ns);
    report.ranks.push_back(rank);
  }
  if (waits.last_arriver) {
    report.last_arriver = report.ranks[*waits.last_arriver].rank;
    report.last_arriver_margin_ns = waits.margin_ns;
  }
  add_bandwidths(size, report);
  return report;
}

}  // namespace

CollectiveList list_collectives(const Job& job, const Matching& matching,
                                const std::vector<MatchWaits>& waits, const JobWaits& job_waits,
                                const CommunicationCovers& covered, const Windows& windows,
                                Nanoseconds origin,
                                const std::function<bool(std::optional<std::int64_t>)>& selected,
                                const std::stop_token& stop) {
  CollectiveList list;
  for (const RankTrace& rank : job.ranks) list.collective_of.emplace_back(rank.communications.size(), kNone);
  std::vector<std::pair<Nanoseconds, std::uint32_t>> order;
  order.reserve(matching.matches.size());
  for (std::uint32_t index = 0; index < matching.matches.size(); ++index) {
    const std::span<const MatchRecord> records = matching.records_of(matching.matches[index]);
    order.emplace_back(first_arrival(job, records), index);
  }
  std::sort(order.begin(), order.end());
  // Ids count all operations of the job: a selection of steps doesn't change them.
  for (std::size_t id = 0; id < order.size(); ++id) {
    throw_if_stopped(stop);
    const std::uint32_t index = order[id].second;
    const Match& match = matching.matches[index];
    if (!selected(step_of(job, windows, matching.records_of(match)))) continue;
    const auto place = static_cast<std::uint32_t>(list.collectives.size());
    list.collectives.push_back(
        describe(job, matching, match, waits[index], job_waits, covered, windows, origin));
    list.collectives.back().id = static_cast<std::int64_t>(id);
    for (const MatchRecord record : matching.records_of(match)) {
      list.collective_of[record.rank][record.communication] = place;
    }
  }
  return list;
}

}  // namespace lockstep::analyzer
