#include "analyzer/import/run/interrupted.h"

#include <algorithm>

#include "analyzer/import/rank/rank_import.h"
#include "analyzer/model/hang_length.h"

namespace lockstep::analyzer::run {
namespace {

// A signal reaches the ranks and their recorder at once, and the recorder may take a while to note it.
constexpr Nanoseconds kNotedLate = 1'000'000'000;

bool is_sound(const trace::Collective& operation) {
  return operation.begin >= -kLatest && operation.end <= kLatest && operation.begin <= operation.end;
}

}  // namespace

std::vector<bool> closed_by_interruption(std::span<const trace::Collective> operations, Nanoseconds settled,
                                         Nanoseconds interrupted) {
  std::vector<bool> closed(operations.size(), false);
  if (interrupted == kUnknownTime || interrupted < -kLatest || interrupted > kLatest) return closed;
  const Nanoseconds since = interrupted - kNotedLate;
  Nanoseconds longest = -1, longest_at_start = 0, last_begin = -kLatest;
  for (const trace::Collective& operation : operations) {
    if (!is_sound(operation)) continue;
    last_begin = std::max(last_begin, operation.begin);
    if (operation.end >= since) continue;
    Nanoseconds& of = operation.begin < settled ? longest_at_start : longest;
    of = std::max(of, operation.end - operation.begin);
  }
  if (longest < 0) longest = longest_at_start;
  for (std::size_t i = 0; i < operations.size(); ++i) {
    const trace::Collective& operation = operations[i];
    closed[i] = is_sound(operation) && operation.end >= since && operation.end > last_begin &&
                operation.begin < interrupted && is_as_long_as_a_hang(interrupted - operation.begin, longest);
  }
  return closed;
}

OpenOperation as_open(const trace::Collective& operation, std::uint32_t name,
                      std::span<const std::uint32_t> groups) {
  OpenOperation open;
  open.begin = operation.begin;
  open.name = name;
  if (operation.group < groups.size()) open.group = groups[operation.group];
  open.operation = operation.operation;
  open.peer = operation.peer;
  open.sequence = operation.sequence;
  if (operation.bytes > 0) open.bytes = static_cast<std::int64_t>(operation.bytes);
  open.data_type = operation.data_type;
  return open;
}

}  // namespace lockstep::analyzer::run
