// Findings about the connections that NCCL's log names: through a host's memory, without GPUDirect, read
// instead of written.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "analyzer/diagnose/finding_context.h"
#include "analyzer/diagnose/finding_kinds.h"
#include "analyzer/diagnose/links.h"
#include "analyzer/report/quantity.h"
#include "base/time_math.h"

namespace lockstep::analyzer {
namespace {

constexpr auto kP2pHostStagedRemedies = std::to_array<Remedy>(
    {{"NCCL", "NCCL_P2P_DISABLE unset, NCCL_P2P_LEVEL=SYS; via NET: NCCL_SHM_DISABLE, NCCL_HOSTID unset"},
     {"the machine",
      "IOMMU off or in passthrough, ACS off on the PCIe bridges; containers with one /dev/shm"}});
constexpr Explanation kP2pHostStagedExplained{
    .meaning =
        "Without peer access NCCL copies into the host's memory and out of it again: over PCIe twice, at a "
        "fraction of NVLink's rate.",
    .found =
        "NCCL's log (NCCL_DEBUG=INFO, given to `lockstep analyze` beside the traces) names a connection via SHM, or "
        "via NET without GDRDMA, between ranks of one host; the exposed transfer of operations that stay "
        "within a host and use such a connection reaches 2 %. Operations that cross hosts are not counted. Not on "
        "CPUs.",
    .wrong =
        "The GPUs cannot reach each other (`nvidia-smi topo -p2p r` says NS, as of most GeForce), or "
        "`p2pBandwidthLatencyTest` of CUDA's samples is no faster with peer access than without.",
    .lost = "all exposed transfer of those operations: more than a direct connection saves",
    .remedies = kP2pHostStagedRemedies,
};
constexpr FindingKind kP2pHostStaged{
    .code = "p2p_host_staged",
    .title = "GPUs of one host exchange data through the host's memory",
    .cause = Cause::transfer,
    .accuses = Accused::link,
    .points_at = PointsAt::worst_operation,
    .picture = "cause",
    .explanation = &kP2pHostStagedExplained,
};
constexpr auto kNetWithoutGpuDirectRemedies = std::to_array<Remedy>(
    {{"NCCL",
      "NCCL_NET_GDR_LEVEL=SYS; NCCL_NET_GDR_READ=1 before Ampere; NET/Socket: NCCL_IB_DISABLE unset, "
      "NCCL_IB_HCA, else the fastest NCCL_SOCKET_IFNAME"},
     {"the machine", "nvidia_peermem loaded, or DMA-BUF; ACS off; adapter and GPU on one PCIe switch"}});
constexpr Explanation kNetWithoutGpuDirectExplained{
    .meaning =
        "With GPUDirect RDMA the adapter reads and writes the GPU's memory itself. Without it each byte is "
        "copied through both hosts' memory.",
    .found =
        "NCCL's log names a connection via NET without GDRDMA between hosts; the exposed transfer of operations "
        "that use such a connection reaches 2 %. Not on CPUs.",
    .wrong =
        "`ib_write_bw` between the hosts' own memories is no faster than these operations: then the link is "
        "full, whoever copies.",
    .lost = "all exposed transfer of those operations: more than GPUDirect saves",
    .remedies = kNetWithoutGpuDirectRemedies,
};
constexpr FindingKind kNetWithoutGpuDirect{
    .code = "net_without_gpu_direct",
    .title = "data between hosts goes through the hosts' memory: no GPUDirect RDMA",
    .cause = Cause::transfer,
    .accuses = Accused::link,
    .points_at = PointsAt::worst_operation,
    .picture = "cause",
    .explanation = &kNetWithoutGpuDirectExplained,
};
constexpr auto kP2pReadRemedies =
    std::to_array<Remedy>({{"NCCL", "NCCL_P2P_READ_ENABLE=0, or unset where it is 1"}});
constexpr Explanation kP2pReadExplained{
    .meaning =
        "Reading waits for an answer, writing does not; NCCL reads by default only over NVLink between GPUs "
        "of compute capability 8.0.",
    .found =
        "NCCL's log names a connection via P2P that ends in /read; the exposed transfer of operations within "
        "a host that use one, and no connection through the host's memory, reaches 2 %. A note: what writing "
        "saves is not known. Not on CPUs.",
    .wrong =
        "all_reduce_perf or sendrecv_perf of nccl-tests is as fast with NCCL_P2P_READ_ENABLE=1 as with 0.",
    .lost = "none is claimed",
    .remedies = kP2pReadRemedies,
};
constexpr FindingKind kP2pRead{
    .code = "p2p_read",
    .title = "receivers read from their peers' memory, where senders could write",
    .severity = SeverityRule::note,
    .accuses = Accused::job,
    .explanation = &kP2pReadExplained,
};
constexpr auto kNcclConnectionsKinds =
    std::to_array<const FindingKind*>({&kP2pHostStaged, &kNetWithoutGpuDirect, &kP2pRead});

constexpr std::int64_t kPathPermille = 20;
constexpr std::size_t kWaysNamed = 3;

// Ranks that communicate with each other, and how large their communicator is.
struct Members {
  std::vector<std::int32_t> ranks;  // sorted
  std::size_t communicator_size = 0;
  bool is_message = false;
  friend bool operator<(const Members& a, const Members& b) {
    return std::tie(a.ranks, a.communicator_size, a.is_message) <
           std::tie(b.ranks, b.communicator_size, b.is_message);
  }
};

Members members_of(const CollectiveReport& operation) {
  Members members;
  members.is_message = operation.operation == Operation::send_recv;
  if (members.is_message || operation.group_ranks.empty()) {
    for (const CollectiveRank& rank : operation.ranks) members.ranks.push_back(rank.rank);
  } else {
    members.ranks = operation.group_ranks;
  }
  std::sort(members.ranks.begin(), members.ranks.end());
  members.communicator_size =
      operation.group_ranks.empty() ? members.ranks.size() : operation.group_ranks.size();
  return members;
}

bool is_used_by(const ChannelPath& path, const Members& members) {
  // PyTorch sends messages in their group's communicator, or in one of the two ranks alone.
  const auto size = static_cast<std::size_t>(path.communicator_size);
  if (size != members.communicator_size && !(members.is_message && size == 2)) return false;
  const auto holds = [&](std::int32_t rank) {
    return std::binary_search(members.ranks.begin(), members.ranks.end(), rank);
  };
  return !path.ranks_are_global || (holds(path.from) && holds(path.to));
}

enum class Kind : std::uint8_t { direct, within_host, between_hosts, read };

// What operations lose that take connections of one kind.
struct Loss {
  std::int64_t operations = 0, transfer_ns = 0, exposed_ns = 0;
  std::set<std::size_t> paths;  // of this kind, that they take
};

class Losses {
 public:
  explicit Losses(const FindingContext& context)
      : paths_(context.diagnosis.job.paths), roots_(context.roots), hosts_(hosts_of(context.report)) {
    for (const CollectiveReport& operation : context.report.collectives) add(operation);
  }

  const Loss& of(Kind kind) const { return losses_.at(kind); }

  bool crosses_hosts(const ChannelPath& path) const {
    if (path.same_host || path.transport != Transport::net) return path.same_host == false;
    if (!path.ranks_are_global) return true;
    const auto from = hosts_.find(path.from), to = hosts_.find(path.to);
    // A network is what NCCL takes between hosts.
    return from == hosts_.end() || to == hosts_.end() || from->second != to->second;
  }

 private:
  struct Use {
    Kind kind = Kind::direct;
    std::set<std::size_t> paths;
  };

  void add(const CollectiveReport& operation) {
    const Members members = members_of(operation);
    const auto [use, fresh] = uses_.try_emplace(members);
    if (fresh) {
      Use found = use_of(members);
      use->second = found.kind;
      losses_[found.kind].paths.merge(found.paths);
    }
    Loss& loss = losses_[use->second];
    ++loss.operations;
    add_transfer(operation, roots_, loss.transfer_ns, loss.exposed_ns);
  }

  // The slowest part of an operation holds up the whole of it: what crosses hosts is set against what crosses
  // hosts.
  Use use_of(const Members& members) const {
    std::set<std::size_t> within, between, read;
    bool crosses = false;
    for (std::size_t i = 0; i < paths_.size(); ++i) {
      const ChannelPath& path = paths_[i];
      if (!is_used_by(path, members)) continue;
      const bool is_between = crosses_hosts(path);
      crosses = crosses || is_between;
      if (path.is_host_staged()) (is_between ? between : within).insert(i);
      if (path.read) read.insert(i);
    }
    if (crosses) return between.empty() ? Use{} : Use{Kind::between_hosts, std::move(between)};
    if (!within.empty()) return {Kind::within_host, std::move(within)};
    return read.empty() ? Use{} : Use{Kind::read, std::move(read)};
  }

  const std::vector<ChannelPath>& paths_;
  const RootWaits& roots_;
  HostOfRank hosts_;
  std::map<Members, Kind> uses_;
  std::map<Kind, Loss> losses_{
      {Kind::direct, {}}, {Kind::within_host, {}}, {Kind::between_hosts, {}}, {Kind::read, {}}};
};

// "rank 0 to rank 1, 2 channels via SHM/direct/direct (nccl.node0.12.log)".
std::string describe(const ChannelPath& path) {
  return fmt::format(
      "rank {} to rank {}{}, {} via {} ({})", path.from, path.to,
      path.ranks_are_global ? "" : fmt::format(" of a communicator of {}", path.communicator_size),
      format_plural(path.channels, "channel"), path.connection, path.file);
}

// How many directions between ranks take these connections, of those that `are_alike`; then one of them.
template <class Alike>
std::vector<std::string> evidence_of(const Loss& loss, const std::vector<ChannelPath>& paths,
                                     const char* what, Alike are_alike) {
  const auto direction = [](const ChannelPath& path) {
    return std::tuple(path.communicator_size, path.ranks_are_global, path.from, path.to);
  };
  std::set<decltype(direction(paths.front()))> all, these;
  for (const ChannelPath& path : paths)
    if (are_alike(path)) all.insert(direction(path));
  std::set<std::string_view> connections;
  for (const std::size_t index : loss.paths) {
    these.insert(direction(paths[index]));
    connections.insert(paths[index].connection);
  }
  std::vector<std::string_view> named(connections.begin(), connections.end());
  const std::size_t more = named.size() > kWaysNamed ? named.size() - kWaysNamed : 0;
  named.resize(named.size() - more);
  return {fmt::format("{} of {} {}: {}{}", these.size(),
                      format_plural(static_cast<std::int64_t>(all.size()), "direction"), what,
                      fmt::join(named, ", "), more > 0 ? fmt::format(" and {} more", more) : ""),
          fmt::format("the log says: {}", describe(paths[*loss.paths.begin()])),
          fmt::format("{} of such ranks: {} of {} of transfer is exposed",
                      format_plural(loss.operations, "operation"), format_duration(loss.exposed_ns),
                      format_duration(loss.transfer_ns))};
}

bool is_any_socket(const Loss& loss, const std::vector<ChannelPath>& paths) {
  return std::any_of(loss.paths.begin(), loss.paths.end(),
                     [&](std::size_t index) { return paths[index].connection.starts_with("NET/Socket"); });
}

void find_slow_connections(const FindingContext& context, std::vector<Finding>& findings) {
  const std::vector<ChannelPath>& paths = context.diagnosis.job.paths;
  if (paths.empty() || context.on_cpu || transfer_totals(context.report).mostly_doubtful()) return;
  const Losses losses(context);
  const auto is_worth = [&](Kind kind) {
    return !losses.of(kind).paths.empty() && context.is_worth(losses.of(kind).exposed_ns, kPathPermille);
  };
  const auto is_within = [&](const ChannelPath& path) { return !losses.crosses_hosts(path); };
  if (const Loss& loss = losses.of(Kind::within_host); is_worth(Kind::within_host)) {
    Finding finding = kP2pHostStaged.make();
    finding.evidence = evidence_of(loss, paths, "between ranks of one host go through its memory", is_within);
    finding.remedy =
        "where `nvidia-smi topo -p2p r` says OK: NCCL_P2P_DISABLE unset, NCCL_P2P_LEVEL=SYS; IOMMU off or in "
        "passthrough, and ACS off on the PCIe bridges. `NET` within a host: NCCL_SHM_DISABLE and NCCL_HOSTID "
        "unset, and containers that share /dev/shm (--ipc=host)";
    finding.lost_ns = loss.exposed_ns;
    findings.push_back(std::move(finding));
  }
  if (const Loss& loss = losses.of(Kind::between_hosts); is_worth(Kind::between_hosts)) {
    Finding finding = kNetWithoutGpuDirect.make();
    finding.evidence = evidence_of(loss, paths, "between hosts have no GPUDirect RDMA",
                                   [&](const ChannelPath& path) { return !is_within(path); });
    finding.remedy =
        is_any_socket(loss, paths)
            ? "these are TCP sockets. With InfiniBand, RoCE or EFA: NCCL_IB_DISABLE unset, NCCL_IB_HCA names "
              "the adapters, or the network's plugin (aws-ofi-nccl) on LD_LIBRARY_PATH. With Ethernet alone: "
              "NCCL_SOCKET_IFNAME names the fastest interface; NCCL_SOCKET_NTHREADS, NCCL_NSOCKS_PERTHREAD"
            : "load the kernel module nvidia_peermem (or use DMA-BUF: open kernel modules, Linux 5.12), "
              "NCCL_NET_GDR_LEVEL=SYS, ACS off on the PCIe bridges; on the sending side of GPUs before "
              "Ampere NCCL_NET_GDR_READ=1";
    finding.lost_ns = loss.exposed_ns;
    findings.push_back(std::move(finding));
  }
  if (const Loss& loss = losses.of(Kind::read); is_worth(Kind::read)) {
    // What writing would save nobody knows before it is tried: no loss is claimed.
    Finding finding = kP2pRead.make();
    finding.evidence = evidence_of(loss, paths, "between ranks of one host are read", is_within);
    finding.remedy = "try NCCL_P2P_READ_ENABLE=0, and keep what is faster";
    finding.is_note = true;
    findings.push_back(std::move(finding));
  }
}

}  // namespace

const FindingRule rules::nccl_connections{kNcclConnectionsKinds, find_slow_connections};

}  // namespace lockstep::analyzer
