// Operations that ended only because the job was interrupted.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "analyzer/model/job.h"
#include "trace/events/event.h"

namespace lockstep::analyzer::run {

// For each of a rank's operations: whether it was as long as a hang (analyzer/model/hang_length.h) when the
// job was interrupted at `interrupted`, ended only then, and nothing came after it. Whoever died first closed
// the connections that it waited on: that is no end. Operations that began before `settled`, while the job
// started, are no measure of how long they take, if there are others. O(n).
std::vector<bool> closed_by_interruption(std::span<const trace::Collective> operations, Nanoseconds settled,
                                         Nanoseconds interrupted);

// The same as one that never ended. `name`: the import's id of its name; `groups`: the import's, by the
// file's numbers.
OpenOperation as_open(const trace::Collective& operation, std::uint32_t name,
                      std::span<const std::uint32_t> groups);

}  // namespace lockstep::analyzer::run
