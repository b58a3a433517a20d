#include "analyzer/import/run/ending.h"

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>

#include "analyzer/import/rank/rank_import.h"
#include "base/numbers.h"

namespace lockstep::analyzer::run {
namespace {

std::optional<OpenOperation> open_operation(const trace::Reader& reader, const trace::OpenRange& range,
                                            std::span<const trace::Argument> arguments,
                                            const std::vector<std::uint32_t>& groups,
                                            const std::function<std::uint32_t(trace::StringId)>& name) {
  if (range.begin < -kLatest || range.begin > kLatest) return std::nullopt;
  OpenOperation operation;
  operation.begin = range.begin;
  operation.name = name(range.name);
  bool is_operation = false;
  for (const trace::Argument& argument : arguments) {
    const std::string_view key = reader.string(argument.key);
    if (key == "lockstep.operation") {
      is_operation = argument.bits <= static_cast<std::uint64_t>(Operation::send_recv);
      if (is_operation) operation.operation = static_cast<Operation>(argument.bits);
    } else if (key == "lockstep.group" && argument.bits < groups.size()) {
      operation.group = groups[argument.bits];
    } else if (key == "lockstep.sequence") {
      operation.sequence = static_cast<std::int64_t>(argument.bits);
    } else if (key == "lockstep.peer") {
      operation.peer = static_cast<std::int32_t>(argument.bits);
    } else if (key == "lockstep.bytes") {
      operation.bytes = static_cast<std::int64_t>(argument.bits);
    } else if (key == "lockstep.data_type" &&
               argument.bits <= static_cast<std::uint64_t>(DataType::float8_e5m2)) {
      operation.data_type = static_cast<DataType>(argument.bits);
    }
  }
  if (!is_operation) return std::nullopt;
  return operation;
}

}  // namespace

Status read_ending(const trace::Reader& reader, std::vector<trace::OpenRange> unfinished,
                   const std::vector<std::uint32_t>& groups,
                   const std::function<std::uint32_t(trace::StringId)>& name, Ending& ending) {
  std::sort(unfinished.begin(), unfinished.end(), [](const trace::OpenRange& a, const trace::OpenRange& b) {
    return std::tuple(a.begin, a.depth) < std::tuple(b.begin, b.depth);
  });
  std::vector<bool> taken(unfinished.size(), false);
  Status status = reader.read_with_arguments<trace::OpenRange>(
      trace::Selection{}, [&](const trace::OpenRange& range, std::span<const trace::Argument> arguments) {
        for (std::size_t i = 0; i < unfinished.size(); ++i) {
          if (taken[i] || unfinished[i] != range) continue;
          const std::optional<OpenOperation> operation =
              open_operation(reader, range, arguments, groups, name);
          if (!operation.has_value()) continue;
          taken[i] = true;
          ending.operations.push_back(*operation);
        }
      });
  std::stable_sort(ending.operations.begin(), ending.operations.end(),
                   [](const OpenOperation& a, const OpenOperation& b) { return a.begin < b.begin; });
  // What began after somebody ended the job is its end, not what it stood in.
  for (std::size_t i = 0; i < unfinished.size(); ++i)
    if (!taken[i] && (ending.interrupted == kUnknownTime || unfinished[i].begin <= ending.interrupted))
      ending.ranges.push_back(name(unfinished[i].name));
  const auto found = reader.metadata().find("hang");
  std::string_view noted = found == reader.metadata().end() ? std::string_view() : found->second;
  const auto time = take_number<Nanoseconds>(noted);
  if (time && *time >= -kLatest && *time <= kLatest) ending.hang_noted = *time;
  return status;
}

}  // namespace lockstep::analyzer::run
