// What findings of a hang say of ranks and operations.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "analyzer/diagnose/hung_operations.h"
#include "analyzer/diagnose/shown_by_others.h"
#include "analyzer/model/job.h"

namespace lockstep::analyzer::hang {

inline constexpr std::size_t kMaxNamed = 8;

// "rank 3", "ranks 0, 1, 2"; of more than kMaxNamed the first.
std::string named(const std::vector<std::int32_t>& ranks);

// Ranks of one hung operation that are in the same: all came to one number of a group, or to the two sides of
// a message, and not always to the same operation.
struct RanksInOne {
  std::vector<std::int32_t> ranks;
  OpenOperation operation;
  std::string what;        // "all_reduce", "recv from rank 4"
  Nanoseconds waited = 0;  // by the one that came first
};
std::vector<RanksInOne> by_operation(const Job& job, const std::vector<HungRank>& those);

// "group data parallel, number 3", "group 74 EXPERT_MODEL_PARALLEL_GROUP, number 20537"
std::string describe_place(const Job& job, const OperationKey& key);
// "all_reduce (group data parallel, number 3)", "recv from rank 4 (group stages)"
std::string describe(const Job& job, const OperationKey& key, const OpenOperation& operation);
std::string describe(const Job& job, const OperationKey& key, const RanksInOne& one);
// "rank 4 waits in send to rank 8; rank 8 waits in recv from rank 4 (group stages)"
std::string describe_waits(const Job& job, const OperationKey& key, const std::vector<HungRank>& those);

// A flight recorder notes where the last operation was called, not where the program is.
bool has_stacks(const Job& job);
// What a rank has left, in a word.
std::string file_of(const Job& job);

// What is known of a rank that did not come; with looks at its Python, where it was last seen.
enum class Looks : std::uint8_t { left_out, told };
std::string what_is_known_of(const Job& job, const ShownByOthers& others, const OperationKey& key,
                             std::int32_t rank, Looks looks);

// Ranks of which nobody knows whether they came.
struct UnknownRanks {
  std::vector<std::int32_t> without_trace, damaged;
};
UnknownRanks sort_unknown(const Job& job, const std::vector<std::int32_t>& unknown);
// "rank 5 left no trace", "the dump of rank 3 is cut or damaged", or both: why nobody knows whether they
// came.
std::string why_unknown(const Job& job, const std::vector<std::int32_t>& unknown);
std::string what_to_collect(const Job& job, const std::vector<std::int32_t>& unknown);

}  // namespace lockstep::analyzer::hang
