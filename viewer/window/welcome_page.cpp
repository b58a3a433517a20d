#include "viewer/window/welcome_page.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "analyzer/import/importers.h"
#include "analyzer/report/quantity.h"
#include "viewer/widgets/imgui_canvas.h"
#include "viewer/window/page.h"

namespace lockstep::viewer {

namespace {

constexpr float kRow = 46;

void dashed_frame(const Page& page, const Rect& rect, Color color) {
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const float dash = page.px(5), step = page.px(9);
  const auto steps = [step](float length) { return static_cast<int>(std::ceil(length / step)); };
  for (int i = 0; i < steps(rect.width()); ++i) {
    const float x = rect.left + static_cast<float>(i) * step;
    const float end = std::min(x + dash, rect.right);
    list.AddLine({x, rect.top}, {end, rect.top}, to_imgui(color));
    list.AddLine({x, rect.bottom}, {end, rect.bottom}, to_imgui(color));
  }
  for (int i = 0; i < steps(rect.height()); ++i) {
    const float y = rect.top + static_cast<float>(i) * step;
    const float end = std::min(y + dash, rect.bottom);
    list.AddLine({rect.left, y}, {rect.left, end}, to_imgui(color));
    list.AddLine({rect.right, y}, {rect.right, end}, to_imgui(color));
  }
}

void centered(const Page& page, const Rect& rect, float y, const char* text, Color color, Font font) {
  float width = 0;
  {
    const ImGuiCanvas canvas(*ImGui::GetWindowDrawList(), page.fonts());
    width = std::min(canvas.text_width(text, font), rect.width() - page.px(16));
  }
  page.text({std::floor(rect.left + (rect.width() - width) / 2), y}, text, color, font, width);
}

// True if it was clicked.
bool drop_zone(const Page& page, const Rect& rect) {
  ImGui::SetCursorScreenPos({rect.left, rect.top});
  const bool clicked = ImGui::InvisibleButton("##drop", {rect.width(), rect.height()});
  const bool lit = ImGui::IsItemHovered();
  const Theme& theme = page.theme();
  ImGui::GetWindowDrawList()->AddRectFilled({rect.left, rect.top}, {rect.right, rect.bottom},
                                            to_imgui(lit ? mix(theme.panel, theme.edge, 0.5) : theme.panel));
  dashed_frame(page, rect, mix(theme.edge, theme.dim_text, lit ? 0.8 : 0.4));
  centered(page, rect, rect.top + page.px(22), "Drop a run folder or trace files here", theme.text,
           Font::bold);
  centered(page, rect, rect.top + page.px(44), "or click to type a path", theme.dim_text, Font::small);
  static const std::string kKinds = fmt::format(
      "{}  ·  folders of them", fmt::join(analyzer::texts_of_importers(&analyzer::Importer::title), "  ·  "));
  centered(page, rect, rect.top + page.px(70), kKinds.c_str(), theme.dim_text, Font::small);
  return clicked;
}

}  // namespace

WelcomePage::WelcomePage(std::vector<RecentRun> runs, std::int64_t now, const RunPresence& presence)
    : presence_(presence) {
  for (RecentRun& run : runs) {
    Entry entry;
    entry.name = name_of(request_of(run));
    entry.place = place_of(request_of(run));
    entry.size =
        format_plural(run.ranks, "rank") + (run.steps > 0 ? "  ·  " + format_plural(run.steps, "step") : "");
    entry.when = time_ago(run.opened, now);
    entry.run = std::move(run);
    entries_.push_back(std::move(entry));
  }
}

void WelcomePage::read_keys(WelcomeChoice& choice) {
  const int before = at_;
  if (ImGui::IsKeyPressed(ImGuiKey_DownArrow)) ++at_;
  if (ImGui::IsKeyPressed(ImGuiKey_UpArrow)) --at_;
  moved_ = at_ != before;
  if (moved_) at_ = std::clamp(at_, 0, static_cast<int>(entries_.size()) - 1);
  if (at_ < 0 || !ImGui::IsKeyPressed(ImGuiKey_Enter, false)) return;
  const Entry& entry = entries_[static_cast<std::size_t>(at_)];
  if (!entry.gone) choice.open = request_of(entry.run);
}

WelcomeChoice WelcomePage::draw(const Theme& theme, const Fonts& fonts, const std::string& back,
                                bool keyboard) {
  WelcomeChoice choice;
  for (Entry& entry : entries_) entry.gone = presence_.of(entry.run) == Presence::gone;
  if (keyboard && !entries_.empty()) read_keys(choice);
  const Page page(theme, fonts);
  const Rect column = page.column(760);
  const float px = page.px(1);
  float y = std::floor(column.top + std::clamp(page.area().height() * 0.09F, 20 * px, 110 * px));

  page.sign({column.left, y}, page.px(54));
  const float beside = column.left + page.px(54 * 1.5F + 22);
  page.title({beside, y + page.px(1)}, "Lockstep", 28, column.right - beside);
  page.text({beside, y + page.px(38)}, "See why the ranks of a training job wait for each other.",
            theme.dim_text, Font::normal, column.right - beside);
  y += page.px(54 + 30);

  const Rect zone{column.left, y, column.right, y + page.px(98)};
  choice.ask_for_path = drop_zone(page, zone);
  y = zone.bottom + page.px(30);

  page.text({column.left, y}, "RECENT RUNS", theme.dim_text, Font::small, column.width());
  y += page.px(20);
  ImGui::GetWindowDrawList()->AddLine({column.left, y}, {column.right, y}, to_imgui(theme.edge));
  places_.assign(entries_.size(), {});
  if (entries_.empty()) {
    page.text({column.left, y + page.px(16)}, "None yet: what is opened is listed here.", theme.dim_text,
              Font::normal, column.width());
    page.text({column.left, y + page.px(38)},
              "To have one:  lockstep record -o run -- torchrun --nproc-per-node 8 train.py", theme.dim_text,
              Font::small, column.width());
  } else {
    const float room = page.area().bottom - page.px(56) - y;
    ImGui::SetCursorScreenPos({column.left, y + 1});
    ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, {0, 0});
    if (ImGui::BeginChild("##recent", {column.width() + page.px(14), std::max(room, page.px(kRow))})) {
      for (std::size_t i = 0; i < entries_.size(); ++i) draw_entry(page, i, column.width(), choice);
    }
    ImGui::EndChild();
    ImGui::PopStyleVar();
  }
  std::vector<std::pair<const char*, const char*>> keys;
  if (!entries_.empty()) keys.push_back({"up, down, Enter", "open a recent run"});
  keys.push_back({"Ctrl O", "type a path"});
  keys.push_back({"T", "light and dark"});
  const std::string leads = "back to " + back;
  if (!back.empty()) keys.push_back({"Esc", leads.c_str()});
  page.keys(column.left, keys);
  return choice;
}

void WelcomePage::draw_entry(const Page& page, std::size_t index, float width, WelcomeChoice& choice) {
  const Entry& entry = entries_[index];
  const Theme& theme = page.theme();
  const float height = page.px(kRow);
  const float cross = page.px(26);
  ImGui::PushID(static_cast<int>(index));
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const Rect row{at.x, at.y, at.x + width, at.y + height};
  ImGui::SetNextItemAllowOverlap();
  const bool clicked = ImGui::InvisibleButton("##open", {width, height});
  // Its cross is within it, also while that is pressed.
  const bool lit = ImGui::IsItemHovered(ImGuiHoveredFlags_AllowWhenOverlappedByItem |
                                        ImGuiHoveredFlags_AllowWhenBlockedByActiveItem);
  if (ImGui::IsItemVisible()) places_[index] = row;
  if (clicked && !entry.gone) choice.open = request_of(entry.run);
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const bool come_to = static_cast<int>(index) == at_;
  if (come_to && moved_) ImGui::SetScrollHereY();
  if ((lit || come_to) && !entry.gone)
    list.AddRectFilled({row.left, row.top}, {row.right, row.bottom}, to_imgui(theme.panel));
  list.AddLine({row.left, row.bottom}, {row.right, row.bottom}, to_imgui(theme.edge));
  const Color strong = entry.gone ? mix(theme.background, theme.dim_text, 0.7) : theme.text;
  const Color soft = entry.gone ? mix(theme.background, theme.dim_text, 0.7) : theme.dim_text;
  const float upper = row.top + page.px(8), lower = row.top + page.px(26);
  const float inset = page.px(8);
  const float facts = std::floor(row.right - page.px(170));
  page.text({row.left + inset, upper}, entry.name, strong, Font::bold, facts - row.left - 2 * inset);
  page.text({row.left + inset, lower}, entry.place, soft, Font::small, facts - row.left - 2 * inset);
  const float right = row.right - (lit ? cross + inset : inset);
  page.text_to_the_left_of({right, upper}, entry.size, soft, Font::small);
  page.text_to_the_left_of({right, lower}, entry.gone ? "not there any more" : entry.when, soft, Font::small);
  if (lit) {
    ImGui::SetCursorScreenPos({row.right - cross, row.top + (height - cross) / 2});
    if (ImGui::InvisibleButton("##forget", {cross, cross})) {
      choice.forget = entry.run;
      choice.open.reset();
    }
    const Color color = ImGui::IsItemHovered() ? theme.text : theme.dim_text;
    if (ImGui::IsItemHovered()) ImGui::SetTooltip("Take it off the list");
    const ImVec2 middle{row.right - cross / 2, row.top + height / 2};
    const float arm = page.px(4);
    list.AddLine({middle.x - arm, middle.y - arm}, {middle.x + arm, middle.y + arm}, to_imgui(color),
                 page.px(1.5F));
    list.AddLine({middle.x - arm, middle.y + arm}, {middle.x + arm, middle.y - arm}, to_imgui(color),
                 page.px(1.5F));
    ImGui::SetCursorScreenPos({at.x, row.bottom});
    ImGui::Dummy({0, 0});
  }
  ImGui::PopID();
}

}  // namespace lockstep::viewer
