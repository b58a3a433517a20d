#include "analyzer/import/kineto/threads.h"

#include <fmt/format.h>

#include "analyzer/import/kineto/decimal_time.h"

namespace lockstep::analyzer::kineto {

std::uint32_t ThreadTable::find(std::string_view process, std::string_view thread) {
  // Events of one thread come in long rows.
  if (last_ < threads_.size() && threads_[last_].thread == thread && threads_[last_].process == process)
    return last_;
  key_.assign(process).append(1, '\0').append(thread);
  const auto [where, fresh] = ids_.emplace(key_, static_cast<std::uint32_t>(threads_.size()));
  if (fresh) threads_.push_back({std::string(process), std::string(thread), {}});
  return last_ = where->second;
}

JobLane ThreadTable::lane(std::uint32_t thread) const {
  const Thread& t = threads_[thread];
  JobLane lane;
  lane.kind = trace::LaneKind::host_thread;
  lane.handle = static_cast<std::uint64_t>(whole_number(t.thread).value_or(0));
  lane.name = t.name.empty() ? fmt::format("thread {}", t.thread) : t.name;
  return lane;
}

}  // namespace lockstep::analyzer::kineto
