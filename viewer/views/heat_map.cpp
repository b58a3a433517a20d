#include "viewer/views/heat_map.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "analyzer/report/text_sections.h"

namespace lockstep::viewer {

namespace {

// Of `count` cells on `pixels` pixels, those on pixel `at`: all that begin before its end and end behind its
// begin, at least one.
std::pair<std::size_t, std::size_t> sharing(std::size_t count, int pixels, int at) {
  if (count == 0 || pixels <= 0) return {0, 0};
  const auto wide = static_cast<std::uint64_t>(pixels);
  const auto pixel = static_cast<std::uint64_t>(std::clamp(at, 0, pixels - 1));
  const std::uint64_t first = pixel * count / wide;
  const std::uint64_t last = ((pixel + 1) * count + wide - 1) / wide;
  return {static_cast<std::size_t>(first),
          static_cast<std::size_t>(std::clamp<std::uint64_t>(last, first + 1, count))};
}

float edge(float from, float length, std::size_t at, std::size_t count) {
  return from + std::floor(length * static_cast<float>(at) / static_cast<float>(count));
}

}  // namespace

const char* title_of(StepQuantity quantity) {
  switch (quantity) {
    case StepQuantity::step_time:
      return "step time";
    case StepQuantity::barrier_wait:
      return "exposed waiting";
    case StepQuantity::exposed_communication:
      return "exposed communication";
    case StepQuantity::compute:
      return "compute";
    case StepQuantity::pipeline_bubble:
      return "pipeline bubble";
    case StepQuantity::data_wait:
      return "data wait";
    case StepQuantity::host_bound:
      return "host-bound";
  }
  return "";
}

std::optional<std::int64_t> value_of(const analyzer::Measures& measures, StepQuantity quantity) {
  using analyzer::Cause;
  if (quantity == StepQuantity::step_time) return measures.window_ns;
  if (!measures.known) return std::nullopt;
  switch (quantity) {
    case StepQuantity::step_time:
      break;
    case StepQuantity::barrier_wait:
      if (!measures.waits_known) return std::nullopt;
      return measures.collective_wait_ns + measures.p2p_wait_ns;
    case StepQuantity::exposed_communication:
      return measures.exposed_communication_ns;
    case StepQuantity::compute:
      return measures.compute_ns;
    case StepQuantity::pipeline_bubble:
      return measures.partition[Cause::pipeline_bubble];
    case StepQuantity::data_wait:
      return measures.partition[Cause::data_wait];
    case StepQuantity::host_bound:
      return measures.partition[Cause::host_bound];
  }
  return std::nullopt;
}

HeatMap make_heat_map(const Scene& scene, StepQuantity quantity) {
  HeatMap map;
  map.quantity = quantity;
  for (const RankContents& rank : scene.contents().ranks) map.ranks.push_back(rank.rank);
  for (const analyzer::StepReport& step : scene.steps())
    if (map.steps.empty() || map.steps.back() != step.step) map.steps.push_back(step.step);
  map.ns.resize(map.ranks.size() * map.steps.size());
  // What warm-up or a checkpoint takes would leave the others one colour.
  const auto& steady = scene.report().steady;
  const auto sets_range = [&steady](std::int64_t step) {
    return !steady || std::ranges::binary_search(steady->steps, step);
  };
  bool any = false;
  std::size_t column = 0;
  for (const analyzer::StepReport& step : scene.steps()) {
    while (map.steps[column] != step.step) ++column;
    const auto rank = scene.index_of(step.rank);
    const auto value = value_of(step.measures, quantity);
    if (!rank || !value) continue;
    map.ns[*rank * map.steps.size() + column] = value;
    if (!sets_range(step.step)) continue;
    map.least = any ? std::min(map.least, *value) : *value;
    map.most = any ? std::max(map.most, *value) : *value;
    any = true;
  }
  // The shortest step is no short time; nothing else is only compared with others of its kind.
  if (quantity != StepQuantity::step_time) map.least = std::min<std::int64_t>(map.least, 0);
  return map;
}

StepQuantity first_quantity(const Scene& scene) {
  const auto is_known = [&scene](StepQuantity quantity) {
    return std::ranges::any_of(scene.steps(), [quantity](const analyzer::StepReport& step) {
      return value_of(step.measures, quantity).has_value();
    });
  };
  for (const StepQuantity quantity : {StepQuantity::barrier_wait, StepQuantity::exposed_communication})
    if (is_known(quantity)) return quantity;
  return StepQuantity::step_time;
}

std::pair<std::size_t, std::size_t> HeatMapPlaces::ranks_of(int pixel) const {
  return sharing(map_.ranks.size(), static_cast<int>(area_.height()), pixel);
}

std::pair<std::size_t, std::size_t> HeatMapPlaces::steps_of(int pixel) const {
  return sharing(map_.steps.size(), static_cast<int>(area_.width()), pixel);
}

Rect HeatMapPlaces::cell(const HeatCell& cell) const {
  Rect rect{edge(area_.left, area_.width(), cell.step, map_.steps.size()),
            edge(area_.top, area_.height(), cell.rank, map_.ranks.size()),
            edge(area_.left, area_.width(), cell.step + 1, map_.steps.size()),
            edge(area_.top, area_.height(), cell.rank + 1, map_.ranks.size())};
  rect.right = std::max(rect.right, rect.left + 1);
  rect.bottom = std::max(rect.bottom, rect.top + 1);
  return rect;
}

std::optional<HeatCell> HeatMapPlaces::at(float x, float y) const {
  if (!area_.contains(x, y) || map_.ns.empty()) return std::nullopt;
  const auto [first_rank, last_rank] = ranks_of(static_cast<int>(y - area_.top));
  const auto [first_step, last_step] = steps_of(static_cast<int>(x - area_.left));
  const bool crowded_ranks = map_.ranks.size() > static_cast<std::size_t>(area_.height());
  const bool crowded_steps = map_.steps.size() > static_cast<std::size_t>(area_.width());
  std::optional<HeatCell> greatest;
  std::int64_t value = -1;
  for (std::size_t rank = first_rank; rank < last_rank; ++rank) {
    for (std::size_t step = first_step; step < last_step; ++step) {
      const Rect rect = cell({rank, step});
      if (!crowded_ranks && (y < rect.top || y >= rect.bottom)) continue;
      if (!crowded_steps && (x < rect.left || x >= rect.right)) continue;
      const std::int64_t here = map_.at(rank, step).value_or(-1);
      if (greatest && here <= value) continue;
      greatest = HeatCell{rank, step};
      value = here;
    }
  }
  return greatest;
}

Color heat_color(const Theme& theme, double share) {
  // Five stops of a sequence that is even in lightness, from the ground to a warm light (dark theme) or a
  // deep red (light theme).
  static constexpr std::array<Color, 5> kDark{
      {{30, 36, 46}, {86, 37, 75}, {166, 54, 64}, {230, 119, 44}, {252, 222, 120}}};
  static constexpr std::array<Color, 5> kLight{
      {{246, 243, 236}, {250, 205, 140}, {235, 130, 80}, {185, 55, 65}, {90, 20, 60}}};
  const auto& stops = theme.dark ? kDark : kLight;
  const double at = std::clamp(share, 0.0, 1.0) * (stops.size() - 1);
  const auto below = std::min(static_cast<std::size_t>(at), stops.size() - 2);
  return mix(stops[below], stops[below + 1], at - static_cast<double>(below));
}

std::vector<HeatBox> heat_boxes(const HeatMap& map, const Rect& area, const Theme& theme) {
  std::vector<HeatBox> boxes;
  if (map.ns.empty() || area.width() < 1 || area.height() < 1) return boxes;
  const auto rows = std::min(map.ranks.size(), static_cast<std::size_t>(area.height()));
  const auto columns = std::min(map.steps.size(), static_cast<std::size_t>(area.width()));
  const double range = static_cast<double>(map.most) - static_cast<double>(map.least);
  // Cells of a few pixels have a gap between them.
  const float gap = area.width() / static_cast<float>(columns) > 5 ? 1 : 0;
  const float gap_below = area.height() / static_cast<float>(rows) > 5 ? 1 : 0;
  for (std::size_t row = 0; row < rows; ++row) {
    const std::size_t first_rank = row * map.ranks.size() / rows;
    const std::size_t last_rank = (row + 1) * map.ranks.size() / rows;
    const float top = edge(area.top, area.height(), row, rows);
    const float bottom = edge(area.top, area.height(), row + 1, rows) - gap_below;
    Rect run{area.left, top, area.left, bottom};
    std::optional<Color> color;
    bool run_clipped = false;
    const auto flush = [&] {
      if (run.right > run.left) boxes.push_back({run, color, run_clipped});
    };
    for (std::size_t column = 0; column < columns; ++column) {
      const std::size_t first_step = column * map.steps.size() / columns;
      const std::size_t last_step = (column + 1) * map.steps.size() / columns;
      std::optional<std::int64_t> most;
      for (std::size_t rank = first_rank; rank < last_rank; ++rank)
        for (std::size_t step = first_step; step < last_step; ++step)
          if (const auto value = map.at(rank, step)) most = std::max(most.value_or(*value), *value);
      std::optional<Color> own;
      const bool clipped = most && *most > map.most;
      if (most)
        own = heat_color(
            theme, range > 0 ? (static_cast<double>(*most) - static_cast<double>(map.least)) / range : 0.0);
      const float left = edge(area.left, area.width(), column, columns);
      const float right = edge(area.left, area.width(), column + 1, columns);
      if (own != color || clipped != run_clipped || gap > 0) {
        flush();
        run.left = left;
        color = own;
        run_clipped = clipped;
      }
      run.right = right - gap;
    }
    flush();
  }
  return boxes;
}

void draw_heat_map(Canvas& canvas, const HeatMap& map, const std::vector<HeatBox>& boxes, const Rect& area,
                   const Theme& theme, std::optional<HeatCell> hovered, std::optional<HeatCell> selected) {
  canvas.box(area, theme.stripe);
  for (const HeatBox& box : boxes) {
    // Nothing known is not nothing: striped, where the least has a colour.
    if (box.color)
      canvas.box(box.rect, *box.color);
    else
      canvas.hatch(box.rect, with_alpha(theme.dim_text, 0.35));
    if (box.clipped) canvas.hatch(box.rect, with_alpha(theme.accent, 0.5));
  }
  if (map.ns.empty() || area.width() < 1 || area.height() < 1) return;
  const HeatMapPlaces places(map, area);
  canvas.next_layer();
  if (selected) canvas.frame(places.cell(*selected), theme.accent, 2);
  if (hovered) canvas.frame(places.cell(*hovered), theme.lit, 1.5F);
}

}  // namespace lockstep::viewer
