// What the profiler itself cost the process, as far as Kineto tells: what it was asked to record besides, and
// the events in which it says that it worked.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/model/job.h"

namespace lockstep::analyzer::kineto {

class ProfilerCost {
 public:
  // A member of the document: with_stack, record_shapes, profile_memory, … where they are on.
  void setting(std::string_view key, std::string_view json);
  void python_call() { ++python_calls_; }
  void overhead(Nanoseconds duration);  // an event of category "overhead"

  Nanoseconds overhead_ns() const { return overhead_ns_; }  // of all its threads

  // What to tell people; empty where it was asked for nothing that costs the host much.
  std::string message() const;

 private:
  std::vector<std::string> settings_;
  std::uint64_t python_calls_ = 0;
  std::uint64_t overheads_ = 0;
  Nanoseconds overhead_ns_ = 0;
};

}  // namespace lockstep::analyzer::kineto
