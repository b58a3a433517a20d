// Where the recorders of a job meet to compare their clocks.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace lockstep::tracer::clock_sync {

inline constexpr std::uint16_t kDefaultPort = 29471;

struct SyncAddress {
  std::string host;
  std::uint16_t port = kDefaultPort;  // UDP
  std::string from;                   // where it was found: "MASTER_ADDR"
};

// "HOST", "HOST:PORT", "[IPv6]:PORT". The error says what is wrong with it.
Result<SyncAddress> parse_sync_address(std::string_view text, std::uint16_t default_port = kDefaultPort);

// The first host of the job, in this order: MASTER_ADDR (and MASTER_PORT); torchrun's --rdzv-endpoint,
// --master-addr and --master-port; the first node of a Slurm job of several. Nothing where a job tells of no
// other host, or names this one as localhost: all its ranks share a clock then.
std::optional<SyncAddress> find_sync_address(const std::function<const char*(const char*)>& lookup,
                                             const std::vector<std::string>& command);

// The first host of Slurm's notation: "node07" of "node[07-12,15],login".
std::string first_of_node_list(std::string_view list);

// The value of a launcher's flag, where it first stands in `command`: "--flag value" or "--flag=value", with
// - or _ within. Empty where it does not.
std::string flag_value(const std::vector<std::string>& command, std::string_view flag);

}  // namespace lockstep::tracer::clock_sync
