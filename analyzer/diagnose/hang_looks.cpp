#include "analyzer/diagnose/hang_looks.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>

#include "analyzer/model/hang_length.h"
#include "analyzer/report/quantity.h"

namespace lockstep::analyzer::hang {
namespace {

Nanoseconds last_operation_of(const RankTrace& rank) {
  Nanoseconds last = std::numeric_limits<Nanoseconds>::min();
  for (const Communication& communication : rank.communications)
    if (communication.activity < rank.activities.size())
      last = std::max(last, rank.activities[communication.activity].end);
  for (const OpenOperation& open : rank.ending.operations) last = std::max(last, open.begin);
  return last;
}

// What came after an interruption is how the job ended, not where it hung.
Nanoseconds end_of_hang(const Ending& ending) {
  return ending.interrupted != kUnknownTime ? ending.interrupted : ending.recorded_until;
}

// By time.
std::vector<HostRange> last_looks(const RankTrace& rank) {
  const Nanoseconds since = last_operation_of(rank), until = end_of_hang(rank.ending);
  std::vector<HostRange> looks;
  for (const HostRange& range : rank.host_ranges)
    if (range.kind == HostKind::python_place && range.begin >= since &&
        (until == kUnknownTime || range.begin < until))
      looks.push_back(range);
  std::sort(looks.begin(), looks.end(),
            [](const HostRange& a, const HostRange& b) { return a.begin < b.begin; });
  if (until != kUnknownTime && !looks.empty()) looks.back().end = std::min(looks.back().end, until);
  return looks;
}

}  // namespace

std::string where_last_seen(const Job& job, const RankTrace& rank) {
  if (!rank.ending.doing.empty()) return {};
  const std::vector<HostRange> looks = last_looks(rank);
  if (looks.empty()) return {};
  const auto elsewhere = std::find_if(looks.rbegin(), looks.rend(),
                                      [&](const HostRange& look) { return look.name != looks.back().name; });
  const auto all = std::ssize(looks);
  const auto in_a_row = elsewhere - looks.rbegin();
  const auto over = [&](const HostRange& first) { return format_duration(looks.back().end - first.begin); };
  std::string text = fmt::format("was last seen in `{}`", job.strings.view(looks.back().name));
  if (in_a_row * 2 >= all) {
    text += fmt::format(", {} in a row over {}", format_plural(in_a_row, "look"), over(*(elsewhere.base())));
  } else {
    std::map<std::uint32_t, std::int64_t> counts;
    for (const HostRange& look : looks) ++counts[look.name];
    const auto most = std::max_element(counts.begin(), counts.end(),
                                       [](const auto& a, const auto& b) { return a.second < b.second; });
    text += fmt::format("{} at {} of {} over {}",
                        most->first == looks.back().name
                            ? ","
                            : fmt::format(", and most often in `{}`,", job.strings.view(most->first)),
                        format_count(most->second), format_plural(all, "look"), over(looks.front()));
  }
  // Nobody can look while something holds the interpreter's lock.
  const Nanoseconds until = end_of_hang(rank.ending);
  if (until != kUnknownTime && until - looks.back().end >= kHungAfter)
    text += fmt::format(", and at no look in the {} after that", format_duration(until - looks.back().end));
  return text;
}

bool is_any_last_seen(const Job& job, const std::vector<std::int32_t>& ranks) {
  return std::any_of(job.ranks.begin(), job.ranks.end(), [&](const RankTrace& rank) {
    const bool asked = ranks.empty() || std::find(ranks.begin(), ranks.end(), rank.rank) != ranks.end();
    return asked && rank.ending.doing.empty() && !last_looks(rank).empty();
  });
}

}  // namespace lockstep::analyzer::hang
