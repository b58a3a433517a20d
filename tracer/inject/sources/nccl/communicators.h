// The communicators of a process, as its plugin calls or its NVTX ranges tell of them, and their groups in
// the file. On the writer thread.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>

#include "trace/writer.h"
#include "tracer/inject/sources/nccl/records.h"

namespace lockstep::tracer::nccl {

struct Communicator {
  std::uint64_t hash = 0;  // the same on all ranks; 0: not known
  std::int32_t rank = trace::kNoRank;
  std::int32_t ranks = 0;  // 0: not known
  std::string name;        // as the program called it; may be empty
};

class Communicators {
 public:
  static constexpr std::size_t kMost = 65536;

  // The plugin tells of it.
  void begin(const CommunicatorRecord& record, std::string_view name, std::uint64_t drain);
  void end(std::uint32_t context, std::uint64_t drain);
  // An operation tells of it, as before v4.
  void learn(std::uint32_t context, std::uint64_t hash, std::int32_t rank);
  // An NVTX range tells of it. What the plugin said stands.
  void learn_from_range(const Communicator& communicator);

  // nullptr if it was never told of, or is gone.
  const Communicator* of_context(std::uint32_t context) const;
  // Empty but for the hash if nobody told of it.
  Communicator of_hash(std::uint64_t hash) const;
  // Whether the plugin tells of this one: its NVTX ranges then say nothing new.
  bool plugin_knows(std::uint64_t hash) const;
  bool has_plugin() const { return has_plugin_; }

  // Its group in the file, made at first use; kNoGroup without a hash.
  trace::GroupId group(const Communicator& communicator, trace::Writer& writer);
  // Forgets those that ended before that drain.
  void forget_ended(std::uint64_t before_drain);
  // More than kMost were alive.
  std::uint64_t refused() const { return refused_; }

 private:
  struct Known {
    Communicator communicator;
    bool from_plugin = false;
  };
  void remember(const Communicator& communicator, bool from_plugin);

  std::unordered_map<std::uint32_t, Communicator> by_context_;
  std::unordered_map<std::uint32_t, std::uint64_t> ended_;  // context -> drain
  std::unordered_map<std::uint64_t, Known> by_hash_;
  std::map<std::pair<std::uint64_t, std::int32_t>, trace::GroupId> groups_;  // (hash, rank)
  bool has_plugin_ = false;
  std::uint64_t refused_ = 0;
};

}  // namespace lockstep::tracer::nccl
