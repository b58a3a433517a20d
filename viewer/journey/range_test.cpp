// A range that is dragged, against `lockstep analyze --range` on the same files.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "analyzer/report/quantity.h"
#include "analyzer/report/range_report.h"
#include "analyzer/report/text_sections.h"
#include "tests/end_to_end/support.h"
#include "viewer/journey/journey.h"
#include "viewer/journey/runs.h"
#include "viewer/opening/open_run.h"
#include "viewer/testing/job_without_times.h"
#include "viewer/testing/scene_of.h"
#include "viewer/views/range_figures.h"

namespace lockstep::viewer::journey {
namespace {

using nlohmann::json;

class Range : public Journey {
 protected:
  Range() {
    write_run(folder_.path());
    scene_ = open_run({folder_.path().string()}).value();
  }
  // What the window computed, as the command writes it.
  json shown() {
    const TimeRange range = *app().state().measured;
    const Nanoseconds origin = scene_->timeline().origin;
    analyzer::RangeReport report{range.begin - origin, range.end - origin, {}};
    for (std::size_t rank = 0; rank < app().range().done(); ++rank)
      report.ranks.push_back({scene_->timeline().ranks[rank].rank, app().range().of(rank)});
    std::ostringstream text;
    analyzer::write_json(report, text);
    return json::parse(text.str());
  }
  // `flag`: "--range A:B".
  json analyzed(const std::string& flag) const {
    const std::size_t blank = flag.find(' ');
    const end_to_end::Outcome outcome =
        end_to_end::run({end_to_end::binary("lockstep"), "analyze", folder_.path().string(),
                         flag.substr(0, blank), flag.substr(blank + 1), "--json", "-"});
    EXPECT_EQ(outcome.exit_code, 0) << outcome.standard_error;
    return json::parse(outcome.standard_output, nullptr, false);
  }
  // The panel's row of each rank holds the same figures, in words.
  void expect_drawn(const std::string& text) {
    for (std::size_t rank = 0; rank < app().range().done(); ++rank) {
      const analyzer::Measures& m = app().range().of(rank);
      const std::string row = fmt::format("| {} | | {} | {} | {}", scene_->timeline().ranks[rank].rank,
                                          analyzer::format_duration(m.compute_ns),
                                          analyzer::format_duration(analyzer::wait_of(m)),
                                          analyzer::format_duration(m.exposed_communication_ns));
      EXPECT_THAT(text, testing::HasSubstr(row));
    }
  }
  // Drags between two shares of the lanes' width, and compares.
  void measure(float from, float to, const std::function<void(User&)>& first) {
    std::string flag;
    play([&](User& user) {
      first(user);
      const Places places = user.places();
      const Point begin = places.on_lanes(from, 0.3F), end = places.on_lanes(to, 0.5F);
      user.drag(begin, end, ImGuiMod_Shift);
      ASSERT_TRUE(user.state().measured);
      EXPECT_EQ(user.state().measured->begin, places.time(std::min(begin.x, end.x)));
      EXPECT_EQ(user.state().measured->end, places.time(std::max(begin.x, end.x)));
      EXPECT_TRUE(user.sees("Range")) << "it comes to the front by itself";
      expect_drawn(user.drawn_text());
      user.engine().ItemClick("//Range/copy");
      flag = ImGui::GetClipboardText();
    });
    ASSERT_THAT(flag, testing::StartsWith("--range "));
    const json expected = analyzed(flag);
    const json found = shown();
    ASSERT_EQ(expected["ranks"].size(), static_cast<std::size_t>(kRunRanks));
    EXPECT_EQ(found, expected) << "found, then what analyze says\n" << json::diff(found, expected).dump(1);
  }

  test::TemporaryFolder folder_;
  std::unique_ptr<Scene> scene_;
};

TEST_F(Range, OfTheWholeScreenIsTheAnalyzersToTheNanosecond) {
  open(*scene_);
  measure(0.1F, 0.8F, [](User&) {});
}

TEST_F(Range, OfPartsOfEventsTooBackwards) {
  open(*scene_);
  measure(0.71F, 0.33F, [this](User& user) {
    const Nanoseconds origin = scene_->timeline().origin;
    user.state().view = fit({origin + 8'800'000, origin + 11'300'000});
    user.settle();
  });
}

// What somebody compares with the command's output stands there to the nanosecond, all of it.
TEST_F(Range, ShowsNanosecondsWhereAskedFor) {
  open(*scene_);
  measure(0.25F, 0.6F, [](User&) {});
  play([this](User& user) {
    user.engine().ItemCheck("//Range/nanoseconds");
    user.settle();
    const std::string text = user.drawn_text();
    for (std::size_t rank = 0; rank < app().range().done(); ++rank) {
      std::string row = fmt::format("| {}", scene_->timeline().ranks[rank].rank);
      // Columns out of sight are not drawn.
      for (const RangeFigure& figure : range_figures().first(3)) {
        const auto ns = figure.of(app().range().of(rank));
        row += " | " + (ns ? format_count(*ns) : std::string(analyzer::kAbsent));
      }
      EXPECT_THAT(text, testing::HasSubstr(row));
    }
    user.engine().ItemUncheck("//Range/nanoseconds");
    user.settle();
    expect_drawn(user.drawn_text());
  });
}

TEST_F(Range, AgainIsAnotherOne) {
  open(*scene_);
  measure(0.2F, 0.3F, [](User&) {});
  measure(0.5F, 0.9F, [](User&) {});
}

TEST_F(Range, EscapeDropsItAndZoomShowsIt) {
  open(*scene_);
  play([](User& user) {
    const Places places = user.places();
    user.drag(places.on_lanes(0.4F, 0.3F), places.on_lanes(0.5F, 0.3F), ImGuiMod_Shift);
    ASSERT_TRUE(user.state().measured);
    const TimeRange range = *user.state().measured;
    user.engine().ItemClick("//Range/zoom to it");
    user.settle();
    EXPECT_LE(user.state().view.begin, range.begin);
    EXPECT_GE(static_cast<double>(user.state().view.begin) + user.state().view.span,
              static_cast<double>(range.end));
    EXPECT_LT(user.state().view.span, 1.2 * static_cast<double>(range.end - range.begin));
    user.press(ImGuiKey_Escape);
    EXPECT_FALSE(user.state().measured);
    // A click with Shift measures nothing.
    user.drag(user.places().on_lanes(0.4F, 0.3F), user.places().on_lanes(0.4F, 0.3F), ImGuiMod_Shift);
    EXPECT_FALSE(user.state().measured);
  });
}

// Neither by the pointer nor by key; and no mark, which would have no time either.
TEST_F(Range, OfARunWithoutTimesIsNone) {
  const auto scene = scene_of(job_without_times());
  ASSERT_TRUE(scene->order_alone());
  open(*scene);
  play([](User& user) {
    user.drag(user.places().on_lanes(0.3F, 0.1F), user.places().on_lanes(0.6F, 0.2F), ImGuiMod_Shift);
    EXPECT_FALSE(user.state().measured);
    for (const float at : {0.3F, 0.6F}) {
      user.point_to(user.places().on_lanes(at, 0.1F));
      user.press(ImGuiKey_R, 'r');
    }
    EXPECT_FALSE(user.state().measured || user.state().measure_from);
    user.press(ImGuiKey_M, 'm');
    EXPECT_TRUE(user.state().marks.empty());
  });
}

}  // namespace
}  // namespace lockstep::viewer::journey
