// Over which connections two ranks of a communicator talk, as NCCL's log tells it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace lockstep::analyzer {

enum class Transport : std::uint8_t { p2p, shared_memory, net };

// Channels of one direction between two ranks that take the same connection.
struct ChannelPath {
  std::int32_t from = 0, to = 0;
  bool ranks_are_global = false;  // else they are those of a communicator whose members are not known
  std::int32_t communicator_size = 0;
  Transport transport = Transport::p2p;
  std::optional<bool> gpu_direct;  // of the network: past the host's memory; absent for the others
  bool read = false;               // peer to peer: the receiver reads
  std::optional<bool> same_host;   // both ranks are on one; absent where one has no log
  std::string connection;          // as NCCL says it: "NET/IB/0/GDRDMA"
  std::int32_t channels = 0;
  std::string host;  // of a process that says so
  std::string file;

  // Through the host's memory, and so over its PCIe links twice.
  bool is_host_staged() const {
    return transport == Transport::shared_memory || (transport == Transport::net && gpu_direct == false);
  }
};

}  // namespace lockstep::analyzer
