#include "viewer/panels/steps_panel.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analyzer/report/quantity.h"
#include "viewer/panels/panel_list.h"
#include "viewer/panels/panel_states.h"
#include "viewer/timeline/describe.h"
#include "viewer/widgets/imgui_canvas.h"

namespace lockstep::viewer {

namespace {

constexpr float kScaleHeight = 12;

// The colours of the map, with the values at their ends.
void draw_scale(Canvas& canvas, const HeatMap& map, const Rect& area, const Theme& theme) {
  constexpr int kSteps = 48;
  for (int i = 0; i < kSteps; ++i) {
    const float left = area.left + area.width() * static_cast<float>(i) / kSteps;
    const float right = area.left + area.width() * static_cast<float>(i + 1) / kSteps;
    canvas.box({left, area.top, right, area.bottom},
               heat_color(theme, static_cast<double>(i) / (kSteps - 1)));
  }
  const std::string least = analyzer::format_duration(map.least), most = analyzer::format_duration(map.most);
  const float y = area.top + (area.height() - canvas.text_height(Font::small)) / 2;
  canvas.text({area.left - 6 - canvas.text_width(least, Font::small), y}, least, theme.dim_text, Font::small);
  canvas.text({area.right + 6, y}, most, theme.dim_text, Font::small);
}

// Numbers of ranks at the left and of steps below, as many as there is room for.
void draw_labels(Canvas& canvas, const HeatMap& map, const Rect& area, const Theme& theme) {
  const HeatMapPlaces places(map, area);
  const float height = canvas.text_height(Font::small);
  float free_from = area.top - height;
  for (std::size_t rank = 0; rank < map.ranks.size(); ++rank) {
    const Rect cell = places.cell({rank, 0});
    const float y = cell.top + (cell.height() - height) / 2;
    if (y < free_from || y + height > area.bottom + height / 2) continue;
    const std::string text = fmt::format("{}", map.ranks[rank]);
    canvas.text({area.left - 6 - canvas.text_width(text, Font::small), y}, text, theme.dim_text, Font::small);
    free_from = y + height + 2;
  }
  float next = area.left;
  for (std::size_t step = 0; step < map.steps.size(); ++step) {
    const Rect cell = places.cell({0, step});
    const std::string text = fmt::format("{}", map.steps[step]);
    const float width = canvas.text_width(text, Font::small);
    const float x = std::min(cell.left + 2, area.right - width);
    if (x < next) continue;
    canvas.text({x, area.bottom + 3}, text, theme.dim_text, Font::small);
    next = x + width + 14;
  }
}

}  // namespace

const HeatMap& StepsPanel::map() {
  std::optional<HeatMap>& map = maps_[static_cast<std::size_t>(quantity_)];
  if (!map) map = make_heat_map(scene_, quantity_);
  return *map;
}

const std::vector<HeatBox>& StepsPanel::boxes(const HeatMap& map, const Theme& theme) {
  if (!drawn_ || drawn_->quantity != quantity_ || !(drawn_->area == map_area_) || drawn_->dark != theme.dark)
    drawn_ = Drawn{quantity_, map_area_, theme.dark, heat_boxes(map, map_area_, theme)};
  return drawn_->boxes;
}

std::optional<std::int64_t> StepsPanel::selected_step() const {
  const std::optional<HeatMap>& map = maps_[static_cast<std::size_t>(quantity_)];
  if (!selected_ || !map || selected_->step >= map->steps.size()) return std::nullopt;
  return map->steps[selected_->step];
}

Command StepsPanel::go_to(const HeatCell& cell) const {
  Command command;
  const HeatMap& map = *maps_[static_cast<std::size_t>(quantity_)];
  command.rank = static_cast<std::uint32_t>(cell.rank);
  for (const StepSpan& step : scene_.timeline().ranks[cell.rank].steps)
    if (step.number == map.steps[cell.step]) command.range = TimeRange{step.begin, step.end};
  return command;
}

void StepsPanel::describe(const HeatCell& cell, const Theme& theme, const Fonts& fonts) {
  const HeatMap& shown = map();
  if (!ImGui::BeginTooltip()) return;
  ImGui::PushFont(fonts.bold, 0);
  ImGui::Text("rank %d, step %lld", shown.ranks[cell.rank], static_cast<long long>(shown.steps[cell.step]));
  ImGui::PopFont();
  ImGui::PushFont(nullptr, fonts.small_size);
  std::vector<Fact> facts;
  for (std::size_t i = 0; i < kStepQuantities; ++i) {
    std::optional<HeatMap>& each = maps_[i];
    if (!each) each = make_heat_map(scene_, static_cast<StepQuantity>(i));
    const auto value = each->at(cell.rank, cell.step);
    facts.push_back({title_of(static_cast<StepQuantity>(i)),
                     value ? analyzer::format_duration(*value) : std::string(analyzer::kAbsent)});
  }
  // (Not a table with a column that stretches: a tooltip has no width that it could stretch to.)
  for (const Fact& fact : facts) {
    ImGui::TextColored(to_vec4(theme.dim_text), "%s", fact.label.c_str());
    ImGui::SameLine(fonts.small_size * 13);
    ImGui::TextUnformatted(fact.value.c_str());
  }
  ImGui::PopFont();
  ImGui::EndTooltip();
}

Command StepsPanel::draw(const Theme& theme, const Fonts& fonts) {
  Command command;
  ImGui::PushFont(nullptr, fonts.small_size);
  ImGui::SetNextItemWidth(fonts.small_size * 15);
  if (ImGui::BeginCombo("##quantity", title_of(quantity_))) {
    for (std::size_t i = 0; i < kStepQuantities; ++i) {
      const auto quantity = static_cast<StepQuantity>(i);
      if (ImGui::Selectable(title_of(quantity), quantity == quantity_)) quantity_ = quantity;
    }
    ImGui::EndCombo();
  }
  const HeatMap& shown = map();
  if (shown.steps.empty()) {
    ImGui::TextColored(to_vec4(theme.dim_text),
                       "The trace has no step marks, so there are no steps to compare.");
    ImGui::PopFont();
    return command;
  }
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const ImVec2 room = ImGui::GetContentRegionAvail();
  const float labels = fonts.small_size * 3.5F;
  const float below = fonts.small_size * 1.6F;
  // Whole pixels: cells with blurred edges say less.
  const Rect area{std::floor(at.x + labels), std::floor(at.y + 2), std::floor(at.x + room.x - 4),
                  std::floor(at.y + std::max(room.y - below, 8.0F))};
  map_area_ = area;
  ImGui::InvisibleButton("heat map", {std::max(room.x, 1.0F), std::max(room.y, 1.0F)});
  const ImVec2 mouse = ImGui::GetIO().MousePos;
  std::optional<HeatCell> hovered;
  if (ImGui::IsItemHovered()) hovered = HeatMapPlaces(shown, area).at(mouse.x, mouse.y);
  if (hovered && ImGui::IsItemClicked()) {
    selected_ = hovered;
    command = go_to(*hovered);
  }
  {
    ImGuiCanvas canvas(*ImGui::GetWindowDrawList(), fonts);
    draw_labels(canvas, shown, area, theme);
    // The scale stands in the line of the choices, at its right.
    const float end = at.x + room.x - canvas.text_width("888.88 ms", Font::small) - 10;
    const float line = at.y - ImGui::GetFrameHeightWithSpacing();
    const float top = line + (ImGui::GetFrameHeight() - kScaleHeight) / 2;
    const float width = std::min(140.0F, end - at.x - fonts.small_size * 22);
    if (width > 40) draw_scale(canvas, shown, {end - width, top, end, top + kScaleHeight}, theme);
    draw_heat_map(canvas, shown, boxes(shown, theme), area, theme, hovered, selected_);
  }
  if (hovered) describe(*hovered, theme, fonts);
  ImGui::PopFont();
  return command;
}

const Panel panels::steps{
    .title = "Steps",
    .place = PanelPlace::bottom,
    // Several, so that they are worth a map.
    .needs = [](const Scene& scene) { return scene.report().steps_present.size() > 1; },
    .make_state = new_state<StepsPanel>,
    .draw =
        [](const PanelContext& context) {
          return context.states.get<StepsPanel>(panels::steps).draw(context.theme, context.fonts);
        },
};

}  // namespace lockstep::viewer
