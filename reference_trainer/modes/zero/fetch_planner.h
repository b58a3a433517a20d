// Which parameters ZeRO-3 fetches, prefetches and releases, and when: the bookkeeping of DeepSpeed's
// parameter coordinator, without any tensor. The unit of use is a part of the model (an embedding, a layer, a
// head), visited once in forward and once in backward of each pass.
//
//   planner.begin_pass();
//   for each visit:
//     gather(planner.fetch(part));        // what of the part is missing; wait until the part is there
//     gather(planner.prefetch());         // what comes next, beside this part's compute
//     compute;
//     free(planner.release(part));
//   planner.drop_all() after the optimizer's update
//
// The first passes record the order of visits; prefetching begins when that is complete. Sizes in elements.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

namespace lockstep::trainer {

struct FetchLimits {
  std::int64_t prefetch_bucket = 0;        // stop adding parameters to a prefetch at this size
  std::int64_t max_live = 0;               // and at this many that are there
  std::int64_t max_reuse_distance = 0;     // keep what is used again within so many elements of visits
  std::int64_t persistence_threshold = 0;  // keep what is smaller
};

class FetchPlanner {
 public:
  // Parameters are numbered from 0 part by part. `elements[part]`: of each of its parameters.
  FetchPlanner(const std::vector<std::vector<std::int64_t>>& elements, const FetchLimits& limits);

  static constexpr int kRecordedPasses = 2;

  void begin_pass();
  // The parameters of `part` that are not there, ascending; from here on they are, as far as the planner
  // goes.
  std::vector<std::size_t> fetch(int part);
  // What to gather while the part just fetched computes, in the order of use.
  std::vector<std::size_t> prefetch();
  // The part has computed: which of its parameters are given up.
  std::vector<std::size_t> release(int part);
  // All that are there, persistent ones too: their values are old now.
  std::vector<std::size_t> drop_all();
  // Those below the threshold, ascending; from here on they are there.
  std::vector<std::size_t> fetch_persistent();

  std::int64_t persistent_elements() const;
  std::size_t parameters() const { return parameters_.size(); }
  std::size_t first_of(int part) const { return part_begins_[static_cast<std::size_t>(part)]; }
  std::size_t end_of(int part) const { return part_begins_[static_cast<std::size_t>(part) + 1]; }
  int part_of(std::size_t parameter) const { return parameters_[parameter].part; }
  std::int64_t live() const { return live_; }  // elements that are there; persistent ones don't count

 private:
  struct Parameter {
    int part = 0;
    std::int64_t elements = 0;
    bool persistent = false;
    bool there = false;
    int handled_until = -1;  // the latest visit of this pass for which its presence has been seen to
  };
  struct Use {
    std::size_t parameter;
    int visit;
  };
  bool complete() const { return passes_ > kRecordedPasses; }
  void add(std::size_t parameter);
  bool reused_soon(int part) const;

  std::vector<Parameter> parameters_;
  std::vector<std::size_t> part_begins_;  // and one past the end
  FetchLimits limits_;
  int passes_ = 0;
  int visit_ = -1;           // of this pass, counted from 0
  std::vector<int> visits_;  // parts in the order of a pass, as recorded
  std::deque<Use> queue_;    // uses to come in this pass that nobody has seen to
  std::int64_t live_ = 0;
};

}  // namespace lockstep::trainer
