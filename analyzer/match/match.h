// Which records of different ranks are the same operation.
//
// In order of evidence: collectives whose group and sequence number were recorded match by (group, sequence);
// others by (group, operation, order of start). Traces that know no groups at all put every rank into one
// implicit group. Sends meet receives by order per (group, source, destination). A match that the times rule
// out is taken apart again. Definitions: docs/metrics.md, "Matching".
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <stop_token>
#include <string>
#include <tuple>
#include <vector>

#include "analyzer/model/job.h"

namespace lockstep::analyzer {

enum class Evidence : std::uint8_t {
  sequence,           // group and sequence number
  function_sequence,  // group, operation and sequence number, where the numbers count per operation
  order,              // group, operation and order
  order_all_ranks,    // operation and order; the trace knows no groups
  rejected,           // matched, but impossible or contradictory: the record stands alone
  none,               // its group is not known and the job has several: the record stands alone
};
const char* to_string(Evidence evidence);

// A process group as matching sees it: groups of equal name and ranks are one.
struct MatchGroup {
  std::string name;
  std::vector<std::int32_t> ranks;  // global, sorted
  std::int32_t size = 0;            // ranks, also those that the list does not name
  std::uint32_t job_group = kNone;  // Job::groups; kNone for the implicit group of all ranks
  bool pipeline = false;            // its description says so, or it is a chain of stages
  // Its messages go from rank to rank and back, as those of a pipeline's stages (stage_chain.h).
  bool stage_chain = false;
  // It has more ranks than are named, and nobody says how many: `size` counts those that are known.
  bool has_unnamed = false;
};

// Which of Matching::groups the records of the job's ranks are of.
struct GroupsOfRecords {
  std::vector<std::uint32_t> of_job_group;  // Job::groups -> Matching::groups
  std::uint32_t implicit_group = 0;
  // Of messages that go by another group than the pipeline whose stages exchange them (DeepSpeed sends by the
  // group of all ranks): (that group, the lower rank, the higher one) -> the pipeline.
  std::map<std::tuple<std::uint32_t, std::int32_t, std::int32_t>, std::uint32_t> of_pair;

  std::uint32_t find(std::int32_t rank, const Communication& communication) const;
};

struct MatchRecord {
  std::uint32_t rank = 0;           // Job::ranks (an index, not a global rank)
  std::uint32_t communication = 0;  // RankTrace::communications
};

// What the ranks' records contradict each other in.
struct Disagreement {
  bool operation = false, bytes = false, data_type = false;
  bool any() const { return operation || bytes || data_type; }
};

struct Match {
  std::size_t first_record = 0;
  std::uint32_t record_count = 0;
  std::uint32_t group = 0;  // Matching::groups
  Operation operation = Operation::unknown;
  DataType data_type = DataType::unknown;
  Evidence evidence = Evidence::order;
  bool point_to_point = false;  // two ranks, one message each way or one way
  bool partial = false;         // a participant has no record
  bool unfinished =
      false;  // a participant whose trace is there never came (unfinished.h): all of it is waiting
  Disagreement disagreement;
  std::int32_t root = kNoRank;  // global; of broadcast, scatter, reduce and gather, where known
  std::int64_t sequence = kNoSequence;
  std::int64_t position = 0;  // in its group: the sequence number, or how many of its kind were before
  std::int64_t bytes = -1;    // -1: not known, or the ranks disagree
};

// Ranks that disagree about what they do together: a bug of the job, or traces that do not start at the same
// operation.
struct Contradiction {
  std::uint32_t group = 0;
  std::int64_t position = 0;  // the sequence number, or the order
  Evidence evidence = Evidence::order;
  Disagreement disagreement;
  MatchRecord one, other;
};

struct Matching {
  std::vector<MatchGroup> groups;  // the last one is the implicit group of all ranks
  GroupsOfRecords groups_of_records;
  std::vector<Match> matches;
  std::vector<MatchRecord> records;  // of all matches; sorted by rank within each
  std::vector<Contradiction> contradictions;
  std::int64_t unmatched = 0;   // records of rejected matches, and point-to-point records without a partner
  bool by_times = true;         // impossible ones are rejected
  std::int64_t impossible = 0;  // matches rejected because a record ends before another one starts
  // Matches by order rejected because most of their group's were impossible: then the order is another one.
  std::int64_t distrusted = 0;
  std::vector<std::int64_t> impossible_orders;  // of `impossible`, those by order: by group

  std::span<const MatchRecord> records_of(const Match& match) const {
    return {records.data() + match.first_record, match.record_count};
  }
};

enum class Times : std::uint8_t {
  rule_out,  // a match that the clocks make impossible is taken apart
  ignore,    // for those who are about to find out what the clocks are worth
};

// Precondition: check_job(job) succeeded. O(n log n) in communications; activities are not walked.
Matching match_communications(const Job& job, Times times = Times::rule_out,
                              const std::stop_token& stop = {});

const Activity& activity_of(const Job& job, MatchRecord record);
const Communication& communication_of(const Job& job, MatchRecord record);

// Operations in which every participant needs data from every other one: none can end before the last
// arrives.
bool is_n_to_n(Operation operation);

}  // namespace lockstep::analyzer
