// Findings about the connections that NCCL's log names.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analyzer/diagnose/test_reports.h"

namespace lockstep::analyzer {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

constexpr int kSteps = 10;
constexpr Nanoseconds kTransfer = 200 * us;  // of each rank in each step

// Ten times: `ranks` ranks compute for 500 µs, and then all-reduce for 200 µs, all of it exposed.
Job job_with(std::vector<ChannelPath> paths, int ranks = 2) {
  JobBuilder builder;
  std::vector<std::int32_t> members;
  for (int rank = 0; rank < ranks; ++rank) members.push_back(rank);
  const std::uint32_t group = builder.group("dp", members);
  for (int step = 0; step < kSteps; ++step) {
    const Nanoseconds begin = step * 1000 * us, arrival = begin + 500 * us;
    for (int rank = 0; rank < ranks; ++rank) {
      builder.rank(rank).compute(begin, arrival).launched(begin, begin + 1);
      builder.rank(rank).all_reduce(arrival, arrival + kTransfer).launched(begin, begin + 1).in_group(group);
      builder.rank(rank).trace().device = "cuda:0";
    }
  }
  Job job = builder.build();
  job.paths = std::move(paths);
  return job;
}

ChannelPath path(std::int32_t from, std::int32_t to, Transport transport, const char* connection) {
  ChannelPath path;
  path.from = from;
  path.to = to;
  path.ranks_are_global = true;
  path.communicator_size = 2;
  path.transport = transport;
  path.same_host = true;
  path.connection = connection;
  path.channels = 2;
  path.file = "nccl.node0.12.log";
  return path;
}
ChannelPath shared_memory(std::int32_t from, std::int32_t to) {
  return path(from, to, Transport::shared_memory, "SHM/direct/direct");
}
ChannelPath peer_to_peer(std::int32_t from, std::int32_t to) {
  return path(from, to, Transport::p2p, "P2P/CUMEM");
}
ChannelPath network(std::int32_t from, std::int32_t to, const char* connection, bool gpu_direct) {
  ChannelPath network = path(from, to, Transport::net, connection);
  network.gpu_direct = gpu_direct;
  network.same_host = false;
  return network;
}

std::vector<std::string> codes(std::vector<ChannelPath> paths, int ranks = 2) {
  return codes_of(report_of(job_with(std::move(paths), ranks)).findings);
}

TEST(NcclConnections, SharedMemoryWithinAHostIsFound) {
  const Report report = report_of(job_with({shared_memory(0, 1), peer_to_peer(1, 0)}));
  const Finding found = finding(report, "p2p_host_staged");
  EXPECT_EQ(found.lost_ns, kSteps * 2 * kTransfer);
  EXPECT_EQ(found.cause, Cause::transfer);
  EXPECT_EQ(found.severity, "high");
  EXPECT_THAT(found.evidence,
              testing::ElementsAre("1 of 2 directions between ranks of one host go through its memory: "
                                   "SHM/direct/direct",
                                   "the log says: rank 0 to rank 1, 2 channels via SHM/direct/direct "
                                   "(nccl.node0.12.log)",
                                   "10 operations of such ranks: 4.00 ms of 4.00 ms of transfer is exposed"));
  EXPECT_THAT(found.remedy, HasSubstr("NCCL_P2P_LEVEL=SYS"));
  EXPECT_THAT(codes_of(report.findings), Not(Contains("net_without_gpu_direct")));
}

TEST(NcclConnections, WithoutALogNothingIsSaidOfThem) {
  const std::vector<std::string> found = codes({});
  EXPECT_THAT(found, Contains("no_overlap")) << "what a log could explain is there";
  EXPECT_THAT(found, Not(Contains("p2p_host_staged")));
}

TEST(NcclConnections, PeerToPeerIsAsItShouldBe) {
  const std::vector<std::string> found = codes({peer_to_peer(0, 1), peer_to_peer(1, 0)});
  for (const char* code : {"p2p_host_staged", "net_without_gpu_direct", "p2p_read"})
    EXPECT_THAT(found, Not(Contains(code)));
}

TEST(NcclConnections, ANetworkWithoutGpuDirectIsFound) {
  const Finding found =
      finding(report_of(job_with({network(0, 1, "NET/IB/0", false), network(1, 0, "NET/IB/0/GDRDMA", true)})),
              "net_without_gpu_direct");
  EXPECT_EQ(found.lost_ns, kSteps * 2 * kTransfer);
  EXPECT_EQ(found.evidence.at(0), "1 of 2 directions between hosts have no GPUDirect RDMA: NET/IB/0");
  EXPECT_THAT(found.remedy, HasSubstr("nvidia_peermem"));
}

TEST(NcclConnections, SocketsHaveARemedyOfTheirOwn) {
  const Finding found =
      finding(report_of(job_with({network(0, 1, "NET/Socket/0", false)})), "net_without_gpu_direct");
  EXPECT_THAT(found.remedy, HasSubstr("NCCL_SOCKET_IFNAME"));
  EXPECT_THAT(found.remedy, Not(HasSubstr("nvidia_peermem")));
}

TEST(NcclConnections, GpuDirectIsAsItShouldBe) {
  EXPECT_THAT(codes({network(0, 1, "NET/IB/0/GDRDMA", true), network(1, 0, "NET/IB/0/GDRDMA", true)}),
              Not(Contains("net_without_gpu_direct")));
}

TEST(NcclConnections, ANetworkWithinAHostIsADetour) {
  ChannelPath detour = network(0, 1, "NET/Socket/0", false);
  detour.same_host = true;
  const std::vector<std::string> found = codes({detour});
  EXPECT_THAT(found, Contains("p2p_host_staged"));
  EXPECT_THAT(found, Not(Contains("net_without_gpu_direct")));
}

// The network is what holds such an operation up.
TEST(NcclConnections, AHostsMemoryIsNoMatterWhereTheOperationCrossesHosts) {
  std::vector<ChannelPath> paths = {shared_memory(0, 1), network(1, 2, "NET/IB/0/GDRDMA", true)};
  for (ChannelPath& path : paths) path.communicator_size = 3;
  const std::vector<std::string> found = codes(paths, 3);
  EXPECT_THAT(found, Not(Contains("p2p_host_staged")));
  EXPECT_THAT(found, Not(Contains("net_without_gpu_direct")));
}

TEST(NcclConnections, OfOtherCommunicatorsAreNotTheOperations) {
  ChannelPath other = shared_memory(0, 1);
  other.communicator_size = 4;
  EXPECT_THAT(codes({other}), Not(Contains("p2p_host_staged")));
  EXPECT_THAT(codes({shared_memory(2, 3)}), Not(Contains("p2p_host_staged"))) << "ranks of another group";
}

TEST(NcclConnections, WhereMembersAreNotKnownTheSizeCounts) {
  ChannelPath local = shared_memory(1, 0);
  local.ranks_are_global = false;
  const Finding found = finding(report_of(job_with({local})), "p2p_host_staged");
  EXPECT_THAT(found.evidence.at(1), HasSubstr("rank 1 to rank 0 of a communicator of 2, 2 channels"));
}

TEST(NcclConnections, ReadingIsNoMoreThanANote) {
  ChannelPath read = path(0, 1, Transport::p2p, "P2P/CUMEM/read");
  read.read = true;
  const Finding found = finding(report_of(job_with({read, peer_to_peer(1, 0)})), "p2p_read");
  EXPECT_EQ(found.severity, "note");
  EXPECT_EQ(found.lost_ns, 0);
  EXPECT_EQ(found.evidence.at(0), "1 of 2 directions between ranks of one host are read: P2P/CUMEM/read");
}

TEST(NcclConnections, HiddenTransferLosesNothing) {
  Job job = job_with({shared_memory(0, 1)});
  for (RankTrace& rank : job.ranks) {
    for (Activity& activity : rank.activities)
      if (activity.activity_class == Class::compute) activity.end += kTransfer;
  }
  EXPECT_THAT(codes_of(report_of(job).findings), Not(Contains("p2p_host_staged")));
}

TEST(NcclConnections, OnCpusThereIsOneConnection) {
  Job job = job_with({shared_memory(0, 1)});
  for (RankTrace& rank : job.ranks) rank.device = "cpu";
  EXPECT_THAT(codes_of(report_of(job).findings), Not(Contains("p2p_host_staged")));
}

// Ten messages of rank 0 to rank 1 in a group of four.
Job messages_job(std::vector<ChannelPath> paths) {
  JobBuilder builder;
  const std::uint32_t group = builder.group("pp", {0, 1, 2, 3});
  for (int step = 0; step < kSteps; ++step) {
    const Nanoseconds begin = step * 1000 * us;
    builder.rank(0).send(1, begin, begin + kTransfer).in_group(group).bytes(1 << 20);
    builder.rank(1).recv(0, begin, begin + kTransfer).in_group(group).bytes(1 << 20);
    for (int rank = 0; rank < 4; ++rank) builder.rank(rank).compute(begin + kTransfer, begin + 900 * us);
  }
  Job job = builder.build();
  for (RankTrace& rank : job.ranks) rank.device = "cuda:0";
  job.paths = std::move(paths);
  return job;
}

TEST(NcclConnections, AMessageTakesTheConnectionOfItsTwoRanks) {
  EXPECT_EQ(finding(report_of(messages_job({shared_memory(0, 1)})), "p2p_host_staged").lost_ns,
            kSteps * 2 * kTransfer);
  ChannelPath of_group = shared_memory(0, 1);
  of_group.communicator_size = 4;
  EXPECT_THAT(codes_of(report_of(messages_job({of_group})).findings), Contains("p2p_host_staged"));
  ChannelPath of_others = shared_memory(2, 3);
  of_others.communicator_size = 4;
  EXPECT_THAT(codes_of(report_of(messages_job({of_others})).findings), Not(Contains("p2p_host_staged")));
}

}  // namespace
}  // namespace lockstep::analyzer
