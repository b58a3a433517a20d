// The whole way through runs that no sound program records: it may look as it likes, but it stands.
#include <gmock/gmock.h>

#include <cmath>

#include "analyzer/model/check_job.h"
#include "analyzer/model/job_builder.h"
#include "viewer/journey/journey.h"
#include "viewer/journey/runs.h"
#include "viewer/panels/panel_list.h"
#include "viewer/testing/scene_of.h"

namespace lockstep::viewer::journey {
namespace {

class HostileRuns : public Journey {
 protected:
  void expect_sane(User& user) {
    const TimelineState& state = user.state();
    EXPECT_TRUE(std::isfinite(state.view.span));
    EXPECT_GE(state.view.span, kSmallestSpan);
    EXPECT_GE(state.view.fraction, 0);
    EXPECT_LT(state.view.fraction, 1);
    EXPECT_GE(state.scroll, 0);
    EXPECT_LE(state.scroll, std::max(0, user.places().height()));
  }
  void wander(User& user) {
    for (const Point share : {Point{0.01F, 0.05F}, {0.35F, 0.3F}, {0.5F, 0.5F}, {0.99F, 0.95F}}) {
      user.click(user.places().on_lanes(share.x, share.y));
      expect_sane(user);
    }
  }
  void look_at_everything(User& user) {
    for (const Panel* const panel : panels_for(false)) {
      user.show(panel->title);
      EXPECT_TRUE(user.sees(panel->title)) << panel->title;
    }
  }
  void zoom_to_both_ends(User& user) {
    for (const float across : {0.5F, 0.0F, 1.0F}) {
      user.point_to(user.places().on_lanes(across, 0.5F));
      user.wheel(200);
      EXPECT_NEAR(user.state().view.span, kSmallestSpan, 1e-6);
      expect_sane(user);
      wander(user);
      user.wheel(-400);
      expect_sane(user);
      user.hold(ImGuiKey_W, 30);
      user.hold(ImGuiKey_D, 60);
      user.hold(ImGuiKey_S, 30);
      user.hold(ImGuiKey_A, 60);
      expect_sane(user);
      user.press(ImGuiKey_F);
    }
  }
  void press_every_key(User& user) {
    user.point_to(user.places().on_lanes(0.5F, 0.5F));
    const auto press_all = [&](std::initializer_list<ImGuiKey> keys) {
      for (const ImGuiKey key : keys) {
        user.press(key);
        expect_sane(user);
      }
    };
    press_all({ImGuiKey_M, ImGuiKey_H, ImGuiKey_PageDown, ImGuiKey_PageDown, ImGuiKey_PageUp});
    for (const char* const sign : {",", ".", "[", "]", "?", "?"}) {
      user.type(sign);
      expect_sane(user);
    }
    press_all({ImGuiKey_F, ImGuiKey_C, ImGuiKey_C, ImGuiKey_H, ImGuiKey_T, ImGuiKey_N, ImGuiKey_Backspace,
               ImGuiKey_M, ImGuiKey_Escape, ImGuiKey_F});
  }
  void search_for(User& user, const std::string& text) {
    user.press(ImGuiKey_Slash, '/');
    user.engine().KeyCharsReplace(text.c_str());
    user.settle();
    for (int i = 0; i < 3; ++i) {
      user.press(ImGuiKey_Enter);
      expect_sane(user);
    }
    user.press(ImGuiKey_Escape);
    user.press(ImGuiKey_Escape);
  }
  void travel(const analyzer::Job& job) {
    const auto scene = scene_of(job);
    open(*scene);
    play([this](User& user) {
      look_at_everything(user);
      wander(user);
      zoom_to_both_ends(user);
      press_every_key(user);
      user.drag(user.places().on_lanes(0.1F, 0.5F), user.places().on_lanes(0.9F, 0.5F), ImGuiMod_Shift);
      EXPECT_TRUE(user.state().measured);
      for (const char* const text : {"identical", "/x{10}/", "class=host", "step=7", "longer=0"})
        search_for(user, text);
      look_at_everything(user);
      zoom_to_both_ends(user);
    });
    const Session session = app().session();
    open(*scene, nullptr, session);
    play([this](User& user) { expect_sane(user); });
    open(*scene, scene.get());
    play([this](User& user) {
      user.point_to(user.places().on_lanes(0.5F, 0.5F));
      user.wheel(50);
      user.point_to(user.places(true).on_lanes(0.5F, 0.5F));
      user.wheel(-60);
      expect_sane(user);
    });
    close();
  }
};

class Hostile : public HostileRuns, public testing::WithParamInterface<Nanoseconds> {};

constexpr Nanoseconds kFar = analyzer::kTimeLimit - 20'000'000;

TEST_P(Hostile, RunIsTravelledThrough) {
  travel(hostile_job(GetParam()));
}
TEST_P(Hostile, RunOfOneEventIsTravelledThrough) {
  travel(lonely_job(GetParam()));
}
TEST_F(HostileRuns, RunFromOneEndOfTimeToTheOtherIsTravelledThrough) {
  analyzer::JobBuilder job;
  job.rank(0).compute(-kFar, -kFar + 1).step(1, -kFar, kFar);
  job.rank(1).compute(kFar, kFar + 1).host_range(-kFar, kFar, "all of it");
  travel(job.build());
}
INSTANTIATE_TEST_SUITE_P(HostileAt, Hostile, testing::Values(0, 1'700'000'000'000'000'000, kFar, -kFar),
                         [](const auto& info) {
                           const Nanoseconds at = info.param;
                           return at == 0 ? "0" : at == kFar ? "TheEndOfTime" : at < 0 ? "ItsBegin" : "Today";
                         });

TEST_F(Journey, OpensARunOfNothing) {
  const auto scene = scene_of(analyzer::Job{}, analyzer::Analysis{});
  open(*scene);
  play([](User& user) {
    for (const char* const panel : {"Findings", "Collectives", "Range", "Imbalance", "Overview"})
      user.show(panel);
    for (const ImGuiKey key : {ImGuiKey_F, ImGuiKey_M, ImGuiKey_H, ImGuiKey_C, ImGuiKey_N, ImGuiKey_PageDown})
      user.press(key);
    user.point_to(user.places().on_lanes(0.5F, 0.5F));
    user.wheel(20);
    user.wheel(-40);
    user.click(user.places().on_lanes(0.5F, 0.5F));
    EXPECT_FALSE(user.state().selected);
  });
}

}  // namespace
}  // namespace lockstep::viewer::journey
