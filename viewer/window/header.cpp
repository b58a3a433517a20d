// The line above everything: which run, the causes' colours, and what is wrong with its files.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "analyzer/report/palette.h"
#include "analyzer/report/quantity.h"
#include "analyzer/report/unicode.h"
#include "viewer/timeline/describe.h"
#include "viewer/window/imgui_canvas.h"
#include "viewer/window/panels.h"

namespace lockstep::viewer {

namespace {

std::string summary_of(const analyzer::Report& report) {
  std::set<std::string> hosts;
  for (const analyzer::RankReport& rank : report.ranks)
    if (!rank.host.empty()) hosts.insert(rank.host);
  std::string text = analyzer::format_plural(static_cast<std::int64_t>(report.ranks.size()), "rank");
  if (!report.ranks_missing.empty()) text += fmt::format(" of {}", report.world_size);
  if (!hosts.empty())
    text += " · " + analyzer::format_plural(static_cast<std::int64_t>(hosts.size()), "host");
  text +=
      report.steps_present.empty()
          ? std::string(" · no steps")
          : " · " + analyzer::format_plural(static_cast<std::int64_t>(report.steps_present.size()), "step");
  return text;
}

// Damage: what the import could not read, and ranks that are not there. Other warnings stand in the overview.
std::vector<const std::string*> damages(const Scene& scene) {
  std::vector<const std::string*> found;
  for (const analyzer::Warning& warning : scene.contents().import_warnings) found.push_back(&warning.message);
  for (const analyzer::Warning& warning : scene.report().warnings) {
    if (warning.code == "rank_missing" || warning.code == "order_only") found.push_back(&warning.message);
  }
  return found;
}

std::string name_of(const std::string& path) {
  const std::size_t end = path.find_last_not_of('/');
  const std::string trimmed = end == std::string::npos ? path : path.substr(0, end + 1);
  const std::size_t slash = trimmed.rfind('/');
  return analyzer::printable(slash == std::string::npos ? trimmed : trimmed.substr(slash + 1));
}

}  // namespace

float header_height(const Scene& scene, const Fonts& fonts) {
  const float line = std::round(fonts.normal_size * 2.5F);
  return damages(scene).empty() ? line : line + std::round(fonts.normal_size * 1.9F);
}

void draw_header(const Scene& scene, const Theme& theme, const Fonts& fonts, float height) {
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float width = ImGui::GetContentRegionAvail().x;
  const float padding = fonts.normal_size;
  ImGuiCanvas canvas(*ImGui::GetWindowDrawList(), fonts);
  canvas.box({at.x, at.y, at.x + width, at.y + height}, theme.panel);
  const std::vector<const std::string*> warnings = damages(scene);
  const bool warned = !warnings.empty();
  const float banner = warned ? std::round(fonts.normal_size * 1.9F) : 0;
  const float line = height - banner;
  const auto middle = [&](Font font) { return std::floor(at.y + (line - canvas.text_height(font)) / 2); };

  // The legend stands at the right; what does not fit beside the name is left out from the end.
  analyzer::Partition sums;
  for (const analyzer::RankReport& rank : scene.report().ranks) {
    for (std::size_t cause = 0; cause < analyzer::kCauseCount; ++cause)
      sums.ns[cause] += rank.measures.partition.ns[cause] > 0 ? 1 : 0;
  }
  std::string name = fitted(canvas, name_of(scene.report().path), width * 0.3F, Font::bold);
  if (name.empty()) name = "run";
  const std::string summary = summary_of(scene.report());
  const float name_end = at.x + padding + canvas.text_width(name, Font::bold);
  const float summary_end = name_end + padding + canvas.text_width(summary, Font::small);
  canvas.text({at.x + padding, middle(Font::bold)}, name, theme.text, Font::bold);
  canvas.text({name_end + padding, middle(Font::small)}, summary, theme.dim_text, Font::small);

  const bool waits_known = std::ranges::any_of(
      scene.report().ranks, [](const analyzer::RankReport& rank) { return rank.measures.waits_known; });
  const float chip = std::round(fonts.small_size * 0.95F);
  float right = at.x + width - padding;
  for (std::size_t i = analyzer::kCauseCount; i-- > 0;) {
    if (sums.ns[i] == 0) continue;
    const auto cause = static_cast<analyzer::Cause>(i);
    const char* const label = cause_label(cause, waits_known);
    const float text_width = canvas.text_width(label, Font::small);
    const float left = right - text_width - chip * 1.5F;
    if (left < summary_end + padding) break;
    const float top = std::floor(at.y + (line - chip) / 2);
    const Color color = cause_color(theme, cause);
    const Rect box{left, top, left + chip, top + chip};
    canvas.box(box, is_waiting(cause) ? with_alpha(color, 0.38) : color);
    if (is_waiting(cause)) canvas.hatch(box, color);
    canvas.text({left + chip * 1.5F, middle(Font::small)}, label, theme.dim_text, Font::small);
    right = left - padding;
  }
  canvas.line({at.x, at.y + height - 0.5F}, {at.x + width, at.y + height - 0.5F}, theme.edge, 1);

  if (!warned) return;
  const Rect strip{at.x, at.y + line, at.x + width, at.y + height};
  canvas.box(strip, mix(theme.panel, theme.warning, 0.14));
  std::string text = warnings.front()->substr(0, 1'000);
  if (warnings.size() > 1) text += fmt::format("   (and {} more: see the overview)", warnings.size() - 1);
  canvas.text({at.x + padding, std::floor(strip.top + (banner - canvas.text_height(Font::small)) / 2)},
              fitted(canvas, text, width - 2 * padding, Font::small), theme.warning, Font::small);
}

}  // namespace lockstep::viewer
