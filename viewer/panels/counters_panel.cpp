// Memory and other counters over the time that the lanes show: one plot a counter, one line a rank.
#include <fmt/format.h>
#include <implot.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "analyzer/report/quantity.h"
#include "analyzer/report/unicode.h"
#include "viewer/panels/panel_list.h"
#include "viewer/views/counters.h"
#include "viewer/widgets/imgui_canvas.h"

namespace lockstep::viewer {

namespace {

// Of many ranks only so many are named.
constexpr std::size_t kMaxNamed = 16;

struct Line {
  std::uint32_t rank = 0;  // Timeline::ranks
  CounterSeries counter;
};

struct Plot {
  const std::vector<Line>& lines;
  CounterUnit unit;
};

// The same for a rank in all plots, whichever others are shown.
ImVec4 color_of(std::uint32_t rank) {
  return ImPlot::GetColormapColor(static_cast<int>(rank));
}

// Once, above all plots: what is left of the line's room decides how many are named.
void draw_legend(const Scene& scene, std::span<const std::uint32_t> ranks, const Theme& theme) {
  const float end = ImGui::GetCursorScreenPos().x + ImGui::GetContentRegionAvail().x;
  const float chip = ImGui::GetTextLineHeight() * 0.7F;
  const float more = ImGui::CalcTextSize("and 9999 more").x;
  std::size_t named = 0;
  for (const std::uint32_t rank : ranks) {
    const std::string text = fmt::format("rank {}", scene.timeline().ranks[rank].rank);
    if (named > 0) ImGui::SameLine(0, chip * 1.6F);
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const float width = chip * 1.5F + ImGui::CalcTextSize(text.c_str()).x;
    const bool last = named + 1 == ranks.size();
    if (named > 0 && (named >= kMaxNamed || at.x + width + (last ? 0 : chip * 1.6F + more) > end)) {
      ImGui::TextColored(to_vec4(theme.dim_text), "and %zu more", ranks.size() - named);
      return;
    }
    ImGui::GetWindowDrawList()->AddRectFilled({at.x, at.y + chip * 0.2F}, {at.x + chip, at.y + chip * 1.2F},
                                              ImGui::ColorConvertFloat4ToU32(color_of(rank)));
    ImGui::Dummy({chip, chip});
    ImGui::SameLine(0, chip * 0.5F);
    ImGui::TextUnformatted(text.c_str());
    ++named;
  }
}

// At the instant under the pointer, of the ranks that are named.
void draw_values(const Scene& scene, const Plot& plot, Nanoseconds time, const Theme& theme) {
  if (!ImGui::BeginTooltip()) return;
  ImGui::TextColored(to_vec4(theme.dim_text), "at %s",
                     analyzer::format_duration(saturating_add(time, -scene.timeline().origin)).c_str());
  if (ImGui::BeginTable("values", 2, ImGuiTableFlags_SizingFixedFit)) {
    for (std::size_t i = 0; i < std::min(plot.lines.size(), kMaxNamed); ++i) {
      const std::optional<double> value = value_at(plot.lines[i].counter.points, time, plot.unit);
      ImGui::TableNextColumn();
      ImGui::TextColored(color_of(plot.lines[i].rank), "rank %d",
                         scene.timeline().ranks[plot.lines[i].rank].rank);
      ImGui::TableNextColumn();
      ImGui::TextUnformatted(value ? format_value(*value, plot.unit).c_str() : analyzer::kAbsent);
    }
    ImGui::EndTable();
  }
  ImGui::EndTooltip();
}

// The timeline's own labels; with the base, where labels count from one.
void label_times(const Ruler& ruler) {
  std::vector<double> at;
  std::vector<const char*> labels;
  for (const Tick& tick : ruler.ticks) {
    if (!tick.labelled) continue;
    at.push_back(tick.x);
    labels.push_back(tick.label.c_str());
  }
  ImPlot::SetupAxisTicks(ImAxis_X1, at.data(), static_cast<int>(at.size()), labels.data());
}

void label_values(const AxisLimits& limits, const CounterUnit& unit, std::size_t most) {
  const std::vector<ValueTick> ticks = value_ticks(limits, unit, most);
  std::vector<double> at;
  std::vector<const char*> labels;
  for (const ValueTick& tick : ticks) {
    at.push_back(tick.value);
    labels.push_back(tick.label.c_str());
  }
  ImPlot::SetupAxisTicks(ImAxis_Y1, at.data(), static_cast<int>(at.size()), labels.data());
}

void draw_plot(const Scene& scene, const Plot& plot, const TimeAxis& axis, const Ruler& ruler, float height,
               const Theme& theme) {
  constexpr ImPlotFlags kFlags = ImPlotFlags_NoMenus | ImPlotFlags_NoBoxSelect | ImPlotFlags_NoTitle |
                                 ImPlotFlags_NoLegend | ImPlotFlags_NoMouseText | ImPlotFlags_NoFrame;
  // False where it is scrolled out of sight: its lines are not computed then.
  if (!ImPlot::BeginPlot("##plot", {-1, height}, kFlags)) return;
  std::vector<PlottedLine> plotted;
  plotted.reserve(plot.lines.size());
  for (const Line& each : plot.lines)
    plotted.push_back(plot_line(each.counter, axis, scene.timeline().content.end));
  const AxisLimits values = value_limits(plotted);
  ImPlot::SetupAxes(nullptr, nullptr, ImPlotAxisFlags_Lock, ImPlotAxisFlags_Lock);
  ImPlot::SetupAxisLimits(ImAxis_X1, 0, axis.width, ImPlotCond_Always);
  ImPlot::SetupAxisLimits(ImAxis_Y1, values.low, values.high, ImPlotCond_Always);
  label_times(ruler);
  const float lines = height / ImGui::GetTextLineHeight();
  label_values(values, plot.unit, lines < 5 ? 3 : lines < 9 ? 4 : 6);
  for (std::size_t i = 0; i < plot.lines.size(); ++i) {
    ImPlotSpec spec;
    spec.LineColor = color_of(plot.lines[i].rank);
    const PlottedLine& line = plotted[i];
    ImPlot::PlotLine(fmt::format("##{}", plot.lines[i].rank).c_str(), line.x.data(), line.y.data(),
                     static_cast<int>(line.x.size()), spec);
  }
  if (ImPlot::IsPlotHovered()) {
    const double x = ImPlot::GetPlotMousePos().x;
    ImPlotSpec spec;
    spec.LineColor = to_vec4(with_alpha(theme.accent, 0.5));
    ImPlot::PlotInfLines("##pointer", &x, 1, spec);
    draw_values(scene, plot, axis.time(x), theme);
  }
  ImPlot::EndPlot();
}

using Counters = std::map<std::string, std::vector<Line>>;

void draw_plots(const Scene& scene, const Counters& counters, const TimelineState& state,
                std::span<const std::uint32_t> named, const Theme& theme, const Fonts& fonts) {
  const float width = ImGui::GetContentRegionAvail().x - fonts.small_size * 6;
  const TimeAxis axis{state.view, 0, std::max(1.0F, width)};
  const Ruler ruler = make_ruler(axis, scene.timeline().origin, fonts.small_size * 7);
  draw_legend(scene, named, theme);
  if (!ruler.base.empty()) ImGui::TextColored(to_vec4(theme.dim_text), "times: %s +", ruler.base.c_str());
  const float line = ImGui::GetTextLineHeightWithSpacing();
  const float room = ImGui::GetContentRegionAvail().y;
  const float height =
      std::max(room / static_cast<float>(counters.size()) - line - 6, fonts.small_size * 6.5F);
  ImPlot::PushStyleVar(ImPlotStyleVar_PlotPadding, {0, 4});
  ImPlot::PushStyleVar(ImPlotStyleVar_PlotMinSize, {40, 20});
  // All as far from both edges: an instant is at the same place in each.
  if (ImPlot::BeginAlignedPlots("counters")) {
    int number = 0;
    for (const auto& [name, lines] : counters) {
      // Names may begin alike, and one may be empty.
      std::string title = analyzer::fit(analyzer::printable(title_of_counter(name).substr(0, 400)), 60);
      if (title.empty()) title = "(without a name)";
      ImGui::PushID(number++);
      ImGui::PushFont(fonts.bold, fonts.small_size);
      ImGui::TextUnformatted(title.c_str());
      ImGui::PopFont();
      draw_plot(scene, {lines, unit_of(name)}, axis, ruler, height, theme);
      ImGui::PopID();
    }
    ImPlot::EndAlignedPlots();
  }
  ImPlot::PopStyleVar(2);
}

bool has_counters(const Scene& scene) {
  return std::ranges::any_of(scene.contents().ranks,
                             [](const RankContents& rank) { return !rank.counters.empty(); });
}

Command draw(const PanelContext& context) {
  const Scene& scene = context.pane.scene();
  const std::span<const std::uint32_t> shown = context.pane.shown_ranks();
  Counters counters;
  std::vector<std::uint32_t> named;
  std::vector<std::uint32_t> by_number(shown.begin(), shown.end());
  std::sort(by_number.begin(), by_number.end());
  for (const std::uint32_t rank : by_number) {
    for (const CounterContents& counter : scene.rank(rank).counters)
      counters[counter.name].push_back({rank, series_of(counter, scene.tables())});
    if (!scene.rank(rank).counters.empty()) named.push_back(rank);
  }
  ImGui::PushFont(nullptr, context.fonts.small_size);
  if (!counters.empty()) {
    draw_plots(scene, counters, context.pane.state(), named, context.theme, context.fonts);
  } else {
    ImGui::PushTextWrapPos(0);
    ImGui::TextColored(
        to_vec4(context.theme.dim_text), "%s",
        has_counters(scene)
            ? "No rank that is shown has counters: the filter, or a closed host or group, hides them."
            : "No counters in this run. NVTX counters and the memory that PyTorch tells are shown here.");
    ImGui::PopTextWrapPos();
  }
  ImGui::PopFont();
  return {};
}

}  // namespace

const Panel panels::counters{
    .title = "Counters",
    .place = PanelPlace::bottom,
    .needs = has_counters,
    .draw = draw,
};

}  // namespace lockstep::viewer
