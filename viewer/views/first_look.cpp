#include "viewer/views/first_look.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "analyzer/report/quantity.h"
#include "analyzer/report/range_text.h"
#include "base/numbers.h"
#include "viewer/timeline/rank_filter.h"
#include "viewer/views/search.h"

namespace lockstep::viewer {

namespace {

bool selects(const FirstLookFlags& flags) {
  return flags.collective >= 0 || flags.go_to.find("collective=") != std::string::npos;
}

FlagError chain_of_nothing() {
  return {
      "--chain: nothing is selected that it could lead from; select with --collective ID or --goto "
      "collective=ID"};
}

// Which ranks, in which order.
void understand_ranks(const FirstLookFlags& flags, const Runs& runs, UnderstoodFlags& result) {
  // check() has said what is wrong with these.
  if (const Result<RankOrder> order = parse_order(flags.order); !flags.order.empty() && order.ok()) {
    const std::string wrong = wrong_order(order.value(), runs);
    if (wrong.empty())
      result.look.order = order.value();
    else
      result.wrong.push_back({fmt::format("--order {}: {}", flags.order, wrong)});
  }
  if (!flags.filter.empty()) {
    result.look.filter = flags.filter;
    if (parse_rank_filter(flags.filter).ok()) {
      const std::string wrong = wrong_filter(flags.filter, runs);
      if (!wrong.empty()) result.warnings.push_back(fmt::format("--filter '{}': {}", flags.filter, wrong));
    }
  }
  const std::vector<std::int32_t> absent = absent_ranks(flags.pinned, runs);
  for (const std::int32_t rank : flags.pinned)
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
  return parse_number<Number>(word, 0).has_value();
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

std::optional<FlagError> check(const FirstLookFlags& flags) {
  // The origin, which comes with the run, moves a range and makes none wrong.
  if (!flags.range.empty()) {
    if (const auto range = analyzer::parse_range(flags.range, 0); !range.ok())
      return FlagError{"--range: " + range.error().message};
  }
  if (!flags.measure.empty()) {
    if (const auto range = analyzer::parse_range(flags.measure, 0); !range.ok())
      return FlagError{"--measure: " + range.error().message};
  }
  if (!flags.go_to.empty()) {
    if (const Status place = check_goto(flags.go_to); !place.ok())
      return FlagError{"--goto: " + place.error().message};
  }
  if (!flags.order.empty()) {
    if (const Result<RankOrder> order = parse_order(flags.order); !order.ok())
      return FlagError{"--order: " + order.error().message};
  }
  if (!flags.filter.empty()) {
    if (const auto filter = parse_rank_filter(flags.filter); !filter.ok())
      return FlagError{"--filter: " + filter.error().message};
  }
  if (!flags.search.empty()) {
    if (const auto search = parse_search(flags.search); !search.ok())
      return FlagError{"--search: " + search.error().message};
  }
  if (flags.panel_compares && !flags.compared)
    return FlagError{fmt::format(
        "--panel {}: one run differs from nothing; name a second one, or give it with --diff", flags.panel)};
  if (flags.chain && !flags.remembers && !selects(flags)) return chain_of_nothing();
  return std::nullopt;
}

UnderstoodFlags understand(const FirstLookFlags& flags, const Runs& runs, bool selected) {
  const Scene& scene = *runs.front();
  UnderstoodFlags result;
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
  look.panel = flags.panel;
  look.search = flags.search;
  if (parse_search(flags.search).ok()) {
    const std::string wrong = wrong_attribute(flags.search, scene);
    if (!wrong.empty()) {
      look.search.clear();
      result.wrong.push_back({fmt::format("--search '{}': {}", flags.search, wrong)});
    }
  }
  if (!flags.search.empty() && look.panel.empty()) look.panel = kSearchPanel;
  look.range = range_of("--range", flags.range);
  understand_ranks(flags, runs, result);
  look.open = flags.open;
  for (const LaneRole role : flags.open)
    if (!has_lanes(runs, role))
      result.warnings.push_back(role == LaneRole::host
                                    ? "--open hosts: no host thread was recorded"
                                    : "--open counters: the run has none that changed over time");
  look.chain = flags.chain;
  if (flags.chain && !selected && !selects(flags)) result.wrong.push_back(chain_of_nothing());
  if (!flags.go_to.empty()) {
    const Result<Command> command = parse_goto(scene, flags.go_to);
    if (command.ok())
      look.go_to = command.value();
    else
      result.wrong.push_back({"--goto: " + command.error().message});
  }
  look.measured = range_of("--measure", flags.measure);
  if (look.measured && look.panel.empty()) look.panel = kRangePanel;
  if (flags.collective >= 0) {
    look.collective = scene.find_collective(flags.collective);
    if (!look.collective) {
      result.wrong.push_back(
          {fmt::format("--collective {}: the report has no collective of that number; it "
                       "has {}",
                       flags.collective, scene.collectives().size())});
    }
  }
  return result;
}

std::string warning_of_search(const std::string& search, const std::string& why) {
  return fmt::format("--search '{}': nothing is found{}{}", search, why.empty() ? "" : "; ", why);
}

}  // namespace lockstep::viewer
