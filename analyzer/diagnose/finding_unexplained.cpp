// What is said of a great loss that no other rule explains.
#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <map>
#include <string_view>
#include <vector>

#include "analyzer/diagnose/finding_rules.h"
#include "analyzer/diagnose/knobs.h"
#include "analyzer/diagnose/links.h"
#include "analyzer/diagnose/scheduled_waits.h"
#include "analyzer/diagnose/unanswered.h"
#include "analyzer/intervals/median.h"
#include "analyzer/intervals/time_math.h"
#include "analyzer/report/quantity.h"

namespace lockstep::analyzer {
namespace {

constexpr std::int64_t kLossPermille = 50;

// Whether findings with one of these codes explain at least half of it.
bool is_explained(const std::vector<Finding>& findings, std::int64_t lost,
                  std::initializer_list<std::string_view> codes) {
  std::int64_t explained = 0;
  for (const Finding& finding : findings) {
    if (std::find(codes.begin(), codes.end(), finding.code) != codes.end())
      explained = saturating_add(explained, finding.lost_ns);
  }
  return explained >= lost - lost / 2;
}

// The operations of the kind that moves data for longest.
struct LongestTransfer {
  Operation operation = Operation::unknown;  // unknown: there are none
  std::int64_t transfer = 0, count = 0;
  std::vector<double> busbw;
};

LongestTransfer longest_transfer(const Report& report) {
  std::map<Operation, LongestTransfer> sums;
  for (const CollectiveReport& collective : report.collectives) {
    LongestTransfer& sum = sums[collective.operation];
    sum.operation = collective.operation;
    ++sum.count;
    for (const CollectiveRank& rank : collective.ranks)
      sum.transfer = saturating_add(sum.transfer, rank.transfer_ns);
    if (collective.busbw_wire_gbps) sum.busbw.push_back(*collective.busbw_wire_gbps);
  }
  const auto most = std::max_element(sums.begin(), sums.end(), [](const auto& a, const auto& b) {
    return a.second.transfer < b.second.transfer;
  });
  return most == sums.end() ? LongestTransfer{} : most->second;
}

// "transfer of all_reduce: 22.1 s in 395 operations, median wire busbw 0.31 GB/s"; "" without operations.
std::string describe(const LongestTransfer& longest) {
  if (longest.count == 0) return "";
  std::string text =
      fmt::format("transfer of {}: {} in {}, hidden or not", trace::to_string(longest.operation),
                  format_duration(longest.transfer), format_plural(longest.count, "operation"));
  if (!longest.busbw.empty())
    text += fmt::format("; median wire busbw {}", format_bandwidth(lower_median(longest.busbw)));
  return text;
}

struct Words {
  const char* code;
  std::string title;
  std::string remedy;
};

class Rules {
 public:
  Rules(const FindingContext& context, std::vector<Finding>& findings)
      : context_(context), findings_(findings) {}

  void apply(Cause cause, std::initializer_list<std::string_view> explained_by, const Words& words,
             const std::vector<std::string>& evidence = {}, std::int64_t on_schedule_ns = 0) {
    const std::int64_t lost = context_.total(cause) - on_schedule_ns;
    if (!context_.is_worth(lost, kLossPermille) || is_explained(findings_, lost, explained_by)) return;
    Finding finding;
    finding.code = words.code;
    finding.title = words.title;
    finding.evidence = {context_.evidence_of(cause)};
    finding.evidence.insert(finding.evidence.end(), evidence.begin(), evidence.end());
    std::erase(finding.evidence, "");
    finding.remedy = words.remedy;
    finding.lost_ns = lost;
    findings_.push_back(std::move(finding));
  }

 private:
  const FindingContext& context_;
  std::vector<Finding>& findings_;
};

// A job that failed or hung may have left collectives that some rank never came to: no recording can change
// that.
bool ended_unanswered(const Job& job) {
  const bool failed = job.end.signal.has_value() || job.end.exit_code.value_or(0) != 0;
  const bool hung = std::any_of(job.ranks.begin(), job.ranks.end(),
                                [](const RankTrace& rank) { return rank.ending.hang_noted != kUnknownTime; });
  return (failed || hung) && job.ranks_missing.empty() && !find_unanswered(job).empty();
}

Words words_for_transfer(const FindingContext& context, Operation longest, bool between_hosts) {
  const bool alone = std::none_of(context.report.ranks.begin(), context.report.ranks.end(),
                                  [](const RankReport& rank) { return rank.measures.waits_known; });
  if (const TransferTotals totals = transfer_totals(context.report); !alone && totals.mostly_doubtful()) {
    if (ended_unanswered(context.diagnosis.job)) {
      return {"exposed_communication",
              "communication that no compute hides; most of it in collectives to which a rank never came",
              "see above why the job ended; `lockstep analyze --steps` of those before has the figures of "
              "training"};
    }
    return {"exposed_communication",
            "communication that no compute hides; much of it may be waiting for ranks without a record",
            "record all ranks, and analyze their traces together"};
  }
  if (alone && context.report.ranks_missing.empty() && context.report.ranks.size() > 1) {
    return {"exposed_communication",
            "communication that no compute hides; how much of it is waiting cannot be told, as the ranks' "
            "operations "
            "do not match",
            "first see why the ranks disagree about their operations"};
  }
  if (alone) {
    return {"exposed_communication",
            "communication that no compute hides; how much of it is waiting cannot be told",
            "record all ranks, and analyze their traces together"};
  }
  if (context.on_cpu) {
    return {"exposed_transfer", "data moves while nothing is computed",
            "ranks that compute on the CPU share its cores with the transfer: give them more cores, or move "
            "less (gradient accumulation, gradients in bfloat16)"};
  }
  const std::string knobs = overlap_knobs(longest);
  if (between_hosts) {
    return {
        "slow_link", "the links between hosts hold compute up",
        "compare that rate with the link's own (`iperf3`, `ib_write_bw`): where it is lower, NCCL_DEBUG=INFO "
        "names the transport; where it is equal, let less cross it: FSDP(sharding_strategy=HYBRID_SHARD), "
        "DeepSpeed's zero_hpz_partition_size, gradient accumulation, gradients in bfloat16" +
            (knobs.empty() ? "" : "; or start it earlier: " + knobs)};
  }
  return {"exposed_transfer", "data moves while nothing is computed",
          "compare the wire busbw with `all_reduce_perf` of nccl-tests on the same ranks: where it is lower, "
          "NCCL_DEBUG=INFO names each channel's transport; where it is equal, move less (gradient "
          "accumulation, gradients in bfloat16) or start it earlier" +
              (knobs.empty() ? "" : ": " + knobs)};
}

// Where it is mostly one rank that the others wait for, though not often enough for a straggler, that is
// said.
Words words_for_waiting(const Report& report) {
  std::int64_t all = 0;
  const BlameReport* most = nullptr;
  for (const BlameReport& blame : report.blame) {
    all += blame.exposed_ns;
    if (most == nullptr || blame.exposed_ns > most->exposed_ns) most = &blame;
  }
  if (most != nullptr && 3 * most->exposed_ns >= 2 * all) {
    return {
        "imbalance",
        fmt::format("the others wait for rank {}, most of it in too few operations to call it slow",
                    most->rank),
        fmt::format("look at what rank {} did before the operations that waited longest for it (the table of "
                    "collectives names them): a start-up, a checkpoint, a pause",
                    most->rank)};
  }
  if (report.steps_present.size() < 2) {
    return {"imbalance", "ranks wait for each other in turn: no single one holds the others up",
            "record several steps: one alone does not show whether it is the same rank each time"};
  }
  return {"imbalance", "ranks wait for each other in turn: no single one holds the others up",
          "look for what differs from step to step (lengths of batches, jitter of hosts): `lockstep analyze "
          "--steps N` of a slow and of a fast step"};
}

}  // namespace

void find_unexplained_losses(const FindingContext& context, std::vector<Finding>& findings) {
  Rules rules(context, findings);
  const LongestTransfer longest = longest_transfer(context.report);
  const TransferBetweenHosts between_hosts = transfer_between_hosts(context.report);
  // A link that is too slow stays worth a word where gathering further ahead would hide a part.
  const std::string_view shallow = between_hosts.is_most() ? "" : "prefetch_shallow";
  rules.apply(Cause::transfer,
              {"buckets_too_large", "buckets_too_small", "first_bucket_late", "no_overlap", "prefetch_off",
               "tensor_parallel_across_hosts", shallow},
              words_for_transfer(context, longest.operation, between_hosts.is_most()),
              {describe(longest), between_hosts.is_most() ? describe(between_hosts) : ""});
  rules.apply(Cause::barrier_wait,
              {"straggler", "straggler_persistent", "straggler_transient", "straggler_periodic",
               "slow_link_of_rank", "uneven_batches"},
              words_for_waiting(context.report), {},
              std::min(context.scheduled.in_collectives_ns(), context.total(Cause::barrier_wait)));
  rules.apply(
      Cause::queued, {},
      {"queued", "devices idle although their next work has been launched",
       "look at what ends where these gaps end (`lockstep view`): a stream that waits for another one "
       "(wait_stream, wait_event), a synchronising copy, CUDA_DEVICE_MAX_CONNECTIONS=1"});
  if (context.on_cpu) {
    rules.apply(
        Cause::host_bound, {},
        {"idle_between_computations", "ranks do what the trace does not name between their computations",
         "put NVTX ranges around what the training loop does there (docs/instrumentation.md), and see what "
         "else runs on these cores"});
  } else {
    rules.apply(
        Cause::host_bound, {"host_bound"},
        launches_are_known(context)
            ? Words{"host_bound", kHostBoundTitle, kHostBoundRemedy}
            : Words{"idle_without_launches", "devices idle, and too few launches were recorded to say why",
                    "record the CUDA runtime's calls too: torch.profiler with activities CPU and CUDA, "
                    "`nsys profile --trace=cuda,nvtx`"});
  }
  rules.apply(Cause::other, {},
              {"unexplained_idle", "time that the trace does not explain",
               "record launches and host ranges too: torch.profiler with activities CPU and CUDA, over whole "
               "steps"});
}

}  // namespace lockstep::analyzer
