// The keys, each pressed in the window.
#include <gmock/gmock.h>

#include "tests/temporary_folder.h"
#include "viewer/journey/journey.h"
#include "viewer/journey/runs.h"
#include "viewer/opening/open_run.h"
#include "viewer/timeline/navigate.h"

namespace lockstep::viewer::journey {
namespace {

class Keys : public Journey {
 protected:
  Keys() {
    write_run(folder_.path());
    scene_ = open_run({folder_.path().string()}).value();
  }
  // Rank 0's part in the collective, which is clicked.
  Item click_on(User& user, std::uint32_t collective, std::int32_t rank) {
    for (const analyzer::CollectiveRank& part : scene_->parts(collective)) {
      if (part.rank != rank) continue;
      const Item item = *scene_->find_activity(*scene_->index_of(rank), part.activity);
      user.click(user.places().point(item));
      EXPECT_EQ(user.state().selected, item);
      return item;
    }
    ADD_FAILURE() << "rank " << rank << " has no part in collective " << collective;
    return {};
  }

  test::TemporaryFolder folder_;
  std::unique_ptr<Scene> scene_;
};

TEST_F(Keys, TheHelpOpensAndCloses) {
  open(*scene_);
  play([](User& user) {
    EXPECT_FALSE(user.sees("Keys"));
    user.press(ImGuiMod_Shift | ImGuiKey_Slash, '?');
    EXPECT_TRUE(user.sees("Keys"));
    EXPECT_THAT(user.drawn_text(), testing::HasSubstr("Backspace"));
    user.press(ImGuiKey_Escape);
    EXPECT_FALSE(user.sees("Keys"));
    user.press(ImGuiMod_Shift | ImGuiKey_Slash, '?');
    EXPECT_TRUE(user.sees("Keys"));
    user.press(ImGuiMod_Shift | ImGuiKey_Slash, '?');
    EXPECT_FALSE(user.sees("Keys"));
  });
}

TEST_F(Keys, TheEscapeThatClosesTheHelpDropsNothing) {
  open(*scene_);
  play([this](User& user) {
    const Item selected = click_on(user, 4, 0);
    user.state().measured = TimeRange{user.state().view.begin, user.state().view.begin + 1000};
    user.press(ImGuiMod_Shift | ImGuiKey_Slash, '?');
    user.press(ImGuiKey_Escape);
    EXPECT_FALSE(user.sees("Keys"));
    EXPECT_EQ(user.state().selected, selected);
    EXPECT_TRUE(user.state().measured);
    user.press(ImGuiKey_Escape);
    EXPECT_FALSE(user.state().selected);
    EXPECT_FALSE(user.state().measured);
  });
}

// Tooltips are drawn above everything: beside a pointer near the Keys' edge one would cover them.
TEST_F(Keys, NoTooltipOfTheTimelineWhereAWindowStandsOverIt) {
  open(*scene_);
  play([this](User& user) {
    constexpr const char* kTooltip = "##Tooltip_00";
    const auto part = scene_->parts(0)[0];
    const Item item = *scene_->find_activity(*scene_->index_of(part.rank), part.activity);
    user.point_to(user.places().point(item));
    user.settle();
    ASSERT_TRUE(user.sees(kTooltip));
    user.press(ImGuiMod_Shift | ImGuiKey_Slash, '?');
    EXPECT_FALSE(user.sees(kTooltip));
    user.press(ImGuiKey_Escape);
    EXPECT_TRUE(user.sees(kTooltip)) << "the pointer has not moved";
    user.press(ImGuiMod_Ctrl | ImGuiKey_P);
    EXPECT_FALSE(user.sees(kTooltip));
  });
}

TEST_F(Keys, TChangesTheTheme) {
  open(*scene_);
  play([](User& user) {
    const bool dark = user.app().theme().dark;
    user.press(ImGuiKey_T, 't');
    EXPECT_NE(user.app().theme().dark, dark);
    user.press(ImGuiKey_T, 't');
    EXPECT_EQ(user.app().theme().dark, dark);
  });
}

TEST_F(Keys, HShowsHostRangesAndCClosesRanks) {
  open(*scene_);
  play([](User& user) {
    const int first = user.places().height();
    user.press(ImGuiKey_H, 'h');
    EXPECT_NE(user.places().height(), first);
    user.press(ImGuiKey_H, 'h');
    const int open = user.places().height();
    user.press(ImGuiKey_C, 'c');
    for (std::size_t rank = 0; rank < 4; ++rank) EXPECT_FALSE(user.state().expansion.rank_open(rank));
    EXPECT_LT(user.places().height(), open);
    user.press(ImGuiKey_C, 'c');
    for (std::size_t rank = 0; rank < 4; ++rank) EXPECT_TRUE(user.state().expansion.rank_open(rank));
    EXPECT_EQ(user.places().height(), open);
  });
}

TEST_F(Keys, CommaAndPeriodGoAlongTheRow) {
  open(*scene_);
  play([this](User& user) {
    Item at = click_on(user, 4, 1);
    for (int i = 0; i < 3; ++i) {
      user.press(ImGuiKey_Period, '.');
      ++at.at;
      EXPECT_EQ(user.state().selected, at);
      const Point place = user.places().point(at);
      EXPECT_TRUE(user.places().lanes().contains(place.x, place.y));
    }
    user.press(ImGuiKey_Comma, ',');
    --at.at;
    EXPECT_EQ(user.state().selected, at);
    // The ends of the row are its ends.
    for (int i = 0; i < 30; ++i) user.press(ImGuiKey_Comma, ',');
    EXPECT_EQ(user.state().selected->at, 0U);
  });
}

TEST_F(Keys, BracketsFollowTheChainOfWaits) {
  open(*scene_);
  play([this](User& user) {
    const Item waits = click_on(user, 4, 0);
    user.press(ImGuiKey_LeftBracket, '[');
    ASSERT_TRUE(user.state().selected);
    EXPECT_EQ(scene_->timeline().ranks[user.state().selected->rank].rank, 2) << "who came last";
    EXPECT_EQ(scene_->collective_of(*user.state().selected), 4U);
    EXPECT_EQ(user.state().selected, held_up_by(*scene_, waits));
    user.press(ImGuiKey_RightBracket, ']');
    EXPECT_EQ(scene_->timeline().ranks[user.state().selected->rank].rank, 0) << "who waited longest";
  });
}

// A German keyboard: `/` is Shift 7, `?` Shift ß, and the brackets stand with AltGr on 8 and 9.
TEST_F(Keys, SignsAreCommandsWhereverTheKeyboardHasThem) {
  open(*scene_);
  play([this](User& user) {
    const auto with_alt_gr = [&user](ImGuiKey key, char writes) {
      user.engine().KeyDown(ImGuiKey_RightAlt);
      user.press(key, writes);
      user.engine().KeyUp(ImGuiKey_RightAlt);
    };
    user.press(ImGuiMod_Shift | ImGuiKey_Minus, '?');
    EXPECT_TRUE(user.sees("Keys"));
    user.press(ImGuiMod_Shift | ImGuiKey_Minus, '?');
    EXPECT_FALSE(user.sees("Keys"));
    const Item waits = click_on(user, 4, 0);
    with_alt_gr(ImGuiKey_8, '[');
    EXPECT_EQ(user.state().selected, held_up_by(*scene_, waits));
    with_alt_gr(ImGuiKey_9, ']');
    EXPECT_EQ(scene_->timeline().ranks[user.state().selected->rank].rank, 0);
    // What writes nothing of the kind is no command, whatever it is called in America.
    const std::optional<Item> selected = user.state().selected;
    user.press(ImGuiKey_Slash, '-');
    user.press(ImGuiKey_LeftBracket);
    user.press(ImGuiKey_Comma, ';');
    EXPECT_EQ(user.state().selected, selected);
    user.press(ImGuiMod_Shift | ImGuiKey_7, '/');
    user.type("gemm");
    EXPECT_EQ(app().search().search().text(), "gemm");
    EXPECT_FALSE(user.sees("Keys"));
  });
}

TEST_F(Keys, SignsAreNoCommandsWithCtrlAltOrSuperNorInATextField) {
  open(*scene_);
  play([this](User& user) {
    const Item selected = click_on(user, 4, 1);
    for (const ImGuiKey held : {ImGuiKey_LeftCtrl, ImGuiKey_LeftAlt, ImGuiKey_LeftSuper}) {
      user.engine().KeyDown(held);
      for (const char sign : {',', '.', '[', ']', '?'}) user.press(ImGuiKey_Comma, sign);
      user.engine().KeyUp(held);
      EXPECT_EQ(user.state().selected, selected) << held;
      EXPECT_FALSE(user.sees("Keys")) << held;
    }
    user.show("Notes");
    user.engine().ItemClick("//Notes/##notes");
    user.press(ImGuiMod_Shift | ImGuiKey_Slash, '?');
    user.type("/[.,]");
    EXPECT_EQ(user.state().notes, "?/[.,]");
    EXPECT_EQ(user.state().selected, selected);
    EXPECT_FALSE(user.sees("Keys"));
  });
}

// A key that is held writes its sign again and again.
TEST_F(Keys, AHeldKeyGoesOnAlongTheRowAndOpensTheHelpOnce) {
  open(*scene_);
  play([this](User& user) {
    const auto hold = [&user](ImGuiKeyChord key, const char* sign, int times) {
      user.engine().KeyDown(key);
      for (int i = 0; i < times; ++i) user.engine().KeyChars(sign);
      user.engine().KeyUp(key);
      user.settle();
    };
    Item at = click_on(user, 4, 1);
    hold(ImGuiKey_Period, ".", 3);
    at.at += 3;
    EXPECT_EQ(user.state().selected, at);
    for (const int times : {1, 2, 7}) {
      hold(ImGuiKey_Slash, "?", times);
      EXPECT_TRUE(user.sees("Keys")) << times;
      user.press(ImGuiKey_Escape);
      EXPECT_FALSE(user.sees("Keys"));
    }
  });
}

TEST_F(Keys, EscapeDropsTheSelectionAndFShowsIt) {
  open(*scene_);
  play([this](User& user) {
    const TimeView all = user.state().view;
    click_on(user, 4, 0);
    user.press(ImGuiKey_F, 'f');
    EXPECT_LT(user.state().view.span, all.span / 2);
    user.press(ImGuiKey_Escape);
    EXPECT_FALSE(user.state().selected);
    user.press(ImGuiKey_F, 'f');
    EXPECT_EQ(user.state().view.span, all.span);
  });
}

}  // namespace
}  // namespace lockstep::viewer::journey
