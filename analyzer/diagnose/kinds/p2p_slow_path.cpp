// Messages within a host take a slower path than its collectives do.
#include <fmt/format.h>

#include <array>
#include <utility>
#include <vector>

#include "analyzer/diagnose/finding_context.h"
#include "analyzer/diagnose/finding_kinds.h"
#include "analyzer/diagnose/links.h"
#include "analyzer/intervals/median.h"
#include "analyzer/report/quantity.h"

namespace lockstep::analyzer {
namespace {

constexpr auto kP2pSlowPathRemedies = std::to_array<Remedy>(
    {{"NCCL",
      "NCCL_DEBUG=INFO says `via P2P`, `via SHM` or `NET`; NCCL_P2P_LEVEL=SYS, NCCL_P2P_DISABLE unset"},
     {"the machine", "IOMMU and ACS off; `nvidia-smi topo -m`: neighbouring stages on GPUs with NVLink"}});
constexpr Explanation kP2pSlowPathExplained{
    .meaning = "Without peer access between two GPUs, NCCL copies through the host's memory.",
    .found =
        "At least 8 messages and 8 collectives of 1 MiB and more within a host; the messages' median wire "
        "busbw is less than half of the collectives'; what they lose to that rate, of their exposed "
        "transfer, reaches 2 %. Not on CPUs.",
    .wrong = "Several messages share a link at the same time, and each gets a part.",
    .lost = "the exposed transfer that the collectives' rate would save",
    .remedies = kP2pSlowPathRemedies,
};
constexpr FindingKind kP2pSlowPath{
    .code = "p2p_slow_path",
    .title = "messages within a host take a slower path than its collectives do",
    .cause = Cause::transfer,
    .accuses = Accused::link,
    .points_at = PointsAt::worst_operation,
    .picture = "cause",
    .explanation = &kP2pSlowPathExplained,
};
constexpr auto kP2pSlowPathKinds = std::to_array<const FindingKind*>({&kP2pSlowPath});

constexpr std::int64_t kMessagePermille = 20;
constexpr std::int64_t kLargeMessage = 1 << 20;  // below that the start counts, not the path
constexpr std::size_t kLeastOperations = 8;      // for a median to mean something
constexpr double kDetour = 0.5;

// Median wire bandwidth of what stays within one host.
struct WithinHosts {
  std::vector<double> messages, collectives;
  std::int64_t message_transfer_ns = 0, message_exposed_ns = 0;
};

void find_slow_messages(const FindingContext& context, std::vector<Finding>& findings) {
  if (context.on_cpu) return;  // Gloo has one way for everything
  if (transfer_totals(context.report).mostly_doubtful()) return;
  const HostOfRank hosts = hosts_of(context.report);
  WithinHosts within;
  for (const CollectiveReport& collective : context.report.collectives) {
    if (!collective.bytes || *collective.bytes < kLargeMessage || !collective.busbw_wire_gbps) continue;
    if (hosts_of(collective, hosts).size() != 1) continue;
    if (collective.operation != Operation::send_recv) {
      if (collective.ranks.size() > 1) within.collectives.push_back(*collective.busbw_wire_gbps);
      continue;
    }
    within.messages.push_back(*collective.busbw_wire_gbps);
    add_transfer(collective, context.roots, within.message_transfer_ns, within.message_exposed_ns);
  }
  if (within.messages.size() < kLeastOperations || within.collectives.size() < kLeastOperations) return;
  const double messages = lower_median(within.messages), collectives = lower_median(within.collectives);
  if (messages >= kDetour * collectives) return;
  // What they would take at the collectives' rate is not lost.
  const auto lost = static_cast<std::int64_t>(static_cast<double>(within.message_exposed_ns) *
                                              (1 - messages / collectives));
  if (!context.is_worth(lost, kMessagePermille)) return;
  Finding finding = kP2pSlowPath.make();
  finding.evidence = {
      fmt::format("messages of 1 MiB and more move at {} in the median of {}, collectives on the same hosts "
                  "at {} of {}",
                  format_bandwidth(messages), format_count(static_cast<std::int64_t>(within.messages.size())),
                  format_bandwidth(collectives),
                  format_count(static_cast<std::int64_t>(within.collectives.size()))),
      fmt::format("{} of {} of their transfer is exposed", format_duration(within.message_exposed_ns),
                  format_duration(within.message_transfer_ns))};
  finding.remedy =
      "NCCL_DEBUG=INFO names each channel's connection: `via SHM` or `NET` within a host is a detour through its "
      "memory. NCCL_P2P_LEVEL=SYS, NCCL_P2P_USE_CUDA_MEMCPY unset, IOMMU and ACS off; NCCL_P2P_READ_ENABLE=0 "
      "where writing is faster; `nvidia-smi topo -m` shows which GPUs have NVLink: neighbouring stages "
      "belong on such pairs";
  finding.lost_ns = lost;
  findings.push_back(std::move(finding));
}

}  // namespace

const FindingRule rules::p2p_slow_path{kP2pSlowPathKinds, find_slow_messages};

}  // namespace lockstep::analyzer
