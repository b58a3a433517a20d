#include "analyzer/stacks/slow_place.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "analyzer/intervals/interval_set.h"
#include "analyzer/intervals/median.h"

namespace lockstep::analyzer {
namespace {

constexpr double kLeastShare = 0.5;
constexpr double kDeviations = 3;

struct Seen {
  std::int64_t ns = 0;
  std::int64_t looks = 0;
  std::map<std::uint32_t, std::int64_t> lines;  // ns by the place's name
};

struct Looks {
  std::map<std::string_view, Seen> functions;
  std::int64_t count = 0;
};

std::vector<Interval> windows_of(const RankTrace& rank, const std::vector<std::int64_t>& steps) {
  std::vector<Interval> windows;
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
    seen.ns += within;
    ++seen.looks;
    seen.lines[range.name] += within;
    ++looks.count;
  }
}

Looks looks_of(const RankTrace& rank, const StringTable& strings, const std::vector<std::int64_t>& steps) {
  Looks looks;
  add_looks(rank, strings, IntervalSet::from(windows_of(rank, steps)), looks);
  return looks;
}

// The line of the function that most of its time was seen at.
std::string line_of(const Seen& seen, const StringTable& strings) {
  const auto line = std::max_element(seen.lines.begin(), seen.lines.end(),
                                     [](const auto& a, const auto& b) { return a.second < b.second; });
  return std::string(strings.view(line->first));
}

// Looks at one rank by function: at any time, and within the times in question, those by line.
struct Counts {
  std::map<std::string_view, std::int64_t> anywhere;
  std::map<std::string_view, std::map<std::uint32_t, std::int64_t>> within;
  std::int64_t all_anywhere = 0, all_within = 0;
};

Counts count_looks(const RankTrace& rank, const StringTable& strings, const IntervalSet& times) {
  Counts counts;
  for (const HostRange& range : rank.host_ranges) {
    if (range.kind != HostKind::python_place) continue;
    const std::string_view function = function_of_place(strings.view(range.name));
    ++counts.anywhere[function];
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
  for (const auto& [function, seen] : own.functions) {
    std::vector<std::int64_t> times, counts;
    for (const Looks& other : others) {
      const auto found = other.functions.find(function);
      times.push_back(found != other.functions.end() ? found->second.ns : 0);
      counts.push_back(found != other.functions.end() ? found->second.looks : 0);
    }
    const std::int64_t excess = (seen.ns - lower_median(std::move(times))) / step_count;
    const std::int64_t count = lower_median(std::move(counts));
    if (static_cast<double>(excess) < kLeastShare * static_cast<double>(question.excess_ns) || excess <= 0)
      continue;
    if (static_cast<double>(seen.looks - count) <
        kDeviations * std::sqrt(static_cast<double>(seen.looks + count)))
      continue;
    if (result.slow && result.slow->excess_ns >= excess) continue;
    result.slow = SlowPlace{line_of(seen, job.strings), excess, seen.looks, own.count, count};
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

std::vector<OneRanksPlace> places_of_one_rank(const Job& job, std::span<const IntervalSet> times) {
  constexpr std::int64_t kLeastLooks = 9, kTimesMore = 20;
  std::vector<Counts> ranks;
  for (std::size_t rank = 0; rank < job.ranks.size() && rank < times.size(); ++rank)
    ranks.push_back(count_looks(job.ranks[rank], job.strings, times[rank]));
  std::vector<OneRanksPlace> places;
  for (std::size_t rank = 0; rank < ranks.size() && ranks.size() > 1; ++rank) {
    for (const auto& [function, lines] : ranks[rank].within) {
      OneRanksPlace place;
      place.rank = job.ranks[rank].rank;
      place.all_looks = ranks[rank].all_within;
      std::int64_t most = 0;
      for (const auto& [line, looks] : lines) {
        place.looks += looks;
        if (looks > most) place.place = job.strings.view(line);
        most = std::max(most, looks);
      }
      if (place.looks < kLeastLooks || place.looks * 10 < place.all_looks * 3) continue;
      bool alone = true;
      for (std::size_t other = 0; other < ranks.size() && alone; ++other) {
        if (other == rank) continue;
        const auto found = ranks[other].anywhere.find(function);
        const std::int64_t there = found == ranks[other].anywhere.end() ? 0 : found->second;
        place.others += there;
        place.all_others += ranks[other].all_anywhere;
        alone = there * kTimesMore <= place.looks && ranks[other].all_anywhere >= place.looks;
      }
      if (alone) places.push_back(std::move(place));
    }
  }
  std::stable_sort(places.begin(), places.end(),
                   [](const OneRanksPlace& a, const OneRanksPlace& b) { return a.looks > b.looks; });
  return places;
}

}  // namespace lockstep::analyzer
