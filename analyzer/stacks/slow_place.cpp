#include "analyzer/stacks/slow_place.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <utility>

#include "analyzer/intervals/interval_set.h"
#include "analyzer/intervals/median.h"
#include "analyzer/metrics/windows.h"
#include "base/time_math.h"

namespace lockstep::analyzer {
namespace {

constexpr double kLeastShare = 0.5;
// Ranks with parts of their own (a pipeline's stages) are in different lines of the same program all the
// time: what is a multiple of the lateness is not what makes the rank late.
constexpr double kMaxShare = 3;
constexpr double kDeviations = 3;

// A line is no other rank's where a twentieth as many looks saw it there, at most.
constexpr std::int64_t kTimesMore = 20;

struct Count {
  std::int64_t ns = 0;
  std::int64_t looks = 0;
};

struct Seen {
  Count all;
  std::map<std::uint32_t, Count> lines;  // by the place's name
};

struct Looks {
  std::map<std::string_view, Seen> functions;
  std::int64_t count = 0;
};

// What the host does for a step. On a CPU that is the step's window: it is what the step's figures are of,
// and what comes behind the last computation of one step and before the first of the next is the earlier
// one's. A GPU runs behind its host, so there it is the host's own range.
std::vector<Interval> windows_of(const RankTrace& rank, const std::vector<std::int64_t>& steps) {
  std::vector<Interval> windows;
  if (rank.device == "cpu") {
    for (const StepWindow& step : find_windows(rank).steps)
      if (std::binary_search(steps.begin(), steps.end(), step.number)) windows.push_back(step.window);
    return windows;
  }
  for (const StepMark& step : rank.steps)
    if (std::binary_search(steps.begin(), steps.end(), step.number))
      windows.push_back({step.begin, step.end});
  return windows;
}

void add_looks(const RankTrace& rank, const StringTable& strings, const IntervalSet& windows, Looks& looks) {
  const CoverageIndex coverage(windows);
  for (const HostRange& range : rank.host_ranges) {
    if (range.kind != HostKind::python_place) continue;
    const std::int64_t within = coverage.within(range.begin, range.end);
    if (within == 0) continue;
    Seen& seen = looks.functions[function_of_place(strings.view(range.name))];
    for (Count* const count : {&seen.all, &seen.lines[range.name]}) {
      count->ns += within;
      ++count->looks;
    }
    ++looks.count;
  }
}

Looks looks_of(const RankTrace& rank, const StringTable& strings, const std::vector<std::int64_t>& steps) {
  Looks looks;
  add_looks(rank, strings, IntervalSet::from(windows_of(rank, steps)), looks);
  return looks;
}

// The line of the function at which the rank is longest beyond the median of the others: where all spend most
// of their time says nothing of what this one does.
std::string line_of(const Seen& seen, const std::vector<Looks>& others, std::string_view function,
                    const StringTable& strings) {
  const auto excess = [&](const auto& line) {
    std::vector<std::int64_t> times;
    for (const Looks& other : others) {
      const auto there = other.functions.find(function);
      if (there == other.functions.end()) {
        times.push_back(0);
        continue;
      }
      const auto same = there->second.lines.find(line.first);
      times.push_back(same == there->second.lines.end() ? 0 : same->second.ns);
    }
    return line.second.ns - lower_median(std::move(times));
  };
  const auto line = std::max_element(seen.lines.begin(), seen.lines.end(),
                                     [&](const auto& a, const auto& b) { return excess(a) < excess(b); });
  return std::string(strings.view(line->first));
}

// What others saw of the same function, or of the same lines of it.
std::vector<Count> same_of(const std::vector<Looks>& others, std::string_view function, const Seen* lines) {
  std::vector<Count> same;
  for (const Looks& other : others) {
    Count& count = same.emplace_back();
    const auto found = other.functions.find(function);
    if (found == other.functions.end()) continue;
    if (lines == nullptr) {
      count = found->second.all;
      continue;
    }
    for (const auto& [line, of_line] : found->second.lines) {
      if (lines->lines.find(line) == lines->lines.end()) continue;
      count.ns += of_line.ns;
      count.looks += of_line.looks;
    }
  }
  return same;
}

// The lines of a function that are seen at this rank, and hardly at any other, for so long at most. A rank
// that does something in the loop in which all train is in that function no longer than the others, who wait
// in it.
Seen own_lines(const Seen& seen, const std::vector<Looks>& others, std::string_view function,
               std::int64_t most_ns) {
  Seen own;
  for (const auto& [line, count] : seen.lines) {
    bool alone = count.ns <= most_ns;
    for (const Looks& other : others) {
      const auto found = other.functions.find(function);
      if (found == other.functions.end()) continue;
      const auto there = found->second.lines.find(line);
      alone =
          alone && (there == found->second.lines.end() || there->second.looks * kTimesMore <= count.looks);
    }
    if (!alone) continue;
    own.lines[line] = count;
    own.all.ns += count.ns;
    own.all.looks += count.looks;
  }
  return own;
}

// The function, or these lines of it, where the rank is there so much longer, and not by chance.
std::optional<SlowPlace> slow_in(const Seen& seen, const std::vector<Count>& others, std::int64_t steps,
                                 std::int64_t wanted_ns) {
  std::vector<std::int64_t> times, counts;
  for (const Count& other : others) {
    times.push_back(other.ns);
    counts.push_back(other.looks);
  }
  SlowPlace place;
  place.excess_ns = (seen.all.ns - lower_median(std::move(times))) / steps;
  place.looks = seen.all.looks;
  place.others = lower_median(std::move(counts));
  const auto wanted = static_cast<double>(wanted_ns), excess = static_cast<double>(place.excess_ns);
  if (excess < kLeastShare * wanted || excess > kMaxShare * wanted || place.excess_ns <= 0)
    return std::nullopt;
  if (static_cast<double>(place.looks - place.others) <
      kDeviations * std::sqrt(static_cast<double>(place.looks + place.others)))
    return std::nullopt;
  return place;
}

// Looks at one rank by function: at any time, and within the times in question, those by line.
struct Counts {
  std::map<std::string_view, std::int64_t> anywhere;
  std::map<std::uint32_t, std::int64_t> lines_anywhere;
  std::map<std::string_view, std::map<std::uint32_t, std::int64_t>> within;
  std::int64_t all_anywhere = 0, all_within = 0;
};

Counts count_looks(const RankTrace& rank, const StringTable& strings, const IntervalSet& times) {
  Counts counts;
  for (const HostRange& range : rank.host_ranges) {
    if (range.kind != HostKind::python_place) continue;
    const std::string_view function = function_of_place(strings.view(range.name));
    ++counts.anywhere[function];
    ++counts.lines_anywhere[range.name];
    ++counts.all_anywhere;
    // The instant of the look: by the next one the rank has long been elsewhere.
    if (!times.contains(range.begin)) continue;
    ++counts.within[function][range.name];
    ++counts.all_within;
  }
  return counts;
}

}  // namespace

std::string_view function_of_place(std::string_view place) {
  const std::size_t file = place.find('(');
  const std::size_t line = file == std::string_view::npos ? file : place.find(':', file);
  return place.substr(0, line);
}

PlaceComparison compare_places(const Job& job, const SlowPlaceQuestion& question) {
  PlaceComparison result;
  std::vector<std::int64_t> steps = question.steps;
  std::sort(steps.begin(), steps.end());
  Looks own;
  std::vector<Looks> others;
  for (const RankTrace& rank : job.ranks) {
    if (std::find(question.ranks.begin(), question.ranks.end(), rank.rank) == question.ranks.end()) continue;
    Looks looks = looks_of(rank, job.strings, steps);
    if (looks.count == 0) return result;
    if (rank.rank == question.rank) {
      own = std::move(looks);
    } else {
      others.push_back(std::move(looks));
    }
  }
  if (own.count == 0 || others.empty() || steps.empty()) return result;
  result.known = true;
  const auto step_count = static_cast<std::int64_t>(steps.size());
  const std::int64_t most_ns = saturating_product(std::max<std::int64_t>(question.excess_ns, 0),
                                                  static_cast<std::int64_t>(kMaxShare) * step_count);
  for (const bool by_line : {false, true}) {
    if (result.slow) break;  // a whole function says more than a line
    for (const auto& [function, seen] : own.functions) {
      const Seen lines = by_line ? own_lines(seen, others, function, most_ns) : Seen{};
      const Seen& asked = by_line ? lines : seen;
      if (asked.lines.empty()) continue;
      std::optional<SlowPlace> slow = slow_in(asked, same_of(others, function, by_line ? &lines : nullptr),
                                              step_count, question.excess_ns);
      if (!slow || (result.slow && result.slow->excess_ns >= slow->excess_ns)) continue;
      slow->place = line_of(asked, others, function, job.strings);
      slow->all_looks = own.count;
      slow->is_line = by_line;
      result.slow = std::move(slow);
    }
  }
  return result;
}

std::optional<CommonPlace> most_common_place(const Job& job, std::span<const IntervalSet> times) {
  constexpr std::int64_t kLeastLooks = 9;
  std::map<std::uint32_t, std::int64_t> counts;
  std::int64_t all = 0;
  for (std::size_t rank = 0; rank < job.ranks.size() && rank < times.size(); ++rank) {
    for (const HostRange& range : job.ranks[rank].host_ranges) {
      // The instant of the look: by the next one the rank has long been elsewhere.
      if (range.kind != HostKind::python_place || !times[rank].contains(range.begin)) continue;
      ++counts[range.name];
      ++all;
    }
  }
  const auto most = std::max_element(counts.begin(), counts.end(),
                                     [](const auto& a, const auto& b) { return a.second < b.second; });
  if (most == counts.end() || most->second < kLeastLooks || most->second * 10 < all * 3) return std::nullopt;
  return CommonPlace{std::string(job.strings.view(most->first)), most->second, all};
}

std::optional<CommonPlace> place_within(const Job& job, std::int32_t rank, const IntervalSet& times) {
  constexpr std::int64_t kLeastLooks = 9;
  const auto trace = std::find_if(job.ranks.begin(), job.ranks.end(),
                                  [rank](const RankTrace& one) { return one.rank == rank; });
  if (trace == job.ranks.end()) return std::nullopt;
  const Counts counts = count_looks(*trace, job.strings, times);
  CommonPlace most;
  std::int64_t anywhere = 0;
  for (const auto& [function, lines] : counts.within)
    for (const auto& [line, looks] : lines) {
      if (looks <= most.looks) continue;
      most = {std::string(job.strings.view(line)), looks, counts.all_within};
      anywhere = counts.lines_anywhere.at(line);
    }
  if (most.looks < kLeastLooks || 2 * most.looks < most.all_looks) return std::nullopt;
  // looks / all_looks ≥ 3/2 · anywhere / all_anywhere
  if (2 * most.looks * counts.all_anywhere < 3 * anywhere * most.all_looks) return std::nullopt;
  return most;
}

namespace {

// What one rank was seen at within its times, as one: a function, or lines of it.
std::optional<OneRanksPlace> place_of_one(const std::vector<Counts>& ranks, std::size_t rank,
                                          const std::map<std::uint32_t, std::int64_t>& lines,
                                          const std::function<std::int64_t(const Counts&)>& anywhere,
                                          const StringTable& strings) {
  constexpr std::int64_t kLeastLooks = 9;
  OneRanksPlace place;
  place.all_looks = ranks[rank].all_within;
  std::int64_t most = 0;
  for (const auto& [line, looks] : lines) {
    place.looks += looks;
    if (looks > most) place.place = strings.view(line);
    most = std::max(most, looks);
  }
  if (place.looks < kLeastLooks || place.looks * 10 < place.all_looks * 3) return std::nullopt;
  for (std::size_t other = 0; other < ranks.size(); ++other) {
    if (other == rank) continue;
    const std::int64_t there = anywhere(ranks[other]);
    place.others += there;
    place.all_others += ranks[other].all_anywhere;
    if (there * kTimesMore > place.looks || ranks[other].all_anywhere < place.looks) return std::nullopt;
  }
  return place;
}

template <typename Key>
std::int64_t count_of(const std::map<Key, std::int64_t>& counts, const Key& key) {
  const auto found = counts.find(key);
  return found == counts.end() ? 0 : found->second;
}

// Those that no other rank is seen at a twentieth as often.
std::map<std::uint32_t, std::int64_t> lines_of_one(const std::vector<Counts>& ranks, std::size_t rank,
                                                   const std::map<std::uint32_t, std::int64_t>& lines) {
  std::map<std::uint32_t, std::int64_t> own;
  for (const auto& [line, looks] : lines) {
    bool alone = true;
    for (std::size_t other = 0; other < ranks.size(); ++other)
      alone = alone && (other == rank || count_of(ranks[other].lines_anywhere, line) * kTimesMore <= looks);
    if (alone) own.emplace(line, looks);
  }
  return own;
}

}  // namespace

std::vector<OneRanksPlace> places_of_one_rank(const Job& job, std::span<const IntervalSet> times) {
  std::vector<Counts> ranks;
  for (std::size_t rank = 0; rank < job.ranks.size() && rank < times.size(); ++rank)
    ranks.push_back(count_looks(job.ranks[rank], job.strings, times[rank]));
  std::vector<OneRanksPlace> places;
  for (std::size_t rank = 0; rank < ranks.size() && ranks.size() > 1; ++rank) {
    for (const auto& [function, lines] : ranks[rank].within) {
      std::optional<OneRanksPlace> place = place_of_one(
          ranks, rank, lines,
          [&, function = function](const Counts& other) { return count_of(other.anywhere, function); },
          job.strings);
      if (!place) {
        const std::map<std::uint32_t, std::int64_t> own = lines_of_one(ranks, rank, lines);
        place = place_of_one(
            ranks, rank, own,
            [&](const Counts& other) {
              std::int64_t sum = 0;
              for (const auto& [line, looks] : own) sum += count_of(other.lines_anywhere, line);
              return sum;
            },
            job.strings);
      }
      if (!place) continue;
      place->rank = job.ranks[rank].rank;
      places.push_back(*std::move(place));
    }
  }
  std::stable_sort(places.begin(), places.end(),
                   [](const OneRanksPlace& a, const OneRanksPlace& b) { return a.looks > b.looks; });
  return places;
}

}  // namespace lockstep::analyzer
