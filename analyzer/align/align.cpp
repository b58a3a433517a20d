#include "analyzer/align/align.h"

#include <algorithm>
#include <cstdlib>
#include <utility>
#include <vector>

#include "analyzer/align/clock_warnings.h"
#include "analyzer/align/contradiction.h"
#include "analyzer/align/precedence.h"
#include "analyzer/align/solve.h"
#include "analyzer/match/match.h"
#include "analyzer/model/map_times.h"
#include "analyzer/model/stopped.h"

namespace lockstep::analyzer {
namespace {

std::vector<std::uint32_t> domains_of(const Job& job) {
  std::vector<std::uint32_t> domains;
  for (const RankTrace& rank : job.ranks) domains.push_back(rank.clock.domain);
  return domains;
}

void add_exchanges(const Job& job, std::vector<Precedence>& precedences) {
  for (const ClockExchange& exchange : job.exchanges) {
    precedences.push_back({exchange.here, exchange.there, exchange.asked, exchange.heard});
    precedences.push_back({exchange.there, exchange.here, exchange.answered, exchange.received});
  }
}

ClockProblem problem_of(const Job& job, const std::stop_token& stop) {
  const std::vector<std::uint32_t> domains = domains_of(job);
  ClockProblem problem;
  std::uint32_t clocks = 1 + *std::max_element(domains.begin(), domains.end());
  for (const ClockExchange& exchange : job.exchanges)
    clocks = std::max({clocks, exchange.here + 1, exchange.there + 1});
  std::vector<EventSpan> spans(clocks);
  for (const RankTrace& rank : job.ranks) {
    EventSpan& span = spans[rank.clock.domain];
    const EventSpan of_rank = span_of_events(rank);
    if (!of_rank.any) continue;
    span.span = !span.any ? of_rank.span
                          : TimeSpan{std::min(span.span.begin, of_rank.span.begin),
                                     std::max(span.span.end, of_rank.span.end)};
    span.any = true;
  }
  for (const EventSpan& span : spans) problem.spans.push_back(span.span);
  problem.precedences = find_precedences(job, match_communications(job, Times::ignore, stop), domains, stop);
  add_exchanges(job, problem.precedences);
  return problem;
}

// Whether the wall clock, which says that nothing has to move, knows it better, and nothing speaks against
// it.
bool wall_clock_is_better(const Clock& clock, const SolvedClock& solved) {
  if (clock.evidence != "wall clock" || solved.uncertainty_ns <= kWallClockUncertaintyNs) return false;
  const std::vector<ClockMap::Piece>& pieces = solved.to_reference.pieces();
  return std::all_of(pieces.begin(), pieces.end(), [&](const ClockMap::Piece& piece) {
    return std::abs(piece.offset) <= solved.uncertainty_ns + kWallClockUncertaintyNs;
  });
}

void apply(const SolvedClock& solved, const char* evidence, RankTrace& rank) {
  Clock& clock = rank.clock;
  if (!solved.related || wall_clock_is_better(clock, solved)) return;
  const EventSpan events = span_of_events(rank);
  if (!solved.to_reference.is_identity() && !map_times(rank, solved.to_reference)) return;
  const Nanoseconds middle = events.span.begin + (events.span.end - events.span.begin) / 2;
  clock.offset_ns += solved.to_reference(middle) - middle;
  clock.drift = solved.to_reference.pieces().front().rate;
  clock.uncertainty_ns = solved.uncertainty_ns;
  clock.related = true;
  clock.evidence = evidence;
}

}  // namespace

std::optional<Clocks> parse_clocks(std::string_view text) {
  if (text == "auto") return Clocks::automatic;
  if (text == "rank") return Clocks::each_rank;
  if (text == "recorded") return Clocks::as_recorded;
  return std::nullopt;
}

void align_clocks(Job& job, Clocks clocks, const std::stop_token& stop) {
  if (job.ranks.empty() || clocks == Clocks::as_recorded) return warn_of_clocks(job, {});
  if (clocks == Clocks::each_rank) {
    job.exchanges.clear();  // they are the hosts'
    for (std::uint32_t rank = 0; rank < job.ranks.size(); ++rank) {
      Clock& clock = job.ranks[rank].clock;
      clock.domain = rank;
      clock.related = rank == 0;
      clock.evidence = rank == 0 ? "reference" : "none";
      clock.uncertainty_ns = 0;
    }
  } else {
    separate_contradicting_ranks(job, stop);
  }
  const std::vector<std::uint32_t> domains = domains_of(job);
  ClockOutcome outcome;
  if (std::any_of(domains.begin(), domains.end(), [](std::uint32_t domain) { return domain != 0; })) {
    const ClockProblem problem = problem_of(job, stop);
    const ClockSolution solution = solve_clocks(problem, stop);
    outcome.consistent = solution.consistent;
    std::vector<bool> pinged(solution.clocks.size(), false), met(solution.clocks.size(), false);
    for (const ClockExchange& exchange : job.exchanges) pinged[exchange.here] = pinged[exchange.there] = true;
    const std::size_t collective = problem.precedences.size() - 2 * job.exchanges.size();
    for (std::size_t i = 0; i < collective; ++i)
      met[problem.precedences[i].earlier_clock] = met[problem.precedences[i].later_clock] = true;
    for (RankTrace& rank : job.ranks) {
      throw_if_stopped(stop);
      const std::uint32_t domain = rank.clock.domain;
      if (domain == 0) continue;
      if (solution.clocks[domain].to_reference.pieces().size() > 1) outcome.set_clocks.push_back(rank.rank);
      apply(solution.clocks[domain],
            !pinged[domain] ? "happened-before"
            : met[domain]   ? "pings and happened-before"
                            : "pings",
            rank);
    }
  }
  warn_of_clocks(job, outcome);
}

}  // namespace lockstep::analyzer
