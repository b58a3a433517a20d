#include "analyzer/diagnose/hang_arguments.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>
#include <vector>

#include "analyzer/diagnose/hang_words.h"
#include "analyzer/metrics/waits.h"
#include "analyzer/model/operation.h"

namespace lockstep::analyzer::hang {

bool has_one_size(Operation operation) {
  return operation == Operation::all_reduce || operation == Operation::broadcast ||
         operation == Operation::reduce;
}

namespace {

std::string root_of(const OpenOperation& one) {
  return is_rooted(one.operation) && one.peer != kNoRank ? fmt::format("rank {}", one.peer) : std::string();
}
std::string type_of(const OpenOperation& one) {
  return one.data_type == DataType::unknown ? std::string() : trace::to_string(one.data_type);
}
std::string size_of(const OpenOperation& one) {
  return has_one_size(one.operation) && one.bytes >= 0 ? fmt::format("{} B", one.bytes) : std::string();
}

struct Argument {
  const char* about;
  std::string (*value)(const OpenOperation&);
};
constexpr std::array<Argument, 3> kArguments{{{"root", root_of}, {"type", type_of}, {"size", size_of}}};

// As each rank calls it: those that are in it, and those that have it behind them (who sends a broadcast
// need not wait for those who receive it).
std::map<std::int32_t, OpenOperation> calls_of(const Job& job, const OperationKey& key,
                                               const HungOperation& hung) {
  std::map<std::int32_t, OpenOperation> calls;
  for (const HungRank& one : hung.waiting) calls[job.ranks[one.rank].rank] = one.operation;
  if (key.group == kNone || key.sequence == kNoSequence) return calls;
  for (const RankTrace& rank : job.ranks) {
    if (calls.contains(rank.rank)) continue;
    // It is among the last ones, or there is none: a group's numbers grow.
    const auto same_or_before =
        std::find_if(rank.communications.rbegin(), rank.communications.rend(), [&](const Communication& c) {
          return c.group == key.group && c.sequence != kNoSequence && c.sequence <= key.sequence &&
                 !is_point_to_point(c.operation);
        });
    if (same_or_before == rank.communications.rend() || same_or_before->sequence != key.sequence) continue;
    OpenOperation call;
    call.operation = same_or_before->operation;
    call.peer = same_or_before->peer;
    call.bytes = same_or_before->bytes;
    call.data_type = same_or_before->data_type;
    calls.emplace(rank.rank, call);
  }
  return calls;
}

}  // namespace

OtherArguments find_other_arguments(const Job& job, const OperationKey& key, const HungOperation& hung) {
  if (hung.waiting.empty() || key.is_message()) return {};
  const std::map<std::int32_t, OpenOperation> calls = calls_of(job, key, hung);
  const Operation operation = hung.waiting.front().operation.operation;
  if (is_point_to_point(operation) || std::any_of(calls.begin(), calls.end(), [&](const auto& call) {
        return call.second.operation != operation;
      }))
    return {};
  for (const Argument& argument : kArguments) {
    std::map<std::string, std::vector<std::int32_t>> by_value;
    for (const auto& [rank, call] : calls) {
      const std::string value = argument.value(call);
      if (!value.empty()) by_value[value].push_back(rank);
    }
    if (by_value.size() < 2) continue;
    std::vector<std::pair<std::vector<std::int32_t>, std::string>> by_rank;
    by_rank.reserve(by_value.size());
    for (const auto& [value, ranks] : by_value) by_rank.emplace_back(ranks, value);
    std::sort(by_rank.begin(), by_rank.end());
    std::vector<std::string> parts;
    parts.reserve(by_rank.size());
    for (const auto& [ranks, value] : by_rank)
      parts.push_back(fmt::format("{} {} {}", named(ranks), ranks.size() == 1 ? "gives" : "give", value));
    constexpr std::size_t kMost = 4;
    if (parts.size() > kMost) {
      parts.resize(kMost);
      parts.emplace_back("…");
    }
    return {argument.about, fmt::format("{}", fmt::join(parts, ", "))};
  }
  return {};
}

}  // namespace lockstep::analyzer::hang
