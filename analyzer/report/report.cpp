#include "analyzer/report/report.h"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "analyzer/intervals/median.h"
#include "analyzer/report/palette.h"
#include "base/time_math.h"

namespace lockstep::analyzer {

const char* to_string(Cause cause) {
  return style_of(cause).key;
}

std::optional<std::size_t> CollectiveReport::participants() const {
  const std::size_t known = std::max(group_ranks.size(), static_cast<std::size_t>(std::max(0, group_size)));
  return known > ranks.size() ? std::optional(known) : std::nullopt;
}

const char* of_what(Share share) {
  switch (share) {
    case Share::of_training:
      return " of the time between start-up and shutdown";
    case Share::of_run:
      return " of all that was recorded";
    case Share::of_steady:
      break;
  }
  return "";
}

const char* to_string(WaitState state) {
  switch (state) {
    case WaitState::at_nxn:
      return "wait_at_nxn";
    case WaitState::at_barrier:
      return "wait_at_barrier";
    case WaitState::late_broadcast:
      return "late_broadcast";
    case WaitState::early_reduce:
      return "early_reduce";
    case WaitState::late_sender:
      return "late_sender";
    case WaitState::late_receiver:
      return "late_receiver";
    case WaitState::late_partner:
      return "late_partner";
  }
  return "wait_at_nxn";
}

const char* title_of(WaitState state) {
  switch (state) {
    case WaitState::at_nxn:
      return "Wait at N×N";
    case WaitState::at_barrier:
      return "Wait at Barrier";
    case WaitState::late_broadcast:
      return "Late Broadcast";
    case WaitState::early_reduce:
      return "Early Reduce";
    case WaitState::late_sender:
      return "Late Sender";
    case WaitState::late_receiver:
      return "Late Receiver";
    case WaitState::late_partner:
      return "Late Partner";
  }
  return "Wait at N×N";
}

const char* to_string(Schedule schedule) {
  switch (schedule) {
    case Schedule::gpipe:
      return "gpipe";
    case Schedule::one_forward_one_backward:
      return "1f1b";
    case Schedule::interleaved:
      return "interleaved";
    case Schedule::unknown:
      break;
  }
  return "unknown";
}

std::int64_t Partition::total() const {
  return std::accumulate(ns.begin(), ns.end(), std::int64_t{0});
}

TransferTotals transfer_totals(const Report& report) {
  TransferTotals totals;
  for (const CollectiveReport& collective : report.collectives) {
    for (const CollectiveRank& rank : collective.ranks) {
      if (!rank.hidden_known) continue;  // a damaged rank is in no sum
      totals.all_ns = saturating_add(totals.all_ns, rank.transfer_ns);
      if (collective.partial) totals.doubtful_ns = saturating_add(totals.doubtful_ns, rank.transfer_ns);
    }
  }
  return totals;
}

std::int64_t blur_of_waits(const std::vector<CollectiveReport>& collectives, std::int64_t resolution_ns) {
  if (resolution_ns <= 1) return 0;
  std::vector<std::int64_t> lengths;
  std::int64_t all_ns = 0, surely_waiting_ns = 0;
  for (const CollectiveReport& collective : collectives) {
    if (collective.unfinished) continue;  // as long as somebody let it hang
    for (const CollectiveRank& rank : collective.ranks) {
      lengths.push_back(rank.end_ns - rank.arrival_ns);
      all_ns = saturating_add(all_ns, lengths.back());
      if (rank.wait_ns > resolution_ns) surely_waiting_ns = saturating_add(surely_waiting_ns, rank.wait_ns);
    }
  }
  if (lengths.empty() || surely_waiting_ns > all_ns / 2) return 0;
  return lower_median(std::move(lengths)) < resolution_ns ? resolution_ns : 0;
}

bool all_known(const Report& report) {
  return std::all_of(report.ranks.begin(), report.ranks.end(),
                     [](const RankReport& rank) { return rank.measures.known; });
}

bool tells_communication_alone(const Report& report) {
  return report.dumps == Dumps::all;
}

void forget_overlap(Report& report) {
  const auto forget = [](auto& row) {
    row.measures.overlap_ratio.reset();
    row.measures.overlap_ratio_per_kernel.reset();
  };
  std::for_each(report.ranks.begin(), report.ranks.end(), forget);
  std::for_each(report.steps.begin(), report.steps.end(), forget);
  if (report.steady) std::for_each(report.steady->ranks.begin(), report.steady->ranks.end(), forget);
}

const char* to_string(NotAccused reason) {
  switch (reason) {
    case NotAccused::cores_shared:
      return "cores_shared";
    case NotAccused::cores_unknown:
      return "cores_unknown";
    case NotAccused::gpu_shared:
      return "gpu_shared";
    case NotAccused::little_lost:
      return "little_lost";
    case NotAccused::rank_without_record:
      return "rank_without_record";
    case NotAccused::stage_computes_more:
      return "stage_computes_more";
    case NotAccused::communication_alone:
      return "communication_alone";
    case NotAccused::clock_error:
      return "clock_error";
    case NotAccused::unsteady:
      break;
  }
  return "unsteady";
}

const char* to_string(Accused accused) {
  switch (accused) {
    case Accused::nobody:
      return "nobody";
    case Accused::rank:
      return "rank";
    case Accused::link:
      return "link";
    case Accused::host:
      return "host";
    case Accused::job:
      break;
  }
  return "job";
}

}  // namespace lockstep::analyzer
