// ZeRO stage 3: parameters are cut up too, and whole for their use alone. Before a part of the model
// computes, what is missing of it is gathered in one piece; then, once the order of the parts is known, what
// comes next is prefetched while it computes (fetch_planner.h decides what).
//
// Issue order of a visit, AG all-gather, RS reduce-scatter, C compute:
//
//   AG missing, wait, AG prefetched, [RS of a bucket that has no room for what comes], C, release
//
// After the optimizer's update, whatever is left is released, and the persistent parameters gathered again.
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "reference_trainer/modes/zero/coalesced.h"
#include "reference_trainer/modes/zero/fetch_planner.h"
#include "reference_trainer/modes/zero/shard_store.h"
#include "reference_trainer/modes/zero/zero_strategy.h"
#include "reference_trainer/streams/stream.h"

namespace lockstep::trainer {

class ShardedParameters : public ZeroStrategy {
 public:
  explicit ShardedParameters(const StrategyContext& context);

  void after_update() override;
  std::vector<at::Tensor> parameter_stores() const override;
  // Parameters below the persistence threshold are whole on every rank besides.
  StateBytes theory(std::int64_t elements) const override;

 protected:
  void begin_pass() override { planner_.begin_pass(); }
  void before_part(int part) override;
  void after_part(int part) override;

 private:
  struct Gather {
    std::vector<std::size_t> members;
    Coalesced parts;
    Event done;
  };
  // "layer 3", or "layer 3 to head", where they belong to several parts.
  std::string name_of(const std::vector<std::size_t>& list) const;
  void gather(const std::vector<std::size_t>& list, const std::string& name);
  void wait_for(const std::vector<std::size_t>& list);
  void free(const std::vector<std::size_t>& list);

  FetchPlanner planner_;
  std::unique_ptr<ShardStore> shards_;              // null: the optimizer's weights are the parts
  std::vector<std::shared_ptr<Gather>> in_flight_;  // of each parameter; null: whole, or not there
  std::deque<Event> outstanding_;
};

}  // namespace lockstep::trainer
