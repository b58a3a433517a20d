#include "analyzer/metrics/bucket_overlap.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "analyzer/intervals/median.h"
#include "analyzer/model/operation.h"
#include "analyzer/model/stopped.h"
#include "base/time_math.h"

namespace lockstep::analyzer {
namespace {

using Group = std::pair<std::string, std::vector<std::int32_t>>;
using GroupOperations = std::pair<Group, Operation>;  // what positions are counted in
// The program's name; where it has none, the position within the step.
using Place = std::pair<std::string, std::int64_t>;

class BucketSum {
 public:
  void add(const CollectiveReport& c, std::int64_t position,
           const std::function<bool(std::int32_t)>& counts) {
    ++row_.count;
    first_positions_.try_emplace(first_positions_.end(), *c.step, position);  // steps mostly come in order
    if (c.bytes) sizes_.push_back(*c.bytes);
    waits_known_ = waits_known_ || c.waits_known();
    for (const CollectiveRank& rank : c.ranks) {
      if (!counts(rank.rank)) continue;
      ++row_.records;
      row_.transfer_ns = saturating_add(row_.transfer_ns, rank.transfer_ns);
      wait_ns_ = saturating_add(wait_ns_, rank.wait_ns);
      hidden_ns_ = saturating_add(hidden_ns_, rank.covered_ns);
      hidden_wait_ns_ = saturating_add(hidden_wait_ns_, rank.hidden_ns);
      hidden_known_ = hidden_known_ && rank.hidden_known;
    }
  }

  BucketReport finish(const GroupOperations& of, const Place& place) && {
    row_.group_name = of.first.first;
    row_.group_ranks = of.first.second;
    row_.operation = of.second;
    row_.name = place.first;
    row_.steps = static_cast<std::int64_t>(first_positions_.size());
    std::vector<std::int64_t> positions;
    for (const auto& [step, position] : first_positions_) positions.push_back(position);
    row_.position = lower_median(std::move(positions));
    if (static_cast<std::int64_t>(sizes_.size()) == row_.count) row_.bytes = lower_median(std::move(sizes_));
    if (waits_known_) row_.wait_ns = wait_ns_;
    if (!hidden_known_) return std::move(row_);
    row_.hidden_ns = hidden_ns_;
    // Where nobody knows who waited, the waits are 0 and all of it is transfer.
    row_.exposed_transfer_ns = row_.transfer_ns - (hidden_ns_ - hidden_wait_ns_);
    if (waits_known_) row_.exposed_wait_ns = wait_ns_ - hidden_wait_ns_;
    return std::move(row_);
  }

 private:
  BucketReport row_;
  std::map<std::int64_t, std::int64_t> first_positions_;  // by step
  std::vector<std::int64_t> sizes_;
  bool waits_known_ = false, hidden_known_ = true;
  std::int64_t wait_ns_ = 0, hidden_ns_ = 0, hidden_wait_ns_ = 0;
};

struct OfOperation {
  std::map<Place, BucketSum> places;
  std::map<std::int64_t, std::int64_t> issued;  // by step: how many so far

  // Most are of the step of the one before.
  std::int64_t next_position(std::int64_t step) {
    if (issued.empty() || issued.rbegin()->first != step) return issued[step]++;
    return issued.rbegin()->second++;
  }
};

}  // namespace

std::vector<BucketReport> summarise_buckets(const Report& report,
                                            const std::function<bool(std::int32_t)>& counts,
                                            const std::stop_token& stop) {
  std::map<GroupOperations, OfOperation> sums;
  auto found_last = sums.end();  // most come in a row: nothing is copied to find it again
  for (const CollectiveReport& c : report.collectives) {
    throw_if_stopped(stop);
    if (!c.step || is_point_to_point(c.operation)) continue;
    const auto is_of = [&c](const GroupOperations& of) {
      return of.second == c.operation && of.first.first == c.group_name && of.first.second == c.group_ranks;
    };
    if (found_last == sums.end() || !is_of(found_last->first))
      found_last = sums.try_emplace({{c.group_name, c.group_ranks}, c.operation}).first;
    const std::int64_t position = found_last->second.next_position(*c.step);
    found_last->second.places[{c.name, c.name.empty() ? position : 0}].add(c, position, counts);
  }
  // Rows come by group and operation; what takes longest goes first.
  struct Row {
    BucketReport bucket;
    std::size_t group = 0, operation = 0;
  };
  std::vector<Row> found;
  std::vector<std::int64_t> group_time, operation_time;
  const Group* last = nullptr;
  for (auto& [of, of_operation] : sums) {
    if (last == nullptr || of.first != *last) group_time.push_back(0);
    last = &of.first;
    operation_time.push_back(0);
    for (auto& [place, sum] : of_operation.places) {
      found.push_back({std::move(sum).finish(of, place), group_time.size() - 1, operation_time.size() - 1});
      const BucketReport& bucket = found.back().bucket;
      const std::int64_t ns = saturating_add(bucket.transfer_ns, bucket.wait_ns.value_or(0));
      group_time.back() = saturating_add(group_time.back(), ns);
      operation_time.back() = saturating_add(operation_time.back(), ns);
    }
  }
  std::stable_sort(found.begin(), found.end(), [&](const Row& a, const Row& b) {
    const auto order = [&](const Row& row) {
      return std::tuple(-group_time[row.group], row.group, -operation_time[row.operation], row.operation,
                        row.bucket.position);
    };
    return order(a) < order(b);
  });
  std::vector<BucketReport> rows;
  rows.reserve(found.size());
  for (Row& row : found) rows.push_back(std::move(row.bucket));
  return rows;
}

}  // namespace lockstep::analyzer
