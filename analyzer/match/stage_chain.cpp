#include "analyzer/match/stage_chain.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace lockstep::analyzer {
namespace {

// What one rank sends to another one, or receives from it, in one step.
struct Flow {
  Nanoseconds first = 0;  // begin
  Nanoseconds last = 0;   // end
  std::int64_t count = 0;
};
struct Exchange {
  Flow out, in;
};

class Chains {
 public:
  Chains(const Job& job, const GroupTable& table) : job_(job), table_(table) {
    for (const RankTrace& rank : job.ranks) add(rank);
  }

  bool is_chain(std::uint32_t group) const {
    const std::vector<std::int32_t>& ranks = table_.groups[group].ranks;
    const auto found = exchanges_.find(group);
    if (ranks.size() < 2 || found == exchanges_.end()) return false;
    std::int64_t count = 0;  // of each direction; 0: not known yet
    std::size_t directions = 0;
    for (const auto& [key, of_steps] : found->second) {
      const auto own = std::lower_bound(ranks.begin(), ranks.end(), key.first);
      if (own == ranks.end() || *own != key.first || !computes(key.first)) return false;
      const bool next = own + 1 != ranks.end() && *(own + 1) == key.second;
      const bool previous = own != ranks.begin() && *(own - 1) == key.second;
      if (!next && !previous) return false;
      std::int64_t out = 0, in = 0;
      for (const auto& [step, exchange] : of_steps) {
        out += exchange.out.count;
        in += exchange.in.count;
        if (!is_in_turn(next ? exchange.out : exchange.in, next ? exchange.in : exchange.out)) return false;
      }
      if (count == 0) count = out;
      if (out != count || in != count) return false;
      ++directions;
    }
    return directions == 2 * (ranks.size() - 1);
  }

 private:
  void add(const RankTrace& rank) {
    for (const Communication& communication : rank.communications) {
      const bool sends = communication.operation == Operation::send;
      if ((!sends && communication.operation != Operation::recv) || communication.peer == kNoRank) continue;
      const Activity& activity = rank.activities[communication.activity];
      if (activity.step == kNone && !rank.steps.empty())
        continue;  // setting up, or the next step's beginning
      Exchange& exchange = exchanges_[table_.group_of(rank.rank, communication)]
                                     [{rank.rank, communication.peer}][activity.step];
      Flow& flow = sends ? exchange.out : exchange.in;
      flow.first = flow.count == 0 ? activity.begin : std::min(flow.first, activity.begin);
      flow.last = flow.count == 0 ? activity.end : std::max(flow.last, activity.end);
      ++flow.count;
    }
  }

  static bool is_in_turn(const Flow& activations, const Flow& gradients) {
    return activations.count > 0 && gradients.count > 0 && activations.first < gradients.first &&
           activations.last < gradients.last;
  }

  bool computes(std::int32_t number) const {
    const auto rank =
        std::lower_bound(job_.ranks.begin(), job_.ranks.end(), number,
                         [](const RankTrace& trace, std::int32_t value) { return trace.rank < value; });
    return rank != job_.ranks.end() && rank->rank == number &&
           std::any_of(rank->activities.begin(), rank->activities.end(),
                       [](const Activity& activity) { return activity.activity_class == Class::compute; });
  }

  const Job& job_;
  const GroupTable& table_;
  // By group, then rank and the other one, then step of the rank.
  std::map<std::uint32_t, std::map<std::pair<std::int32_t, std::int32_t>, std::map<std::uint32_t, Exchange>>>
      exchanges_;
};

}  // namespace

std::vector<bool> find_stage_chains(const Job& job, const GroupTable& table) {
  const Chains chains(job, table);
  std::vector<bool> result;
  for (std::uint32_t group = 0; group < table.groups.size(); ++group)
    result.push_back(chains.is_chain(group));
  return result;
}

}  // namespace lockstep::analyzer
