#include "analyzer/align/contradiction.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "analyzer/align/clock_warnings.h"
#include "analyzer/align/precedence.h"
#include "analyzer/align/solve.h"
#include "analyzer/match/match.h"
#include "analyzer/model/map_times.h"

namespace lockstep::analyzer {
namespace {

struct OffsetRange {
  std::uint32_t rank = 0;  // Job::ranks
  std::int64_t least = 0, most = 0;
};

// The offset that most ranks may have.
std::int64_t common_offset(const std::vector<OffsetRange>& ranges) {
  std::int64_t best = 0;
  std::ptrdiff_t most_ranks = -1;
  for (const OffsetRange& candidate : ranges) {
    const auto holders = std::count_if(ranges.begin(), ranges.end(), [&](const OffsetRange& range) {
      return range.least <= candidate.least && candidate.least <= range.most;
    });
    if (holders > most_ranks) best = candidate.least;
    most_ranks = std::max(most_ranks, holders);
  }
  return best;
}

}  // namespace

void separate_contradicting_ranks(Job& job, const std::stop_token& stop) {
  std::vector<std::uint32_t> assumed;
  for (std::uint32_t rank = 0; rank < job.ranks.size(); ++rank)
    if (job.ranks[rank].clock.domain == 0 && job.ranks[rank].clock.evidence == "assumed")
      assumed.push_back(rank);
  if (assumed.size() < 3) return;

  // Each a clock of its own; those that are no part of the question are one more.
  const auto others = static_cast<std::uint32_t>(job.ranks.size());
  std::vector<std::uint32_t> clock_of_rank(job.ranks.size(), others);
  for (const std::uint32_t rank : assumed) clock_of_rank[rank] = rank;
  ClockProblem problem;
  problem.reference = assumed.front();
  problem.precedences =
      find_precedences(job, match_communications(job, Times::ignore, stop), clock_of_rank, stop);
  std::erase_if(problem.precedences, [&](const Precedence& precedence) {
    return precedence.earlier_clock == others || precedence.later_clock == others;
  });
  if (std::none_of(problem.precedences.begin(), problem.precedences.end(),
                   [](const Precedence& precedence) { return precedence.earlier > precedence.later; }))
    return;
  for (const RankTrace& rank : job.ranks) problem.spans.push_back(span_of_events(rank).span);
  problem.spans.emplace_back();
  const ClockSolution solution = solve_clocks(problem, stop);
  if (!solution.consistent) return;

  std::vector<OffsetRange> ranges;
  for (const std::uint32_t rank : assumed) {
    const SolvedClock& solved = solution.clocks[rank];
    if (!solved.related || solved.to_reference.pieces().size() != 1) continue;
    const Nanoseconds middle = std::midpoint(problem.spans[rank].begin, problem.spans[rank].end);
    const std::int64_t offset = solved.to_reference(middle) - middle;
    ranges.push_back({rank, offset - solved.uncertainty_ns, offset + solved.uncertainty_ns});
  }
  const std::int64_t common = common_offset(ranges);
  std::vector<std::uint32_t> apart;
  for (const OffsetRange& range : ranges)
    if (common < range.least || common > range.most) apart.push_back(range.rank);
  if (apart.empty() || 2 * (ranges.size() - apart.size()) <= assumed.size()) return;

  std::uint32_t domain = 0;
  for (const RankTrace& rank : job.ranks) domain = std::max(domain, rank.clock.domain);
  std::vector<std::int32_t> named;
  for (const std::uint32_t rank : apart) {
    Clock& clock = job.ranks[rank].clock;
    clock.domain = ++domain;
    clock.related = false;
    clock.evidence = "none";
    named.push_back(job.ranks[rank].rank);
  }
  job.warnings.push_back({"clock_contradicted",
                          fmt::format("the times of rank {} can't be of the other ranks' clock, as their "
                                      "collectives show: taken to be of {} own",
                                      list_of_ranks(named), named.size() == 1 ? "its" : "their"),
                          named.size() == 1 ? named.front() : kNoRank});
}

}  // namespace lockstep::analyzer
