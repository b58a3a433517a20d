#include "viewer/widgets/order_strip.h"

#include <imgui.h>

#include <cmath>

#include "viewer/timeline/rank_filter.h"
#include "viewer/widgets/imgui_canvas.h"

namespace lockstep::viewer {

std::string order_title(const RankOrder& order) {
  switch (order.by) {
    case OrderBy::rank:
      return "rank";
    case OrderBy::host:
      return "host";
    case OrderBy::group:
      return order.group_kind.empty() ? "group" : "group " + order.group_kind;
    case OrderBy::lost:
      return "lost time";
    case OrderBy::waiting:
      return "waiting time";
  }
  return "rank";
}

std::vector<RankOrder> orders_of(const JobFacts& facts) {
  std::vector<RankOrder> all{RankOrder{}};
  for (RankOrder next = next_order({}, facts); next.by != OrderBy::rank; next = next_order(next, facts))
    all.push_back(next);
  return all;
}

bool OrderStrip::draw_choice(const JobFacts& facts, RankOrder& order) {
  bool changed = false;
  if (!ImGui::BeginCombo("##order", order_title(order).c_str(), ImGuiComboFlags_HeightLarge)) return false;
  ImGui::TextDisabled("Ranks in the order of");
  if (ImGui::IsKeyPressed(ImGuiKey_Escape, false)) ImGui::CloseCurrentPopup();
  for (const RankOrder& each : orders_of(facts)) {
    const bool current = order_text(each) == order_text(order);
    if (!ImGui::Selectable(order_title(each).c_str(), current) || current) continue;
    order.by = each.by;
    order.group_kind = each.group_kind;
    changed = true;
  }
  if (!order.pinned.empty()) {
    ImGui::Separator();
    if (ImGui::Selectable("Unpin all ranks")) {
      order.pinned.clear();
      changed = true;
    }
  }
  ImGui::EndCombo();
  return changed;
}

bool OrderStrip::draw_filter(const Theme& theme, RankOrder& order) {
  // Commands and sessions set it too.
  if (!typing_ && order.filter != text_.data()) {
    text_.fill('\0');
    order.filter.copy(text_.data(), text_.size() - 1);
  }
  const auto filter = parse_rank_filter(order.filter);
  if (!filter.ok()) ImGui::PushStyleColor(ImGuiCol_Text, to_vec4(theme.warning));
  const bool changed = ImGui::InputTextWithHint("##filter", "show: 3,7:12 late", text_.data(), text_.size());
  if (!filter.ok()) ImGui::PopStyleColor();
  typing_ = ImGui::IsItemActive();
  if (ImGui::IsItemHovered() || (typing_ && !filter.ok()))
    ImGui::SetTooltip("%s", filter.ok()
                                ? "Which ranks are shown:\n3,7:12 40:     by number\n"
                                  "host=node2     of a host (* for any letters)\n"
                                  "group=dp       of a process group\n"
                                  "late           that others waited for; late=5ms: longer than that\n"
                                  "Pinned ranks are always shown."
                                : filter.error().message.c_str());
  if (!changed) return false;
  order.filter = text_.data();
  return true;
}

bool OrderStrip::draw(const JobFacts& facts, const Rect& area, const Theme& theme, const Fonts& fonts,
                      RankOrder& order) {
  const float padding = std::round(fonts.small_size * 0.6F);
  const float width = area.width() - 2 * padding;
  // Where there is no map there is no room beside it.
  if (facts.ranks.size() < 2 || width < 8 * fonts.small_size || area.height() < 1.5F * fonts.small_size)
    return false;
  ImGui::PushFont(nullptr, fonts.small_size);
  ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, {padding * 0.7F, std::round(fonts.small_size * 0.2F)});
  // The order has a key; the filter has not.
  const bool both = width >= 16 * fonts.small_size;
  bool changed = false;
  if (both) {
    ImGui::SetCursorScreenPos({area.left + padding, area.top});
    ImGui::SetNextItemWidth(std::floor(width * 0.46F));
    changed = draw_choice(facts, order);
  }
  const float left = both ? std::floor(width * 0.5F) : 0;
  ImGui::SetCursorScreenPos({area.left + padding + left, area.top});
  ImGui::SetNextItemWidth(std::floor(width - left));
  changed |= draw_filter(theme, order);
  ImGui::PopStyleVar();
  ImGui::PopFont();
  return changed;
}

}  // namespace lockstep::viewer
