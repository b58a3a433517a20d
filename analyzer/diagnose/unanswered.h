// Collectives to which a rank never came, though its trace was recorded: what those who came waited in, until
// the job was ended, or until they gave up.
#pragma once

#include <compare>
#include <cstdint>
#include <vector>

#include "analyzer/model/job.h"

namespace lockstep::analyzer {

// One operation of a job. A message is told from others by its two sides.
struct OperationKey {
  std::uint32_t group = kNone;          // kNone: not known
  std::int64_t sequence = kNoSequence;  // within the group; of a message: among those between its two sides
  std::int32_t source = kNoRank;        // of a message
  std::int32_t destination = kNoRank;
  bool is_message() const { return source != kNoRank || destination != kNoRank; }
  // NOLINTNEXTLINE(modernize-use-nullptr): what the compiler makes of it compares with 0
  friend auto operator<=>(const OperationKey&, const OperationKey&) = default;
};

// One rank in the collective.
struct Participant {
  std::size_t rank = 0;  // index into Job::ranks
  Operation operation = Operation::unknown;
  std::uint32_t name = 0;  // StringTable
  Nanoseconds begin = 0;
  Nanoseconds end = kUnknownTime;  // kUnknownTime: still in it when its recording ended
};

struct UnansweredCollective {
  std::uint32_t group = kNone;
  std::int64_t sequence = kNoSequence;
  std::vector<Participant> participants;  // by index of rank; not empty
  std::vector<std::int32_t> missing;      // ranks; not empty
};

// Of every group and every rank of it with a trace: the first number after its last one, by its own file and
// by what others could not have ended without it, that another rank has come to. Nothing for a rank that left
// no trace, or none of the group's numbers, or whose file lost what came next: nobody knows what it issued.
// In the order of groups and numbers.
std::vector<UnansweredCollective> find_unanswered(const Job& job);

// A collective that one rank left out, and went on: nobody who came ever got any further in the group.
struct SkippedCollective {
  std::uint32_t group = kNone;
  std::int64_t sequence = kNoSequence;
  std::vector<Participant> participants;  // by index of rank; not empty
  Participant skipped_by;                 // in what it did instead: its next number in the group
  std::int64_t next_sequence = kNoSequence;
};

// Of each group the first one, if there is one; by begin of those who came. Nothing where the rank's
// recording lost events: then it may have been there.
std::vector<SkippedCollective> find_skipped(const Job& job);

// How long the rank was in it: to its end, or to the last that its trace knows of.
Nanoseconds time_in(const Job& job, const Participant& participant);

}  // namespace lockstep::analyzer
