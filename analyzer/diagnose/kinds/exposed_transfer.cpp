// Data moves while nothing computes, and no rule before says why.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/diagnose/finding_context.h"
#include "analyzer/diagnose/finding_kinds.h"
#include "analyzer/diagnose/hang_words.h"
#include "analyzer/diagnose/idle_words.h"
#include "analyzer/diagnose/knobs.h"
#include "analyzer/diagnose/links.h"
#include "analyzer/diagnose/unanswered.h"
#include "analyzer/intervals/median.h"
#include "analyzer/model/operation.h"
#include "analyzer/report/quantity.h"
#include "analyzer/steps/iterations.h"
#include "base/time_math.h"

namespace lockstep::analyzer {
namespace {

constexpr auto kExposedTransferRemedies = std::to_array<Remedy>(
    {{"DDP", "bucket_cap_mb, gradient_as_bucket_view; bf16 compression (bf16_compress_hook)"},
     {"FSDP", "backward_prefetch, forward_prefetch; MixedPrecision(reduce_dtype=torch.bfloat16)"},
     {"DeepSpeed", "overlap_comm; stage3_prefetch_bucket_size; stage3_param_persistence_threshold"},
     {"Megatron", "--overlap-grad-reduce, --overlap-param-gather"}});
constexpr Explanation kExposedTransferExplained{
    .meaning =
        "Communication that no computation hides, and that no finding above explains. The second name stands "
        "where no partner of any rank left a trace: then it may be waiting as well.",
    .found =
        "`transfer` reaches 5 % of all time, and no finding above explains half of it. What a broadcast's "
        "root stands in it before its last receiver has come counts as transfer (docs/metrics.md) and is "
        "left out here, where the operation did not end without that receiver.",
    .wrong = "The operations run beside computations on the timeline.",
    .lost =
        "all exposed transfer, without the time in which roots of broadcasts wait for their last receiver",
    .remedies = kExposedTransferRemedies,
};
constexpr FindingKind kExposedTransfer{
    .code = "exposed_transfer",
    .title = "data moves while nothing is computed",
    .cause = Cause::transfer,
    .accuses = Accused::job,
    .points_at = PointsAt::worst_operation,
    .picture = "cause",
    .explanation = &kExposedTransferExplained,
};
constexpr FindingKind kExposedCommunication = kExposedTransfer.with_code("exposed_communication");
constexpr auto kSlowLinkRemedies = std::to_array<Remedy>(
    {{"NCCL",
      "NCCL_DEBUG=INFO shows the connections: `NET/IB/…/GDRDMA` is wanted, `NET/Socket` is "
      "not; NCCL_SOCKET_IFNAME, NCCL_IB_HCA choose the interface"},
     {"FSDP", "hybrid_shard (HSDP) keeps parameters' traffic within a node"},
     {"DeepSpeed", "zero_hpz_partition_size (ZeRO++), or a lower stage"},
     {"Megatron", "--tensor-model-parallel-size no larger than a node's GPUs"},
     {"the job", "gradient accumulation: fewer exchanges for the same samples"}});
constexpr Explanation kSlowLinkExplained{
    .meaning =
        "Most transfer that nothing hides is of operations whose ranks are on several hosts, and it is "
        "transfer, not waiting: all ranks had come.",
    .found =
        "`transfer` reaches 5 % of all time, no finding above explains half of it, and most is of groups "
        "across hosts. The median bus bandwidth on the wire (nccl-tests' definition, from the last arrival) of "
        "the large ones among these (eight at least; 32 KiB or more at a time, for smaller parts are held up by "
        "latency), what each rank's link carried, is a gigabit a second (0.125 GB/s) or less in both halves of "
        "the run: no network that is meant for training is as slow. A faster one is `exposed_transfer`: whether "
        "that is slow depends on what the link can do.",
    .wrong = "The bandwidth is that of the link: then there is nothing slow, only much to move.",
    .lost = "all exposed transfer",
    .remedies = kSlowLinkRemedies,
};
constexpr FindingKind kSlowLink{
    .code = "slow_link",
    .title = "the links between hosts hold compute up",
    .cause = Cause::transfer,
    .accuses = Accused::link,
    .points_at = PointsAt::worst_operation,
    .picture = "cause",
    .explanation = &kSlowLinkExplained,
};
constexpr auto kExposedTransferKinds =
    std::to_array<const FindingKind*>({&kExposedTransfer, &kExposedCommunication, &kSlowLink});

// The operations of the kind that moves data for longest.
struct LongestTransfer {
  Operation operation = Operation::unknown;  // unknown: there are none
  std::int64_t transfer = 0, count = 0;
  std::int64_t of_activations = 0, of_others = 0;  // what waiting for roots is not taken off
  bool carries_activations() const { return of_activations > of_others; }
  std::vector<std::pair<double, std::int64_t>> busbw;  // and bytes
  std::vector<std::int64_t> bytes, transfers;          // of each operation whose size is known

  // Operations of no more than that take half of the time that those of known sizes take.
  bool is_mostly_of_small(std::int64_t most_bytes) const {
    std::int64_t small = 0, all = 0;
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      all = saturating_add(all, transfers[i]);
      if (bytes[i] <= most_bytes) small = saturating_add(small, transfers[i]);
    }
    return !bytes.empty() && small >= all - small;
  }
};

LongestTransfer longest_transfer(const Report& report, const RootWaits& roots,
                                 const ActivationGroups& activations) {
  std::map<Operation, LongestTransfer> sums;
  for (const CollectiveReport& collective : report.collectives) {
    LongestTransfer& sum = sums[collective.operation];
    sum.operation = collective.operation;
    ++sum.count;
    std::int64_t transfer = 0;
    for (const CollectiveRank& rank : collective.ranks) transfer = saturating_add(transfer, rank.transfer_ns);
    sum.transfer = saturating_add(sum.transfer, transfer);
    std::int64_t& of_kind = activations.has(collective) ? sum.of_activations : sum.of_others;
    of_kind = saturating_add(of_kind, transfer);
    if (collective.busbw_wire_gbps && collective.bytes)
      sum.busbw.emplace_back(*collective.busbw_wire_gbps, *collective.bytes);
    if (!collective.bytes) continue;
    sum.bytes.push_back(*collective.bytes);
    sum.transfers.push_back(transfer);
  }
  for (auto& [operation, sum] : sums) sum.transfer -= std::min(sum.transfer, roots.of(operation));
  const auto most = std::max_element(sums.begin(), sums.end(), [](const auto& a, const auto& b) {
    return a.second.transfer < b.second.transfer;
  });
  return most == sums.end() ? LongestTransfer{} : most->second;
}

// That at which half of the bytes travel, or more slowly: many small operations say nothing of the path.
double busbw_of_median_byte(std::vector<std::pair<double, std::int64_t>> busbw) {
  std::ranges::sort(busbw);
  std::int64_t all = 0, so_far = 0;
  for (const auto& [gbps, bytes] : busbw) all = saturating_add(all, bytes);
  for (const auto& [gbps, bytes] : busbw) {
    so_far = saturating_add(so_far, bytes);
    if (so_far >= all - so_far) return gbps;
  }
  return 0;
}

// "transfer of all_reduce: 22.1 s in 395 operations, …; median wire busbw, by bytes, 0.31 GB/s".
std::string describe(const LongestTransfer& longest) {
  std::string text = fmt::format("transfer of {}: {} in {}, each counted whole, hidden or not",
                                 trace::to_string(longest.operation), format_duration(longest.transfer),
                                 format_plural(longest.count, "operation"));
  if (!longest.busbw.empty())
    text += fmt::format("; median wire busbw, by bytes, {}",
                        format_bandwidth(busbw_of_median_byte(longest.busbw)));
  return text;
}

struct Words {
  const FindingKind& kind;
  std::string_view title;
  std::string remedy;
};

// A job that failed or hung may have left collectives that some rank never came to: no recording can change
// that.
bool ended_unanswered(const Job& job) {
  const bool failed = job.end.signal.has_value() || job.end.exit_code.value_or(0) != 0;
  const bool hung = std::any_of(job.ranks.begin(), job.ranks.end(),
                                [](const RankTrace& rank) { return rank.ending.hang_noted != kUnknownTime; });
  return (failed || hung) && job.ranks_missing.empty() && !find_unanswered(job).empty();
}

std::vector<std::int32_t> ranks_with_fewer_steps(const Report& report) {
  std::map<std::int32_t, std::size_t> counts;
  for (const StepReport& step : report.steps) ++counts[step.rank];
  std::size_t most = 0;
  for (const auto& [rank, count] : counts) most = std::max(most, count);
  std::vector<std::int32_t> fewer;
  for (const auto& [rank, count] : counts)
    if (count < most) fewer.push_back(rank);
  return fewer;
}

// A file that is cut or damaged is there: recording all ranks would not help.
std::string how_to_know_of_all(const FindingContext& context) {
  std::vector<std::int32_t> damaged;
  for (const RankReport& rank : context.report.ranks)
    if (rank.damaged) damaged.push_back(rank.rank);
  if (damaged.empty() && context.report.ranks_missing.empty()) {
    if (const std::vector<std::int32_t> ranks = ranks_with_fewer_steps(context.report); !ranks.empty())
      return fmt::format(
          "see why {} left fewer steps than the others: recorded for less long, or gone while these went on; "
          "`lockstep analyze --steps A:B` looks at the steps that all have",
          hang::named(ranks));
  }
  if (damaged.empty() || !context.report.ranks_missing.empty())
    return "record all ranks, and analyze their traces together";
  return hang::what_to_collect(context.diagnosis.job, damaged) + ", or record anew";
}

// Of some operation a rate is said.
bool has_sizes(const Report& report) {
  return std::ranges::any_of(report.collectives, [](const CollectiveReport& collective) {
    return collective.busbw_wire_gbps.has_value();
  });
}

// "put operations together (…): 21 all_reduces a step carry 9.22 kB each; "; empty where they are few, or
// large.
std::string put_together(const FindingContext& context, const LongestTransfer& longest) {
  constexpr std::int64_t kMany = 8, kSmall = 256 << 10;
  const auto steps = static_cast<std::int64_t>(context.steps.steps.size());
  if (steps == 0 || longest.count < kMany * steps || longest.bytes.empty()) return "";
  const std::int64_t bytes = lower_median(longest.bytes);
  if (bytes > kSmall || !longest.is_mostly_of_small(kSmall)) return "";
  return fmt::format(
      "put operations together (one of a flat tensor, DDP's buckets): {} a step carry {} in the median; ",
      format_plural(longest.count / steps, trace::to_string(longest.operation)), format_bytes(bytes));
}

// How less of what takes longest would move.
std::string_view how_to_move_less(const FindingContext& context, const LongestTransfer& longest) {
  const Job& job = context.diagnosis.job;
  if (longest.carries_activations())
    return "activations in bfloat16, fewer ranks in a group of tensor parallelism";
  const bool trains =
      !std::ranges::all_of(job.ranks, [&](const RankTrace& rank) { return only_infers(rank, job.strings); });
  if (!trains || (is_point_to_point(longest.operation) && context.report.pipeline.empty()))
    return "send it in bfloat16, or less often";
  if (is_point_to_point(longest.operation)) return "smaller activations, in bfloat16";
  // Of so little the time is that of starting it, and these are no gradients.
  const bool is_tiny = longest.is_mostly_of_small(kTinyOperation);
  if (longest.operation == Operation::broadcast)
    return is_tiny ? kFewerSmallBroadcasts : "gradient accumulation, parameters in bfloat16";
  const auto steps = static_cast<std::int64_t>(context.steps.steps.size());
  const bool are_many = steps > 0 && longest.count >= 4 * steps;
  if (longest.operation == Operation::all_gather)
    return is_tiny && are_many ? "several in one operation, or less often"
           : is_tiny           ? "metrics gathered once in so many steps"
                               : "gradient accumulation, parameters in bfloat16";
  if (is_tiny) return longest.count < 2 * steps ? "less often" : "less often, or several in one operation";
  return "gradient accumulation, gradients in bfloat16";
}

Words words_for(const FindingContext& context, const LongestTransfer& longest, bool between_hosts,
                bool is_slow) {
  const bool alone = std::none_of(context.report.ranks.begin(), context.report.ranks.end(),
                                  [](const RankReport& rank) { return rank.measures.waits_known; });
  if (const TransferTotals totals = transfer_totals(context.report); !alone && totals.mostly_doubtful()) {
    if (ended_unanswered(context.diagnosis.job)) {
      return {kExposedCommunication,
              "communication that no compute hides; most of it in collectives without a record of every rank",
              "see above why the job ended; `lockstep analyze --steps` of those before has the figures of "
              "training"};
    }
    return {kExposedCommunication,
            "communication that no compute hides; much of it may be waiting for ranks without a record",
            how_to_know_of_all(context)};
  }
  if (alone && context.report.ranks_missing.empty() && context.report.ranks.size() > 1) {
    return {kExposedCommunication,
            "communication that no compute hides; how much of it is waiting cannot be told, as the ranks' "
            "operations do not match",
            "first see why the ranks disagree about their operations"};
  }
  if (alone) {
    return {kExposedCommunication,
            "communication that no compute hides; how much of it is waiting cannot be told",
            how_to_know_of_all(context)};
  }
  const std::string_view less = how_to_move_less(context, longest);
  const std::string together = put_together(context, longest);
  if (context.on_cpu && context.shortages.empty() && has_sizes(context.report)) {
    if (context.is_on_one_host())
      return {
          kExposedTransfer, kExposedTransfer.title,
          fmt::format("{}within a host the backend copies through its memory, and takes cores for it: move "
                      "less ({}), or the same in fewer, larger operations",
                      together, less)};
    return {kExposedTransfer, kExposedTransfer.title,
            fmt::format(
                "compare that rate with the link's own (`iperf3` between the hosts; within a host that of "
                "memory): where it is as high, move less ({}); where it is lower, see which interface "
                "the backend takes (GLOO_SOCKET_IFNAME)",
                less)};
  }
  if (context.on_cpu) {
    return {kExposedTransfer, kExposedTransfer.title,
            fmt::format("{}ranks that compute on the CPU share its cores with the transfer: give them more "
                        "cores, or move less ({})",
                        together, less)};
  }
  const bool is_needed_at_once = longest.carries_activations();
  const std::string knobs = is_needed_at_once ? kOverlapOfActivations : overlap_knobs(longest.operation);
  if (between_hosts) {
    return {
        is_slow ? kSlowLink : kExposedTransfer,
        is_slow ? kSlowLink.title
                : "data moves between hosts while nothing is computed; that the links are slow the trace "
                  "does not show",
        "compare that rate with the link's own (`iperf3`, `ib_write_bw`): where it is lower, NCCL_DEBUG=INFO "
        "names the transport; where it is equal, let less cross it: " +
            (is_needed_at_once
                 ? std::string(less)
                 : fmt::format(
                       "FSDP(sharding_strategy=HYBRID_SHARD), DeepSpeed's zero_hpz_partition_size, {}",
                       less)) +
            (knobs.empty() ? "" : "; or start it earlier: " + knobs)};
  }
  return {
      kExposedTransfer, kExposedTransfer.title,
      fmt::format(
          "compare the wire busbw with `all_reduce_perf` of nccl-tests on the same ranks: where it is lower, "
          "NCCL_DEBUG=INFO names each channel's transport; where it is equal, move less ({}) or "
          "start it earlier{}{}",
          less, knobs.empty() ? "" : ": ", knobs)};
}

void find_exposed_transfer(const FindingContext& context, std::vector<Finding>& findings) {
  const TransferBetweenHosts between_hosts = transfer_between_hosts(context.report);
  const std::int64_t lost = context.moving_ns();
  if (!context.is_left_over(findings, Cause::transfer, lost, between_hosts.is_most())) return;
  const LongestTransfer longest = longest_transfer(context.report, context.roots, context.activations);
  const Words words = words_for(context, longest, between_hosts.is_most(), between_hosts.is_slow());
  Finding finding = context.all_of_its_cause(words.kind);
  finding.title = words.title;
  if (context.on_cpu && words.kind.code == kExposedTransfer.code && knows_no_computation(context))
    finding.title = "data moves; of what is computed beside it the trace knows hardly anything";
  finding.lost_ns = lost;
  if (const std::string left_out = context.describe_root_waits(); !left_out.empty()) {
    finding.evidence.front() += ", with the time in which roots wait for receivers";
    finding.evidence.push_back(left_out + ", which is no link's fault");
  }
  if (longest.count > 0) finding.evidence.push_back(describe(longest));
  if (between_hosts.is_most()) finding.evidence.push_back(describe(between_hosts));
  finding.remedy = words.remedy;
  findings.push_back(std::move(finding));
}

}  // namespace

const FindingRule rules::exposed_transfer{kExposedTransferKinds, find_exposed_transfer};

}  // namespace lockstep::analyzer
