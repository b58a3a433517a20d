#include "analyzer/diagnose/finding_context.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "analyzer/diagnose/finding_kinds.h"
#include "analyzer/model/gpus.h"
#include "analyzer/report/quantity.h"
#include "base/time_math.h"

namespace lockstep::analyzer {
std::int64_t FindingContext::total(Cause cause) const {
  std::int64_t sum = 0;
  for (const RankReport& rank : report.ranks) {
    if (rank.measures.known) sum = saturating_add(sum, rank.measures.partition[cause]);
  }
  return sum;
}

bool FindingContext::is_on_one_host() const {
  return std::ranges::all_of(report.ranks, [this](const RankReport& rank) {
    return !rank.host.empty() && rank.host == report.ranks.front().host;
  });
}

bool FindingContext::is_worth(std::int64_t lost_ns, std::int64_t permille) const {
  return lost_ns > 0 && static_cast<double>(lost_ns) * 1000 >=
                            static_cast<double>(all_windows_ns) * static_cast<double>(permille);
}

// Of one rank among others that have no steps: "2.31 s of 9.60 s, all on rank 0".
std::string FindingContext::evidence_of(Cause cause) const {
  const RankReport *least = nullptr, *most = nullptr;
  std::size_t with_windows = 0;
  for (const RankReport& rank : report.ranks) {
    if (!rank.measures.known || rank.measures.window_ns <= 0) continue;  // of no steps there is no least
    ++with_windows;
    const std::int64_t ns = rank.measures.partition[cause];
    if (least == nullptr || ns < least->measures.partition[cause]) least = &rank;
    if (most == nullptr || ns > most->measures.partition[cause]) most = &rank;
  }
  if (least == most)
    return fmt::format(
        "{} of {}{}", format_duration(total(cause)), format_duration(all_windows_ns),
        with_windows == 1 && report.ranks.size() > 1 ? fmt::format(", all on rank {}", most->rank) : "");
  return fmt::format("most on rank {}: {}; least on rank {}: {}", most->rank,
                     format_duration(most->measures.partition[cause]), least->rank,
                     format_duration(least->measures.partition[cause]));
}

std::int64_t FindingContext::moving_ns(const RankReport& rank) const {
  if (!rank.measures.known) return 0;
  const std::int64_t all = rank.measures.partition[Cause::transfer];
  return all - std::min(all, roots.of(rank.rank, rank.begin_ns, rank.end_ns));
}

std::int64_t FindingContext::moving_ns() const {
  const std::int64_t all = total(Cause::transfer);
  return all - std::min(all, roots.all_ns());
}

std::string FindingContext::describe_root_waits() const {
  constexpr std::int64_t kPermille = 10;
  const std::int64_t all = total(Cause::transfer), held = all - moving_ns();
  if (!is_worth(held, kPermille)) return "";
  return fmt::format(
      "of {} that count as transfer, {} are left out: in these the root of a broadcast or a scatter waits until "
      "its last receiver has come",
      format_duration(all), format_duration(held));
}

std::int64_t FindingContext::coverable_transfer() const {
  std::int64_t sum = 0;
  for (const RankReport& rank : report.ranks)
    if (rank.measures.known)
      sum = saturating_add(sum, std::min(moving_ns(rank), rank.measures.compute_alone_ns()));
  return sum;
}

std::int64_t FindingContext::behind_hosts() const {
  const std::int64_t sum =
      std::accumulate(steps.behind_hosts_ns.begin(), steps.behind_hosts_ns.end(), std::int64_t{0});
  return std::min(sum, total(Cause::barrier_wait));
}

std::int64_t FindingContext::behind_gpu(const std::vector<Finding>& findings) const {
  const std::int64_t all = total(Cause::barrier_wait) - behind_hosts();
  const bool late = std::any_of(findings.begin(), findings.end(), [](const Finding& finding) {
    return finding.accuses == Accused::rank && finding.cause == Cause::barrier_wait;
  });
  std::size_t sharing = 0;
  for (const std::vector<const RankTrace*>& ranks : ranks_that_share_gpus(diagnosis.job))
    sharing += ranks.size();
  // Where all share a GPU, why they wait for each other is that, unless one is late by its host.
  if (sharing == diagnosis.job.ranks.size() && !late)
    return all - std::min(scheduled.in_collectives_ns(), all);
  const std::int64_t sum =
      std::accumulate(steps.behind_gpu_ns.begin(), steps.behind_gpu_ns.end(), std::int64_t{0});
  return std::min(sum, all);
}

std::int64_t FindingContext::said_of_late_ranks(const std::vector<Finding>& findings, Cause cause) const {
  std::int64_t sum = 0;
  for (const Finding& finding : findings) {
    const bool is_cause =
        finding.reason == "loads_data" ? cause == Cause::data_wait
        : finding.reason == "host" || finding.reason == "more_launches" || finding.reason == "blocked"
            ? cause == Cause::host_bound
            : finding.reason == "copies" && cause == Cause::copy;
    const auto rank = finding.rank ? std::lower_bound(steps.ranks.begin(), steps.ranks.end(), *finding.rank)
                                   : steps.ranks.end();
    if (!is_cause || rank == steps.ranks.end() || *rank != *finding.rank) continue;
    const auto index = static_cast<std::size_t>(rank - steps.ranks.begin());
    for (std::size_t step = 0; step < steps.steps.size(); ++step) {
      sum = saturating_add(sum, std::max<std::int64_t>(
                                    0, excess_by_cause(steps, step, index)[static_cast<std::size_t>(cause)]));
    }
  }
  return sum;
}

Finding FindingContext::all_of_its_cause(const FindingKind& kind) const {
  Finding finding = kind.make();
  finding.evidence.push_back(evidence_of(*kind.cause));
  finding.lost_ns = total(*kind.cause);
  return finding;
}

bool FindingContext::is_left_over(const std::vector<Finding>& findings, Cause cause, std::int64_t lost_ns,
                                  bool between_hosts, std::int64_t permille) const {
  if (!is_worth(lost_ns, permille)) return false;
  std::int64_t explained = 0;
  for (const Finding& finding : findings) {
    const FindingKind* const kind = find_finding_kind(finding.code);
    if (finding.cause != cause || kind == nullptr) continue;
    if (kind->accounts == Accounts::yes || (kind->accounts == Accounts::within_hosts && !between_hosts))
      explained = saturating_add(explained, finding.lost_ns);
  }
  return explained < lost_ns - lost_ns / 2;
}

}  // namespace lockstep::analyzer
