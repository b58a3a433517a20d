// Issues out of libnccl's own NVTX ranges, for libraries that know no profiler plugin (before 2.23) or were
// given another one: operation, communicator, size, root or peer. Numbers are counted here, from the first
// operation seen. Where the plugin tells of a communicator, its ranges are left out. On the writer thread.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "trace/writer.h"
#include "tracer/inject/sources/nccl/batches.h"
#include "tracer/inject/sources/nccl/communicators.h"

namespace lockstep::tracer::nccl {

class NvtxIssues {
 public:
  static constexpr std::size_t kMaxPending = 65536;
  static constexpr std::string_view kDomain = "NCCL";

  NvtxIssues(trace::Writer& writer, Communicators& communicators, Batches& batches)
      : writer_(writer), communicators_(communicators), batches_(batches) {}

  // A push/pop range of the domain has ended on that thread.
  void range(std::uint32_t thread, const trace::HostRange& range, std::span<const trace::Argument> arguments);
  void end_drain(std::uint64_t drain);
  void finish();

  std::uint64_t written() const { return written_; }
  std::uint64_t take_lost();

 private:
  enum class Field : std::uint8_t { communicator, bytes, root, peer, ranks, rank };
  struct Operation {
    trace::CollectiveIssue issue;
    std::uint64_t hash = 0;
    std::uint64_t bytes = 0;  // as NCCL counts them
    std::uint64_t drain = 0;
  };
  // ncclGroupStart to ncclGroupEnd: what is issued in between is launched at its end.
  struct Thread {
    std::uint32_t depth = 0;
    std::vector<Operation> grouped;
  };

  void learn_names();
  void end_group(Thread& thread, const trace::HostRange& range);
  void write(Operation& operation);

  trace::Writer& writer_;
  Communicators& communicators_;
  Batches& batches_;
  // What texts mean. The writer may give a text another id after a long time: all of them are kept.
  std::unordered_map<trace::StringId, trace::Operation> operations_;
  std::unordered_map<trace::StringId, Field> fields_;
  trace::StringId group_start_ = 0;
  trace::StringId group_end_ = 0;
  bool names_are_fresh_ = false;  // of this drain
  std::unordered_map<std::uint32_t, Thread> threads_;
  std::vector<Operation> pending_;
  std::map<std::pair<std::uint64_t, trace::Operation>, std::int64_t> sequences_;
  std::uint64_t drain_ = 0;
  std::uint64_t written_ = 0;
  std::uint64_t lost_ = 0;
};

}  // namespace lockstep::tracer::nccl
