// Where the run's wall time went: of all ranks together and of each, by what it was spent on.
#include <fmt/format.h>

#include <algorithm>

#include "analyzer/report/account_spread.h"
#include "analyzer/report/quantity.h"
#include "viewer/panels/panel_list.h"
#include "viewer/panels/panel_parts.h"
#include "viewer/panels/panel_states.h"
#include "viewer/views/account.h"
#include "viewer/widgets/imgui_canvas.h"

namespace lockstep::viewer {

namespace {

using analyzer::Account;
using analyzer::format_duration;
using analyzer::format_share;

class AccountPanel final : public PanelState {
 public:
  explicit AccountPanel(const Scene& scene)
      : account_(scene.report().account), spread_(analyzer::spread_over_ranks(account_)) {}
  void draw(const Theme& theme, const Fonts& fonts) const;

 private:
  bool has_ranks() const { return account_.ranks.size() > 1; }
  void draw_sums(const Theme& theme) const;
  void draw_spendings(const Theme& theme) const;
  void draw_ranks(const Theme& theme, const Fonts& fonts) const;

  const analyzer::AccountReport& account_;
  std::vector<analyzer::SpendingSpread> spread_;
};

// As wide as its cell, and as high as a line; what is under the pointer stands beside it.
void draw_spent(const Account& spent, const std::string& whose, const Fonts& fonts, const Theme& theme) {
  const std::vector<AccountPart> parts = account_parts(spent);
  std::vector<Share> shares;
  shares.reserve(parts.size());
  for (const AccountPart& part : parts)
    shares.push_back({part.to - part.from, spending_color(part.spending)});
  draw_bar(shares, ImGui::GetFontSize() * 0.85F, fonts, theme);
  if (!ImGui::IsItemHovered()) return;
  const float left = ImGui::GetItemRectMin().x;
  const float width = std::max(1.0F, ImGui::GetItemRectMax().x - left);
  if (const auto spending = part_at(parts, static_cast<double>(ImGui::GetIO().MousePos.x - left) / width))
    ImGui::SetTooltip("%s", describe(spent, *spending, whose).c_str());
}

void AccountPanel::draw_sums(const Theme& theme) const {
  if (account_.goodput)
    ImGui::TextUnformatted(fmt::format("Goodput {}", format_share(*account_.goodput)).c_str());
  ImGui::PushTextWrapPos(0);
  ImGui::TextColored(
      to_vec4(theme.dim_text), "%s",
      fmt::format("{} from the first start to the last end{}", format_duration(account_.wall_ns),
                  account_.goodput ? "; goodput is the share of steady steps in it" : "")
          .c_str());
  ImGui::PopTextWrapPos();
}

void draw_swatch(const Color& color) {
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float size = ImGui::GetTextLineHeight();
  const float edge = size * 0.15F;
  ImGui::GetWindowDrawList()->AddRectFilled({at.x, at.y + edge}, {at.x + size - 2 * edge, at.y + size - edge},
                                            to_imgui(color));
  ImGui::Dummy({size, size});
  ImGui::SameLine(0, 4);
}

// The legend: each way of spending time with how long it took, of how much, and on which rank longest.
void AccountPanel::draw_spendings(const Theme& theme) const {
  if (!ImGui::BeginTable("spent", has_ranks() ? 4 : 3, ImGuiTableFlags_SizingFixedFit)) return;
  ImGui::TableSetupColumn("spent on", ImGuiTableColumnFlags_WidthStretch);
  for (const char* const name : {"time", "share"}) ImGui::TableSetupColumn(name);
  if (has_ranks()) ImGui::TableSetupColumn("most");
  ImGui::TableNextRow();
  ImGui::TableNextColumn();
  ImGui::TextColored(to_vec4(theme.dim_text), "spent on");
  ImGui::TableNextColumn();
  column_title("time", has_ranks() ? "Mean of the ranks." : "Of the one rank.", theme);
  ImGui::TableNextColumn();
  column_title("share", "Of all time of all ranks.", theme);
  if (has_ranks()) {
    ImGui::TableNextColumn();
    column_title("most", "The rank that spent most on it, where that is more than the median.", theme);
  }
  for (const analyzer::SpendingSpread& one : spread_) {
    ImGui::TableNextRow();
    ImGui::TableNextColumn();
    ImGui::BeginGroup();
    draw_swatch(spending_color(one.spending));
    ImGui::TextUnformatted(title_of(one.spending));
    ImGui::EndGroup();
    if (ImGui::IsItemHovered()) ImGui::SetTooltip("%s", describe(one).c_str());
    ImGui::TableNextColumn();
    right_aligned(format_duration(one.mean_ns));
    ImGui::TableNextColumn();
    right_aligned(format_share(one.share));
    if (!has_ranks()) continue;
    ImGui::TableNextColumn();
    if (one.most_ns > one.median_ns)
      right_aligned(fmt::format("rank {}: {}", one.most_rank, format_duration(one.most_ns)));
  }
  ImGui::EndTable();
}

// Of thousands of ranks those are drawn that can be seen.
void AccountPanel::draw_ranks(const Theme& theme, const Fonts& fonts) const {
  if (!ImGui::BeginTable("ranks", 3, ImGuiTableFlags_SizingFixedFit)) return;
  ImGui::TableSetupColumn("rank");
  ImGui::TableSetupColumn("its wall time", ImGuiTableColumnFlags_WidthStretch);
  ImGui::TableSetupColumn("steady");
  ImGui::TableNextRow();
  ImGui::TableNextColumn();
  right_aligned("rank", theme.dim_text);
  ImGui::TableNextColumn();
  ImGui::TextColored(to_vec4(theme.dim_text), "its wall time");
  ImGui::TableNextColumn();
  column_title("steady", "The share of steady steps in what was recorded of the rank.", theme);
  ImGuiListClipper clipper;
  clipper.Begin(static_cast<int>(account_.ranks.size()));
  while (clipper.Step()) {
    for (int i = clipper.DisplayStart; i < clipper.DisplayEnd; ++i) {
      const analyzer::RankAccount& rank = account_.ranks[static_cast<std::size_t>(i)];
      ImGui::TableNextRow();
      ImGui::TableNextColumn();
      right_aligned(fmt::format("{}", rank.rank));
      ImGui::TableNextColumn();
      draw_spent(rank.spent, fmt::format("rank {}", rank.rank), fonts, theme);
      ImGui::TableNextColumn();
      right_aligned(format_share(rank.spent[analyzer::Spending::steady], rank.spent.recorded()));
    }
  }
  ImGui::EndTable();
}

void AccountPanel::draw(const Theme& theme, const Fonts& fonts) const {
  if (spread_.empty()) {
    ImGui::PushTextWrapPos(0);
    ImGui::TextColored(to_vec4(theme.dim_text),
                       "Nothing has a time: where the run's wall time went is not known.");
    ImGui::PopTextWrapPos();
    return;
  }
  draw_sums(theme);
  ImGui::Spacing();
  draw_spent(account_.spent, has_ranks() ? "all ranks" : fmt::format("rank {}", account_.ranks[0].rank),
             fonts, theme);
  ImGui::PushFont(nullptr, fonts.small_size);
  draw_spendings(theme);
  if (has_ranks()) {
    heading("RANKS", fonts, theme);
    draw_ranks(theme, fonts);
  }
  ImGui::PopFont();
}

}  // namespace

const Panel panels::account{
    .title = "Account",
    .place = PanelPlace::above,
    .needs = [](const Scene& scene) { return scene.report().account.spent.total() > 0; },
    .make_state = new_state<AccountPanel>,
    .draw =
        [](const PanelContext& context) {
          context.states.get<AccountPanel>(panels::account).draw(context.theme, context.fonts);
          return Command{};
        },
};

}  // namespace lockstep::viewer
