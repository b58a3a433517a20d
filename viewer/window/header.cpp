#include "viewer/window/header.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "analyzer/report/palette.h"
#include "analyzer/report/quantity.h"
#include "analyzer/report/unicode.h"
#include "viewer/timeline/describe.h"
#include "viewer/views/arrangement.h"
#include "viewer/views/damages.h"
#include "viewer/widgets/imgui_canvas.h"
#include "viewer/widgets/run_choice.h"

namespace lockstep::viewer {

namespace {

std::string summary_of(const analyzer::Report& report) {
  std::set<std::string> hosts;
  for (const analyzer::RankReport& rank : report.ranks)
    if (!rank.host.empty()) hosts.insert(rank.host);
  std::string text = format_plural(static_cast<std::int64_t>(report.ranks.size()), "rank");
  if (!report.ranks_missing.empty()) text += fmt::format(" of {}", report.world_size);
  if (!hosts.empty()) text += " · " + format_plural(static_cast<std::int64_t>(hosts.size()), "host");
  text += report.steps_present.empty()
              ? std::string(" · no steps")
              : " · " + format_plural(static_cast<std::int64_t>(report.steps_present.size()), "step");
  return text;
}

// A window of a few lines has none to spare: the overview says it too.
bool has_banner(const Damages& damages, const Fonts& fonts) {
  constexpr float kLeastLines = 20;
  return damages.count > 0 && ImGui::GetMainViewport()->WorkSize.y >= kLeastLines * fonts.normal_size;
}

// Causes that occur, and how long they take over all ranks.
std::vector<std::pair<analyzer::Cause, std::int64_t>> causes_of(const Scene& scene, const Scene* other) {
  std::vector<std::pair<analyzer::Cause, std::int64_t>> found;
  for (std::size_t i = 0; i < analyzer::kCauseCount; ++i) {
    std::int64_t sum = 0;
    for (const Scene* const run : {&scene, other}) {
      if (run == nullptr) continue;
      for (const analyzer::RankReport& rank : run->report().ranks)
        sum = saturating_add(sum, rank.measures.partition.ns[i]);
    }
    if (sum > 0) found.emplace_back(static_cast<analyzer::Cause>(i), sum);
  }
  return found;
}

bool any_waits_known(const Scene& scene) {
  return std::ranges::any_of(scene.report().ranks,
                             [](const analyzer::RankReport& rank) { return rank.measures.waits_known; });
}

}  // namespace

float header_height(const Scene& scene, const Scene* other, const Fonts& fonts) {
  const float line = std::round(fonts.normal_size * 2.5F);
  return has_banner(damages_of(scene, other), fonts) ? line + std::round(fonts.normal_size * 1.9F) : line;
}

void draw_header(const Scene& scene, const Scene* other, const Theme& theme, const Fonts& fonts,
                 float height) {
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float width = ImGui::GetContentRegionAvail().x;
  const float padding = fonts.normal_size;
  ImGuiCanvas canvas(*ImGui::GetWindowDrawList(), fonts);
  canvas.box({at.x, at.y, at.x + width, at.y + height}, theme.panel);
  const Damages damages = damages_of(scene, other);
  const bool warned = has_banner(damages, fonts);
  const float banner = warned ? std::round(fonts.normal_size * 1.9F) : 0;
  const float line = height - banner;
  const auto middle = [&](Font font) { return std::floor(at.y + (line - canvas.text_height(font)) / 2); };

  const float share = other == nullptr ? 0.3F : 0.2F;
  const auto title = [&](const char* letter, const Scene& run) {
    return fitted(canvas, letter + run_name(run), width * share, Font::bold);
  };
  const std::string name =
      other == nullptr ? title("", scene) : title("A  ", scene) + "     " + title("B  ", *other);
  const std::string summary =
      other == nullptr ? summary_of(scene.report())
                       : "A: " + summary_of(scene.report()) + "     B: " + summary_of(other->report());
  const float name_end = at.x + padding + canvas.text_width(name, Font::bold);
  canvas.text({at.x + padding, middle(Font::bold)}, name, theme.text, Font::bold);

  const bool waits_known = any_waits_known(scene) || (other != nullptr && any_waits_known(*other));
  const float chip = std::round(fonts.small_size * 0.95F);
  const auto causes = causes_of(scene, other);
  std::vector<LegendEntry> legend;
  for (const auto& [cause, time] : causes)
    legend.push_back({canvas.text_width(cause_label(cause, waits_known), Font::small) + chip * 1.5F, time});
  float right = at.x + width - padding;
  const HeaderContents contents =
      fit_header(right - name_end, padding, canvas.text_width(summary, Font::small), legend);
  if (contents.summary)
    canvas.text({name_end + padding, middle(Font::small)}, summary, theme.dim_text, Font::small);
  // The legend stands at the right.
  for (std::size_t i = causes.size(); i-- > 0;) {
    if (!contents.causes[i]) continue;
    const analyzer::Cause cause = causes[i].first;
    const float left = right - legend[i].width;
    const float top = std::floor(at.y + (line - chip) / 2);
    const Color color = cause_color(theme, cause);
    const Rect box{left, top, left + chip, top + chip};
    canvas.box(box, is_waiting(cause) ? with_alpha(color, 0.38) : color);
    if (is_waiting(cause)) canvas.hatch(box, color);
    canvas.text({left + chip * 1.5F, middle(Font::small)}, cause_label(cause, waits_known), theme.dim_text,
                Font::small);
    right = left - padding;
  }
  canvas.line({at.x, at.y + height - 0.5F}, {at.x + width, at.y + height - 0.5F}, theme.edge, 1);

  if (!warned) return;
  const Rect strip{at.x, at.y + line, at.x + width, at.y + height};
  canvas.box(strip, mix(theme.panel, theme.warning, 0.14));
  std::string text = damages.first;
  if (damages.count > 1) text += fmt::format("   (and {} more: see the overview)", damages.count - 1);
  canvas.text({at.x + padding, std::floor(strip.top + (banner - canvas.text_height(Font::small)) / 2)},
              fitted(canvas, text, width - 2 * padding, Font::small), theme.warning, Font::small);
}

}  // namespace lockstep::viewer
