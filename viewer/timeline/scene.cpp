#include "viewer/timeline/scene.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "viewer/prepared/serialize.h"

namespace lockstep::viewer {

namespace {

// Every array of a rank.
bool holds(const Tables& tables, const RankContents& rank) {
  for (const LaneContents& lane : rank.tracks) {
    for (const RowContents& row : lane.rows) {
      if (!tables.holds(row.begin) || !tables.holds(row.end) || !tables.holds(row.busy) ||
          !tables.holds(row.wait) || !tables.holds(row.item))
        return false;
    }
  }
  for (const CounterContents& counter : rank.counters)
    if (!tables.holds(counter.points) || !tables.holds(counter.blocks)) return false;
  return tables.holds(rank.steps) && tables.holds(rank.step_marks) && tables.holds(rank.activities) &&
         tables.holds(rank.communications) && tables.holds(rank.computations) &&
         tables.holds(rank.host_ranges) && tables.holds(rank.segments) && tables.holds(rank.cause_begins) &&
         tables.holds(rank.cause_sums) && tables.holds(rank.collective_of) && tables.holds(rank.waits) &&
         tables.holds(rank.pipeline_regions);
}

bool holds(const Tables& tables, const Contents& contents) {
  return std::all_of(contents.ranks.begin(), contents.ranks.end(),
                     [&](const RankContents& rank) { return holds(tables, rank); }) &&
         tables.holds(contents.string_ends) && tables.holds(contents.string_bytes) &&
         tables.holds(contents.steps) && tables.holds(contents.collectives) &&
         tables.holds(contents.collective_ranks) && tables.holds(contents.costliest);
}

}  // namespace

Result<std::unique_ptr<Scene>> Scene::load(std::shared_ptr<const Tables> tables) {
  Result<Contents> contents = deserialize(tables->contents());
  if (!contents.ok()) return contents.error();
  if (!holds(*tables, contents.value()))
    return Error{"the prepared timeline is damaged: it says that it holds more than it does"};
  return std::unique_ptr<Scene>(new Scene(std::move(tables), std::move(contents).value()));
}

Scene::Scene(std::shared_ptr<const Tables> tables, Contents contents)
    : tables_(std::move(tables)), contents_(std::move(contents)) {
  timeline_ = make_timeline(contents_, *tables_);
  for (const RankContents& rank : contents_.ranks) {
    data_.push_back({tables_->array(rank.activities), tables_->array(rank.communications),
                     tables_->array(rank.computations), tables_->array(rank.host_ranges),
                     tables_->array(rank.step_marks), tables_->array(rank.segments),
                     tables_->array(rank.collective_of)});
  }
  string_ends_ = tables_->array(contents_.string_ends);
  string_bytes_ = tables_->array(contents_.string_bytes);
  steps_ = tables_->array(contents_.steps);
  collectives_ = tables_->array(contents_.collectives);
  collective_ranks_ = tables_->array(contents_.collective_ranks);
  costliest_ = tables_->array(contents_.costliest);
  rank_reports_.assign(data_.size(), -1);
  blames_.assign(data_.size(), -1);
  for (std::size_t i = 0; i < report().ranks.size(); ++i) {
    if (const auto index = index_of(report().ranks[i].rank))
      rank_reports_[*index] = static_cast<std::int64_t>(i);
  }
  for (std::size_t i = 0; i < report().blame.size(); ++i) {
    if (const auto index = index_of(report().blame[i].rank)) blames_[*index] = static_cast<std::int64_t>(i);
  }
  std::vector<std::int32_t> ranks;
  for (const RankContents& rank : contents_.ranks) ranks.push_back(rank.rank);
  standings_ = rank_standings(report(), ranks);
  facts_ = job_facts(*this);
}

const analyzer::RankReport* Scene::rank_report(std::size_t rank) const {
  return rank_reports_[rank] < 0 ? nullptr : &report().ranks[static_cast<std::size_t>(rank_reports_[rank])];
}

const analyzer::BlameReport* Scene::blame(std::size_t rank) const {
  return blames_[rank] < 0 ? nullptr : &report().blame[static_cast<std::size_t>(blames_[rank])];
}

std::string_view Scene::string(std::uint32_t id) const {
  if (id >= string_ends_.size()) return {};
  const std::uint64_t begin = id == 0 ? 0 : string_ends_[id - 1];
  const std::uint64_t end = string_ends_[id];
  if (begin > end || end > string_bytes_.size()) return {};
  return {string_bytes_.data() + begin, static_cast<std::size_t>(end - begin)};
}

std::optional<std::uint32_t> Scene::find_collective(std::int64_t id) const {
  const auto found = std::find_if(collectives_.begin(), collectives_.end(),
                                  [id](const CollectiveHead& head) { return head.id == id; });
  if (found == collectives_.end()) return std::nullopt;
  return static_cast<std::uint32_t>(found - collectives_.begin());
}

std::span<const analyzer::CollectiveRank> Scene::parts(std::uint32_t collective) const {
  const CollectiveHead& head = collectives_[collective];
  if (head.first_part > collective_ranks_.size() || head.parts > collective_ranks_.size() - head.first_part)
    return {};
  return collective_ranks_.subspan(head.first_part, head.parts);
}

analyzer::CollectiveReport Scene::collective(std::uint32_t index) const {
  const CollectiveHead& head = collectives_[index];
  analyzer::CollectiveReport report;
  report.id = head.id;
  if (head.has_step) report.step = head.step;
  report.operation = head.operation;
  report.name = string(head.name);
  report.group_name = string(head.group_name);
  if (head.has_sequence) report.sequence = head.sequence;
  if (head.has_bytes) report.bytes = head.bytes;
  report.data_type = head.data_type;
  report.evidence = string(head.evidence);
  report.partial = head.partial;
  report.unfinished = head.unfinished;
  report.root_unknown = head.root_unknown;
  if (head.has_last_arriver) {
    report.last_arriver = head.last_arriver;
    report.last_arriver_margin_ns = head.last_arriver_margin_ns;
  }
  if (head.has_algbw) report.algbw_gbps = head.algbw_gbps;
  if (head.has_busbw) report.busbw_gbps = head.busbw_gbps;
  if (head.has_busbw_wire) report.busbw_wire_gbps = head.busbw_wire_gbps;
  report.wait_ns = head.wait_ns;
  const auto ranks = parts(index);
  report.ranks.assign(ranks.begin(), ranks.end());
  return report;
}

std::optional<std::uint32_t> Scene::index_of(std::int32_t rank) const {
  const auto at =
      std::lower_bound(contents_.ranks.begin(), contents_.ranks.end(), rank,
                       [](const RankContents& each, std::int32_t wanted) { return each.rank < wanted; });
  if (at == contents_.ranks.end() || at->rank != rank) return std::nullopt;
  return static_cast<std::uint32_t>(at - contents_.ranks.begin());
}

std::optional<std::uint32_t> Scene::activity_of(const Item& item) const {
  const TrackLane& lane = timeline_.ranks[item.rank].lanes[item.lane];
  if (lane.role != LaneRole::compute && lane.role != LaneRole::communication) return std::nullopt;
  return lane.rows[item.row].item[item.at];
}

std::optional<Item> Scene::find_activity(std::uint32_t rank, std::uint32_t activity) const {
  if (rank >= data_.size() || activity >= data_[rank].activities.size()) return std::nullopt;
  const analyzer::Activity& wanted = data_[rank].activities[activity];
  const std::vector<TrackLane>& lanes = timeline_.ranks[rank].lanes;
  for (std::uint32_t l = 0; l < lanes.size(); ++l) {
    if (lanes[l].job_lane != wanted.lane ||
        (lanes[l].role != LaneRole::compute && lanes[l].role != LaneRole::communication))
      continue;
    for (std::uint32_t r = 0; r < lanes[l].rows.size(); ++r) {
      const Row& row = lanes[l].rows[r];
      // Items of a row are in order of their index: activities are sorted by begin, as rows are. Ties may be
      // swapped.
      auto at = static_cast<std::size_t>(std::lower_bound(row.begin.begin(), row.begin.end(), wanted.begin) -
                                         row.begin.begin());
      for (; at < row.size() && row.begin[at] <= std::max(wanted.end, wanted.begin); ++at) {
        if (row.item[at] == activity) return Item{rank, l, r, static_cast<std::uint32_t>(at)};
      }
    }
  }
  return std::nullopt;
}

std::optional<std::uint32_t> Scene::collective_of(std::uint32_t rank, std::uint32_t activity) const {
  const RankData& data = data_[rank];
  const std::uint32_t communication = data.activities[activity].communication;
  if (communication >= data.collective_of.size()) return std::nullopt;
  const std::uint32_t collective = data.collective_of[communication];
  if (collective >= collectives_.size()) return std::nullopt;
  return collective;
}

std::optional<std::uint32_t> Scene::collective_of(const Item& item) const {
  const auto activity = activity_of(item);
  if (!activity) return std::nullopt;
  return collective_of(item.rank, *activity);
}

std::size_t first_communication_from(const RankData& data, Nanoseconds time) {
  const auto at = std::partition_point(data.communications.begin(), data.communications.end(),
                                       [&](const analyzer::Communication& communication) {
                                         return communication.activity < data.activities.size() &&
                                                data.activities[communication.activity].begin < time;
                                       });
  return static_cast<std::size_t>(at - data.communications.begin());
}

int Frame::timeline_y(float y) const {
  const int below = static_cast<int>(std::floor(y - regions.lanes.top));
  return below < layout.fixed_height ? below : below + state.scroll;
}

Rect Frame::part_of(const Rect& area, bool fixed) const {
  const float border = std::min(regions.lanes.top + static_cast<float>(layout.fixed_height), area.bottom);
  return fixed ? Rect{area.left, area.top, area.right, border}
               : Rect{area.left, border, area.right, area.bottom};
}

std::span<const std::uint32_t> Frame::ranks_on_screen(bool fixed) const {
  const std::span<const std::uint32_t> all(layout.shown);
  if (fixed) return all.first(layout.fixed);
  const auto [first, last] =
      ranks_between(layout, state.scroll + layout.fixed_height,
                    state.scroll + static_cast<int>(std::ceil(regions.lanes.height())));
  return all.subspan(first, last - first);
}

Hit hit_test(const Frame& frame, float x, float y) {
  Hit hit;
  if (y < frame.regions.lanes.top || y >= frame.regions.lanes.bottom) return hit;
  const RowHit at = row_at(frame.layout, frame.timeline_y(y));
  hit.section = at.section;
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
