#include "viewer/timeline/navigate.h"

#include <algorithm>

namespace lockstep::viewer {

namespace {

std::optional<Item> item_of(const Scene& scene, std::uint32_t collective, std::int32_t rank) {
  const analyzer::CollectiveRank* const part = part_of(scene, collective, rank);
  const auto index = scene.index_of(rank);
  if (part == nullptr || !index) return std::nullopt;
  return scene.find_activity(*index, part->activity);
}

Nanoseconds begin_of(const Scene& scene, const Item& item) {
  return scene.timeline().ranks[item.rank].lanes[item.lane].rows[item.row].begin[item.at];
}

}  // namespace

const analyzer::CollectiveRank* part_of(const Scene& scene, std::uint32_t collective, std::int32_t rank) {
  for (const analyzer::CollectiveRank& part : scene.parts(collective))
    if (part.rank == rank) return &part;
  return nullptr;
}

std::optional<Item> neighbour(const Scene& scene, const Item& item, int direction) {
  const Row& row = scene.timeline().ranks[item.rank].lanes[item.lane].rows[item.row];
  if (direction < 0 ? item.at == 0 : item.at + 1 >= row.size()) return std::nullopt;
  Item next = item;
  next.at = direction < 0 ? item.at - 1 : item.at + 1;
  return next;
}

std::optional<Item> held_up_by(const Scene& scene, const Item& item) {
  const std::int32_t own = scene.timeline().ranks[item.rank].rank;
  const auto collective = scene.collective_of(item);
  if (collective) {
    const CollectiveHead& head = scene.collectives()[*collective];
    if (head.has_last_arriver && head.last_arriver != own)
      return item_of(scene, *collective, head.last_arriver);
  }
  const RankData& data = scene.data(item.rank);
  for (std::size_t i = first_communication_from(data, begin_of(scene, item)); i-- > 0;) {
    const std::uint32_t activity = data.communications[i].activity;
    if (activity >= data.activities.size()) continue;
    const auto earlier = scene.collective_of(item.rank, activity);
    if (!earlier) continue;
    const analyzer::CollectiveRank* const part = part_of(scene, *earlier, own);
    if (part == nullptr || part->wait_ns <= 0) continue;
    return scene.find_activity(item.rank, activity);
  }
  return std::nullopt;
}

std::optional<Item> held_up(const Scene& scene, const Item& item) {
  const std::int32_t own = scene.timeline().ranks[item.rank].rank;
  if (const auto collective = scene.collective_of(item)) {
    const CollectiveHead& head = scene.collectives()[*collective];
    if (head.has_last_arriver && head.last_arriver == own) {
      const auto parts = scene.parts(*collective);
      const auto longest =
          std::max_element(parts.begin(), parts.end(),
                           [](const analyzer::CollectiveRank& a, const analyzer::CollectiveRank& b) {
                             return a.wait_ns < b.wait_ns;
                           });
      if (longest != parts.end() && longest->wait_ns > 0 && longest->rank != own)
        return item_of(scene, *collective, longest->rank);
    }
  }
  const RankData& data = scene.data(item.rank);
  const std::size_t from =
      first_communication_from(data, saturating_add(begin_of(scene, item), Nanoseconds{1}));
  for (const analyzer::Communication& communication : data.communications.subspan(from)) {
    if (communication.activity >= data.activities.size()) continue;
    const auto later = scene.collective_of(item.rank, communication.activity);
    if (!later) continue;
    const CollectiveHead& head = scene.collectives()[*later];
    if (head.has_last_arriver && head.last_arriver == own && head.wait_ns > 0)
      return scene.find_activity(item.rank, communication.activity);
  }
  return std::nullopt;
}

}  // namespace lockstep::viewer
