// Which of a report's transfers cross between hosts, and what their links carried.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "analyzer/diagnose/root_waits.h"
#include "analyzer/report/report.h"

namespace lockstep::analyzer {

// By rank; ranks whose host is not known are not in it.
using HostOfRank = std::map<std::int32_t, std::string>;
HostOfRank hosts_of(const Report& report);
// Of an operation's ranks that left a trace; empty where one's host is not known.
std::set<std::string> hosts_of(const CollectiveReport& collective, const HostOfRank& hosts);
// Adds what the operation's ranks transferred, and of that what no compute hid; of a root without its waiting
// for receivers.
void add_transfer(const CollectiveReport& collective, const RootWaits& roots, std::int64_t& transfer_ns,
                  std::int64_t& exposed_ns);

struct TransferBetweenHosts {
  std::vector<std::string> hosts;    // of these operations' ranks, sorted
  std::int64_t transfer_ns = 0;      // Σ over operations and ranks
  std::int64_t all_transfer_ns = 0;  // the same of all operations, within a host or not
  // Median wire busbw, GB/s: what a rank of a ring sends in a second. None where sizes are not known. Of the
  // large operations alone where there are any: those that send 32 KiB or more at a time, by ring n-th parts,
  // for the rate of small ones is that of their latency.
  std::optional<double> busbw_wire_gbps;
  // The same of the large operations of the first half of the run and of the second; none of fewer than eight
  // in all.
  std::optional<double> first_half_gbps, second_half_gbps;

  // Most data that moves, moves between hosts.
  bool is_most() const { return transfer_ns > all_transfer_ns / 2; }
  // A gigabit a second (0.125 GB/s) or less from the run's begin to its end: no network that is meant for
  // training is as slow.
  bool is_slow() const;
};

// Ranks whose host is not known are on none.
TransferBetweenHosts transfer_between_hosts(const Report& report);

// "hosts node0, node1 and 2 more; each rank sends at 5.90 MB/s (47 Mbit/s) while data moves".
std::string describe(const TransferBetweenHosts& transfer);

}  // namespace lockstep::analyzer
