#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "analyzer/match/matcher.h"
#include "analyzer/model/stopped.h"

namespace lockstep::analyzer {
namespace {

// Both sides of one direction, or of an exchange without direction, in order.
struct Channel {
  std::vector<MatchRecord> from, to;
  bool exchange = false;
};

// The other of a group's two ranks; kNoRank where the group has not exactly two.
std::int32_t other_of_two(const MatchGroup& group, std::int32_t rank) {
  if (group.ranks.size() != 2 || group.size != 2) return kNoRank;
  if (group.ranks[0] == rank) return group.ranks[1];
  return group.ranks[1] == rank ? group.ranks[0] : kNoRank;
}

Match pair_match(const GroupTable& table, std::uint32_t group, std::int64_t position) {
  Match match;
  match.group = group;
  match.point_to_point = true;
  match.position = position;
  match.evidence = group == table.implicit_group() ? Evidence::order_all_ranks : Evidence::order;
  return match;
}

}  // namespace

void match_p2p(const Job& job, const GroupTable& table, const std::vector<MatchRecord>& records,
               Matching& matching, const std::stop_token& stop) {
  // (group, direction or exchange, source, destination); for an exchange the smaller rank is the source.
  std::map<std::tuple<std::uint32_t, bool, std::int32_t, std::int32_t>, Channel> channels;
  for (const MatchRecord record : records) {
    const Communication& communication = communication_of(job, record);
    const std::int32_t own = job.ranks[record.rank].rank;
    const std::uint32_t group = table.group_of(own, communication);
    const bool exchange = communication.operation == Operation::send_recv;
    std::int32_t other = communication.peer;
    if (other == kNoRank || other == own) other = other_of_two(table.groups[group], own);
    if (other == kNoRank) {
      ++matching.unmatched;
      continue;
    }
    const bool is_source = exchange ? own < other : communication.operation == Operation::send;
    Channel& channel = channels[{group, exchange, is_source ? own : other, is_source ? other : own}];
    channel.exchange = exchange;
    (is_source ? channel.from : channel.to).push_back(record);
  }
  for (const auto& [key, channel] : channels) {
    throw_if_stopped(stop);
    const std::size_t all = channel.from.size() + channel.to.size();
    std::size_t pairs = std::min(channel.from.size(), channel.to.size());
    // Nothing says which one an exchange lacks: unequal counts are not paired at all.
    if (channel.exchange && channel.from.size() != channel.to.size()) pairs = 0;
    for (std::size_t i = 0; i < pairs; ++i) {
      std::vector<MatchRecord> together{channel.from[i], channel.to[i]};
      if (together[1].rank < together[0].rank) std::swap(together[0], together[1]);
      add_match(job, together, pair_match(table, std::get<0>(key), static_cast<std::int64_t>(i)), matching);
    }
    matching.unmatched += static_cast<std::int64_t>(all - 2 * pairs);
  }
}

}  // namespace lockstep::analyzer
