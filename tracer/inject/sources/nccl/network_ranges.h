// What the network's helper threads do (LOCKSTEP_NCCL_DETAIL=proxy), as ranges on the lanes of those threads:
// a proxy operation moves one channel's part of a collective to or from one peer, in steps. On the writer
// thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "trace/writer.h"
#include "tracer/inject/sources/nccl/batches.h"
#include "tracer/inject/sources/nccl/records.h"

namespace lockstep::tracer::nccl {

class NetworkRanges {
 public:
  static constexpr std::size_t kMaxOpen = 65536;

  NetworkRanges(trace::Writer& writer, HostLanes& lanes, std::int64_t process)
      : writer_(writer), lanes_(lanes), process_(process) {}

  void begin(std::uint32_t thread, const NetworkBeginRecord& record, trace::Nanoseconds time);
  void state(const NetworkStateRecord& record, trace::Nanoseconds time);
  void end(std::uint32_t thread, const NetworkEndRecord& record, trace::Nanoseconds time);
  // What has not ended runs to `now`.
  void finish(trace::Nanoseconds now);
  std::uint64_t take_lost();

 private:
  static constexpr std::size_t kMaxArguments = 32;
  struct Open {
    std::uint32_t thread = 0;
    trace::HostRange range;
    std::vector<trace::Argument> arguments;
  };
  void add(Open& open, const char* key, std::int64_t value);
  void close(Open& open, std::uint32_t thread, trace::Nanoseconds time);

  trace::Writer& writer_;
  HostLanes& lanes_;
  std::int64_t process_;
  std::unordered_map<std::uint64_t, Open> open_;
  std::uint64_t lost_ = 0;
};

}  // namespace lockstep::tracer::nccl
