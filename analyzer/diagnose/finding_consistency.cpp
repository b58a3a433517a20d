// Findings about the job's correctness and about what the clocks allow to say.
#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <tuple>
#include <vector>

#include "analyzer/diagnose/finding_rules.h"
#include "analyzer/intervals/time_math.h"
#include "analyzer/report/quantity.h"

namespace lockstep::analyzer {
namespace {

constexpr std::size_t kExamples = 3;

std::string describe_record(const Job& job, MatchRecord record) {
  const Communication& communication = communication_of(job, record);
  std::string text =
      fmt::format("rank {} {}", job.ranks[record.rank].rank, trace::to_string(communication.operation));
  if (communication.bytes >= 0) text += fmt::format(" of {} B", communication.bytes);
  if (communication.data_type != DataType::unknown)
    text += fmt::format(" {}", trace::to_string(communication.data_type));
  return text;
}

std::string describe(const Diagnosis& diagnosis, const Contradiction& contradiction) {
  const std::string& group = diagnosis.matching.groups[contradiction.group].name;
  const bool numbered =
      contradiction.evidence == Evidence::sequence || contradiction.evidence == Evidence::function_sequence;
  return fmt::format("{}, {} {}: {}, {}", group.empty() ? "all ranks" : "group " + group,
                     numbered ? "sequence number" : "in order number", contradiction.position,
                     describe_record(diagnosis.job, contradiction.one),
                     describe_record(diagnosis.job, contradiction.other));
}

// What a record is, whatever its place: operation, size, type.
using Call = std::tuple<Operation, std::int64_t, DataType>;

std::vector<Call> calls_in_group(const Job& job, MatchRecord record) {
  const std::uint32_t group = communication_of(job, record).group;
  std::vector<Call> calls;
  for (const Communication& one : job.ranks[record.rank].communications)
    if (one.group == group) calls.emplace_back(one.operation, one.bytes, one.data_type);
  std::sort(calls.begin(), calls.end());
  return calls;
}

// Whether the two ranks call the same operations in the group, and so call them in different order.
bool is_other_order(const Job& job, const Contradiction& contradiction) {
  return calls_in_group(job, contradiction.one) == calls_in_group(job, contradiction.other);
}

}  // namespace

void find_mismatches(const FindingContext& context, std::vector<Finding>& findings) {
  const std::vector<Contradiction>& contradictions = context.diagnosis.matching.contradictions;
  if (contradictions.empty()) return;
  Finding finding;
  finding.code = "mismatched_collectives";
  finding.severity = "high";
  finding.title =
      fmt::format("ranks disagree about {} they do together",
                  contradictions.size() == 1 ? "an operation that"
                                             : fmt::format("{} operations that", contradictions.size()));
  const std::size_t examples = std::min(kExamples, contradictions.size());
  for (std::size_t i = 0; i < examples; ++i) {
    finding.evidence.push_back(describe(context.diagnosis, contradictions[i]));
  }
  const bool by_order = std::all_of(contradictions.begin(), contradictions.end(), [](const Contradiction& c) {
    return c.evidence == Evidence::order || c.evidence == Evidence::order_all_ranks;
  });
  const bool other_order =
      std::all_of(contradictions.begin(), contradictions.begin() + static_cast<std::ptrdiff_t>(examples),
                  [&](const Contradiction& c) { return is_other_order(context.diagnosis.job, c); });
  if (other_order) {
    finding.title = fmt::format("ranks call the same operations in different order, {} of them",
                                format_count(static_cast<std::int64_t>(contradictions.size())));
    finding.remedy =
        "call a group's collectives in the same order on every rank: look for branches that depend on the "
        "rank or on "
        "data, and for hooks that fire in another order; DDP(static_graph=True) or "
        "DDP(find_unused_parameters=True) where parameters go unused";
    findings.push_back(std::move(finding));
    return;
  }
  finding.remedy =
      by_order ? "record all ranks over the same steps; if they were, run with "
                 "TORCH_DISTRIBUTED_DEBUG=DETAIL, which "
                 "checks each collective's shape over ranks"
               : "run with TORCH_DISTRIBUTED_DEBUG=DETAIL, which checks each collective's shape over ranks";
  findings.push_back(std::move(finding));
}

void find_uncertain_clocks(const FindingContext& context, std::vector<Finding>& findings) {
  std::int64_t nameless = 0, operations = 0, nameless_wait = 0, wait = 0, uncertainty = 0;
  std::set<std::string> hosts;
  for (const RankReport& rank : context.report.ranks) {
    hosts.insert(rank.host);
    uncertainty = std::max(uncertainty, rank.clock.uncertainty_ns);
  }
  if (hosts.size() < 2 || uncertainty == 0) return;
  for (const CollectiveReport& collective : context.report.collectives) {
    if (collective.wait_ns == 0) continue;
    ++operations;
    wait = saturating_add(wait, collective.wait_ns);
    if (collective.last_arriver) continue;
    ++nameless;
    nameless_wait = saturating_add(nameless_wait, collective.wait_ns);
  }
  if (nameless_wait * 2.0 <= static_cast<double>(wait)) return;
  Finding finding;
  finding.code = "clock_uncertain";
  finding.severity = "medium";
  finding.title = "the hosts' clocks are too uncertain to say who is waited for";
  finding.evidence = {
      fmt::format("in {} of {} operations with waiting the last arriver is within clock error ({} of {} of "
                  "the waiting)",
                  nameless, operations, format_duration(nameless_wait), format_duration(wait)),
      fmt::format("{} hosts, clocks known to ± {}", hosts.size(), format_duration(uncertainty))};
  finding.remedy =
      "keep the hosts' clocks together with chrony or PTP (`chronyc tracking` shows the error) and record "
      "again";
  findings.push_back(std::move(finding));
}

}  // namespace lockstep::analyzer
