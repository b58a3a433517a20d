#include "viewer/timeline/wait_chain.h"

#include <fmt/format.h>

#include <algorithm>

#include "analyzer/report/unicode.h"
#include "viewer/timeline/code_spans.h"
#include "viewer/timeline/draw.h"
#include "viewer/timeline/lateness.h"
#include "viewer/timeline/navigate.h"

namespace lockstep::viewer {

namespace {

using analyzer::Cause;

constexpr std::size_t kLookedAt = 4096;  // of one row: enough to be typical

std::uint64_t overlap(const TimeRange& range, Nanoseconds begin, Nanoseconds end) {
  const Nanoseconds from = std::max(range.begin, begin), to = std::min(range.end, end);
  return to > from ? distance(from, to) : 0;
}

// The item of the rank's lanes of this role that fills most of the range; nothing where none does.
std::optional<Item> longest_within(const Scene& scene, std::uint32_t rank, LaneRole role, TimeRange range) {
  const std::vector<TrackLane>& lanes = scene.timeline().ranks[rank].lanes;
  std::optional<Item> best;
  std::uint64_t most = 0;
  for (std::uint32_t l = 0; l < lanes.size(); ++l) {
    if (lanes[l].role != role) continue;
    for (std::uint32_t r = 0; r < lanes[l].rows.size(); ++r) {
      const Row& row = lanes[l].rows[r];
      auto at = static_cast<std::size_t>(std::upper_bound(row.end.begin(), row.end.end(), range.begin) -
                                         row.end.begin());
      const std::size_t last = std::min(row.size(), at + kLookedAt);
      for (; at < last && row.begin[at] < range.end; ++at) {
        const std::uint64_t here = overlap(range, row.begin[at], row.end[at]);
        if (here <= most) continue;
        most = here;
        best = Item{rank, l, r, static_cast<std::uint32_t>(at)};
      }
    }
  }
  return best;
}

// The longest stretch of this cause that begins or lasts in the range.
std::optional<Item> longest_stretch(const Scene& scene, std::uint32_t rank, Cause cause, TimeRange range) {
  const std::vector<TrackLane>& lanes = scene.timeline().ranks[rank].lanes;
  const auto bar = std::ranges::find(lanes, LaneRole::causes, &TrackLane::role);
  if (bar == lanes.end() || bar->rows.empty()) return std::nullopt;
  const Row& row = bar->rows.front();
  const auto lane = static_cast<std::uint32_t>(bar - lanes.begin());
  auto at = static_cast<std::size_t>(std::ranges::upper_bound(row.end, range.begin) - row.end.begin());
  const std::size_t last = std::min(row.size(), at + kLookedAt);
  std::optional<Item> best;
  std::uint64_t most = 0;
  for (; at < last && row.begin[at] < range.end; ++at) {
    const std::uint64_t here = overlap(range, row.begin[at], row.end[at]);
    if (here <= most || scene.segments(rank)[row.item.empty() ? at : row.item[at]].cause != cause) continue;
    most = here;
    best = Item{rank, lane, 0, static_cast<std::uint32_t>(at)};
  }
  return best;
}

// What made a collective's last arriver late.
struct Doing {
  std::optional<Item> item;
  bool waited = false;
};

// Where nothing is known of how it differs from the others: what it did for most of the time in which they
// waited for it.
Lateness most_while_others_waited(const Scene& scene, const Item& last, std::uint32_t collective) {
  const Row& row = scene.timeline().ranks[last.rank].lanes[last.lane].rows[last.row];
  const Nanoseconds arrival = row.begin[last.at];
  std::int64_t longest = 1;
  for (const analyzer::CollectiveRank& part : scene.parts(collective))
    longest = std::max(longest, part.wait_ns);
  const TimeRange range{saturating_add(arrival, -longest), arrival};
  const CauseTimes times = scene.timeline().ranks[last.rank].cause_sums.within(range.begin, range.end);
  const auto most = std::max_element(times.begin(), times.end());
  const auto cause = *most == 0 ? Cause::compute : static_cast<Cause>(most - times.begin());
  return Lateness{cause, range};
}

Doing doing_before(const Scene& scene, const Item& last, std::uint32_t collective) {
  const std::optional<Lateness> known = lateness_of(scene, last, collective);
  const auto [cause, since] = known ? *known : most_while_others_waited(scene, last, collective);
  Doing doing{std::nullopt, is_waiting(cause)};
  if (cause == Cause::compute || cause == Cause::copy)
    doing.item = longest_within(scene, last.rank, LaneRole::compute, since);
  if (!doing.item) doing.item = longest_stretch(scene, last.rank, cause, since);
  return doing;
}

std::string why(const Scene& scene, const Item& root) {
  constexpr std::size_t kLongest = 48;
  const std::string name = item_label(scene, root);
  std::string text = fmt::format("rank {}: {}", scene.timeline().ranks[root.rank].rank,
                                 analyzer::fit(analyzer::printable(name.substr(0, 4 * kLongest)), kLongest));
  const analyzer::BlameReport* const blame = scene.blame(root.rank);
  if (blame != nullptr && !blame->root_cause.empty())
    text += "  ·  " + quote_code(analyzer::printable(blame->root_cause));
  return text;
}

}  // namespace

WaitChain chain_of(const Scene& scene, const Item& item) {
  WaitChain chain;
  chain.items.push_back(item);
  for (Item at = item;;) {
    const auto collective = scene.collective_of(at);
    Doing doing;
    if (collective) {
      const CollectiveHead& head = scene.collectives()[*collective];
      // Nobody knows who held it up; what came before is another matter.
      if (!head.has_last_arriver && chain.items.size() > 1) break;
      if (head.has_last_arriver && head.last_arriver == scene.timeline().ranks[at.rank].rank)
        doing = doing_before(scene, at, *collective);
    }
    const bool to_blame = doing.item && !doing.waited;
    const auto next = to_blame ? std::nullopt : held_up_by(scene, at);
    const bool again = next && std::find(chain.items.begin(), chain.items.end(), *next) != chain.items.end();
    if (!next || again) {
      chain.root = doing.item;
      break;
    }
    if (chain.items.size() == kLongestChain) {
      chain.cut = true;
      break;
    }
    chain.items.push_back(*next);
    at = *next;
  }
  if (chain.root) chain.why = why(scene, *chain.root);
  return chain;
}

}  // namespace lockstep::viewer
