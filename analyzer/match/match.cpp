#include "analyzer/match/match.h"

#include <algorithm>

#include "analyzer/match/matcher.h"
#include "analyzer/match/unfinished.h"
#include "analyzer/model/operation.h"
#include "analyzer/model/stopped.h"

namespace lockstep::analyzer {

const char* to_string(Evidence evidence) {
  switch (evidence) {
    case Evidence::sequence:
      return "sequence";
    case Evidence::function_sequence:
      return "function_sequence";
    case Evidence::order:
      return "order";
    case Evidence::order_all_ranks:
      return "order_all_ranks";
    case Evidence::rejected:
      return "rejected";
    case Evidence::none:
      return "none";
  }
  return "unknown";
}

const Communication& communication_of(const Job& job, MatchRecord record) {
  return job.ranks[record.rank].communications[record.communication];
}

const Activity& activity_of(const Job& job, MatchRecord record) {
  return job.ranks[record.rank].activities[communication_of(job, record).activity];
}

bool is_n_to_n(Operation operation) {
  switch (operation) {
    case Operation::all_reduce:
    case Operation::all_gather:
    case Operation::reduce_scatter:
    case Operation::all_to_all:
    case Operation::barrier:
      return true;
    default:
      return false;
  }
}

void add_alone(const Job& job, MatchRecord record, std::uint32_t group, Evidence evidence,
               Matching& matching) {
  const Communication& communication = communication_of(job, record);
  Match alone;
  alone.first_record = matching.records.size();
  alone.record_count = 1;
  alone.group = group;
  alone.operation = communication.operation;
  alone.data_type = communication.data_type;
  alone.evidence = evidence;
  alone.partial = true;
  alone.sequence = communication.sequence;
  alone.bytes = communication.bytes;
  matching.records.push_back(record);
  matching.matches.push_back(alone);
  if (evidence == Evidence::rejected || is_point_to_point(communication.operation)) ++matching.unmatched;
}

namespace {

bool is_by_order(const Match& match) {
  return match.evidence == Evidence::order || match.evidence == Evidence::order_all_ranks;
}

}  // namespace

void add_match(const Job& job, const std::vector<MatchRecord>& records, Match match, Matching& matching) {
  const std::optional<Contradiction> contradiction = compare_records(job, records, match);
  if (contradiction) matching.contradictions.push_back(*contradiction);
  const bool possible = !matching.by_times || is_possible(job, records, match);
  if (!possible) {
    ++matching.impossible;
    if (is_by_order(match)) ++matching.impossible_orders[match.group];
  }
  // A recorded sequence number outweighs a size that differs; an order does not. Two different operations
  // never meet.
  const bool by_number =
      match.evidence == Evidence::sequence || match.evidence == Evidence::function_sequence;
  const bool contradicted = match.disagreement.operation || (match.disagreement.any() && !by_number);
  if (!possible || contradicted) {
    for (const MatchRecord record : records)
      add_alone(job, record, match.group, Evidence::rejected, matching);
    return;
  }
  match.first_record = matching.records.size();
  match.record_count = static_cast<std::uint32_t>(records.size());
  matching.records.insert(matching.records.end(), records.begin(), records.end());
  matching.matches.push_back(match);
}

namespace {

// A single impossible match may be a clock's fault; from here on it is the order's.
constexpr std::int64_t kDisproved = 3;

// Takes apart what order alone joined in groups in which the times disprove most of it: operations are
// missing on one side, and what is left only looks possible.
void distrust_disproved_orders(const Job& job, Matching& matching) {
  const std::size_t count = matching.groups.size();
  std::vector<std::int64_t> believed(count, 0);
  for (const Match& match : matching.matches)
    if (is_by_order(match) && match.record_count > 1) ++believed[match.group];
  std::vector<bool> disproved(count, false);
  for (std::size_t group = 0; group < count; ++group) {
    const std::int64_t impossible = matching.impossible_orders[group];
    disproved[group] = impossible >= kDisproved && impossible > believed[group];
  }
  if (std::none_of(disproved.begin(), disproved.end(), [](bool group) { return group; })) return;
  Matching kept = matching;
  kept.matches.clear();
  kept.records.clear();
  for (const Match& match : matching.matches) {
    const std::span<const MatchRecord> records = matching.records_of(match);
    if (is_by_order(match) && match.record_count > 1 && disproved[match.group]) {
      ++kept.distrusted;
      for (const MatchRecord record : records) add_alone(job, record, match.group, Evidence::rejected, kept);
      continue;
    }
    kept.matches.push_back(match);
    kept.matches.back().first_record = kept.records.size();
    kept.records.insert(kept.records.end(), records.begin(), records.end());
  }
  matching = std::move(kept);
}

}  // namespace

namespace {

// Groups whose exchanges without direction and peer are an all-to-all: of more than two ranks, no pipeline,
// and every rank that left a trace has equally many. Others exchange with some of the group alone.
std::vector<bool> find_all_to_alls(const Job& job, const GroupTable& table) {
  std::vector<std::vector<std::int64_t>> counts(table.groups.size());
  for (std::size_t group = 0; group < counts.size(); ++group) {
    if (table.groups[group].size > 2 && !table.groups[group].pipeline)
      counts[group].assign(job.ranks.size(), 0);
  }
  for (std::size_t rank = 0; rank < job.ranks.size(); ++rank) {
    for (const Communication& communication : job.ranks[rank].communications) {
      std::vector<std::int64_t>& of_group = counts[table.group_of(job.ranks[rank].rank, communication)];
      if (!of_group.empty() && communication.operation == Operation::send_recv &&
          communication.peer == kNoRank)
        ++of_group[rank];
    }
  }
  std::vector<bool> result(counts.size(), false);
  for (std::size_t group = 0; group < counts.size(); ++group) {
    const std::vector<std::int32_t>& ranks = table.groups[group].ranks;
    std::int64_t least = -1, most = 0;
    for (std::size_t rank = 0; rank < counts[group].size(); ++rank) {
      if (!std::binary_search(ranks.begin(), ranks.end(), job.ranks[rank].rank)) continue;
      least = least < 0 ? counts[group][rank] : std::min(least, counts[group][rank]);
      most = std::max(most, counts[group][rank]);
    }
    result[group] = most > 0 && least == most;
  }
  return result;
}

}  // namespace

Matching match_communications(const Job& job, Times times, const std::stop_token& stop) {
  Matching matching;
  matching.by_times = times == Times::rule_out;
  const GroupTable table = build_groups(job);
  matching.groups = table.groups;
  matching.groups_of_records = table.of_records;
  matching.impossible_orders.assign(matching.groups.size(), 0);
  const std::vector<bool> all_to_alls = find_all_to_alls(job, table);
  std::vector<MatchRecord> collectives, p2p;
  for (std::uint32_t rank = 0; rank < job.ranks.size(); ++rank) {
    throw_if_stopped(stop);
    const std::vector<Communication>& communications = job.ranks[rank].communications;
    for (std::uint32_t index = 0; index < communications.size(); ++index) {
      const Communication& communication = communications[index];
      const std::uint32_t group = table.group_of(job.ranks[rank].rank, communication);
      if (is_point_to_point(communication.operation) && communication.peer == kNoRank &&
          table.is_unknown(group)) {
        add_alone(job, {rank, index}, group, Evidence::none, matching);
        continue;
      }
      const bool all_to_all = communication.operation == Operation::send_recv &&
                              communication.peer == kNoRank && all_to_alls[group];
      (is_point_to_point(communication.operation) && !all_to_all ? p2p : collectives)
          .push_back({rank, index});
    }
  }
  match_collectives(job, table, collectives, matching, stop);
  match_p2p(job, table, p2p, matching, stop);
  throw_if_stopped(stop);
  distrust_disproved_orders(job, matching);
  mark_unfinished(job, table, matching);
  return matching;
}

}  // namespace lockstep::analyzer
