#include "viewer/timeline/scene.h"

#include <algorithm>
#include <cmath>

namespace lockstep::viewer {

Scene::Scene(analyzer::Job job, analyzer::Analysis analysis)
    : job_(std::move(job)), analysis_(std::move(analysis)) {
  analysis_.segments.resize(job_.ranks.size());
  timeline_ = make_timeline(job_, analysis_);
  rank_reports_.assign(job_.ranks.size(), -1);
  blames_.assign(job_.ranks.size(), -1);
  for (std::size_t i = 0; i < report().ranks.size(); ++i) {
    if (const auto index = index_of(report().ranks[i].rank))
      rank_reports_[*index] = static_cast<std::int64_t>(i);
  }
  for (std::size_t i = 0; i < report().blame.size(); ++i) {
    if (const auto index = index_of(report().blame[i].rank)) blames_[*index] = static_cast<std::int64_t>(i);
  }
}

const analyzer::RankReport* Scene::rank_report(std::size_t rank) const {
  return rank_reports_[rank] < 0 ? nullptr : &report().ranks[static_cast<std::size_t>(rank_reports_[rank])];
}

const analyzer::BlameReport* Scene::blame(std::size_t rank) const {
  return blames_[rank] < 0 ? nullptr : &report().blame[static_cast<std::size_t>(blames_[rank])];
}

std::string_view Scene::string(std::uint32_t id) const {
  return id < job_.strings.size() ? job_.strings.view(id) : std::string_view{};
}

std::optional<std::uint32_t> Scene::index_of(std::int32_t rank) const {
  const auto at = std::lower_bound(
      job_.ranks.begin(), job_.ranks.end(), rank,
      [](const analyzer::RankTrace& trace, std::int32_t wanted) { return trace.rank < wanted; });
  if (at == job_.ranks.end() || at->rank != rank) return std::nullopt;
  return static_cast<std::uint32_t>(at - job_.ranks.begin());
}

std::optional<std::uint32_t> Scene::collective_of(const Item& item) const {
  const auto activity = activity_of(timeline_, item);
  if (!activity) return std::nullopt;
  return viewer::collective_of(job_, analysis_, item.rank, *activity);
}

Hit hit_test(const Frame& frame, float x, float y) {
  Hit hit;
  if (y < frame.regions.lanes.top || y >= frame.regions.lanes.bottom) return hit;
  const int row_y = static_cast<int>(std::floor(y - frame.regions.lanes.top)) + frame.state.scroll;
  const RowHit at = row_at(frame.layout, row_y);
  hit.rank = at.rank;
  hit.row = at.row;
  if (!at.row || !frame.regions.lanes.contains(x, y)) return hit;

  const TrackLane& lane = frame.scene.timeline().ranks[*at.rank].lanes[at.row->lane];
  if (at.row->row >= lane.rows.size()) return hit;
  std::vector<FoldedBox> boxes;
  fold(lane.rows[at.row->row].columns(), frame.axis.visible(), threshold(frame.axis), boxes);
  constexpr double kReach = 2;
  double nearest = kReach + 1;
  PixelPlacer placer(frame.axis);
  for (const FoldedBox& box : boxes) {
    const PixelSpan span = placer.place(box.begin, box.end);
    const double away = std::max({span.left - x, x - span.right, 0.0F});
    if (away > kReach || away >= nearest) continue;
    nearest = away;
    hit.box = box;
  }
  if (hit.box && !hit.box->folded()) hit.item = Item{*at.rank, at.row->lane, at.row->row, hit.box->first};
  return hit;
}

std::optional<std::uint32_t> lit_collective(const Scene& scene, const TimelineState& state) {
  if (state.hovered) {
    if (const auto lit = scene.collective_of(*state.hovered)) return lit;
  }
  return state.selected ? scene.collective_of(*state.selected) : std::nullopt;
}

}  // namespace lockstep::viewer
