#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "analyzer/match/matcher.h"
#include "analyzer/model/stopped.h"

namespace lockstep::analyzer {
namespace {

// How a group's records say which operation of the group they are.
enum class Numbering : std::uint8_t { order, sequence, function_sequence };

// One record's number, and what it was for.
struct Numbered {
  std::uint32_t group = 0;
  std::int64_t sequence = 0;
  Operation operation = Operation::unknown;
  bool operator<(const Numbered& other) const {
    return std::tie(group, sequence) < std::tie(other.group, other.sequence);
  }
};

// Groups in which this rank uses one number for two different operations. Sorts `numbered`.
void find_numbers_per_function(std::vector<Numbered>& numbered, std::vector<bool>& per_function) {
  if (!std::is_sorted(numbered.begin(), numbered.end())) std::stable_sort(numbered.begin(), numbered.end());
  for (std::size_t i = 1; i < numbered.size(); ++i) {
    const Numbered &one = numbered[i - 1], &other = numbered[i];
    if (one.group == other.group && one.sequence == other.sequence && one.operation != other.operation) {
      per_function[one.group] = true;
    }
  }
}

// Sequence numbers are used where every rank of the group has some. They count per operation (as NCCL's do)
// where one rank uses a number for two different operations.
std::vector<Numbering> numbering_of_groups(const Job& job, const GroupTable& table,
                                           const std::vector<MatchRecord>& records) {
  const std::size_t count = table.groups.size();
  std::vector<std::set<std::uint32_t>> ranks(count), numbered_ranks(count);
  std::vector<bool> per_function(count, false);
  std::vector<Numbered> numbered;  // of one rank
  for (std::size_t i = 0; i < records.size(); ++i) {
    const Communication& communication = communication_of(job, records[i]);
    const std::uint32_t group = table.group_of(job.ranks[records[i].rank].rank, communication);
    ranks[group].insert(records[i].rank);
    if (communication.sequence != kNoSequence) {
      numbered_ranks[group].insert(records[i].rank);
      numbered.push_back({group, communication.sequence, communication.operation});
    }
    if (i + 1 == records.size() || records[i + 1].rank != records[i].rank) {
      find_numbers_per_function(numbered, per_function);
      numbered.clear();
    }
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

// A record and the place it claims in its group's history. Records with equal places on different ranks are
// one operation.
struct Claim {
  std::int64_t position = 0;  // the number, or how many of its kind the rank had before
  std::uint32_t group = 0;
  std::uint8_t kind = 0;  // separates operations; 0 where the number counts all of them
  Evidence evidence = Evidence::order;
  MatchRecord record;
  auto place() const { return std::tie(group, evidence, kind, position); }
};

// Claims of all records that can be matched, sorted by place; records of a place stay sorted by rank.
std::vector<Claim> make_claims(const Job& job, const GroupTable& table,
                               const std::vector<MatchRecord>& records, Matching& matching,
                               const std::stop_token& stop) {
  const std::vector<Numbering> numbering = numbering_of_groups(job, table, records);
  std::vector<Claim> claims;
  claims.reserve(records.size());
  std::map<std::pair<std::uint32_t, std::uint8_t>, std::int64_t>
      unnumbered;  // of one rank, by group and kind
  std::uint32_t current_rank = 0;
  for (const MatchRecord record : records) {
    if (record.rank != current_rank) {
      throw_if_stopped(stop);
      unnumbered.clear();
    }
    current_rank = record.rank;
    const Communication& communication = communication_of(job, record);
    const std::uint32_t group = table.group_of(job.ranks[record.rank].rank, communication);
    const bool implicit = group == table.implicit_group();
    if (table.is_unknown(group)) {
      add_alone(job, record, group, Evidence::none, matching);
      continue;
    }
    // NCCL's send_recv kernels take numbers that differ between ranks: they match by order.
    const bool numbered = !implicit && numbering[group] != Numbering::order &&
                          communication.sequence != kNoSequence &&
                          communication.operation != Operation::send_recv;
    Claim claim;
    claim.group = group;
    claim.evidence = evidence_of(numbering[group], numbered, implicit);
    if (claim.evidence != Evidence::sequence) {
      claim.kind = static_cast<std::uint8_t>(static_cast<int>(collective_operation(communication)) + 1);
    }
    claim.position = numbered ? communication.sequence : unnumbered[{group, claim.kind}]++;
    claim.record = record;
    claims.push_back(claim);
  }
  std::stable_sort(claims.begin(), claims.end(),
                   [](const Claim& a, const Claim& b) { return a.place() < b.place(); });
  return claims;
}

}  // namespace

void match_collectives(const Job& job, const GroupTable& table, const std::vector<MatchRecord>& records,
                       Matching& matching, const std::stop_token& stop) {
  const std::vector<Claim> claims = make_claims(job, table, records, matching, stop);
  std::vector<std::vector<MatchRecord>>
      occurrences;  // of one place: the k-th claim of each rank belong together
  for (std::size_t first = 0, last = 0; first < claims.size(); first = last) {
    throw_if_stopped(stop);
    occurrences.clear();
    std::size_t occurrence = 0;
    for (; last < claims.size() && claims[last].place() == claims[first].place(); ++last) {
      const bool again = last > first && claims[last].record.rank == claims[last - 1].record.rank;
      occurrence = again ? occurrence + 1 : 0;
      if (occurrence == occurrences.size()) occurrences.emplace_back();
      occurrences[occurrence].push_back(claims[last].record);
    }
    const Claim& claim = claims[first];
    const MatchGroup& group = table.groups[claim.group];
    Match match;
    match.group = claim.group;
    match.evidence = claim.evidence;
    match.position = claim.position;
    const bool numbered =
        claim.evidence == Evidence::sequence || claim.evidence == Evidence::function_sequence;
    match.sequence = numbered ? claim.position : kNoSequence;
    for (const std::vector<MatchRecord>& together : occurrences) {
      match.partial = group.has_unnamed || static_cast<std::int32_t>(together.size()) < group.size;
      add_match(job, together, match, matching);
    }
  }
}

}  // namespace lockstep::analyzer
