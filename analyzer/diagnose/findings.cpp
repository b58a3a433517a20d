#include "analyzer/diagnose/findings.h"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <iterator>
#include <map>
#include <optional>
#include <string_view>

#include "analyzer/diagnose/finding_rules.h"
#include "analyzer/diagnose/places.h"
#include "analyzer/intervals/time_math.h"
#include "analyzer/model/stopped.h"
#include "analyzer/report/quantity.h"

namespace lockstep::analyzer {
namespace {

const char* severity_of(double lost_share) {
  if (lost_share >= 0.10) return "high";
  if (lost_share >= 0.03) return "medium";
  return lost_share >= 0.02 ? "low" : "note";
}

// Of which cause's time a finding's loss is a part.
std::optional<Cause> cause_of(std::string_view code) {
  static const std::map<std::string_view, Cause> kCauses{
      {"all_gathers_throttled", Cause::transfer},
      {"buckets_too_large", Cause::transfer},
      {"buckets_too_small", Cause::transfer},
      {"exposed_communication", Cause::transfer},
      {"exposed_transfer", Cause::transfer},
      {"first_bucket_late", Cause::transfer},
      {"net_without_gpu_direct", Cause::transfer},
      {"no_overlap", Cause::transfer},
      {"p2p_host_staged", Cause::transfer},
      {"p2p_slow_path", Cause::transfer},
      {"prefetch_off", Cause::transfer},
      {"prefetch_shallow", Cause::transfer},
      {"reduce_scatter_exposed", Cause::transfer},
      {"sharding_not_needed", Cause::transfer},
      {"slow_link", Cause::transfer},
      {"tensor_parallel_across_hosts", Cause::transfer},
      {"imbalance", Cause::barrier_wait},
      {"slow_link_of_rank", Cause::barrier_wait},
      {"straggler", Cause::barrier_wait},
      {"straggler_periodic", Cause::barrier_wait},
      {"straggler_persistent", Cause::barrier_wait},
      {"straggler_transient", Cause::barrier_wait},
      {"uneven_batches", Cause::barrier_wait},
      {"pipeline_bubble", Cause::pipeline_bubble},
      {"unbalanced_stages", Cause::pipeline_bubble},
      {"exposed_copies", Cause::copy},
      {"data_loading", Cause::data_wait},
      {"host_bound", Cause::host_bound},
      {"idle_between_computations", Cause::host_bound},
      {"idle_without_launches", Cause::host_bound},
      {"queued", Cause::queued},
      {"unexplained_idle", Cause::other},
  };
  const auto found = kCauses.find(code);
  return found == kCauses.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace

std::int64_t FindingContext::total(Cause cause) const {
  std::int64_t sum = 0;
  for (const RankReport& rank : report.ranks) {
    if (rank.measures.known) sum = saturating_add(sum, rank.measures.partition[cause]);
  }
  return sum;
}

bool FindingContext::is_worth(std::int64_t lost_ns, std::int64_t permille) const {
  return lost_ns > 0 && static_cast<double>(lost_ns) * 1000 >=
                            static_cast<double>(all_windows_ns) * static_cast<double>(permille);
}

std::string FindingContext::evidence_of(Cause cause) const {
  const RankReport *least = nullptr, *most = nullptr;
  for (const RankReport& rank : report.ranks) {
    if (!rank.measures.known) continue;
    const std::int64_t ns = rank.measures.partition[cause];
    if (least == nullptr || ns < least->measures.partition[cause]) least = &rank;
    if (most == nullptr || ns > most->measures.partition[cause]) most = &rank;
  }
  if (least == most)
    return fmt::format("{} of {}", format_duration(total(cause)), format_duration(all_windows_ns));
  return fmt::format("most on rank {}: {}; least on rank {}: {}", most->rank,
                     format_duration(most->measures.partition[cause]), least->rank,
                     format_duration(least->measures.partition[cause]));
}

std::vector<Finding> find_findings(const Diagnosis& diagnosis, const Report& report,
                                   const std::stop_token& stop) {
  FindingContext context{diagnosis, report};
  context.on_cpu = !report.ranks.empty();
  for (const RankReport& rank : report.ranks) {
    if (rank.measures.known)
      context.all_windows_ns = saturating_add(context.all_windows_ns, rank.measures.window_ns);
    context.on_cpu = context.on_cpu && rank.device == "cpu";
  }
  std::vector<Finding> findings;
  using Rule = void (*)(const FindingContext&, std::vector<Finding>&);
  for (const Rule find : std::initializer_list<Rule>{
           find_stragglers, find_uneven_batches, find_bucket_sizes, find_sharding_losses, find_placement,
           find_slow_ways, find_lack_of_overlap, find_data_loading, find_host_bound, find_exposed_copies,
           find_pipeline_losses, find_unexplained_losses, find_uncertain_clocks}) {
    throw_if_stopped(stop);
    find(context, findings);
  }
  for (Finding& finding : findings) {
    if (context.all_windows_ns > 0) {
      finding.lost_share = static_cast<double>(finding.lost_ns) / static_cast<double>(context.all_windows_ns);
    }
    if (finding.severity.empty())
      finding.severity = finding.is_note ? "note" : severity_of(finding.lost_share);
    finding.cause = cause_of(finding.code);
    finding.place = place_of(finding, report, context.scheduled);
  }
  std::stable_sort(findings.begin(), findings.end(),
                   [](const Finding& a, const Finding& b) { return a.lost_ns > b.lost_ns; });
  std::vector<Finding> all;
  find_hang(context, all);
  find_failure(context, all);
  find_mismatches(context, all);
  all.insert(all.end(), std::make_move_iterator(findings.begin()), std::make_move_iterator(findings.end()));
  return all;
}

}  // namespace lockstep::analyzer
