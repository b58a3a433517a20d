#include "analyzer/operators/part_table.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "analyzer/intervals/median.h"

namespace lockstep::analyzer {
namespace {

// Of a part, or of several: [rank][step].
using ByRank = std::vector<std::vector<std::int64_t>>;

struct Times {
  std::int64_t own_ns = 0, others_ns = 0;  // Σ over steps
  std::int64_t excess_ns() const { return own_ns - others_ns; }
};

Times times_of(const ByRank& by_rank) {
  Times times;
  for (std::size_t step = 0; step < by_rank.front().size(); ++step) {
    std::vector<std::int64_t> others;
    for (std::size_t rank = 1; rank < by_rank.size(); ++rank) others.push_back(by_rank[rank][step]);
    times.own_ns += by_rank[0][step];
    times.others_ns += lower_median(std::move(others));
  }
  return times;
}

class Sums {
 public:
  Sums(std::size_t ranks, std::size_t steps)
      : all_(ranks, std::vector<std::int64_t>(steps)), ranks_(ranks), steps_(steps) {}

  void add(std::size_t rank, std::uint32_t operation, const std::vector<std::int64_t>& times) {
    ByRank& of_operation =
        of_.try_emplace(operation, ranks_, std::vector<std::int64_t>(steps_)).first->second;
    for (std::size_t step = 0; step < times.size(); ++step) {
      all_[rank][step] += times[step];
      of_operation[rank][step] += times[step];
    }
  }

  Times times() const { return times_of(all_); }
  // The operator that holds most of it; 0 where that is not enough.
  std::uint32_t telling_operation() const {
    const std::int64_t excess = times().excess_ns();
    std::pair<std::int64_t, std::uint32_t> most;
    for (const auto& [operation, by_rank] : of_)
      most = std::max(most, std::pair(times_of(by_rank).excess_ns(), operation));
    const bool holds = excess > 0 && static_cast<double>(most.first) >= static_cast<double>(excess) * kHolds;
    return holds ? most.second : 0;
  }

 private:
  ByRank all_;
  std::map<std::uint32_t, ByRank> of_;
  std::size_t ranks_, steps_;
};

}  // namespace

ComparedParts table_of_parts(std::span<const PartTimes> ranks, const StringTable& strings,
                             std::size_t steps) {
  ComparedParts table;
  if (ranks.size() < 2) return table;
  table.steps = static_cast<std::int64_t>(steps);
  table.others = static_cast<std::int32_t>(ranks.size() - 1);
  const bool by_module = has_modules(ranks.front());  // all or none has
  std::map<std::uint32_t, Sums> sums;                 // by module, or by operator
  for (std::size_t rank = 0; rank < ranks.size(); ++rank)
    for (const auto& [part, times] : ranks[rank])
      sums.try_emplace(by_module ? part.module : part.operation, ranks.size(), steps)
          .first->second.add(rank, part.operation, times);
  for (const auto& [name, of_part] : sums) {
    const Times times = of_part.times();
    ComparedPart row;
    if (by_module) row.module = strings.view(name);
    row.operation = strings.view(by_module ? of_part.telling_operation() : name);
    row.own_ns = times.own_ns;
    row.others_ns = times.others_ns;
    table.rows.push_back(std::move(row));
  }
  std::sort(table.rows.begin(), table.rows.end(), [](const ComparedPart& a, const ComparedPart& b) {
    return std::tuple(-a.excess_ns(), a.module, a.operation) <
           std::tuple(-b.excess_ns(), b.module, b.operation);
  });
  if (table.rows.size() > kMaxPartRows + 1) {
    ComparedPart rest;
    rest.is_rest = true;
    for (std::size_t i = kMaxPartRows; i < table.rows.size(); ++i) {
      rest.own_ns += table.rows[i].own_ns;
      rest.others_ns += table.rows[i].others_ns;
    }
    table.rows.resize(kMaxPartRows);
    table.rows.push_back(std::move(rest));
  }
  return table;
}

}  // namespace lockstep::analyzer
