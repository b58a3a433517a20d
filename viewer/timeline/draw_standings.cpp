// A job of which only the order of operations is known: no times, but where each rank stands.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "base/number_lists.h"
#include "viewer/timeline/code_spans.h"
#include "viewer/timeline/draw_parts.h"

namespace lockstep::viewer {

namespace {

std::string named(const std::vector<std::int32_t>& ranks) {
  constexpr std::size_t kMost = 16;
  return (ranks.size() == 1 ? "rank " : "ranks ") + list_numbers(ranks, kMost);
}

// "never came: rank 10  ·  no dump: ranks 3, 4"
std::string culprits_of(const Scene& scene) {
  std::map<std::string, std::vector<std::int32_t>> by_what;
  for (std::size_t rank = 0; rank < scene.timeline().ranks.size(); ++rank)
    if (scene.standing(rank).culprit)
      by_what[scene.standing(rank).brief].push_back(scene.timeline().ranks[rank].rank);
  for (const analyzer::RankReport& rank : scene.report().ranks)
    if (rank.damaged) by_what["cut or damaged dump"].push_back(rank.rank);
  if (!scene.report().ranks_missing.empty()) by_what["no dump"] = scene.report().ranks_missing;
  std::string text;
  for (const auto& [what, ranks] : by_what)
    text += fmt::format("{}{}: {}", text.empty() ? "" : "  ·  ", what, named(ranks));
  return text;
}

// Who is to blame, and the report's verdict, a sentence a line, where the map of the run would be.
void draw_verdict(Canvas& canvas, const Frame& frame) {
  const Rect& area = frame.regions.minimap;
  const auto padding = static_cast<float>(frame.sizes.padding);
  const float line = std::ceil(canvas.text_height(Font::small) * 1.35F);
  canvas.box(area, frame.theme.stripe);
  canvas.clip(area);
  float y = area.top + std::min(padding / 2, (area.height() - line) / 2);
  const auto add = [&](const std::string& text, Color color) {
    const float room = area.bottom - y - canvas.text_height(Font::small);
    if (room < 0) return;
    for (const std::string& each : lines_of(canvas, text, area.width() - 2 * padding, Font::small,
                                            static_cast<std::size_t>(room / line) + 1)) {
      canvas.text({area.left + padding, y}, each, color, Font::small);
      y += line;
    }
  };
  add(culprits_of(frame.scene), frame.theme.warning);
  const std::string& verdict = frame.scene.contents().verdict;
  for (std::size_t from = 0; from < verdict.size();) {
    const std::size_t end = std::min(verdict.find('\n', from), verdict.size());
    add(quote_code(verdict.substr(from, std::min<std::size_t>(end - from, 1'000))), frame.theme.text);
    from = end + 1;
  }
  canvas.unclip();
}

void draw_standing(Canvas& canvas, const Frame& frame, std::size_t rank) {
  const RankStanding& standing = frame.scene.standing(rank);
  const Rect& area = frame.regions.lanes;
  const auto cause = static_cast<float>(frame.sizes.cause);
  const float top = frame.rank_top(rank) + static_cast<float>(frame.sizes.step_strip);
  const auto padding = static_cast<float>(frame.sizes.padding);
  const Font font = standing.culprit ? Font::bold : Font::normal;
  const float side = std::round(canvas.text_height(font) * 0.9F);
  const float left = area.left + padding;
  const float text_x = left + side + padding;
  // In the middle beside the rank's name, and into the strip above it, which nothing else needs.
  const float line = std::ceil(canvas.text_height(font) * 1.1F);
  const float bottom = top + cause;
  const auto most = static_cast<std::size_t>((bottom - frame.rank_top(rank)) / line);
  const std::vector<std::string> lines =
      lines_of(canvas, standing.text, area.right - padding - text_x, font, std::max<std::size_t>(most, 1));
  const float height = line * static_cast<float>(lines.size());
  const float first = std::floor(std::min(top + (cause - height) / 2, bottom - height));
  const float y = std::floor(first + (line - side) / 2);
  const float line_y = frame.rank_top(rank) + static_cast<float>(frame.layout.ranks[rank].height) -
                       std::floor(static_cast<float>(frame.sizes.rank_gap) / 2) + 0.5F;
  canvas.line({area.left, line_y}, {area.right, line_y}, frame.theme.edge, 1);
  const Rect chip{left, y, left + side, y + side};
  if (standing.culprit) {
    canvas.box({area.left, std::min(top, first), area.right, bottom}, with_alpha(frame.theme.warning, 0.16));
    canvas.box(chip, frame.theme.warning);
  } else if (!standing.brief.empty()) {
    const Color waiting = cause_color(frame.theme, analyzer::Cause::barrier_wait);
    canvas.box(chip, with_alpha(waiting, 0.38));
    canvas.hatch(chip, waiting);
  }
  const Color color = standing.culprit         ? frame.theme.warning
                      : standing.brief.empty() ? frame.theme.dim_text
                                               : frame.theme.text;
  float text_y = middle(canvas, first, line, font);
  for (const std::string& each : lines) {
    canvas.text({text_x, text_y}, each, color, font);
    text_y += line;
  }
}

}  // namespace

void draw_standings(Canvas& canvas, const Frame& frame) {
  draw_verdict(canvas, frame);
  const Rect& ruler = frame.regions.ruler;
  canvas.text({ruler.left + static_cast<float>(frame.sizes.padding),
               middle(canvas, ruler.top, ruler.height(), Font::small)},
              fitted(canvas, "Instead of times: where each rank stands, as the findings say",
                     ruler.width() - 2 * static_cast<float>(frame.sizes.padding), Font::small),
              frame.theme.dim_text, Font::small);
  for (const bool fixed : {true, false}) {
    canvas.clip(frame.part_of(frame.regions.lanes, fixed));
    for (const std::uint32_t rank : frame.ranks_on_screen(fixed)) draw_standing(canvas, frame, rank);
    canvas.unclip();
  }
}

}  // namespace lockstep::viewer
