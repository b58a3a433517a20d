#include "analyzer/align/precedence.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "analyzer/model/stopped.h"

namespace lockstep::analyzer {
namespace {

constexpr std::size_t kMaxClocksInPairs = 4;

// One clock's side of an operation: it began on all of the clock's ranks at `arrival` and had ended nowhere
// before `end`.
struct Side {
  std::uint32_t clock = 0;
  Nanoseconds arrival = std::numeric_limits<Nanoseconds>::min();
  Nanoseconds end = std::numeric_limits<Nanoseconds>::max();
  std::int64_t resolution = 1;
};

class Collector {
 public:
  Collector(const Job& job, std::span<const std::uint32_t> clock_of_rank)
      : job_(job), clock_of_rank_(clock_of_rank) {}

  void add(const Matching& matching, const Match& match) {
    if (match.record_count < 2 || match.disagreement.operation) return;
    const std::span<const MatchRecord> records = matching.records_of(match);
    if (match.point_to_point) {
      add_message(records);
    } else if (is_n_to_n(match.operation)) {
      add_n_to_n(records);
    } else if (match.root != kNoRank) {
      add_rooted(match, records);
    }
  }

  std::vector<Precedence> take() { return std::move(precedences_); }

 private:
  Side side_of(MatchRecord record) const {
    const Activity& activity = activity_of(job_, record);
    return {clock_of_rank_[record.rank], activity.begin, activity.end, job_.ranks[record.rank].resolution_ns};
  }

  void precede(const Side& arrives, const Side& ends) {
    if (arrives.clock == ends.clock) return;
    const std::int64_t resolution = std::max(arrives.resolution, ends.resolution);
    precedences_.push_back(
        {arrives.clock, ends.clock, arrives.arrival, ends.end + (resolution > 1 ? resolution : 0)});
  }

  void add_message(std::span<const MatchRecord> records) {
    if (records.size() != 2) return;
    const auto operation = [this](MatchRecord record) { return communication_of(job_, record).operation; };
    for (const std::size_t sender : {0, 1})
      if (operation(records[sender]) == Operation::send && operation(records[1 - sender]) == Operation::recv)
        precede(side_of(records[sender]), side_of(records[1 - sender]));
  }

  void add_n_to_n(std::span<const MatchRecord> records) {
    sides_.clear();
    for (const MatchRecord record : records) sides_.push_back(side_of(record));
    std::sort(sides_.begin(), sides_.end(), [](const Side& a, const Side& b) { return a.clock < b.clock; });
    std::size_t count = 0;
    for (const Side& side : sides_) {
      if (count == 0 || sides_[count - 1].clock != side.clock) {
        sides_[count++] = side;
        continue;
      }
      Side& together = sides_[count - 1];
      together.arrival = std::max(together.arrival, side.arrival);
      together.end = std::min(together.end, side.end);
      together.resolution = std::max(together.resolution, side.resolution);
    }
    sides_.resize(count);
    const std::size_t hubs = count <= kMaxClocksInPairs ? count : 1;
    for (std::size_t hub = 0; hub < hubs; ++hub) {
      for (std::size_t other = hub + 1; other < count; ++other) {
        precede(sides_[hub], sides_[other]);
        precede(sides_[other], sides_[hub]);
      }
    }
  }

  void add_rooted(const Match& match, std::span<const MatchRecord> records) {
    const auto root = std::find_if(records.begin(), records.end(), [&](MatchRecord record) {
      return job_.ranks[record.rank].rank == match.root;
    });
    if (root == records.end()) return;
    const bool from_root = match.operation == Operation::broadcast || match.operation == Operation::scatter;
    const bool to_root = match.operation == Operation::reduce || match.operation == Operation::gather;
    for (const MatchRecord record : records) {
      if (from_root) precede(side_of(*root), side_of(record));
      if (to_root) precede(side_of(record), side_of(*root));
    }
  }

  const Job& job_;
  std::span<const std::uint32_t> clock_of_rank_;
  std::vector<Side> sides_;
  std::vector<Precedence> precedences_;
};

}  // namespace

std::vector<Precedence> find_precedences(const Job& job, const Matching& matching,
                                         std::span<const std::uint32_t> clock_of_rank,
                                         const std::stop_token& stop) {
  Collector collector(job, clock_of_rank);
  for (const Match& match : matching.matches) {
    throw_if_stopped(stop);
    collector.add(matching, match);
  }
  return collector.take();
}

}  // namespace lockstep::analyzer
