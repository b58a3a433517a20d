#include "viewer/views/first_look.h"

#include <fmt/format.h>

#include "analyzer/report/quantity.h"
#include "analyzer/report/range_text.h"
#include "viewer/timeline/rank_filter.h"

namespace lockstep::viewer {

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
  return std::nullopt;
}

UnderstoodWords understand(const FirstLookWords& words, const Scene& scene) {
  UnderstoodWords result;
  FirstLook& look = result.look;
  const Timeline& timeline = scene.timeline();
  const auto range_of = [&](const char* flag, const std::string& text) -> std::optional<TimeRange> {
    const auto range = analyzer::parse_range(text, timeline.origin);
    if (range.ok()) return TimeRange{range.value().begin, range.value().end};
    result.wrong.push_back({flag + (": " + range.error().message)});
    return std::nullopt;
  };
  look.panel = words.panel;
  look.search = words.search;
  if (!words.search.empty() && look.panel.empty()) look.panel = "Search";
  if (!words.range.empty()) look.range = range_of("--range", words.range);
  if (look.range &&
      (look.range->begin >= timeline.content.end || look.range->end <= timeline.content.begin)) {
    look.range.reset();
    result.wrong.push_back(
        {fmt::format("--range {}: the run has nothing there; it ends {} after its start", words.range,
                     analyzer::format_duration(timeline.content.end - timeline.origin))});
  }
  // check() has said what is wrong with these.
  if (const Result<RankOrder> order = parse_order(words.order); !words.order.empty() && order.ok())
    look.order = order.value();
  if (!words.filter.empty()) look.filter = words.filter;
  look.pinned = words.pinned;
  look.chain = words.chain;
  if (!words.go_to.empty()) {
    const Result<Command> command = parse_goto(scene, words.go_to);
    if (command.ok())
      look.go_to = command.value();
    else
      result.wrong.push_back({"--goto: " + command.error().message});
  }
  if (!words.measure.empty()) {
    look.measured = range_of("--measure", words.measure);
    if (look.measured &&
        (look.measured->begin >= timeline.content.end || look.measured->end <= timeline.content.begin)) {
      look.measured.reset();
      result.wrong.push_back(
          {fmt::format("--measure {}: the run has nothing there; it ends {} after its start", words.measure,
                       analyzer::format_duration(timeline.content.end - timeline.origin))});
    }
    if (look.measured && look.panel.empty()) look.panel = "Range";
  }
  if (words.collective >= 0) {
    look.collective = scene.find_collective(words.collective);
    if (!look.collective) {
      result.wrong.push_back({fmt::format("--collective {}: the report has no collective of that number; it "
                                          "has {}",
                                          words.collective, scene.collectives().size()),
                              false});
    }
  }
  return result;
}

}  // namespace lockstep::viewer
