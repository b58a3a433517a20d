// What a process computed and communicated on its own threads, where no device did: the operators and
// communication ranges of a profile of the CPU alone.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "analyzer/import/kineto/threads.h"
#include "analyzer/model/job.h"

namespace lockstep::analyzer::kineto {

// Whether an operator of this name computes by itself: `aten::mm`, `mylib::op`. Autograd's nodes only
// surround others; what trace/events/communication_names.h knows communicates.
bool computes(std::string_view name);

class OperatorTable {
 public:
  void add_computation(const TimeSpan& time, std::uint32_t thread, std::uint32_t name);
  // `torch_ccl::allreduce`: communication for as long as its thread is in it. If a range of the same
  // operation (below) begins within it, that one tells of the operation, and this one only issued it.
  void add_call(const TimeSpan& time, std::uint32_t thread, std::uint32_t name, Operation operation);
  // `gloo:all_reduce`: from its issue to its end, whichever thread it is written down under.
  void add_communication(const TimeSpan& time, std::uint32_t name, Operation operation);

  // Gives the rank the outermost computations of each thread that lie within no call which communicates, on a
  // lane of that thread, and the communication (of calls the outermost)
  // on lanes of its own, as many as run at once. Both are begun by their own threads: launched when they
  // begin. The table is used up.
  void give(const ThreadTable& threads, RankTrace& trace);

 private:
  struct Entry {
    TimeSpan time;
    std::uint32_t thread = 0;
    std::uint32_t name = 0;
    std::optional<Operation> operation;  // that it communicates; empty: it computes
  };
  void drop_calls_that_only_issue();

  std::vector<Entry> calls_;  // of threads
  std::vector<Entry> communications_;
};

}  // namespace lockstep::analyzer::kineto
