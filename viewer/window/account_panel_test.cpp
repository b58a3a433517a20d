// The run's account as the window draws it: what colours stand in its panel, and how much of it is drawn.
#include <imgui_internal.h>

#include <cstdint>
#include <vector>

#include "viewer/testing/shell_fixture.h"
#include "viewer/timeline/theme.h"
#include "viewer/widgets/imgui_canvas.h"

namespace lockstep::viewer {
namespace {

using analyzer::Spending;

class AccountShown : public ShellTest {
 protected:
  void show() {
    folder_.write("run/rank-0.json", "");
    open("run");
    frames(10);
    shell_->app()->show_panel("Account");
    frames(10);
  }
  const analyzer::AccountReport& account() { return shell_->app()->pane().scene().report().account; }

  // Boxes of one colour that the panel drew in the last frame.
  static std::vector<Rect> boxes_of(Spending spending) {
    std::vector<Rect> boxes;
    const ImGuiWindow* const panel = ImGui::FindWindowByName("Account");
    if (panel == nullptr || !panel->Active) return boxes;
    const ImVector<ImDrawVert>& all = panel->DrawList->VtxBuffer;
    const ImU32 color = to_imgui(spending_color(spending));
    for (int i = 0; i + 4 <= all.Size; ++i) {
      if (all[i].col != color) continue;
      boxes.push_back({all[i].pos.x, all[i].pos.y, all[i + 2].pos.x, all[i + 2].pos.y});
      i += 3;
    }
    return boxes;
  }
};

TEST_F(AccountShown, HasABarForTheRunAndForEachRank) {
  show();
  ASSERT_EQ(account().ranks.size(), 4U);
  int drawn = 0;
  for (const Spending spending : analyzer::kSpendingsByLife) {
    if (account().spent[spending] * 50 < account().spent.total()) continue;
    ++drawn;
    // The legend, the run, and each rank that has some of it.
    std::size_t least = 2;
    for (const analyzer::RankAccount& rank : account().ranks) least += rank.spent[spending] > 0 ? 1 : 0;
    EXPECT_GE(boxes_of(spending).size(), least) << analyzer::title_of(spending);
  }
  EXPECT_GT(drawn, 0);
}

TEST_F(AccountShown, WhatIsUnderThePointerIsExplained) {
  show();
  const auto tooltip = [] {
    const ImGuiWindow* const found = ImGui::FindWindowByName("##Tooltip_00");
    return found != nullptr && found->Active && !found->Hidden;
  };
  const std::vector<Rect> boxes = boxes_of(Spending::steady);
  ASSERT_FALSE(boxes.empty());
  const Rect& widest = *std::max_element(boxes.begin(), boxes.end(),
                                         [](const Rect& a, const Rect& b) { return a.width() < b.width(); });
  EXPECT_FALSE(tooltip());
  shared_window()->set_pointer(Point{(widest.left + widest.right) / 2, (widest.top + widest.bottom) / 2});
  frames(10);
  EXPECT_TRUE(tooltip());
  shared_window()->set_pointer(std::nullopt);
}

// Of hundreds of ranks a panel shows a few dozen.
TEST_F(AccountShown, OnlyRanksThatCanBeSeenAreDrawn) {
  job_.late.assign(300, 0);
  show();
  ASSERT_EQ(account().ranks.size(), 300U);
  const std::size_t boxes = boxes_of(Spending::steady).size();
  EXPECT_GT(boxes, 4U);
  EXPECT_LT(boxes, 100U);
}

}  // namespace
}  // namespace lockstep::viewer
