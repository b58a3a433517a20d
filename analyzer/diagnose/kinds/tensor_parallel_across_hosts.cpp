// Tensor parallelism crosses the links between hosts.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/diagnose/finding_context.h"
#include "analyzer/diagnose/finding_kinds.h"
#include "analyzer/diagnose/group_roles.h"
#include "analyzer/diagnose/links.h"
#include "analyzer/report/quantity.h"

namespace lockstep::analyzer {
namespace {

constexpr auto kTensorParallelAcrossHostsRemedies = std::to_array<Remedy>(
    {{"Megatron", "--tensor-model-parallel-size at most the GPUs of a node; order tp-cp-ep-dp-pp"},
     {"PyTorch", "init_device_mesh() with tensor parallelism as the last dimension"}});
constexpr Explanation kTensorParallelAcrossHostsExplained{
    .meaning =
        "Tensor parallelism communicates twice in every layer, with nothing to hide under: it belongs where "
        "links are fastest.",
    .found =
        "Groups with tp, tensor, sp or sequence in their name or description, whose ranks are on several "
        "hosts; their exposed transfer reaches 3 %.",
    .wrong = "The hosts are one NVLink domain (GB200 NVL72).",
    .lost = "their exposed transfer",
    .remedies = kTensorParallelAcrossHostsRemedies,
};
constexpr FindingKind kTensorParallelAcrossHosts{
    .code = "tensor_parallel_across_hosts",
    .title = "tensor parallelism crosses the links between hosts",
    .cause = Cause::transfer,
    .accounts = Accounts::yes,
    .accuses = Accused::job,
    .points_at = PointsAt::worst_operation,
    .picture = "cause",
    .explanation = &kTensorParallelAcrossHostsExplained,
};
constexpr auto kTensorParallelAcrossHostsKinds =
    std::to_array<const FindingKind*>({&kTensorParallelAcrossHosts});

constexpr std::int64_t kTensorPermille = 30;

// Transfer of one group's operations, or of several, that meet ranks on several hosts.
struct AcrossHosts {
  std::int64_t count = 0, transfer_ns = 0, exposed_ns = 0;
  std::set<std::string> hosts;
};

void find_tensor_parallel_across_hosts(const FindingContext& context, std::vector<Finding>& findings) {
  if (transfer_totals(context.report).mostly_doubtful()) return;
  const HostOfRank hosts = hosts_of(context.report);
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
    add_transfer(collective, context.roots, group->transfer_ns, group->exposed_ns);
    ++all.count;
    add_transfer(collective, context.roots, all.transfer_ns, all.exposed_ns);
  }
  std::erase_if(groups, [](const auto& group) { return !group.second; });
  if (groups.empty() || !context.is_worth(all.exposed_ns, kTensorPermille)) return;
  const auto& [longest, sum] = *std::max_element(
      groups.begin(), groups.end(),
      [](const auto& a, const auto& b) { return a.second->exposed_ns < b.second->exposed_ns; });
  Finding finding = kTensorParallelAcrossHosts.make();
  finding.evidence = {
      fmt::format("{} of tensor parallelism span hosts; \"{}\" of {} loses most and is on {} of them",
                  format_plural(static_cast<std::int64_t>(groups.size()), "group"), longest.first,
                  format_plural(static_cast<std::int64_t>(longest.second.size()), "rank"), sum->hosts.size()),
      fmt::format("{} in them: {} of {} of transfer is exposed", format_plural(all.count, "operation"),
                  format_duration(all.exposed_ns), format_duration(all.transfer_ns))};
  finding.remedy =
      "keep tensor parallelism within a host, where NVLink is: Megatron's --tensor-model-parallel-size at "
      "most the GPUs of a node, with the order tp-cp-ep-dp-pp; a DeviceMesh whose last dimension is tensor "
      "parallel; then pipeline or data parallelism across hosts";
  finding.lost_ns = all.exposed_ns;
  findings.push_back(std::move(finding));
}

}  // namespace

const FindingRule rules::tensor_parallel_across_hosts{kTensorParallelAcrossHostsKinds,
                                                      find_tensor_parallel_across_hosts};

}  // namespace lockstep::analyzer
