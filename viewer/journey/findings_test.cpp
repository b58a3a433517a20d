// From a finding to where it is seen.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include "tests/temporary_folder.h"
#include "viewer/journey/journey.h"
#include "viewer/journey/runs.h"
#include "viewer/opening/open_run.h"

namespace lockstep::viewer::journey {
namespace {

TEST_F(Journey, AFindingLeadsToItsPlace) {
  const test::TemporaryFolder folder;
  write_run(folder.path());
  const auto scene = open_run({folder.path().string()}).value();
  open(*scene);
  const auto& findings = scene->report().findings;
  ASSERT_FALSE(findings.empty());
  play([&](User& user) {
    user.show("Findings");
    EXPECT_THAT(user.drawn_text(), testing::HasSubstr(findings[0].title.substr(0, 20)));
    int places = 0;
    for (std::size_t i = 0; i < findings.size(); ++i) {
      if (!findings[i].place) continue;
      ++places;
      user.point_to(user.places().on_lanes(0.5F, 0.5F));
      user.press(ImGuiKey_Escape);
      user.press(ImGuiKey_F);
      user.engine().ItemClick(fmt::format("//Findings/$${}/show in the timeline", i).c_str());
      user.settle();
      const analyzer::FindingPlace& place = *findings[i].place;
      const Nanoseconds origin = scene->timeline().origin;
      const TimeView& view = user.state().view;
      EXPECT_LE(view.begin, origin + place.begin_ns) << findings[i].title;
      EXPECT_GE(static_cast<double>(view.begin) + view.span, static_cast<double>(origin + place.end_ns));
      EXPECT_LE(view.span, std::max(kSmallestSpan, 1.1 * static_cast<double>(place.end_ns - place.begin_ns)));
      const Rect bar = user.places().row(*scene->index_of(place.rank), LaneRole::causes);
      EXPECT_GE(bar.top, user.places().lanes().top);
      EXPECT_LE(bar.bottom, user.places().lanes().bottom) << "its rank is on the screen";
      if (!place.collective) continue;
      ASSERT_TRUE(user.state().selected);
      EXPECT_EQ(scene->collective_of(*user.state().selected), scene->find_collective(*place.collective));
    }
    EXPECT_GT(places, 0) << "a run whose rank 2 is late has one";
  });
}

}  // namespace
}  // namespace lockstep::viewer::journey
