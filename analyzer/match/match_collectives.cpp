#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "analyzer/match/matcher.h"

namespace lockstep::analyzer {
namespace {

// How a group's records say which operation of the group they are.
enum class Numbering : std::uint8_t { order, sequence, function_sequence };

// Sequence numbers are used where every rank of the group has some. They count per operation (as NCCL's do)
// where one rank uses a number for two different operations.
std::vector<Numbering> numbering_of_groups(const Job& job, const GroupTable& table,
                                           const std::vector<MatchRecord>& records) {
  const std::size_t count = table.groups.size();
  std::vector<std::set<std::uint32_t>> ranks(count), numbered_ranks(count);
  // (rank, sequence) -> operation; one entry per record of a group, dropped when the rank is done.
  std::vector<std::map<std::int64_t, Operation>> operations(count);
  std::vector<bool> per_function(count, false);
  std::uint32_t current_rank = 0;
  for (const MatchRecord record : records) {
    if (record.rank != current_rank) {
      for (auto& numbers : operations) numbers.clear();
      current_rank = record.rank;
    }
    const Communication& communication = communication_of(job, record);
    const std::uint32_t group = table.group_of(communication);
    ranks[group].insert(record.rank);
    if (communication.sequence == kNoSequence) continue;
    numbered_ranks[group].insert(record.rank);
    const auto [entry, inserted] =
        operations[group].try_emplace(communication.sequence, communication.operation);
    if (!inserted && entry->second != communication.operation) per_function[group] = true;
  }
  std::vector<Numbering> result(count, Numbering::order);
  for (std::size_t group = 0; group + 1 < count; ++group) {
    if (numbered_ranks[group].size() < ranks[group].size()) continue;
    result[group] = per_function[group] ? Numbering::function_sequence : Numbering::sequence;
  }
  return result;
}

Evidence evidence_of(Numbering numbering, bool numbered, bool implicit) {
  if (implicit) return Evidence::order_all_ranks;
  if (!numbered) return Evidence::order;
  return numbering == Numbering::sequence ? Evidence::sequence : Evidence::function_sequence;
}

struct CollectiveClaim {
  Claim claim;
  Evidence evidence = Evidence::order;
  auto key() const { return std::tuple(claim.group, evidence, claim.kind, claim.position, claim.occurrence); }
};

}  // namespace

void match_collectives(const Job& job, const GroupTable& table, const std::vector<MatchRecord>& records,
                       Matching& matching) {
  const std::vector<Numbering> numbering = numbering_of_groups(job, table, records);
  std::vector<CollectiveClaim> claims;
  claims.reserve(records.size());
  // Per rank: what was claimed so far, by (group, numbered, kind, position); position 0 where it is what is
  // counted.
  std::map<std::tuple<std::uint32_t, bool, std::uint32_t, std::int64_t>, std::uint32_t> claimed;
  std::uint32_t current_rank = 0;
  for (const MatchRecord record : records) {
    if (record.rank != current_rank) {
      claimed.clear();
      current_rank = record.rank;
    }
    const Communication& communication = communication_of(job, record);
    const std::uint32_t group = table.group_of(communication);
    const bool implicit = group == table.implicit_group();
    if (implicit && !table.implicit_group_is_plausible) {
      add_alone(job, record, group, Evidence::none, matching);
      continue;
    }
    // NCCL's send_recv kernels take numbers that differ between ranks: they match by order.
    const bool numbered = !implicit && numbering[group] != Numbering::order &&
                          communication.sequence != kNoSequence &&
                          communication.operation != Operation::send_recv;
    CollectiveClaim entry;
    entry.evidence = evidence_of(numbering[group], numbered, implicit);
    entry.claim.group = group;
    entry.claim.kind = entry.evidence == Evidence::sequence
                           ? 0
                           : static_cast<std::uint32_t>(collective_operation(communication)) + 1;
    const std::int64_t position = numbered ? communication.sequence : 0;
    const std::uint32_t before = claimed[{group, numbered, entry.claim.kind, position}]++;
    entry.claim.position = numbered ? position : before;
    entry.claim.occurrence = numbered ? before : 0;
    entry.claim.record = record;
    claims.push_back(entry);
  }
  // Records came sorted by rank, and stay so within one key.
  std::stable_sort(claims.begin(), claims.end(),
                   [](const CollectiveClaim& a, const CollectiveClaim& b) { return a.key() < b.key(); });

  std::vector<MatchRecord> together;
  for (std::size_t first = 0, last = 0; first < claims.size(); first = last) {
    together.clear();
    while (last < claims.size() && claims[last].key() == claims[first].key()) {
      together.push_back(claims[last++].claim.record);
    }
    const CollectiveClaim& entry = claims[first];
    const MatchGroup& group = table.groups[entry.claim.group];
    // A send_recv that nobody else of the group has a counterpart of.
    const bool others_present = std::any_of(job.ranks.begin(), job.ranks.end(), [&](const RankTrace& rank) {
      return rank.rank != job.ranks[together.front().rank].rank &&
             std::binary_search(group.ranks.begin(), group.ranks.end(), rank.rank);
    });
    if (together.size() == 1 && others_present &&
        communication_of(job, together.front()).operation == Operation::send_recv) {
      ++matching.unmatched;
      continue;
    }
    Match match;
    match.group = entry.claim.group;
    match.evidence = entry.evidence;
    match.position = entry.claim.position;
    const bool numbered =
        entry.evidence == Evidence::sequence || entry.evidence == Evidence::function_sequence;
    match.sequence = numbered ? entry.claim.position : kNoSequence;
    match.partial = static_cast<std::int32_t>(together.size()) < group.size;
    add_match(job, together, match, matching);
  }
}

}  // namespace lockstep::analyzer
