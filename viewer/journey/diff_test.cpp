// Two runs beside each other.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include "analyzer/report/palette.h"
#include "analyzer/report/quantity.h"
#include "analyzer/report/text_sections.h"
#include "tests/temporary_folder.h"
#include "viewer/journey/journey.h"
#include "viewer/journey/runs.h"
#include "viewer/opening/open_run.h"
#include "viewer/testing/scene_of.h"
#include "viewer/testing/synthetic_job.h"
#include "viewer/views/range_statistics.h"

namespace lockstep::viewer::journey {
namespace {

using analyzer::format_duration;

class Diff : public Journey {
 protected:
  Diff() {
    write_run(folder_.path() / "a", 900);
    write_run(folder_.path() / "b", 250);
    a_ = open_run({folder_ / "a"}).value();
    b_ = open_run({folder_ / "b"}).value();
  }
  // B shows what stands beside A's view.
  void expect_coupled() {
    const StepAlignment alignment(*app().diff(), a_->timeline(), b_->timeline());
    EXPECT_EQ(app().second_pane()->state().view, alignment.view_of_b(app().pane().state().view));
  }

  test::TemporaryFolder folder_;
  std::unique_ptr<Scene> a_, b_;
};

TEST_F(Diff, ZoomInOneTakesTheOtherAlong) {
  open(*a_, b_.get());
  play([this](User& user) {
    for (const char* const window : {"Timeline", "Timeline B", "Diff"})
      EXPECT_TRUE(user.sees(window)) << window;
    expect_coupled();
    const double all = user.state().view.span;
    user.point_to(user.places().on_lanes(0.3F, 0.5F));
    user.wheel(4);
    EXPECT_LT(app().pane().state().view.span, all);
    expect_coupled();
    const Point in_b = user.places(true).on_lanes(0.7F, 0.5F);
    const Nanoseconds instant = user.places(true).time(in_b.x);
    user.point_to(in_b);
    user.wheel(4);
    expect_coupled();
    EXPECT_NEAR(user.places(true).x(instant), in_b.x, 1.5) << "the pointer's instant stays, in B too";
    user.press(ImGuiKey_F);
    expect_coupled();
  });
}

// Of one many ranks, of the other more steps at another time: both are seen whole, and open alike.
TEST_F(Diff, TheFirstViewHoldsBothRunsFoldedAlike) {
  const auto large = scene_of(synthetic_job({.late = std::vector<std::int64_t>(40, 0), .steps = 4}));
  const auto small = scene_of(synthetic_job({.late = {0, 200, 0}, .steps = 9, .begin = 77'000}));
  const auto sees = [](const TimelinePane& pane) {
    const TimeView& view = pane.state().view;
    const TimeRange focus = pane.scene().timeline().focus;
    return view.begin <= focus.begin && saturating_add(view.begin, view.span) >= focus.end;
  };
  for (const bool swapped : {false, true}) {
    open(swapped ? *small : *large, swapped ? large.get() : small.get());
    play([&](User& user) {
      const TimelineState& a = app().pane().state();
      const TimelineState& b = app().second_pane()->state();
      for (const bool again : {false, true}) {
        EXPECT_TRUE(sees(app().pane())) << swapped << again;
        EXPECT_TRUE(sees(*app().second_pane())) << swapped << again;
        if (again) break;
        user.point_to(user.places(true).on_lanes(0.5F, 0.5F));
        user.wheel(5);
        EXPECT_FALSE(sees(app().pane())) << swapped;
        user.press(ImGuiKey_F, 'f');
      }
      for (std::size_t rank = 0; rank < 3; ++rank) {
        EXPECT_EQ(a.expansion.rank_open(rank), b.expansion.rank_open(rank)) << swapped;
        EXPECT_EQ(a.expansion.lane_open(rank, 3), b.expansion.lane_open(rank, 3)) << swapped;
      }
      EXPECT_THAT(user.drawn_text(), testing::HasSubstr("aligned at the beginning of step"));
    });
  }
}

// By key, pin, command and filter, in whichever pane.
TEST_F(Diff, RanksStandInTheSameOrderInBoth) {
  open(*a_, b_.get());
  play([this](User& user) {
    const auto order = [this](bool second) {
      return (second ? *app().second_pane() : app().pane()).state().order;
    };
    RankOrder before = order(false);
    EXPECT_EQ(order(true), before);
    for (const bool second : {false, true}) {
      user.point_to(user.places(second).on_lanes(0.5F, 0.5F));
      user.press(ImGuiKey_O, 'o');
      EXPECT_NE(order_text(order(second)), order_text(before)) << second;
      EXPECT_EQ(order(!second), order(second)) << second;
      user.press(ImGuiKey_P, 'p');
      EXPECT_NE(order(second).pinned, before.pinned) << second;
      EXPECT_EQ(order(!second), order(second)) << second;
      before = order(second);
    }
    for (const bool second : {true, false}) {
      user.engine().ItemInput(second ? "//Timeline B/##filter" : "//Timeline/##filter");
      user.engine().KeyCharsReplaceEnter(second ? "0:2" : "1:3");
      user.settle();
      EXPECT_EQ(order(second).filter, second ? "0:2" : "1:3");
      EXPECT_EQ(order(!second), order(second)) << second;
    }
  });
}

TEST_F(Diff, ThePalettesCommandsAreForTheRunUnderThePointer) {
  open(*a_, b_.get());
  play([this](User& user) {
    const auto open_in = [this](bool second) {
      return (second ? *app().second_pane() : app().pane()).state().expansion.rank_open(0);
    };
    for (const bool second : {true, false}) {
      const bool before = open_in(second);
      const bool of_other = open_in(!second);
      user.point_to(user.places(second).on_lanes(0.5F, 0.5F));
      user.settle();
      user.press(ImGuiMod_Ctrl | ImGuiKey_P);
      user.type("close or open all ranks");
      user.press(ImGuiKey_Enter);
      EXPECT_NE(open_in(second), before) << second;
      EXPECT_EQ(open_in(!second), of_other) << second;
    }
  });
}

// The panel is about the run in which it was dragged.
TEST_F(Diff, ARangeOfEitherIsMeasured) {
  open(*a_, b_.get());
  play([this](User& user) {
    for (const bool second : {true, false}) {
      const Scene& scene = second ? *b_ : *a_;
      const Places places = user.places(second);
      user.drag(places.on_lanes(0.3F, 0.3F), places.on_lanes(0.6F, 0.5F), ImGuiMod_Shift);
      const auto measured = (second ? *app().second_pane() : app().pane()).state().measured;
      ASSERT_TRUE(measured) << second;
      EXPECT_TRUE(user.sees("Range")) << second;
      const std::string text = user.drawn_text();
      EXPECT_THAT(text,
                  testing::HasSubstr(fmt::format("--range {}:{}", measured->begin - scene.timeline().origin,
                                                 measured->end - scene.timeline().origin)))
          << second;
      for (std::size_t rank = 0; rank < scene.timeline().ranks.size(); ++rank) {
        const analyzer::Measures m = measure_range(scene, rank, *measured);
        EXPECT_THAT(text, testing::HasSubstr(fmt::format(
                              "| {} | | {} | {} | {}", scene.timeline().ranks[rank].rank,
                              format_duration(m.compute_ns), format_duration(analyzer::wait_of(m)),
                              format_duration(m.exposed_communication_ns))))
            << second;
      }
    }
    // Marks are kept beside A: on B there are none.
    user.point_to(user.places(true).on_lanes(0.5F, 0.5F));
    user.press(ImGuiKey_M, 'm');
    EXPECT_TRUE(app().second_pane()->state().marks.empty());
    user.point_to(user.places().on_lanes(0.5F, 0.5F));
    user.press(ImGuiKey_M, 'm');
    EXPECT_EQ(app().pane().state().marks.size(), 1u);
  });
}

TEST_F(Diff, TheTableShowsTheModelsNumbers) {
  open(*a_, b_.get());
  play([this](User& user) {
    const RunDiff& diff = *app().diff();
    ASSERT_EQ(diff.steps.size(), static_cast<std::size_t>(kRunSteps));
    ASSERT_TRUE(diff.split);
    const std::string text = user.drawn_text();
    EXPECT_THAT(text, testing::HasSubstr(fmt::format("| a rank's step | {} | {} | {} |",
                                                     format_duration(diff.split->step.a_ns),
                                                     format_duration(diff.split->step.b_ns),
                                                     analyzer::format_change(diff.split->step.change_ns()))));
    ASSERT_FALSE(changed_causes(*diff.split).empty());
    for (const analyzer::CauseDiff& change : changed_causes(*diff.split))
      EXPECT_THAT(text, testing::HasSubstr(fmt::format(
                            "| {} | {} | {} |", analyzer::style_of(change.cause).label,
                            format_duration(change.time.a_ns), format_duration(change.time.b_ns))));
    for (const analyzer::RankDiff& rank : diff.split->ranks)
      EXPECT_THAT(text, testing::HasSubstr(fmt::format("| {} | {} | {} |", rank.rank,
                                                       analyzer::format_change(rank.step.change_ns()),
                                                       analyzer::format_change(rank.own.change_ns()))));
  });
}

// What is of one run alone says of which, and what can show either does.
TEST_F(Diff, PanelsSayWhichRunTheyAreAbout) {
  open(*a_, b_.get());
  play([this](User& user) {
    for (const char* const panel : {"Range", "Notes", "Search", "Collectives"}) {
      user.show(panel);
      EXPECT_THAT(user.drawn_text(), testing::HasSubstr("A  a")) << panel;
    }
    user.show("Overview");
    // The first that the other's does not say too.
    const auto line_of = [](const Scene& scene, const Scene& other) {
      std::istringstream verdict(scene.contents().verdict);
      for (std::string line; std::getline(verdict, line);)
        if (other.contents().verdict.find(line) == std::string::npos) return line;
      return std::string();
    };
    const std::string of_a = line_of(*a_, *b_), of_b = line_of(*b_, *a_);
    ASSERT_NE(of_a, "");
    ASSERT_NE(of_b, "");
    EXPECT_THAT(user.drawn_text(), testing::HasSubstr(of_a));
    user.engine().ItemClick("//Overview/B");
    user.settle();
    EXPECT_THAT(user.drawn_text(), testing::HasSubstr(of_b));
    EXPECT_THAT(user.drawn_text(), testing::Not(testing::HasSubstr(of_a)));
    user.engine().ItemClick("//Overview/A");
    user.settle();
    EXPECT_THAT(user.drawn_text(), testing::HasSubstr(of_a));
  });
}

TEST_F(Diff, WhatIsClickedInDetailsOfTheSecondRunIsSelectedThere) {
  open(*a_, b_.get());
  play([this](User& user) {
    const auto parts = b_->parts(0);
    const auto item_of = [&](std::size_t part) {
      return *b_->find_activity(*b_->index_of(parts[part].rank), parts[part].activity);
    };
    user.click(user.places(true).point(item_of(0)));
    ASSERT_EQ(app().second_pane()->state().selected, item_of(0));
    user.show("Details");
    EXPECT_THAT(user.drawn_text(), testing::HasSubstr("B  b"));
    user.engine().ItemClick("//Details/participants/$$1/##row");
    user.settle();
    EXPECT_EQ(app().second_pane()->state().selected, item_of(1));
    EXPECT_FALSE(app().pane().state().selected);
  });
}

TEST_F(Diff, AClickOnAStepGoesThereInBoth) {
  open(*a_, b_.get());
  play([this](User& user) {
    // Wherever the pointer was last.
    for (const bool second : {false, true}) {
      user.point_to(user.places(second).on_lanes(0.5F, 0.5F));
      user.settle();
      for (const int step : {2, 3}) {
        user.engine().ScrollToBottom("//Diff");  // in so small a window the steps are below
        user.engine().ItemClick(fmt::format("//Diff/steps/$${}/##step", step).c_str());
        user.settle();
        const Nanoseconds begin = a_->timeline().ranks[0].steps[static_cast<std::size_t>(step)].begin;
        const TimeView& view = app().pane().state().view;
        EXPECT_NEAR(static_cast<double>(view.begin - begin), 0, 0.1 * view.span) << second;
        expect_coupled();
      }
    }
  });
}

}  // namespace
}  // namespace lockstep::viewer::journey
