#include "analyzer/lateness/periodic_lateness.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>
#include <vector>

#include "analyzer/intervals/median.h"
#include "analyzer/lateness/late_ranks.h"
#include "analyzer/statistics/place_sums.h"
#include "analyzer/statistics/rank_sums.h"

namespace lockstep::analyzer {
namespace {

constexpr std::size_t kLeastTimes = 3;
constexpr std::size_t kRanksTried = 3;
// Of the steps of a rhythm so many are late by half of their median.
constexpr double kRegular = 0.8;
constexpr std::int64_t kOtherwise = 4;

std::vector<std::int64_t> column(const StepTable& table, const std::vector<std::int64_t>& values,
                                 std::size_t rank) {
  std::vector<std::int64_t> column;
  for (std::size_t at = rank; at < values.size(); at += table.rank_count()) column.push_back(values[at]);
  return column;
}

// Ranks (indices) by the sum of their latest tenth of steps, the greatest first.
std::vector<std::size_t> ranks_to_try(const StepTable& table) {
  const std::size_t steps = table.steps.size(), tail = std::max(kLeastTimes, steps / 10);
  std::vector<std::pair<double, std::size_t>> order;
  std::vector<std::int64_t> late(steps);
  for (std::size_t rank = 0; rank < table.rank_count(); ++rank) {
    for (std::size_t step = 0; step < steps; ++step) late[step] = table.late(step, rank);
    std::nth_element(late.begin(), late.begin() + static_cast<std::ptrdiff_t>(tail - 1), late.end(),
                     std::greater<>());
    double sum = 0;
    for (std::size_t i = 0; i < tail; ++i) sum += static_cast<double>(late[i]);
    order.emplace_back(-sum, rank);
  }
  std::sort(order.begin(), order.end());
  std::vector<std::size_t> ranks;
  for (std::size_t i = 0; i < std::min(order.size(), kRanksTried); ++i) ranks.push_back(order[i].second);
  return ranks;
}

// A rank's steps by its own time in them: each one's place, twice; the longest has 0. Equal ones share the
// mean of their places.
struct Order {
  std::vector<std::int64_t> doubled_places;
  std::size_t long_steps = 0;  // half as long as the third longest

  explicit Order(const std::vector<std::int64_t>& longer) {
    const std::size_t steps = longer.size();
    std::vector<std::int64_t> sorted = longer;
    std::sort(sorted.begin(), sorted.end());
    for (const std::int64_t ns : longer) {
      const auto [first, last] = std::equal_range(sorted.begin(), sorted.end(), ns);
      doubled_places.push_back((sorted.end() - first - 1) + (sorted.end() - last));
    }
    const std::int64_t third = sorted[steps - kLeastTimes];
    if (third > 0)
      long_steps = static_cast<std::size_t>(
          sorted.end() - std::lower_bound(sorted.begin(), sorted.end(), third - third / 2));
  }
};

struct Rhythm {
  std::int64_t period = 0, remainder = 0;
  std::size_t times = 0;
  std::int64_t sum = 0;  // of the places of its steps
  double deviations = 0;
};

std::int64_t remainder_of(std::int64_t number, std::int64_t period) {
  return (number % period + period) % period;
}

// The rhythm whose steps are latest, in standard deviations of the sum of so many places, and how many were
// tried.
std::pair<Rhythm, std::size_t> best_rhythm(const StepTable& table, const Order& order) {
  Rhythm best;
  std::size_t tried = 0;
  const std::size_t steps = table.steps.size();
  const std::size_t reach = order.long_steps / 5;
  const auto fits = [&](std::size_t times) {
    return times >= kLeastTimes && times + reach >= order.long_steps && times <= order.long_steps + reach &&
           2 * times <= steps + 1;
  };
  const std::int64_t span = table.steps.back() - table.steps.front() + 1;
  const auto longest = span / static_cast<std::int64_t>(std::max(kLeastTimes, order.long_steps - reach) - 1);
  const std::int64_t shortest =
      std::max<std::int64_t>(2, static_cast<std::int64_t>(steps / (order.long_steps + reach + 1)));
  const auto n = static_cast<double>(steps);
  std::vector<Rhythm> rhythms;
  for (std::int64_t period = shortest; period <= longest; ++period) {
    rhythms.assign(static_cast<std::size_t>(period), Rhythm{});
    for (std::size_t step = 0; step < steps; ++step) {
      Rhythm& rhythm = rhythms[static_cast<std::size_t>(remainder_of(table.steps[step], period))];
      ++rhythm.times;
      rhythm.sum += order.doubled_places[step];
    }
    for (std::int64_t remainder = 0; remainder < period; ++remainder) {
      Rhythm& rhythm = rhythms[static_cast<std::size_t>(remainder)];
      if (!fits(rhythm.times)) continue;
      ++tried;
      rhythm.sum = (rhythm.sum + 1) / 2;
      const auto k = static_cast<double>(rhythm.times);
      rhythm.deviations =
          (k * (n - 1) / 2 - static_cast<double>(rhythm.sum)) / std::sqrt(k * (n - k) * (n + 1) / 12);
      rhythm.period = period;
      rhythm.remainder = remainder;
      if (rhythm.deviations > best.deviations) best = rhythm;
    }
  }
  return {best, tried};
}

// How much longer the median of the other ranks takes in the late steps than in the rest.
std::int64_t others_longer(const StepTable& table, std::size_t rank, const std::vector<bool>& is_late) {
  std::vector<std::int64_t> late, otherwise;
  for (std::size_t step = 0; step < table.steps.size(); ++step) {
    std::vector<std::int64_t> others;
    for (std::size_t other = 0; other < table.rank_count(); ++other)
      if (other != rank) others.push_back(own_time(table, step, other));
    (is_late[step] ? late : otherwise).push_back(lower_median(std::move(others)));
  }
  return lower_median(std::move(late)) - lower_median(std::move(otherwise));
}

// That the rank takes as long among all in these steps as it does, by chance.
double chance_among_ranks(const StepTable& late_steps, std::size_t rank) {
  std::vector<std::vector<double>> rows;
  const std::size_t count = late_steps.rank_count();
  for (std::size_t step = 0; step < late_steps.steps.size(); ++step) {
    std::vector<double>& row = rows.emplace_back();
    for (std::size_t other = 0; other < count; ++other)
      row.push_back(static_cast<double>(own_time(late_steps, step, other)));
  }
  return static_cast<double>(count) * chance_of_place_sum(count, rows.size(), place_sums(rows)[rank]);
}

// What a rank does at the end of a step makes it late in the next one.
std::int64_t late_with_next(const StepTable& table, std::size_t step, std::size_t rank) {
  const bool has_next = step + 1 < table.steps.size() && table.steps[step + 1] == table.steps[step] + 1;
  return std::max(table.late(step, rank), has_next ? table.late(step + 1, rank) : 0);
}

// Whether another rank is as late in other steps of the same period: then ranks take turns, one after the
// other.
bool takes_turns(const StepTable& table, std::size_t rank, const Rhythm& rhythm, std::int64_t late_ns) {
  const auto period = static_cast<std::size_t>(rhythm.period);
  for (std::size_t other = 0; other < table.rank_count(); ++other) {
    if (other == rank) continue;
    std::vector<std::size_t> times(period), late(period);
    for (std::size_t step = 0; step < table.steps.size(); ++step) {
      const auto remainder = static_cast<std::size_t>(remainder_of(table.steps[step], rhythm.period));
      ++times[remainder];
      late[remainder] += 2 * table.late(step, other) >= late_ns ? 1 : 0;
    }
    for (std::size_t remainder = 0; remainder < period; ++remainder)
      if (static_cast<std::int64_t>(remainder) != rhythm.remainder && times[remainder] >= kLeastTimes &&
          static_cast<double>(late[remainder]) >= kRegular * static_cast<double>(times[remainder]))
        return true;
  }
  return false;
}

// Whether another rank is late in the steps between, in whatever rhythm: by three quarters in half as many
// steps, or by half in a quarter of those between. Where two ranks alternate, noise can make every other turn
// of one stand out.
bool others_are_late_between(const StepTable& table, std::size_t rank, const Rhythm& rhythm,
                             std::int64_t late_ns) {
  for (std::size_t other = 0; other < table.rank_count(); ++other) {
    if (other == rank) continue;
    std::size_t between = 0, half = 0, most = 0;
    for (std::size_t step = 0; step < table.steps.size(); ++step) {
      if (remainder_of(table.steps[step], rhythm.period) == rhythm.remainder) continue;
      ++between;
      half += 2 * table.late(step, other) >= late_ns ? 1 : 0;
      most += 4 * table.late(step, other) >= 3 * late_ns ? 1 : 0;
    }
    if (2 * most >= rhythm.times || (2 * half >= rhythm.times && 4 * half >= between)) return true;
  }
  return false;
}

// The same by what ranks do themselves, which noise hides less: half as much longer in a third of the steps
// between, or in most of those of another remainder. Where ranks do it in neighbouring steps, behind the last
// collective, the one's lateness shows in the steps in which the other one does it.
bool others_are_longer_between(const StepTable& table, const std::vector<std::int64_t>& excess,
                               std::size_t rank, const Rhythm& rhythm) {
  const std::size_t count = table.rank_count();
  std::vector<std::int64_t> own;
  std::vector<std::vector<std::size_t>> between(static_cast<std::size_t>(rhythm.period));  // by remainder
  for (std::size_t step = 0; step < table.steps.size(); ++step) {
    const std::int64_t remainder = remainder_of(table.steps[step], rhythm.period);
    if (remainder == rhythm.remainder)
      own.push_back(excess[step * count + rank]);
    else
      between[static_cast<std::size_t>(remainder)].push_back(step);
  }
  const std::int64_t half = lower_median(std::move(own)) / 2;
  const std::size_t steps_between = table.steps.size() - rhythm.times;
  for (std::size_t other = 0; other < count; ++other) {
    if (other == rank) continue;
    std::size_t all_longer = 0;
    for (const std::vector<std::size_t>& steps : between) {
      const auto longer =
          static_cast<std::size_t>(std::count_if(steps.begin(), steps.end(), [&](std::size_t step) {
            return excess[step * count + other] >= half;
          }));
      all_longer += longer;
      if (steps.size() >= kLeastTimes &&
          static_cast<double>(longer) >= kRegular * static_cast<double>(steps.size()))
        return true;
    }
    if (3 * all_longer >= steps_between) return true;
  }
  return false;
}

// Whether the rank is half as late in the median of other steps that are so many apart: then its rhythm is a
// shorter one.
bool has_shorter_rhythm(const StepTable& table, std::size_t rank, const Rhythm& rhythm,
                        std::int64_t late_ns) {
  std::vector<std::vector<std::int64_t>> late(static_cast<std::size_t>(rhythm.period));
  for (std::size_t step = 0; step < table.steps.size(); ++step)
    late[static_cast<std::size_t>(remainder_of(table.steps[step], rhythm.period))].push_back(
        table.late(step, rank));
  for (std::size_t remainder = 0; remainder < late.size(); ++remainder)
    // What is done at the end of a step is late in the next one.
    if (static_cast<std::int64_t>(remainder) != rhythm.remainder &&
        static_cast<std::int64_t>(remainder) != remainder_of(rhythm.remainder + 1, rhythm.period) &&
        late[remainder].size() >= kLeastTimes && 2 * lower_median(std::move(late[remainder])) >= late_ns)
      return true;
  return false;
}

std::optional<PeriodicLateness> describe(const StepTable& table, const std::vector<std::int64_t>& excess,
                                         std::size_t rank, const Rhythm& rhythm) {
  std::vector<bool> is_late(table.steps.size(), false);
  std::vector<std::size_t> steps;
  std::vector<std::int64_t> late, otherwise;
  for (std::size_t step = 0; step < table.steps.size(); ++step) {
    is_late[step] = remainder_of(table.steps[step], rhythm.period) == rhythm.remainder;
    if (is_late[step]) steps.push_back(step);
    (is_late[step] ? late : otherwise)
        .push_back(is_late[step] ? late_with_next(table, step, rank) : table.late(step, rank));
  }
  PeriodicLateness found;
  found.rank = table.ranks[rank];
  found.period = rhythm.period;
  found.times = static_cast<std::int64_t>(steps.size());
  found.first = table.steps[steps.front()];
  found.late_ns = lower_median(late);
  found.otherwise_ns = lower_median(std::move(otherwise));
  found.steps = some_steps(table, steps);
  const auto worst = static_cast<std::size_t>(std::max_element(late.begin(), late.end()) - late.begin());
  found.worst = table.steps[steps[worst]];
  const auto regular =
      std::count_if(late.begin(), late.end(), [&](std::int64_t ns) { return ns >= found.late_ns / 2; });
  if (static_cast<double>(found.late_ns) < kLeastLateness * static_cast<double>(table.mean_step_ns) ||
      found.late_ns < kOtherwise * found.otherwise_ns ||
      static_cast<double>(regular) < kRegular * static_cast<double>(late.size()))
    return std::nullopt;
  if (2 * others_longer(table, rank, is_late) >= found.late_ns &&
      chance_among_ranks(found.steps, rank) > kLatenessLevel)
    return std::nullopt;
  if (takes_turns(table, rank, rhythm, found.late_ns) ||
      others_are_late_between(table, rank, rhythm, found.late_ns) ||
      others_are_longer_between(table, excess, rank, rhythm) ||
      has_shorter_rhythm(table, rank, rhythm, found.late_ns))
    return std::nullopt;
  // A step of the rhythm in which it was not late (before the first time, behind the last one) is none of
  // those that are told of.
  std::vector<std::size_t> told;
  for (std::size_t i = 0; i < steps.size(); ++i)
    if (late[i] >= found.late_ns / 2) told.push_back(steps[i]);
  found.times = static_cast<std::int64_t>(told.size());
  found.first = table.steps[told.front()];
  found.steps = some_steps(table, told);
  return found;
}

// No other rank is as long in any step as half of what this one is in the late ones, nor this one in others.
bool is_only_one(const StepTable& table, const std::vector<std::int64_t>& excess, std::size_t rank,
                 const Rhythm& rhythm) {
  const auto is_late = [&](std::size_t step) {
    return remainder_of(table.steps[step], rhythm.period) == rhythm.remainder;
  };
  const std::size_t count = table.rank_count();
  std::vector<std::int64_t> late;
  for (std::size_t step = 0; step < table.steps.size(); ++step)
    if (is_late(step)) late.push_back(excess[step * count + rank]);
  const std::int64_t half = lower_median(std::move(late)) / 2;
  for (std::size_t at = 0; at < excess.size(); ++at)
    if ((excess[at] >= half) != (at % count == rank && is_late(at / count))) return false;
  return true;
}

}  // namespace

std::optional<PeriodicLateness> periodic_lateness(const StepTable& table) {
  const std::size_t steps = table.steps.size();
  if (steps <= 2 * kLeastTimes - 1) return std::nullopt;
  const std::vector<std::size_t> ranks = ranks_to_try(table);
  const std::vector<std::int64_t> excess = own_excess(table);
  std::optional<PeriodicLateness> best;
  for (const std::size_t rank : ranks) {
    const Order order(column(table, excess, rank));
    if (order.long_steps == 0 || 2 * order.long_steps > steps) continue;
    const auto [rhythm, tried] = best_rhythm(table, order);
    if (rhythm.period == 0) continue;
    // Where all that is long is this rank's, it would have to be so by chance as well.
    const double of_rank =
        is_only_one(table, excess, rank, rhythm)
            ? std::pow(static_cast<double>(table.rank_count()), 1 - static_cast<double>(rhythm.times))
            : static_cast<double>(ranks.size());
    const double chance =
        of_rank * static_cast<double>(tried) * chance_of_rank_sum(steps, rhythm.times, rhythm.sum);
    if (chance > kLatenessLevel || (best && best->chance <= chance)) continue;
    if (std::optional<PeriodicLateness> found = describe(table, excess, rank, rhythm)) {
      best = std::move(found);
      best->chance = chance;
    }
  }
  return best;
}

}  // namespace lockstep::analyzer
