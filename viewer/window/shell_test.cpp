// From page to page.
#include <atomic>

#include "viewer/testing/last_one.h"
#include "viewer/testing/shell_fixture.h"

namespace lockstep::viewer {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST_F(ShellTest, ARunThatOpensInABlinkIsShownWithoutAPageInBetween) {
  folder_.write("run/rank-0.json", "");
  opening_.open(request("run"));
  opening_.wait_for(std::chrono::minutes(2));
  shell_->await(request("run"));
  EXPECT_EQ(shell_->kind(), Kind::run);
  frames();
  EXPECT_NE(shell_->app(), nullptr);
  EXPECT_FALSE(shell_->notice().has_value());
}

TEST_F(ShellTest, AClickOnARecentRunOpensIt) {
  folder_.write("first/rank-0.json", "");
  folder_.write("second/rank-0.json", "");
  open("first");
  open("second");
  start();
  shell_->show_welcome();
  frames();
  ASSERT_EQ(shell_->kind(), Kind::welcome);
  ASSERT_EQ(shell_->welcome()->places().size(), 2u) << "both are remembered, the newest first";
  const Rect row = shell_->welcome()->places()[1];
  click({row.left + 100, row.top + row.height() / 2});
  opening_.wait_for(std::chrono::minutes(2));
  frames();
  ASSERT_EQ(shell_->kind(), Kind::run);
  EXPECT_EQ(read_recent_runs(folder_.path() / "recent-runs").front().paths, request("first").paths);
}

// `--clocks` and `--no-cache` are of all that the window opens.
TEST_F(ShellTest, LaterRunsAreOpenedAsTheCommandLineSaysOfTheFirst) {
  folder_.write("first/rank-0.json", "");
  folder_.write("second/rank-0.json", "");
  open("first");
  EXPECT_EQ(last_request_, request("first"));
  keep_ = false;
  clocks_ = analyzer::Clocks::each_rank;
  start();
  shell_->show_welcome();
  frames();
  const Rect row = shell_->welcome()->places().at(0);
  click({row.left + 100, row.top + row.height() / 2});
  opening_.wait_for(std::chrono::minutes(2));
  frames();
  ASSERT_EQ(shell_->kind(), Kind::run);
  RunRequest expected = request("first");
  expected.keep = false;
  expected.clocks = analyzer::Clocks::each_rank;
  EXPECT_EQ(last_request_, expected) << "from the list";
  press(ImGuiKey_O, ImGuiMod_Ctrl);
  ImGui::GetIO().AddInputCharactersUTF8((folder_ / "second").c_str());
  frames();
  press(ImGuiKey_Enter);
  opening_.wait_for(std::chrono::minutes(2));
  frames();
  expected.paths = request("second").paths;
  EXPECT_EQ(last_request_, expected) << "typed";
}

TEST_F(ShellTest, ArrowKeysAndEnterOpenARecentRun) {
  folder_.write("first/rank-0.json", "");
  folder_.write("second/rank-0.json", "");
  open("first");
  open("second");
  start();
  shell_->show_welcome();
  frames();
  press(ImGuiKey_Enter);
  EXPECT_EQ(shell_->kind(), Kind::welcome) << "none is chosen yet";
  press(ImGuiKey_DownArrow);
  press(ImGuiKey_DownArrow);
  press(ImGuiKey_DownArrow);
  press(ImGuiKey_Enter);
  opening_.wait_for(std::chrono::minutes(2));
  frames();
  ASSERT_EQ(shell_->kind(), Kind::run);
  EXPECT_EQ(read_recent_runs(folder_.path() / "recent-runs").front().paths, request("first").paths);
}

TEST_F(ShellTest, AClickOnARecentRunThatIsGoneDoesNothing) {
  ASSERT_TRUE(remember_run(folder_.path() / "recent-runs", {{folder_ / "absent"}, "", 4, 3, 0}).ok());
  shell_->show_welcome();
  ASSERT_TRUE(shell_->presence().wait_for(std::chrono::minutes(2)));
  frames();
  const Rect row = shell_->welcome()->places().at(0);
  click({row.left + 100, row.top + row.height() / 2});
  EXPECT_EQ(shell_->kind(), Kind::welcome);
  EXPECT_EQ(opening_.state(), OpeningState::idle);
  // Its cross takes it off the list.
  click({row.right - 10, row.top + row.height() / 2});
  EXPECT_TRUE(shell_->welcome()->places().empty());
}

// A mount whose server is gone: the page is drawn, its run can be tried, and nobody waits for the mount.
TEST_F(ShellTest, ARunWhoseDiskDoesNotAnswerHoldsNobodyUp) {
  ASSERT_TRUE(remember_run(folder_.path() / "recent-runs", {{folder_ / "slow"}, "", 4, 3, 0}).ok());
  struct Disk {
    std::promise<void> answer;
    std::shared_future<void> answered = answer.get_future().share();
    std::atomic<int> asked{0};
  };
  const auto disk = std::make_shared<Disk>();
  std::promise<void> gone;
  const std::future<void> left = gone.get_future();
  look_for_run_ = [disk, last_one = std::make_shared<LastOne>(std::move(gone))](const RecentRun&) {
    ++disk->asked;
    disk->answered.wait();
    return Presence::gone;
  };
  start();
  look_for_run_ = presence_of;
  shell_->show_welcome();
  frames();
  EXPECT_FALSE(shell_->presence().wait_for(std::chrono::milliseconds(0)));
  const Rect row = shell_->welcome()->places().at(0);
  click({row.left + 100, row.top + row.height() / 2});
  EXPECT_EQ(shell_->kind(), Kind::opening);
  press(ImGuiKey_Escape);
  EXPECT_EQ(shell_->kind(), Kind::welcome);
  shell_.reset();
  disk->answer.set_value();
  left.wait();
  EXPECT_EQ(disk->asked, 1) << "not again while it does not answer, though the page came twice";
}

TEST_F(ShellTest, EscapeLeadsBackToWhereOneCameFrom) {
  folder_.write("run/rank-0.json", "");
  shell_->show_welcome();
  frames();
  open("slow");
  ASSERT_EQ(shell_->kind(), Kind::opening);
  press(ImGuiKey_Escape);
  EXPECT_EQ(shell_->kind(), Kind::welcome);
  EXPECT_EQ(opening_.state(), OpeningState::idle);
  open("run");
  ASSERT_EQ(shell_->kind(), Kind::run);
  shell_->app()->state().notes = "as it was";
  open("slow");
  ASSERT_EQ(shell_->kind(), Kind::opening);
  press(ImGuiKey_Escape);
  ASSERT_EQ(shell_->kind(), Kind::run);
  EXPECT_EQ(shell_->app()->state().notes, "as it was");
  EXPECT_FALSE(shell_->wants_to_quit());
}

TEST_F(ShellTest, EscapeQuitsWhereTheCommandLineAskedForTheRun) {
  open("slow");
  press(ImGuiKey_Escape);
  EXPECT_TRUE(shell_->wants_to_quit());
}

TEST_F(ShellTest, ARunThatCannotBeOpenedIsSaidInTheWindowAndAloud) {
  open("broken");
  ASSERT_EQ(shell_->kind(), Kind::failed);
  EXPECT_EQ(shell_->failure(), "broken: it holds no trace");
  EXPECT_THAT(said_, ElementsAre("broken: it holds no trace"));
  press(ImGuiKey_R, ImGuiMod_Ctrl);
  opening_.wait_for(std::chrono::minutes(2));
  frames();
  EXPECT_EQ(said_.size(), 2u) << "it was tried again";
  folder_.write("run/rank-0.json", "");
  open("run");
  EXPECT_EQ(shell_->kind(), Kind::run);
  EXPECT_FALSE(shell_->failure().has_value());
}

TEST_F(ShellTest, WhatTheFirstLookCannotShowIsANotice) {
  folder_.write("run/rank-0.json", "");
  FirstLookFlags flags;
  flags.go_to = "rank=99";
  flags.measure = "0ns:100ns";
  start(flags);
  open("run");
  ASSERT_TRUE(shell_->notice().has_value());
  EXPECT_THAT(shell_->notice()->text, HasSubstr("--goto"));
  EXPECT_THAT(said_, ElementsAre(HasSubstr("--goto")));
  EXPECT_TRUE(shell_->app()->state().measured.has_value()) << "what makes sense is done";
  open("run");
  EXPECT_FALSE(shell_->notice().has_value()) << "once";
}

TEST_F(ShellTest, ASearchOrFilterThatFindsNothingIsANotice) {
  folder_.write("run/rank-0.json", "");
  FirstLookFlags flags;
  flags.filter = "50";
  flags.search = "nothing of that name";
  start(flags);
  open("run");
  shell_->app()->wait_for_figures();
  frames();
  ASSERT_TRUE(shell_->notice().has_value());
  EXPECT_EQ(shell_->notice()->text,
            "--filter '50': no rank is left; ranks are 0 to 3; --search 'nothing of that name': nothing is "
            "found");
  EXPECT_THAT(said_, ElementsAre(HasSubstr("warning: --filter"), HasSubstr("warning: --search")));
  flags.filter = "2";
  flags.search = "matmul";
  start(flags);
  open("run");
  shell_->app()->wait_for_figures();
  frames();
  EXPECT_FALSE(shell_->notice().has_value());
}

// What was selected at the last look will do.
TEST_F(ShellTest, AChainNeedsASelection) {
  folder_.write("run/rank-0.json", "");
  FirstLookFlags flags;
  flags.chain = flags.remembers = true;
  start(flags);
  open("run");
  ASSERT_TRUE(shell_->notice().has_value());
  EXPECT_THAT(shell_->notice()->text, HasSubstr("--chain: nothing is selected"));
  shell_->app()->execute({.collective = 1});
  frames();
  ASSERT_TRUE(shell_->app()->state().selected.has_value());
  start(flags);
  open("run");
  EXPECT_FALSE(shell_->notice().has_value());
  EXPECT_FALSE(shell_->app()->state().chain.items.empty());
}

TEST_F(ShellTest, ARunThatIsOpenedAgainIsSeenAsBefore) {
  folder_.write("run/rank-0.json", "");
  open("run");
  App* const before = shell_->app();
  before->state().view = fit({100, 600}, 0);
  before->state().marks.push_back({700, "here"});
  before->search().set_text("matmul");
  frames();
  const TimeView view = before->state().view;
  press(ImGuiKey_R, ImGuiMod_Ctrl);
  opening_.wait_for(std::chrono::minutes(2));
  frames();
  ASSERT_EQ(shell_->kind(), Kind::run);
  EXPECT_NEAR(static_cast<double>(shell_->app()->state().view.begin), static_cast<double>(view.begin), 1);
  EXPECT_NEAR(shell_->app()->state().view.span, view.span, 1);
  ASSERT_EQ(shell_->app()->state().marks.size(), 1u);
  EXPECT_EQ(shell_->app()->state().marks[0].note, "here");
  EXPECT_EQ(shell_->app()->search().search().text(), "matmul");
}

// The session is beside the run it belongs to, whichever is opened next.
TEST_F(ShellTest, WhoeverComesBackFindsWhatHeLeft) {
  folder_.write("one/rank-0.json", "");
  folder_.write("two/rank-0.json", "");
  open("one");
  shell_->app()->state().notes = "of one";
  open("two");
  EXPECT_EQ(shell_->app()->state().notes, "");
  shell_->app()->state().notes = "of two";
  open("one");
  EXPECT_EQ(shell_->app()->state().notes, "of one");
  shell_.reset();
  EXPECT_EQ(read_session(folder_.path() / "two/.lockstep-view-session").value().notes, "of two");
}

TEST_F(ShellTest, TheThemeIsThatOfTheLastLookUnlessAnotherIsAskedFor) {
  folder_.write("run/rank-0.json", "");
  open("run");
  press(ImGuiKey_T);
  start();
  open("run");
  EXPECT_EQ(shell_->background(), light_theme().background);
  start({}, true);
  open("run");
  EXPECT_EQ(shell_->background(), dark_theme().background);
}

TEST_F(ShellTest, TheThemeGoesFromPageToPage) {
  folder_.write("run/rank-0.json", "");
  shell_->show_welcome();
  frames();
  EXPECT_EQ(shell_->background(), dark_theme().background);
  press(ImGuiKey_T);
  EXPECT_EQ(shell_->background(), light_theme().background);
  open("run");
  EXPECT_EQ(shell_->background(), light_theme().background);
}

}  // namespace
}  // namespace lockstep::viewer
