#include "tracer/inject/sources/nccl/communicators.h"

#include <array>
#include <cinttypes>
#include <cstdio>

namespace lockstep::tracer::nccl {

void Communicators::begin(const CommunicatorRecord& record, std::string_view name, std::uint64_t) {
  has_plugin_ = true;
  if (by_context_.size() >= kMost) {
    ++refused_;
    return;
  }
  const Communicator communicator{record.hash, record.rank, record.ranks, std::string(name)};
  by_context_[record.context] = communicator;
  if (record.hash != 0) remember(communicator, true);
}

void Communicators::end(std::uint32_t context, std::uint64_t drain) {
  if (by_context_.contains(context)) ended_[context] = drain;
}

void Communicators::learn(std::uint32_t context, std::uint64_t hash, std::int32_t rank) {
  const auto found = by_context_.find(context);
  if (found == by_context_.end() || hash == 0 || found->second.hash == hash) return;
  found->second.hash = hash;
  found->second.rank = rank;
  remember(found->second, true);
}

void Communicators::learn_from_range(const Communicator& communicator) {
  if (communicator.hash != 0) remember(communicator, false);
}

void Communicators::remember(const Communicator& communicator, bool from_plugin) {
  const auto found = by_hash_.find(communicator.hash);
  if (found == by_hash_.end()) {
    if (by_hash_.size() < kMost) {
      by_hash_[communicator.hash] = {communicator, from_plugin};
    } else {
      ++refused_;
    }
    return;
  }
  Communicator& known = found->second.communicator;
  if (from_plugin && !found->second.from_plugin) {
    // Before v4 the plugin is not told how many ranks there are.
    const std::int32_t ranks = known.ranks;
    known = communicator;
    if (known.ranks == 0) known.ranks = ranks;
    found->second.from_plugin = true;
  } else if (from_plugin == found->second.from_plugin || known.ranks == 0) {
    if (communicator.ranks > 0) known.ranks = communicator.ranks;
    // One process with several ranks of a communicator: which one an operation is of, its context says.
    if (!from_plugin && communicator.rank != trace::kNoRank && !found->second.from_plugin) {
      known.rank = communicator.rank;
    }
  }
}

const Communicator* Communicators::of_context(std::uint32_t context) const {
  const auto found = by_context_.find(context);
  return found != by_context_.end() ? &found->second : nullptr;
}

Communicator Communicators::of_hash(std::uint64_t hash) const {
  const auto found = by_hash_.find(hash);
  if (found != by_hash_.end()) return found->second.communicator;
  Communicator unknown;
  unknown.hash = hash;
  return unknown;
}

bool Communicators::plugin_knows(std::uint64_t hash) const {
  const auto found = by_hash_.find(hash);
  return found != by_hash_.end() && found->second.from_plugin;
}

trace::GroupId Communicators::group(const Communicator& communicator, trace::Writer& writer) {
  if (communicator.hash == 0) return trace::kNoGroup;
  const auto [where, fresh] = groups_.try_emplace({communicator.hash, communicator.rank}, trace::kNoGroup);
  if (!fresh) return where->second;
  std::array<char, 40> name{};
  std::snprintf(name.data(), name.size(), "nccl 0x%016" PRIx64, communicator.hash);
  trace::Group group;
  group.name = name.data();
  group.description = communicator.name;
  group.own_rank = communicator.rank;
  group.size = communicator.ranks;
  return where->second = writer.add_group(group);
}

void Communicators::forget_ended(std::uint64_t before_drain) {
  std::erase_if(ended_, [&](const auto& ended) {
    if (ended.second >= before_drain) return false;
    by_context_.erase(ended.first);
    return true;
  });
}

}  // namespace lockstep::tracer::nccl
