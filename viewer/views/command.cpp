#include "viewer/views/command.h"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>
#include <vector>

#include "analyzer/report/quantity.h"
#include "analyzer/report/range_text.h"
#include "base/numbers.h"

namespace lockstep::viewer {

namespace {

struct Places {
  std::optional<std::int64_t> step, rank, collective;
  std::optional<Nanoseconds> time;
};

Result<Places> parse_places(const std::string& text) {
  Places places;
  std::istringstream stream(text);
  bool any = false;
  for (std::string word; std::getline(stream, word, ',');) {
    any = true;
    const std::size_t equals = word.find('=');
    const std::string key = word.substr(0, equals);
    const std::string value = equals == std::string::npos ? "" : word.substr(equals + 1);
    if (key == "time") {
      const Result<Nanoseconds> time = analyzer::parse_time(value);
      if (!time.ok()) return time.error();
      places.time = time.value();
      continue;
    }
    std::optional<std::int64_t>* const target = key == "step"         ? &places.step
                                                : key == "rank"       ? &places.rank
                                                : key == "collective" ? &places.collective
                                                                      : nullptr;
    const auto number = parse_number<std::int64_t>(value);
    if (target == nullptr || !number)
      return Error{fmt::format(
          "'{}' is no place: write for example step=12,rank=3 or time=1.5ms or collective=17", word)};
    *target = number;
  }
  if (!any) return Error{"no place is given: write for example step=12,rank=3"};
  return places;
}

// The step on the rank, or on any; nothing where nobody has it.
std::optional<TimeRange> step_range(const Scene& scene, std::int64_t number,
                                    std::optional<std::uint32_t> rank) {
  std::optional<TimeRange> range;
  const auto& ranks = scene.timeline().ranks;
  for (std::uint32_t i = 0; i < ranks.size(); ++i) {
    if (rank && *rank != i) continue;
    for (const StepSpan& step : ranks[i].steps) {
      if (step.number != number) continue;
      range = range ? TimeRange{std::min(range->begin, step.begin), std::max(range->end, step.end)}
                    : TimeRange{step.begin, step.end};
    }
  }
  return range;
}

}  // namespace

Status check_goto(const std::string& text) {
  const Result<Places> places = parse_places(text);
  return places.ok() ? Status() : Status(places.error());
}

Result<Command> parse_goto(const Scene& scene, const std::string& text) {
  const Result<Places> parsed = parse_places(text);
  if (!parsed.ok()) return parsed.error();
  const Places& places = parsed.value();
  Command command;
  if (places.rank) {
    if (*places.rank >= 0 && *places.rank <= INT32_MAX)
      command.rank = scene.index_of(static_cast<std::int32_t>(*places.rank));
    if (!command.rank)
      return Error{
          fmt::format("rank={}: the run has no such rank; it has {}", *places.rank,
                      format_plural(static_cast<std::int64_t>(scene.timeline().ranks.size()), "rank"))};
  }
  if (places.step) {
    command.range = step_range(scene, *places.step, command.rank);
    if (!command.range) {
      const std::vector<std::int64_t>& steps = scene.report().steps_present;
      return Error{fmt::format("step={}: {}", *places.step,
                               steps.empty()
                                   ? std::string("the run has no steps")
                                   : fmt::format("the run has steps {} to {}{}", steps.front(), steps.back(),
                                                 command.rank ? ", and this rank perhaps fewer" : ""))};
    }
  }
  if (places.time) {
    // A hundredth of the run around it.
    const Nanoseconds at = saturating_add(scene.timeline().origin, *places.time);
    const TimeRange content = scene.timeline().content;
    if (at < content.begin || at > content.end)
      return Error{fmt::format("time={}: the run ends {} after its begin",
                               analyzer::format_duration(*places.time),
                               analyzer::format_duration(content.end - scene.timeline().origin))};
    const auto half =
        static_cast<Nanoseconds>(std::max<std::uint64_t>(distance(content.begin, content.end) / 200, 1000));
    command.range = TimeRange{saturating_add(at, -half), saturating_add(at, half)};
  }
  if (places.collective) {
    command.collective = scene.find_collective(*places.collective);
    if (!command.collective)
      return Error{fmt::format("collective={}: the run has no collective of that number; it has {}",
                               *places.collective, scene.collectives().size())};
  }
  return command;
}

Command show_finding(const Scene& scene, const analyzer::Finding& finding) {
  Command command;
  if (!finding.place) return command;
  const analyzer::FindingPlace& place = *finding.place;
  // Whom it is about, rather than who loses most by it: of a collective all ranks are lit anyway.
  command.rank = scene.index_of(finding.rank.value_or(place.rank));
  command.drop_selection = !place.collective;
  const Nanoseconds origin = scene.timeline().origin;
  command.range = TimeRange{saturating_add(origin, place.begin_ns), saturating_add(origin, place.end_ns)};
  if (place.collective) command.collective = scene.find_collective(*place.collective);
  return command;
}

}  // namespace lockstep::viewer
