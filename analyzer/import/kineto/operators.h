// What a process computed and communicated on its own threads, where no device did: the operators and
// communication ranges of a profile of the CPU alone.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "analyzer/import/kineto/threads.h"
#include "analyzer/model/job.h"

namespace lockstep::analyzer::kineto {

// Whether an operator of this name computes by itself: `aten::mm`, `mylib::op`. Autograd's nodes and c10d's
// calls only surround others, or issue what runs elsewhere.
bool computes(std::string_view name);

class OperatorTable {
 public:
  void add_computation(const TimeSpan& time, std::uint32_t thread, std::uint32_t name);
  // `gloo:all_reduce`: from its issue to its end, whichever thread it is written down under.
  void add_communication(const TimeSpan& time, std::uint32_t name, Operation operation);

  // Gives the rank the outermost computations of each thread, on a lane of that thread, and the communication
  // on lanes of its own, as many as run at once. Both are begun by their own threads: launched when they
  // begin. The table is used up.
  void give(const ThreadTable& threads, RankTrace& trace);

 private:
  struct Entry {
    TimeSpan time;
    std::uint32_t thread = 0;
    std::uint32_t name = 0;
    Operation operation = Operation::unknown;
  };
  std::vector<Entry> computations_;
  std::vector<Entry> communications_;
};

}  // namespace lockstep::analyzer::kineto
