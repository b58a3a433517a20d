#include "viewer/views/first_look.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>

#include "analyzer/report/quantity.h"
#include "analyzer/report/range_text.h"
#include "viewer/timeline/rank_filter.h"
#include "viewer/views/search.h"

namespace lockstep::viewer {

namespace {

bool selects(const FirstLookWords& words) {
  return words.collective >= 0 || words.go_to.find("collective=") != std::string::npos;
}

WrongWord chain_of_nothing() {
  return {
      "--chain: nothing is selected that it could lead from; select with --collective ID or --goto "
      "collective=ID"};
}

// Which ranks, in which order.
void understand_ranks(const FirstLookWords& words, const Runs& runs, UnderstoodWords& result) {
  // check() has said what is wrong with these.
  if (const Result<RankOrder> order = parse_order(words.order); !words.order.empty() && order.ok()) {
    const std::string wrong = wrong_order(order.value(), runs);
    if (wrong.empty())
      result.look.order = order.value();
    else
      result.wrong.push_back({fmt::format("--order {}: {}", words.order, wrong)});
  }
  if (!words.filter.empty()) {
    result.look.filter = words.filter;
    if (parse_rank_filter(words.filter).ok()) {
      const std::string wrong = wrong_filter(words.filter, runs);
      if (!wrong.empty()) result.warnings.push_back(fmt::format("--filter '{}': {}", words.filter, wrong));
    }
  }
  const std::vector<std::int32_t> absent = absent_ranks(words.pinned, runs);
  for (const std::int32_t rank : words.pinned)
    if (std::find(absent.begin(), absent.end(), rank) == absent.end()) result.look.pinned.push_back(rank);
  if (!absent.empty())
    result.wrong.push_back({fmt::format("--pin {}: the run has no such {}; {}", fmt::join(absent, ","),
                                        absent.size() == 1 ? "rank" : "ranks", ranks_in_words(runs))});
}

bool has_lanes(const Runs& runs, LaneRole role) {
  return std::ranges::any_of(runs, [role](const Scene* run) {
    return std::ranges::any_of(run->timeline().ranks, [role](const RankTracks& rank) {
      return std::ranges::any_of(rank.lanes, [role](const TrackLane& lane) { return lane.role == role; });
    });
  });
}

template <typename Number>
bool counts_from_0(std::string_view word) {
  Number number = 0;
  const auto parsed = std::from_chars(word.data(), word.data() + word.size(), number);
  return parsed.ec == std::errc() && parsed.ptr == word.data() + word.size() && number >= 0;
}

}  // namespace

std::string wrong_collective_number(std::string_view word) {
  if (counts_from_0<std::int64_t>(word)) return "";
  return fmt::format(
      "'{}' is not the number of a collective: write it as the report counts them, from 0, for example 17",
      word);
}

std::string wrong_rank_number(std::string_view word) {
  if (counts_from_0<std::int32_t>(word)) return "";
  return fmt::format("'{}' is not the number of a rank: write ranks such as 0,3", word);
}

std::optional<WrongWord> check(const FirstLookWords& words) {
  // The origin, which comes with the run, moves a range and makes none wrong.
  if (!words.range.empty()) {
    if (const auto range = analyzer::parse_range(words.range, 0); !range.ok())
      return WrongWord{"--range: " + range.error().message};
  }
  if (!words.measure.empty()) {
    if (const auto range = analyzer::parse_range(words.measure, 0); !range.ok())
      return WrongWord{"--measure: " + range.error().message};
  }
  if (!words.go_to.empty()) {
    if (const Status place = check_goto(words.go_to); !place.ok())
      return WrongWord{"--goto: " + place.error().message};
  }
  if (!words.order.empty()) {
    if (const Result<RankOrder> order = parse_order(words.order); !order.ok())
      return WrongWord{"--order: " + order.error().message};
  }
  if (!words.filter.empty()) {
    if (const auto filter = parse_rank_filter(words.filter); !filter.ok())
      return WrongWord{"--filter: " + filter.error().message};
  }
  if (!words.search.empty()) {
    if (const auto search = parse_search(words.search); !search.ok())
      return WrongWord{"--search: " + search.error().message};
  }
  if (words.panel_compares && !words.compared)
    return WrongWord{fmt::format(
        "--panel {}: one run differs from nothing; name a second one, or give it with --diff", words.panel)};
  if (words.chain && !words.remembers && !selects(words)) return chain_of_nothing();
  return std::nullopt;
}

UnderstoodWords understand(const FirstLookWords& words, const Runs& runs, bool selected) {
  const Scene& scene = *runs.front();
  UnderstoodWords result;
  FirstLook& look = result.look;
  const Timeline& timeline = scene.timeline();
  const auto range_of = [&](const char* flag, const std::string& text) -> std::optional<TimeRange> {
    if (text.empty()) return std::nullopt;
    const auto range = analyzer::parse_range(text, timeline.origin);
    if (!range.ok()) {
      result.wrong.push_back({flag + (": " + range.error().message)});
      return std::nullopt;
    }
    if (scene.order_alone()) {
      result.wrong.push_back(
          {fmt::format("{} {}: the run has no times, only the order of operations", flag, text)});
      return std::nullopt;
    }
    if (range.value().begin < timeline.content.end && range.value().end > timeline.content.begin)
      return TimeRange{range.value().begin, range.value().end};
    result.wrong.push_back(
        {fmt::format("{} {}: the run has nothing there; it ends {} after its start", flag, text,
                     analyzer::format_duration(timeline.content.end - timeline.origin))});
    return std::nullopt;
  };
  look.panel = words.panel;
  look.search = words.search;
  if (parse_search(words.search).ok()) {
    const std::string wrong = wrong_attribute(words.search, scene);
    if (!wrong.empty()) {
      look.search.clear();
      result.wrong.push_back({fmt::format("--search '{}': {}", words.search, wrong)});
    }
  }
  if (!words.search.empty() && look.panel.empty()) look.panel = kSearchPanel;
  look.range = range_of("--range", words.range);
  understand_ranks(words, runs, result);
  look.open = words.open;
  for (const LaneRole role : words.open)
    if (!has_lanes(runs, role))
      result.warnings.push_back(role == LaneRole::host
                                    ? "--open hosts: no host thread was recorded"
                                    : "--open counters: the run has none that changed over time");
  look.chain = words.chain;
  if (words.chain && !selected && !selects(words)) result.wrong.push_back(chain_of_nothing());
  if (!words.go_to.empty()) {
    const Result<Command> command = parse_goto(scene, words.go_to);
    if (command.ok())
      look.go_to = command.value();
    else
      result.wrong.push_back({"--goto: " + command.error().message});
  }
  look.measured = range_of("--measure", words.measure);
  if (look.measured && look.panel.empty()) look.panel = kRangePanel;
  if (words.collective >= 0) {
    look.collective = scene.find_collective(words.collective);
    if (!look.collective) {
      result.wrong.push_back(
          {fmt::format("--collective {}: the report has no collective of that number; it "
                       "has {}",
                       words.collective, scene.collectives().size())});
    }
  }
  return result;
}

std::string warning_of_search(const std::string& search, const std::string& why) {
  return fmt::format("--search '{}': nothing is found{}{}", search, why.empty() ? "" : "; ", why);
}

}  // namespace lockstep::viewer
