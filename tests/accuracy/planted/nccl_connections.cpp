// Connections of NCCL's log that cost time.
#include <array>
#include <cstdint>
#include <string_view>

#include "tests/accuracy/cases.h"
#include "tests/accuracy/planted/two_ranks.h"

namespace lockstep::accuracy {
namespace {

using namespace analyzer;  // NOLINT(google-build-using-namespace): a file of the analyzer's jobs

ChannelPath path(std::int32_t from, Transport transport, const char* connection, bool same_host) {
  ChannelPath path;
  path.from = from;
  path.to = 1 - from;
  path.ranks_are_global = true;
  path.communicator_size = 2;
  path.transport = transport;
  if (transport == Transport::net) path.gpu_direct = false;
  path.read = std::string_view(connection).ends_with("/read");
  path.same_host = same_host;
  path.connection = connection;
  path.channels = 2;
  path.file = "nccl.node0.12.log";
  return path;
}

Job shared_memory(Random& random) {
  return two_ranks(random, "dp",
                   {path(0, Transport::shared_memory, "SHM/direct/direct", true),
                    path(1, Transport::shared_memory, "SHM/direct/direct", true)},
                   "node0");
}
Job network_without_gpu_direct(Random& random) {
  return two_ranks(random, "dp",
                   {path(0, Transport::net, "NET/IB/0", false), path(1, Transport::net, "NET/IB/0", false)},
                   "node1");
}
Job read_by_receiver(Random& random) {
  return two_ranks(
      random, "dp",
      {path(0, Transport::p2p, "P2P/CUMEM/read", true), path(1, Transport::p2p, "P2P/CUMEM/read", true)},
      "node0");
}

constexpr auto kNcclConnectionsCases = std::to_array<KindCase>({
    {"p2p_host_staged", shared_memory, 320},
    {"net_without_gpu_direct", network_without_gpu_direct, 330},
    {"p2p_read", read_by_receiver, 340},
});

}  // namespace

const Planted planted::nccl_connections{.cases = kNcclConnectionsCases};

}  // namespace lockstep::accuracy
