// The palette of commands, which takes places too.
#include <gmock/gmock.h>

#include "tests/temporary_folder.h"
#include "viewer/journey/journey.h"
#include "viewer/journey/runs.h"
#include "viewer/opening/open_run.h"
#include "viewer/panels/panel_list.h"

namespace lockstep::viewer::journey {
namespace {

class Palette : public Journey {
 protected:
  Palette() {
    write_run(folder_.path());
    scene_ = open_run({folder_.path().string()}).value();
  }
  static bool is_open() {
    return ImGui::IsPopupOpen("", ImGuiPopupFlags_AnyPopupId | ImGuiPopupFlags_AnyPopupLevel);
  }
  static void ask(User& user, const std::string& text) {
    user.press(ImGuiMod_Ctrl | ImGuiKey_P);
    ASSERT_TRUE(is_open());
    user.type(text);
  }

  test::TemporaryFolder folder_;
  std::unique_ptr<Scene> scene_;
};

TEST_F(Palette, APlaceIsGoneTo) {
  open(*scene_);
  play([this](User& user) {
    ask(user, "step=12,rank=3");
    EXPECT_THAT(user.drawn_text(), testing::HasSubstr("Go to step=12,rank=3"));
    user.press(ImGuiKey_Enter);
    EXPECT_FALSE(is_open());
    const StepSpan& step = scene_->timeline().ranks[3].steps[2];
    ASSERT_EQ(step.number, 12);
    EXPECT_LE(user.state().view.begin, step.begin);
    EXPECT_LT(user.state().view.span, 1.2 * static_cast<double>(step.end - step.begin));
    ask(user, "collective=3");
    user.press(ImGuiKey_Enter);
    ASSERT_TRUE(user.state().selected);
    EXPECT_EQ(scene_->collective_of(*user.state().selected), scene_->find_collective(3));
  });
}

TEST_F(Palette, AWrongPlaceIsSaidAndGoesNowhere) {
  open(*scene_);
  play([](User& user) {
    const TimeView before = user.state().view;
    ask(user, "step=99");
    EXPECT_THAT(user.drawn_text(), testing::HasSubstr("the run has steps 10 to 15"));
    user.press(ImGuiKey_Enter);
    EXPECT_EQ(user.state().view.begin, before.begin);
    EXPECT_EQ(user.state().view.span, before.span);
  });
}

TEST_F(Palette, CommandsAreFoundByTheirWordsAndArrowsChoose) {
  open(*scene_);
  play([](User& user) {
    const bool dark = user.app().theme().dark;
    ask(user, "light or");
    user.press(ImGuiKey_Enter);
    EXPECT_NE(user.app().theme().dark, dark);
    ask(user, "show ");
    user.press(ImGuiKey_DownArrow);
    user.press(ImGuiKey_DownArrow);
    user.press(ImGuiKey_Enter);
    EXPECT_TRUE(user.sees("Collectives")) << "the third of them";
    ask(user, "keys");
    user.press(ImGuiKey_Enter);
    EXPECT_TRUE(user.sees("Keys"));
    user.press(ImGuiKey_Escape);
    EXPECT_FALSE(user.sees("Keys"));
  });
}

TEST_F(Palette, EveryPanelIsShown) {
  for (const bool compared : {false, true}) {
    open(*scene_, compared ? scene_.get() : nullptr);
    play([compared](User& user) {
      for (const Panel* const panel : panels_for(compared)) {
        ask(user, std::string("show ") + panel->title);
        user.press(ImGuiKey_Enter);
        EXPECT_TRUE(user.sees(panel->title)) << panel->title;
      }
    });
    close();
  }
}

TEST_F(Palette, EscapeLeavesItAndNothingElse) {
  open(*scene_);
  play([](User& user) {
    user.state().measured = TimeRange{user.state().view.begin, user.state().view.begin + 1000};
    ask(user, "step=12");
    const TimeView before = user.state().view;
    user.press(ImGuiKey_Escape);
    EXPECT_FALSE(is_open());
    EXPECT_EQ(user.state().view.begin, before.begin);
    EXPECT_TRUE(user.state().measured) << "that Escape was not for the timeline";
    user.press(ImGuiKey_Escape);
    EXPECT_FALSE(user.state().measured);
  });
}

}  // namespace
}  // namespace lockstep::viewer::journey
