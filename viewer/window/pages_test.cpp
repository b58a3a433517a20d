// The pages without a run, as pictures: that what they have to say is drawn, and where.
#include <gtest/gtest.h>

#include <map>

#include "tests/temporary_folder.h"
#include "viewer/testing/png_reader.h"
#include "viewer/window/notice_bar.h"
#include "viewer/window/open_prompt.h"
#include "viewer/window/opening_page.h"
#include "viewer/window/run.h"
#include "viewer/window/welcome_page.h"

namespace lockstep::viewer {
namespace {

using analyzer::Cause;
constexpr std::int64_t kNow = 1'800'000'000;

ShowOptions options_of(bool dark, double scale = 1) {
  ShowOptions options;
  options.width = static_cast<int>(1000 * scale);
  options.height = static_cast<int>(700 * scale);
  options.dark = dark;
  options.scale = scale;
  return options;
}

int count(const Picture& picture, Color color, const Rect& area) {
  int pixels = 0;
  for (int y = static_cast<int>(area.top); y < static_cast<int>(area.bottom); ++y)
    for (int x = static_cast<int>(area.left); x < static_cast<int>(area.right); ++x)
      pixels += pixel(picture, x, y) == color ? 1 : 0;
  return pixels;
}

int count(const Picture& picture, Color color) {
  return count(picture, color, {0, 0, static_cast<float>(picture.width), static_cast<float>(picture.height)});
}

class Pages : public testing::TestWithParam<bool> {
 protected:
  Theme theme() const { return GetParam() ? dark_theme() : light_theme(); }
};
INSTANTIATE_TEST_SUITE_P(DarkAndLight, Pages, testing::Bool());

TEST_P(Pages, WelcomeListsWhatIsThereClearlyAndWhatIsNotDimly) {
  const test::TemporaryFolder folder;
  const std::string there = folder.write("there/rank-0.json", "{}");
  const std::vector<RecentRun> runs{{{there}, "", 8, 12, kNow - 60},
                                    {{folder / "absent"}, "", 8, 12, kNow - 60},
                                    {{folder / "nobody knows"}, "", 8, 12, kNow - 60}};
  RunPresence presence;
  presence.look({runs[0], runs[1]});
  ASSERT_TRUE(presence.wait_for(std::chrono::minutes(2)));
  WelcomePage page(runs, kNow, presence);
  const auto taken =
      take_picture_of_page(options_of(GetParam()), [&page](const Theme& theme, const Fonts& fonts) {
        const WelcomeChoice choice = page.draw(theme, fonts, "");
        EXPECT_FALSE(choice.open || choice.forget || choice.ask_for_path) << "nobody clicked";
      });
  if (!taken.ok()) GTEST_SKIP() << taken.error().message;
  const Picture& picture = taken.value();
  ASSERT_EQ(page.places().size(), 3u);
  EXPECT_GT(count(picture, theme().text, page.places()[0]), 20) << "its name";
  EXPECT_GT(count(picture, theme().text, page.places()[2]), 20) << "no verdict";
  EXPECT_EQ(count(picture, theme().text, page.places()[1]), 0);
  const Color dim = mix(theme().background, theme().dim_text, 0.7);
  EXPECT_GT(count(picture, dim, page.places()[1]), 20);
  for (const Cause cause : {Cause::compute, Cause::transfer})
    EXPECT_GT(count(picture, cause_color(theme(), cause)), 100) << "the sign";
}

TEST_P(Pages, OpeningDrawsTheShareThatIsDone) {
  const auto filled_pixels = [&](OpeningStage stage, double done) {
    const auto taken =
        take_picture_of_page(options_of(GetParam()), [&](const Theme& theme, const Fonts& fonts) {
          draw_opening_page({{"/runs/monday"}, "", true}, {0, 1, stage, done, 5'000'000},
                            std::chrono::seconds(75), WayOut::quit, theme, fonts);
        });
    return taken.ok() ? count(taken.value(), cause_color(theme(), Cause::compute)) : -1;
  };
  const int none = filled_pixels(OpeningStage::reading, 0);
  if (none < 0) GTEST_SKIP() << "nothing can be drawn here";
  const int half = filled_pixels(OpeningStage::reading, 0.5);
  const int all = filled_pixels(OpeningStage::preparing, 1);
  // 560 pixels wide, 6 high; reading is 0.6 of it.
  EXPECT_NEAR(half - none, 0.3 * 560 * 6, 12);
  EXPECT_NEAR(all - none, 560 * 6, 12);
  EXPECT_GT(filled_pixels(OpeningStage::analyzing, 0) - none, static_cast<int>(0.6 * 560 * 6))
      << "what is under way is hatched";
}

TEST_P(Pages, OpeningDrawsWhatIsKnownOfTheRun) {
  RunPreview preview;
  preview.length = 1'000'000;
  for (int rank = 0; rank < 8; ++rank)
    preview.ranks.push_back({rank, "node", {{0, 1'000'000, 100}}, {{250'000, 500'000, 10}}});
  OpeningProgress progress;
  progress.bytes = 5'000'000'000;
  progress.preview = std::make_shared<const RunPreview>(preview);
  const auto taken =
      take_picture_of_page(options_of(GetParam()), [&](const Theme& theme, const Fonts& fonts) {
        draw_opening_page({{"/runs/monday"}, "", true}, progress, std::chrono::seconds(3), WayOut::quit,
                          theme, fonts);
      });
  if (!taken.ok()) GTEST_SKIP() << taken.error().message;
  const int computing = count(taken.value(), cause_color(theme(), Cause::compute));
  const int communicating = count(taken.value(), cause_color(theme(), Cause::transfer));
  EXPECT_GT(computing, 8 * 5 * 700) << "eight rows over most of the width";
  EXPECT_GT(communicating, 8 * 3 * 150) << "and below them a quarter of it";
  EXPECT_LT(communicating, computing / 2);
}

TEST_P(Pages, FailedShowsAMessageOfAnyLength) {
  for (const std::size_t length : {20u, 100'000u}) {
    std::string message = "rank-0.json: no trace";
    while (message.size() < length) message += "\nrank-0.json: \x01 \xff no trace, nor anything else";
    FailedChoice choice;
    const auto taken = take_picture_of_page(options_of(GetParam()), [&](const Theme& theme,
                                                                        const Fonts& fonts) {
      choice = draw_failed_page({{"/absent"}, "", true}, message, "look there", WayOut::back, theme, fonts);
    });
    if (!taken.ok()) GTEST_SKIP() << taken.error().message;
    EXPECT_FALSE(choice.again || choice.ask_for_path || choice.recent || choice.leave);
    EXPECT_GT(count(taken.value(), theme().panel), 5'000) << "the message's box";
    // However long it is, the buttons below it are seen: five of them, on a ground of their own.
    const Rect lower{0, 350, 1000, 700};
    const int elsewhere =
        count(taken.value(), theme().background, lower) + count(taken.value(), theme().panel, lower);
    EXPECT_GT(static_cast<int>(lower.width() * lower.height()) - elsewhere, 5 * 80 * 25);
  }
}

TEST(Advice, NamesThePathThatIsNotThere) {
  const test::TemporaryFolder folder;
  const std::string there = folder.write("trace.json", "{}");
  EXPECT_NE(advice_on({{there, folder / "absent"}, "", true}).find(folder / "absent"), std::string::npos);
  EXPECT_NE(advice_on({{there}, folder / "other", true}).find(folder / "other"), std::string::npos);
  EXPECT_NE(advice_on({{there}, "", true}).find("What can be opened"), std::string::npos);
}

TEST(Notice, TheOneThatMattersMostIsShown) {
  EXPECT_FALSE(notice_of({}).has_value());
  Circumstances circumstances;
  circumstances.on_disk = OnDisk::changed;
  EXPECT_TRUE(notice_of(circumstances)->can_open_again);
  EXPECT_NE(notice_of(circumstances)->text.find("changed"), std::string::npos);
  circumstances.on_disk = OnDisk::gone;
  EXPECT_NE(notice_of(circumstances)->text.find("gone"), std::string::npos);
  circumstances.cut = true;
  EXPECT_NE(notice_of(circumstances)->text.find("cut"), std::string::npos);
  EXPECT_FALSE(notice_of(circumstances)->can_hide) << "what is shown is wrong";
  circumstances.message = "--goto: no such rank";
  EXPECT_EQ(notice_of(circumstances)->text, circumstances.message);
  circumstances.opening_again = OpeningProgress{};
  EXPECT_NE(notice_of(circumstances)->text.find("reading"), std::string::npos);
}

TEST(OpenPrompt, TakesAPathAsItIsTyped) {
  const test::TemporaryFolder folder;
  const std::string file = folder.write("a b.json", "{}");
  EXPECT_EQ(path_of("  " + file + " \n").value(), file);
  EXPECT_FALSE(path_of("   ").ok());
  const auto absent = path_of(folder / "absent");
  ASSERT_FALSE(absent.ok());
  EXPECT_NE(absent.error().message.find("absent"), std::string::npos);
  EXPECT_EQ(path_of("~").value(), std::getenv("HOME"));
}

}  // namespace
}  // namespace lockstep::viewer
