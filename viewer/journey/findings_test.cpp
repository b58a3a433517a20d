// From a finding to where it is seen.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include "analyzer/diagnose/finding_kinds.h"
#include "tests/temporary_folder.h"
#include "viewer/journey/journey.h"
#include "viewer/journey/runs.h"
#include "viewer/opening/open_run.h"
#include "viewer/testing/scene_of.h"
#include "viewer/testing/synthetic_job.h"
#include "viewer/timeline/code_spans.h"

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

TEST_F(Journey, AFindingHasATableOfWhereTheRankComputesLonger) {
  const analyzer::Job job = synthetic_job();
  analyzer::Analysis analysis = analyzer::checked_analysis(job);
  ASSERT_FALSE(analysis.report.findings.empty());
  analysis.report.findings.resize(1);
  analyzer::Finding& finding = analysis.report.findings[0];
  finding.rank = 2;
  finding.parts = {
      1000,
      3,
      {{"layers.7.mlp", "aten::mm", false, 5'000'000, 2'000'000}, {"", "", true, 30'000'000, 31'000'000}}};
  const auto scene = scene_of(job, analysis);
  open(*scene);
  play([&](User& user) {
    user.show("Findings");
    const std::string text = user.drawn_text();
    EXPECT_THAT(text, testing::ContainsRegex("time a step in.*rank 2.*other ranks.*difference"));
    EXPECT_THAT(text, testing::ContainsRegex("layers.7.mlp.*5.00 µs.*2.00 µs.*[+]3.00 µs [(][+]150.0 %[)]"));
    EXPECT_THAT(text, testing::ContainsRegex("the rest.*30.0 µs.*31.0 µs.*−1.00 µs [(]−3.2 %[)]"));
  });
}

TEST_F(Journey, AFindingSaysWhatItsKindMeansWhereAskedFor) {
  const test::TemporaryFolder folder;
  write_run(folder.path());
  const auto scene = open_run({folder.path().string()}).value();
  open(*scene);
  ASSERT_FALSE(scene->report().findings.empty());
  const analyzer::FindingKind* const kind = analyzer::find_finding_kind(scene->report().findings[0].code);
  ASSERT_NE(kind, nullptr);
  const auto meaning = testing::HasSubstr(quote_code(kind->explanation->meaning));
  const char* const disclosure = "//Findings/$$0/What this means";
  play([&](User& user) {
    user.show("Findings");
    EXPECT_THAT(user.drawn_text(), testing::Not(meaning)) << "it is closed at first";
    user.engine().ItemClick(disclosure);
    user.settle();
    const std::string text = user.drawn_text();
    EXPECT_THAT(text, meaning);
    EXPECT_THAT(text, testing::HasSubstr(fmt::format("{}: {}", kind->code, kind->title)));
    for (const analyzer::ExplanationPart& part : analyzer::parts_of(*kind->explanation))
      EXPECT_THAT(text, testing::HasSubstr(quote_code(part.text))) << part.heading;
    for (const analyzer::Remedy& remedy : kind->explanation->remedies)
      EXPECT_THAT(text, testing::HasSubstr(quote_code(remedy.what))) << remedy.where;
    user.engine().ItemClick(disclosure);
    user.settle();
    EXPECT_THAT(user.drawn_text(), testing::Not(meaning));
  });
}

}  // namespace
}  // namespace lockstep::viewer::journey
