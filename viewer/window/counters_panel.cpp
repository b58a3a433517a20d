// Memory and other counters over the time that the lanes show: one plot a counter, one line a rank.
#include <fmt/format.h>
#include <implot.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "analyzer/report/unicode.h"
#include "viewer/views/axis_limits.h"
#include "viewer/window/imgui_canvas.h"
#include "viewer/window/panels.h"

namespace lockstep::viewer {

namespace {

struct Line {
  std::int32_t rank = 0;
  std::span<const analyzer::CounterPoint> points;
};

// A line needs no more points than twice the pixels: of each stretch the least and the greatest.
constexpr std::size_t kMostPoints = 4000;

struct Plotted {
  std::vector<double> x, y;
};

double milliseconds(Nanoseconds time, Nanoseconds origin) {
  return static_cast<double>(saturating_add(time, -origin)) / 1e6;
}

Plotted thin(std::span<const analyzer::CounterPoint> points, const TimeRange& range, Nanoseconds origin) {
  const auto from =
      std::partition_point(points.begin(), points.end(),
                           [&](const analyzer::CounterPoint& point) { return point.time < range.begin; });
  const auto to = std::partition_point(
      from, points.end(), [&](const analyzer::CounterPoint& point) { return point.time <= range.end; });
  // One beyond each edge, so that the line reaches them.
  const auto first = static_cast<std::size_t>(from == points.begin() ? 0 : from - points.begin() - 1);
  const auto last = std::min(static_cast<std::size_t>(to - points.begin()) + 1, points.size());
  Plotted plotted;
  const auto add = [&](const analyzer::CounterPoint& point) {
    plotted.x.push_back(milliseconds(point.time, origin));
    plotted.y.push_back(point.value);
  };
  const std::size_t each = std::max<std::size_t>(1, (last - first) / (kMostPoints / 2));
  for (std::size_t i = first; i < last; i += each) {
    const auto stretch = points.subspan(i, std::min(each, last - i));
    const auto [least, most] = std::minmax_element(
        stretch.begin(), stretch.end(),
        [](const analyzer::CounterPoint& a, const analyzer::CounterPoint& b) { return a.value < b.value; });
    add(least < most ? *least : *most);
    if (least != most) add(least < most ? *most : *least);
  }
  return plotted;
}

// Of all lines' values, with some room, so that a line at the edge can be seen.
AxisLimits value_limits(const std::vector<Plotted>& lines) {
  double low = 0, high = 0;
  bool any = false;
  for (const Plotted& line : lines) {
    for (const double value : line.y) {
      if (!std::isfinite(value)) continue;
      low = any ? std::min(low, value) : value;
      high = any ? std::max(high, value) : value;
      any = true;
    }
  }
  const double room = (high - low) * 0.05;
  return any ? axis_limits(low - room, high + room) : AxisLimits{};
}

}  // namespace

void draw_counters(const Scene& scene, const TimelineState& state, const Theme& theme, const Fonts& fonts) {
  std::map<std::string, std::vector<Line>> counters;
  for (const RankContents& rank : scene.contents().ranks)
    for (const CounterContents& counter : rank.counters)
      counters[counter.name].push_back({rank.rank, scene.tables().array(counter.points)});
  ImGui::PushFont(nullptr, fonts.small_size);
  if (counters.empty()) {
    ImGui::PushTextWrapPos(0);
    ImGui::TextColored(
        to_vec4(theme.dim_text),
        "No counters in this run. NVTX counters and the memory that PyTorch tells are shown here.");
    ImGui::PopTextWrapPos();
    ImGui::PopFont();
    return;
  }
  const Nanoseconds origin = scene.timeline().origin;
  const TimeRange shown{state.view.begin, saturating_add(state.view.begin, state.view.span)};
  const AxisLimits times = axis_limits(milliseconds(shown.begin, origin), milliseconds(shown.end, origin));
  const float room = ImGui::GetContentRegionAvail().y;
  const float height = std::max(room / static_cast<float>(counters.size()) - 6, fonts.small_size * 9);
  int number = 0;
  for (const auto& [name, lines] : counters) {
    // Names may begin alike, and a plot's can't be empty.
    std::string title = analyzer::fit(analyzer::printable(name.substr(0, 400)), 60);
    if (title.empty()) title = "(without a name)";
    std::vector<Plotted> plotted;
    for (const Line& line : lines) plotted.push_back(thin(line.points, shown, origin));
    const AxisLimits values = value_limits(plotted);
    ImGui::PushID(number++);
    const bool open =
        ImPlot::BeginPlot(title.c_str(), {-1, height}, ImPlotFlags_NoMenus | ImPlotFlags_NoBoxSelect);
    ImGui::PopID();
    if (!open) continue;
    ImPlot::SetupAxes("ms", nullptr, ImPlotAxisFlags_Lock, ImPlotAxisFlags_Lock);
    ImPlot::SetupAxisLimits(ImAxis_X1, times.low, times.high, ImPlotCond_Always);
    ImPlot::SetupAxisLimits(ImAxis_Y1, values.low, values.high, ImPlotCond_Always);
    constexpr std::size_t kMostNamed = 16;
    ImPlot::SetupLegend(ImPlotLocation_East, ImPlotLegendFlags_Outside);
    for (std::size_t i = 0; i < lines.size(); ++i) {
      // Of many ranks only a few are in the legend.
      const std::string label = lines.size() <= kMostNamed ? fmt::format("rank {}", lines[i].rank)
                                                           : fmt::format("##{}", lines[i].rank);
      ImPlot::PlotStairs(label.c_str(), plotted[i].x.data(), plotted[i].y.data(),
                         static_cast<int>(plotted[i].x.size()));
    }
    ImPlot::EndPlot();
  }
  ImGui::PopFont();
}

}  // namespace lockstep::viewer
