// Findings about where ranks and data are: tensor parallelism across hosts, messages within a host that take
// a detour.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "analyzer/diagnose/finding_rules.h"
#include "analyzer/diagnose/links.h"
#include "analyzer/diagnose/sharded_steps.h"
#include "analyzer/intervals/median.h"
#include "analyzer/intervals/time_math.h"
#include "analyzer/report/quantity.h"

namespace lockstep::analyzer {
namespace {

constexpr std::int64_t kTensorPermille = 30;
constexpr std::int64_t kMessagePermille = 20;
constexpr std::int64_t kLargeMessage = 1 << 20;  // below that the start counts, not the path
constexpr std::size_t kLeastOperations = 8;      // for a median to mean something
constexpr double kDetour = 0.5;

// Of an operation's ranks that left a trace; empty where one's host is not known.
std::set<std::string> hosts_of(const CollectiveReport& collective, const HostOfRank& hosts) {
  std::set<std::string> met;
  for (const CollectiveRank& rank : collective.ranks) {
    const auto host = hosts.find(rank.rank);
    if (host == hosts.end()) return {};
    met.insert(host->second);
  }
  return met;
}

// Transfer of one group's operations, or of several, that meet ranks on several hosts.
struct AcrossHosts {
  std::int64_t count = 0, transfer_ns = 0, exposed_ns = 0;
  std::set<std::string> hosts;
};

void add_transfer(const CollectiveReport& collective, std::int64_t& transfer_ns, std::int64_t& exposed_ns) {
  for (const CollectiveRank& rank : collective.ranks) {
    transfer_ns = saturating_add(transfer_ns, rank.transfer_ns);
    exposed_ns = saturating_add(exposed_ns, rank.exposed_transfer_ns());
  }
}

void find_tensor_parallel_across_hosts(const FindingContext& context, const HostOfRank& hosts,
                                       std::vector<Finding>& findings) {
  std::map<std::pair<std::string, std::vector<std::int32_t>>, std::optional<AcrossHosts>> groups;
  AcrossHosts all;
  for (const CollectiveReport& collective : context.report.collectives) {
    const std::set<std::string> met = hosts_of(collective, hosts);
    if (met.size() < 2) continue;
    const auto [known, fresh] = groups.try_emplace({collective.group_name, collective.group_ranks});
    const auto& [name, ranks] = known->first;
    std::optional<AcrossHosts>& group = known->second;
    if (fresh && is_tensor_parallel(name, description_of(context.diagnosis.job, name, ranks)))
      group.emplace();
    if (!group) continue;
    ++group->count;
    group->hosts.insert(met.begin(), met.end());
    add_transfer(collective, group->transfer_ns, group->exposed_ns);
    ++all.count;
    add_transfer(collective, all.transfer_ns, all.exposed_ns);
  }
  std::erase_if(groups, [](const auto& group) { return !group.second; });
  if (groups.empty() || !context.is_worth(all.exposed_ns, kTensorPermille)) return;
  const auto& [longest, sum] = *std::max_element(
      groups.begin(), groups.end(),
      [](const auto& a, const auto& b) { return a.second->exposed_ns < b.second->exposed_ns; });
  Finding finding;
  finding.code = "tensor_parallel_across_hosts";
  finding.title = "tensor parallelism crosses the links between hosts";
  finding.evidence = {
      fmt::format("{} of tensor parallelism span hosts; \"{}\" of {} loses most and is on {} of them",
                  format_plural(static_cast<std::int64_t>(groups.size()), "group"), longest.first,
                  format_plural(static_cast<std::int64_t>(longest.second.size()), "rank"), sum->hosts.size()),
      fmt::format("{} in them: {} of {} of transfer is exposed", format_plural(all.count, "operation"),
                  format_duration(all.exposed_ns), format_duration(all.transfer_ns))};
  finding.remedy =
      "keep tensor parallelism within a host, where NVLink is: Megatron's --tensor-model-parallel-size at "
      "most "
      "the GPUs of a node, with the order tp-cp-ep-dp-pp; a DeviceMesh whose last dimension is tensor "
      "parallel; "
      "then pipeline or data parallelism across hosts";
  finding.lost_ns = all.exposed_ns;
  findings.push_back(std::move(finding));
}

// Median wire bandwidth of what stays within one host.
struct WithinHosts {
  std::vector<double> messages, collectives;
  std::int64_t message_transfer_ns = 0, message_exposed_ns = 0;
};

void find_slow_messages(const FindingContext& context, const HostOfRank& hosts,
                        std::vector<Finding>& findings) {
  if (context.on_cpu) return;  // Gloo has one way for everything
  WithinHosts within;
  for (const CollectiveReport& collective : context.report.collectives) {
    if (!collective.bytes || *collective.bytes < kLargeMessage || !collective.busbw_wire_gbps) continue;
    if (hosts_of(collective, hosts).size() != 1) continue;
    if (collective.operation != Operation::send_recv) {
      if (collective.ranks.size() > 1) within.collectives.push_back(*collective.busbw_wire_gbps);
      continue;
    }
    within.messages.push_back(*collective.busbw_wire_gbps);
    add_transfer(collective, within.message_transfer_ns, within.message_exposed_ns);
  }
  if (within.messages.size() < kLeastOperations || within.collectives.size() < kLeastOperations) return;
  const double messages = lower_median(within.messages), collectives = lower_median(within.collectives);
  if (messages >= kDetour * collectives) return;
  // What they would take at the collectives' rate is not lost.
  const auto lost = static_cast<std::int64_t>(static_cast<double>(within.message_exposed_ns) *
                                              (1 - messages / collectives));
  if (!context.is_worth(lost, kMessagePermille)) return;
  Finding finding;
  finding.code = "p2p_slow_path";
  finding.title = "messages within a host take a slower path than its collectives do";
  finding.evidence = {
      fmt::format("messages of 1 MiB and more move at {} in the median of {}, collectives on the same hosts "
                  "at {} of {}",
                  format_bandwidth(messages), format_count(static_cast<std::int64_t>(within.messages.size())),
                  format_bandwidth(collectives),
                  format_count(static_cast<std::int64_t>(within.collectives.size()))),
      fmt::format("{} of {} of their transfer is exposed", format_duration(within.message_exposed_ns),
                  format_duration(within.message_transfer_ns))};
  finding.remedy =
      "NCCL_DEBUG=INFO names each channel's way: `via SHM` or `NET` within a host is a detour through its "
      "memory. NCCL_P2P_LEVEL=SYS, NCCL_P2P_USE_CUDA_MEMCPY unset, IOMMU and ACS off; NCCL_P2P_READ_ENABLE=0 "
      "where writing is faster; `nvidia-smi topo -m` shows which GPUs have NVLink: neighbouring stages "
      "belong "
      "on such pairs";
  finding.lost_ns = lost;
  findings.push_back(std::move(finding));
}

}  // namespace

void find_placement(const FindingContext& context, std::vector<Finding>& findings) {
  if (transfer_totals(context.report).mostly_doubtful()) return;
  const HostOfRank hosts = hosts_of(context.report);
  find_tensor_parallel_across_hosts(context, hosts, findings);
  find_slow_messages(context, hosts, findings);
}

}  // namespace lockstep::analyzer
