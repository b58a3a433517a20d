#include "viewer/timeline/messages.h"

#include <algorithm>

#include "analyzer/model/operation.h"

namespace lockstep::viewer {

namespace {

// Which side it is; nothing where it was not recorded.
std::optional<bool> sends(const Scene& scene, std::uint32_t rank, std::uint32_t activity) {
  const RankData& data = scene.data(rank);
  const std::uint32_t index = data.activities[activity].communication;
  if (index >= data.communications.size()) return std::nullopt;
  const analyzer::Operation operation = data.communications[index].operation;
  if (operation == analyzer::Operation::send) return true;
  if (operation == analyzer::Operation::recv) return false;
  return std::nullopt;
}

struct Found {
  std::uint32_t rank = 0;
  std::size_t first = 0, last = 0;  // communications that begin on the screen
};

// Calls `visit(activity)` for what is under way at `time`: at most one in each row.
template <class Visit>
void for_each_under_way(const RankTracks& tracks, Nanoseconds time, const Visit& visit) {
  for (const TrackLane& lane : tracks.lanes) {
    if (lane.role != LaneRole::compute && lane.role != LaneRole::communication) continue;
    for (const Row& row : lane.rows) {
      const auto after = std::lower_bound(row.begin.begin(), row.begin.end(), time) - row.begin.begin();
      const auto at = static_cast<std::size_t>(after) - 1;
      if (after > 0 && row.end[at] >= time) visit(row.item[at]);
    }
  }
}

}  // namespace

std::optional<Message> message_of(const Scene& scene, std::uint32_t collective) {
  const auto parts = scene.parts(collective);
  if (parts.size() != 2 || !analyzer::is_point_to_point(scene.collectives()[collective].operation))
    return std::nullopt;
  std::optional<Item> sides[2];
  std::optional<bool> sender[2];
  for (std::size_t side = 0; side < 2; ++side) {
    const auto rank = scene.index_of(parts[side].rank);
    if (!rank) return std::nullopt;
    sides[side] = scene.find_activity(*rank, parts[side].activity);
    if (!sides[side]) return std::nullopt;
    sender[side] = sends(scene, *rank, parts[side].activity);
  }
  const bool second_sends = sender[1] == true || sender[0] == false;
  const bool directed = sender[0] != sender[1];
  return second_sends && directed ? Message{collective, *sides[1], *sides[0], directed}
                                  : Message{collective, *sides[0], *sides[1], directed};
}

std::vector<Message> messages_in_view(const Frame& frame) {
  const TimeRange visible = frame.axis.visible();
  // Both sides of each, and as many other operations between them.
  constexpr std::size_t kMaxLookedAt = 4 * kMaxMessages;
  std::vector<Found> ranks;
  std::size_t count = 0;
  for (const bool fixed : {true, false}) {
    for (const std::uint32_t rank : frame.ranks_on_screen(fixed)) {
      const RankData& data = frame.scene.data(rank);
      const Found found{rank, first_communication_from(data, visible.begin),
                        first_communication_from(data, saturating_add(visible.end, Nanoseconds{1}))};
      count += found.last - found.first;
      ranks.push_back(found);
    }
  }
  if (count > kMaxLookedAt) return {};
  std::vector<std::uint32_t> messages;
  for (const Found& found : ranks) {
    const RankData& data = frame.scene.data(found.rank);
    const auto add = [&](std::uint32_t activity) {
      if (activity >= data.activities.size()) return;
      const auto collective = frame.scene.collective_of(found.rank, activity);
      if (collective && analyzer::is_point_to_point(frame.scene.collectives()[*collective].operation))
        messages.push_back(*collective);
    };
    for (std::size_t i = found.first; i < found.last; ++i) add(data.communications[i].activity);
    for_each_under_way(frame.scene.timeline().ranks[found.rank], visible.begin, add);
  }
  std::sort(messages.begin(), messages.end());
  messages.erase(std::unique(messages.begin(), messages.end()), messages.end());
  if (messages.size() > kMaxMessages) return {};
  std::vector<Message> result;
  for (const std::uint32_t collective : messages)
    if (const auto message = message_of(frame.scene, collective)) result.push_back(*message);
  return result;
}

}  // namespace lockstep::viewer
