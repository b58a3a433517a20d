// One line of NCCL's log (NCCL_DEBUG=INFO): who says it, and what of it tells of communicators and channels.
// Views point into the line.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "analyzer/model/job.h"

namespace lockstep::analyzer::nccl_log {

// "node0:2130:2190 [3] NCCL INFO …", behind whatever a launcher or a timestamp puts before it.
struct InfoLine {
  std::string_view host;
  std::int64_t process = 0;
  std::int64_t thread = 0;
  std::int32_t device = 0;
  std::string_view message;
};
// None where the line is no such, or several are spliced into it.
std::optional<InfoLine> parse_info_line(std::string_view line);

// "… comm 0x7f rank 3 nranks 8 cudaDev 3 … commId 0x49bb - Init COMPLETE", or START.
struct CommunicatorLine {
  bool complete = false;            // else it starts
  std::string_view address;         // within the process
  std::optional<std::uint64_t> id;  // of all its processes; absent where it was split off another
  std::int32_t rank = 0;
  std::int32_t size = 0;
};
std::optional<CommunicatorLine> parse_communicator(std::string_view message);

// "Channel 00/0 : 0[0] -> 1[1] [send] via NET/IB/0/GDRDMA". Ranks are those of the communicator.
struct ChannelLine {
  std::int32_t channel = 0;
  std::int32_t from = 0;
  std::int32_t to = 0;
  bool received = false;  // the receiver says it, else the sender
  std::string_view connection;
};
std::optional<ChannelLine> parse_channel(std::string_view message);

// What a connection's text says.
struct Connection {
  Transport transport = Transport::p2p;
  std::optional<bool> gpu_direct;  // of the network
  bool read = false;
  bool host_is_shared = false;  // no other is possible
};
// None where it is of no known transport, or not whole.
std::optional<Connection> parse_connection(std::string_view connection);

}  // namespace lockstep::analyzer::nccl_log
