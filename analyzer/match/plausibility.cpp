#include <algorithm>

#include "analyzer/match/matcher.h"
#include "analyzer/match/uncertainty.h"

namespace lockstep::analyzer {
namespace {

// Ranks of an all-to-all may each send a different amount (all_to_all_v), and a barrier's payload means
// nothing.
bool sizes_must_agree(const Match& match) {
  return match.operation != Operation::all_to_all && match.operation != Operation::barrier;
}

// Whether `earlier` may end before `later` begins. A library may take a small message from its sender and
// keep it until the receiver comes, as NCCL does. A receiver has nothing to keep.
bool may_end_before(const Job& job, MatchRecord earlier, MatchRecord later, const Match& match) {
  return match.point_to_point && communication_of(job, earlier).operation == Operation::send &&
         communication_of(job, later).operation == Operation::recv;
}

}  // namespace

Operation collective_operation(const Communication& communication) {
  return communication.operation == Operation::send_recv ? Operation::all_to_all : communication.operation;
}

bool is_possible(const Job& job, const std::vector<MatchRecord>& records, const Match& match) {
  if (!match.point_to_point && !is_n_to_n(match.operation)) return true;
  Nanoseconds first_end = activity_of(job, records.front()).end;
  Nanoseconds last_begin = activity_of(job, records.front()).begin;
  for (const MatchRecord record : records) {
    first_end = std::min(first_end, activity_of(job, record).end);
    last_begin = std::max(last_begin, activity_of(job, record).begin);
  }
  if (first_end >= last_begin) return true;
  for (const MatchRecord one : records) {
    for (const MatchRecord other : records) {
      if (may_end_before(job, one, other, match)) continue;
      const std::int64_t gap = activity_of(job, other).begin - activity_of(job, one).end;
      if (gap > uncertainty_between(job.ranks[one.rank], job.ranks[other.rank])) return false;
    }
  }
  return true;
}

std::optional<Contradiction> compare_records(const Job& job, const std::vector<MatchRecord>& records,
                                             Match& match) {
  std::optional<MatchRecord> other;
  const Communication& first = communication_of(job, records.front());
  // The two directions of a pair are one send_recv.
  match.operation = match.point_to_point ? Operation::send_recv : collective_operation(first);
  MatchRecord sized = records.front(), typed = records.front();
  for (const MatchRecord record : records) {
    const Communication& communication = communication_of(job, record);
    if (!match.point_to_point && collective_operation(communication) != match.operation) {
      match.disagreement.operation = true;
      if (!other) other = record;
    }
    if (communication.bytes >= 0) {
      if (match.bytes < 0) {
        match.bytes = communication.bytes;
        sized = record;
      } else if (match.bytes != communication.bytes) {
        if (sizes_must_agree(match)) {
          match.disagreement.bytes = true;
          if (!other) other = record;
        } else {
          match.bytes = std::max(match.bytes, communication.bytes);
        }
      }
    }
    if (communication.data_type != DataType::unknown) {
      if (match.data_type == DataType::unknown) {
        match.data_type = communication.data_type;
        typed = record;
      } else if (match.data_type != communication.data_type) {
        match.disagreement.data_type = true;
        if (!other) other = record;
      }
    }
    if (!match.point_to_point && match.root == kNoRank) match.root = communication.peer;
  }
  if (!match.disagreement.any()) return std::nullopt;
  if (match.disagreement.bytes) match.bytes = -1;
  if (match.disagreement.data_type) match.data_type = DataType::unknown;
  const MatchRecord one = match.disagreement.operation ? records.front()
                          : match.disagreement.bytes   ? sized
                                                       : typed;
  return Contradiction{match.group, match.position, match.evidence, match.disagreement, one, *other};
}

}  // namespace lockstep::analyzer
