// What the panels show, and where, as Dear ImGui has laid it out.
#include <imgui_internal.h>

#include <algorithm>

#include "viewer/panels/panel_list.h"
#include "viewer/testing/shell_fixture.h"

namespace lockstep::viewer {
namespace {

using ShellPanels = ShellTest;

// Null where the panel draws no such table.
const ImGuiTable* table_of(const char* panel, const char* table) {
  ImGuiWindow* const window = ImGui::FindWindowByName(panel);
  if (window == nullptr) return nullptr;
  const ImGuiTable* const found = ImGui::TableFindByID(window->GetID(table));
  return found != nullptr && found->LastFrameActive + 1 >= ImGui::GetFrameCount() ? found : nullptr;
}

// The last arriver may be in any row: all of them are on the screen before what else there is to say.
TEST_F(ShellPanels, ArrivalsStandBeforeWhatElseThereIsOfACollective) {
  folder_.write("run/rank-0.json", "");
  open("run");
  frames(10);
  shell_->app()->execute({.collective = 0});
  shell_->app()->show_panel("Details");
  frames(10);
  const ImGuiTable* const arrivals = table_of("Details", "participants");
  const ImGuiTable* const facts = table_of("Details", "facts");
  const ImGuiTable* const operation = table_of("Details", "collective");
  ASSERT_TRUE(arrivals != nullptr && facts != nullptr && operation != nullptr);
  EXPECT_LE(arrivals->OuterRect.Max.y, operation->OuterRect.Min.y);
  EXPECT_LE(operation->OuterRect.Max.y, facts->OuterRect.Min.y);
  const ImGuiWindow* const panel = ImGui::FindWindowByName("Details");
  EXPECT_LE(arrivals->OuterRect.Max.y, panel->Pos.y + panel->Size.y);
}

// Whether its tab shows the whole name.
::testing::AssertionResult tab_is_readable(const char* panel) {
  const ImGuiWindow* const window = ImGui::FindWindowByName(panel);
  if (window == nullptr || window->DockNode == nullptr || window->DockNode->TabBar == nullptr)
    return ::testing::AssertionFailure() << "no tab of " << panel;
  ImGuiTabBar* const bar = window->DockNode->TabBar;
  const ImGuiTabItem* const tab = ImGui::TabBarFindTabByID(bar, window->TabId);
  if (tab == nullptr || bar->VisibleTabId != tab->ID)
    return ::testing::AssertionFailure() << panel << " is not in front";
  const float left = bar->BarRect.Min.x + tab->Offset - bar->ScrollingAnim;
  constexpr float kRounded = 1;  // widths are whole pixels
  if (tab->Width + kRounded < tab->ContentWidth || left + kRounded < bar->ScrollingRectMinX ||
      left + tab->Width > bar->ScrollingRectMaxX + kRounded)
    return ::testing::AssertionFailure()
           << panel << " is cut: " << left << " to " << left + tab->Width << " of " << tab->ContentWidth
           << " within " << bar->ScrollingRectMinX << " to " << bar->ScrollingRectMaxX;
  return ::testing::AssertionSuccess();
}

TEST_F(ShellPanels, TheTabInFrontIsReadable) {
  folder_.write("run/rank-0.json", "");
  job_.steps = 1;                           // so that the panels of steps share a place with others
  for (const float scale : {1.0F, 3.0F}) {  // at three times all panels are tabs of one place
    scale_ = scale;
    start();
    open("run");
    frames(10);
    for (const char* const panel : {"Counters", "Details", "Search", "Imbalance", "Overview", "Counters"}) {
      shell_->app()->show_panel(panel);
      frames(5);
      EXPECT_TRUE(tab_is_readable(panel)) << "at a scale of " << scale;
    }
  }
}

// As many tabs in the place of `panel`, and no arrows to scroll them.
void expect_readable_tabs(const char* panel, std::ptrdiff_t tabs) {
  const ImGuiWindow* const window = ImGui::FindWindowByName(panel);
  ASSERT_TRUE(window != nullptr && window->DockNode != nullptr && window->DockNode->TabBar != nullptr);
  EXPECT_EQ(window->DockNode->TabBar->Tabs.Size, tabs);
  EXPECT_FALSE(window->DockNode->TabBar->ScrollButtonEnabled);
}

TEST_F(ShellPanels, AllTabsAtTheRightAreReadableAtOnce) {
  folder_.write("run/rank-0.json", "");
  const std::vector<const Panel*> all = panels_for(false);
  const auto above = std::count_if(all.begin(), all.end(),
                                   [](const Panel* panel) { return panel->place == PanelPlace::above; });
  for (const std::int64_t steps : {3, 1}) {
    job_.steps = steps;
    start();
    open("run");
    frames(10);
    expect_readable_tabs("Overview", above);
    if (steps == 1) expect_readable_tabs("Counters", std::ssize(all) - above);
  }
}

// The palette does the same as the key.
TEST_F(ShellPanels, AChainThatNothingLeadsToIsAskedForInVain) {
  folder_.write("run/rank-0.json", "");
  open("run");
  frames(10);
  press(ImGuiKey_L);
  ASSERT_TRUE(shell_->notice().has_value());
  EXPECT_THAT(shell_->notice()->text, testing::HasSubstr("Select an operation first"));
  EXPECT_FALSE(shell_->app()->state().chain_shown);
  shell_->app()->execute({.collective = 1});
  frames();
  EXPECT_FALSE(shell_->notice().has_value()) << "that was what to do";
  press(ImGuiKey_L);
  EXPECT_FALSE(shell_->app()->state().chain.items.empty());
  shell_->app()->state().selected.reset();
  frames();
  shell_->app()->pane().toggle_chain();
  frames();
  ASSERT_TRUE(shell_->notice().has_value());
  EXPECT_TRUE(shell_->app()->state().chain_shown);
  shell_->app()->drop_hint();
  EXPECT_FALSE(shell_->notice().has_value());
}

}  // namespace
}  // namespace lockstep::viewer
