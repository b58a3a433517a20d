#include "viewer/window/opening_page.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <system_error>

#include "analyzer/import/importers.h"
#include "analyzer/report/quantity.h"
#include "analyzer/report/unicode.h"
#include "viewer/opening/draw_preview.h"
#include "viewer/widgets/imgui_canvas.h"
#include "viewer/window/page.h"

namespace lockstep::viewer {

namespace {

// Heading, name and folder, from `y` on; returns where they end.
float draw_name(const Page& page, const Rect& column, float y, const char* heading, Color color,
                const RunRequest& request) {
  page.text({column.left, y}, heading, color, Font::small, column.width());
  y += page.px(20);
  y += page.title({column.left, y}, name_of(request), 22, column.width()) + page.px(8);
  page.text({column.left, y}, place_of(request), page.theme().dim_text, Font::small, column.width());
  return y + page.px(14);
}

// What is done is solid; what the analysis, whose share is a guess, still has to do is hatched.
void draw_bar(const Page& page, const Rect& bar, const OpeningProgress& progress) {
  const Theme& theme = page.theme();
  const Color color = cause_color(theme, analyzer::Cause::compute);
  ImGuiCanvas canvas(*ImGui::GetWindowDrawList(), page.fonts());
  canvas.box(bar, theme.edge);
  const auto x = [&](double share) { return std::round(bar.left + bar.width() * static_cast<float>(share)); };
  const double done = progress.share();
  canvas.box({bar.left, bar.top, x(done), bar.bottom}, color);
  if (progress.stage == OpeningStage::analyzing) {
    OpeningProgress end = progress;
    end.done = 1;
    canvas.hatch({x(done), bar.top, x(end.share()), bar.bottom}, color);
  }
}

std::string stage_text(const OpeningProgress& progress) {
  const std::string which =
      progress.runs > 1 ? fmt::format(" run {} of {}", progress.run + 1, progress.runs) : "";
  switch (progress.stage) {
    case OpeningStage::reading: {
      const std::string bytes =
          progress.bytes == 0 ? ""
                              : " of " + analyzer::format_bytes(static_cast<std::int64_t>(progress.bytes));
      return fmt::format("Reading{}: {:.0f} %{}", which, std::floor(100 * progress.done), bytes);
    }
    case OpeningStage::analyzing:
      return fmt::format("Analyzing{}: who waited for whom", which);
    case OpeningStage::preparing:
      return fmt::format("Preparing the timeline{}: {:.0f} %", which, std::floor(100 * progress.done));
  }
  return "";
}

std::string clock_text(std::chrono::milliseconds elapsed) {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(elapsed).count();
  return seconds < 60 ? fmt::format("{} s", seconds)
                      : fmt::format("{}:{:02} min", seconds / 60, seconds % 60);
}

}  // namespace

void draw_opening_page(const RunRequest& request, const OpeningProgress& progress,
                       std::chrono::milliseconds elapsed, WayOut way_out, const Theme& theme,
                       const Fonts& fonts) {
  const Page page(theme, fonts);
  const Rect column = page.column(560);
  // Higher where a picture stands below it.
  const float share = progress.preview ? 0.14F : 0.34F;
  float y = std::floor(page.area().top + std::max(page.area().height() * share - page.px(54), page.px(20)));
  page.sign({column.left, y}, page.px(42));
  y += page.px(42 + 28);
  y = draw_name(page, column, y, "OPENING", theme.dim_text, request) + page.px(26);
  draw_bar(page, {column.left, y, column.right, y + page.px(6)}, progress);
  y += page.px(6 + 12);
  const std::string clock = clock_text(elapsed);
  page.text({column.left, y}, stage_text(progress), theme.text, Font::normal, column.width() - page.px(90));
  page.text_to_the_left_of({column.right, y}, clock, theme.dim_text, Font::normal);
  y += page.px(26);
  if (request.keep && progress.bytes >= kWorthKeeping) {
    page.text({column.left, y}, "What is prepared is kept beside the run: the next time it opens at once.",
              theme.dim_text, Font::small, column.width());
  }
  if (progress.preview) {
    y += page.px(34);
    page.text({column.left, y}, "What its ranks recorded when, as far as is known by now:", theme.dim_text,
              Font::small, column.width());
    y += page.px(20);
    const float margin = page.px(48);
    const Rect area{page.area().left + margin, y, page.area().right - margin,
                    page.area().bottom - page.px(64)};
    ImGuiCanvas canvas(*ImGui::GetWindowDrawList(), fonts);
    draw_preview(canvas, *progress.preview, area, theme);
  }
  page.keys(column.left, {{"Esc", way_out == WayOut::quit ? "quit" : "back"}});
}

std::string advice_on(const RunRequest& request) {
  std::error_code error;
  std::vector<std::string> paths = request.paths;
  if (!request.other.empty()) paths.push_back(request.other);
  for (const std::string& path : paths) {
    if (std::filesystem::exists(path, error)) continue;
    return fmt::format(
        "There is nothing at {}: is it spelled so, is it on this machine, and is its disk mounted?",
        analyzer::printable(path));
  }
  return fmt::format(
      "What can be opened: {}, and folders of them. lockstep analyze says of each file what it makes of it.",
      fmt::join(analyzer::texts_of_importers(&analyzer::Importer::description), ", "));
}

FailedChoice draw_failed_page(const RunRequest& request, const std::string& message,
                              const std::string& advice, WayOut way_out, const Theme& theme,
                              const Fonts& fonts) {
  FailedChoice choice;
  const Page page(theme, fonts);
  const Rect column = page.column(680);
  float y = std::floor(page.area().top + std::max(page.area().height() * 0.22F, page.px(20)));
  y = draw_name(page, column, y, "CAN'T BE OPENED", theme.warning, request) + page.px(22);

  ImGui::SetCursorScreenPos({column.left, y});
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {page.px(16), page.px(14)});
  ImGui::PushStyleColor(ImGuiCol_ChildBg, to_vec4(theme.panel));
  // A list of a thousand files that cannot be read scrolls.
  ImGui::SetNextWindowSizeConstraints({column.width(), 0}, {column.width(), page.area().height() * 0.36F});
  if (ImGui::BeginChild("##message", {column.width(), 0},
                        ImGuiChildFlags_AutoResizeY | ImGuiChildFlags_AlwaysUseWindowPadding)) {
    ImGui::PushTextWrapPos(0);
    std::string_view rest = message;
    for (int lines = 0; !rest.empty() && lines < 1'000; ++lines) {
      const std::string_view line = rest.substr(0, rest.find('\n'));
      rest.remove_prefix(std::min(line.size() + 1, rest.size()));
      ImGui::TextUnformatted(analyzer::printable(line.substr(0, 4'000)).c_str());
    }
    ImGui::PopTextWrapPos();
  }
  ImGui::EndChild();
  ImGui::PopStyleColor();
  ImGui::PopStyleVar();
  y = ImGui::GetItemRectMax().y + page.px(22);

  page.text({column.left, y}, "WHAT TO DO", theme.dim_text, Font::small, column.width());
  ImGui::SetCursorScreenPos({column.left, y + page.px(20)});
  ImGui::PushTextWrapPos(column.right - page.area().left);
  ImGui::TextUnformatted(advice.c_str());
  ImGui::PopTextWrapPos();
  ImGui::SetCursorScreenPos({column.left, ImGui::GetItemRectMax().y + page.px(24)});
  choice.again = page.button("Try again", "Ctrl R", true);
  choice.ask_for_path = page.button("Open another", "Ctrl O", false);
  choice.recent = page.button("Recent runs", "", false);
  if (page.button("Copy the message", "", false)) ImGui::SetClipboardText(message.c_str());
  choice.leave = page.button(way_out == WayOut::quit ? "Quit" : "Back", "Esc", false);
  return choice;
}

}  // namespace lockstep::viewer
