#include "analyzer/html/data_collectives.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <set>

#include "analyzer/report/text.h"
#include "analyzer/report/unicode.h"

namespace lockstep::analyzer {
namespace {

using Json = nlohmann::ordered_json;

// [rank, arrival after the first one's, wait, transfer]: of all that took part, also where the report is of a
// few ranks.
Json arrivals(const CollectiveReport& one) {
  Nanoseconds first = std::numeric_limits<Nanoseconds>::max();
  for (const CollectiveRank& rank : one.ranks) first = std::min(first, rank.arrival_ns);
  Json array = Json::array();
  for (const CollectiveRank& rank : one.ranks)
    array.push_back({rank.rank, rank.arrival_ns - first, rank.wait_ns, rank.transfer_ns});
  return array;
}

}  // namespace

ShownCollectives shown_collectives(const Report& report, const std::vector<DrawnEvidence>& evidence,
                                   const HtmlOptions& options) {
  std::set<std::size_t> drawn;
  for (const DrawnEvidence& one : evidence)
    if (one.data.collective) drawn.insert(*one.data.collective);
  const std::vector<std::size_t> order = collectives_by_cost(report);
  ShownCollectives shown;
  for (std::size_t place = 0; place < order.size(); ++place) {
    const bool is_drawn = drawn.contains(order[place]);
    if (place >= options.collectives && !is_drawn) continue;
    shown.row_of.emplace(order[place], shown.order.size());
    shown.order.push_back(order[place]);
    shown.arrivals.push_back(place < options.arrivals || is_drawn);
  }
  return shown;
}

Json collectives_json(const Report& report, const ShownCollectives& shown, const GroupNumbers& groups) {
  Json array = Json::array();
  for (std::size_t row = 0; row < shown.order.size(); ++row) {
    const CollectiveReport& one = report.collectives[shown.order[row]];
    const std::optional<std::int64_t> spread = spread_of(one);
    // Of how many ranks, where some left no record; 0 where nobody can tell.
    const Json participants = one.partial ? Json(one.participants().value_or(0)) : Json();
    Json entry{one.id,
               to_string(one.operation),
               to_valid_utf8(one.name),
               groups.of(one.group_name, one.group_ranks),
               or_null(one.step),
               or_null(one.bytes),
               one.waits_known() ? Json(one.wait_ns) : Json(),
               longest_transfer(one),
               or_null(one.last_arriver),
               or_null(one.last_arriver_margin_ns),
               or_null(one.busbw_wire_gbps),
               or_null(spread),
               one.ranks.size(),
               participants,
               one.unfinished};
    if (shown.arrivals[row]) entry.push_back(arrivals(one));
    array.push_back(std::move(entry));
  }
  return array;
}

}  // namespace lockstep::analyzer
