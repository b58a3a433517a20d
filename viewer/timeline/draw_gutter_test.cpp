// What stands left of the lanes.
#include <gtest/gtest.h>

#include <optional>
#include <vector>

#include "viewer/testing/view_fixture.h"

namespace lockstep::viewer {
namespace {

using Shape = RecordingCanvas::Shape;

// What is left of the figures.
float longest_bar(const View& view) {
  return view.regions.gutter.width() - 3 * static_cast<float>(view.sizes.padding) -
         RecordingCanvas().text_width("waited for 99.9 ms", Font::small);
}

// A run in which a finding accuses this rank, or nobody.
View view_of(const SyntheticOptions& options, std::optional<std::int32_t> accused) {
  const analyzer::Job job = synthetic_job(options);
  analyzer::Analysis analysis = analyzer::checked_analysis(job);
  analysis.report.findings.clear();
  if (accused) {
    analyzer::Finding finding;
    finding.code = "straggler_persistent";
    finding.rank = accused;
    finding.accuses = analyzer::Accused::rank;
    finding.cause = analyzer::Cause::barrier_wait;
    analysis.report.findings.push_back(finding);
  }
  return View(scene_of(job, analysis));
}

TEST(DrawGutter, WhomTheOthersWaitForHasTheLongestBar) {
  const View view = view_of({.late = {0, 0, 300, 100}, .steps = 3, .begin = 0}, 2);
  std::vector<float> lengths(4, 0);
  const RecordingCanvas canvas = view.draw();
  for (const auto& call : within(canvas, Shape::box, view.regions.gutter)) {
    if (with_alpha(call.color, 1) != view.theme.warning) continue;
    for (std::size_t rank = 0; rank < 4; ++rank) {
      const float top = view.frame().rank_top(rank);
      if (call.rect.top >= top && call.rect.bottom < top + static_cast<float>(view.layout.ranks[rank].height))
        lengths[rank] = call.rect.width();
    }
  }
  EXPECT_EQ(lengths[0], 0);
  EXPECT_NEAR(lengths[2], longest_bar(view), 1);
  EXPECT_EQ(lengths[3], 0) << "rank 2 is always later";
}

TEST(DrawGutter, WhatCostsLittleHasAShortBar) {
  // Rank 2 comes 3 ns late: the others wait 9 of 4 × 900 ns a step for it.
  const View view = view_of({.late = {0, 0, 3, 0}, .steps = 3, .begin = 0}, std::nullopt);
  std::vector<float> lengths;
  for (const auto& call : within(view.draw(), Shape::box, view.regions.gutter))
    if (with_alpha(call.color, 1) == view.theme.dim_text) lengths.push_back(call.rect.width());
  ASSERT_EQ(lengths.size(), 1u);
  EXPECT_NEAR(lengths[0] / longest_bar(view), 0.025, 0.01);
}

TEST(DrawGutter, TheColourOfBlameIsForWhomAFindingAccuses) {
  const SyntheticOptions options{.late = {0, 0, 300, 100}, .steps = 3, .begin = 0};
  for (const bool accused : {true, false}) {
    const View view = view_of(options, accused ? std::optional(2) : std::nullopt);
    int said = 0, warned = 0;
    for (const auto& call : within(view.draw(), Shape::text, view.regions.gutter)) {
      if (!call.text.starts_with("waited for ")) continue;
      ++said;
      warned += call.color == view.theme.warning ? 1 : 0;
    }
    EXPECT_EQ(said, 1);
    EXPECT_EQ(warned, accused ? 1 : 0);
  }
}

// In a narrow window figures are left out before they would stand over names.
TEST(DrawGutter, NothingInTheGutterOverlaps) {
  View view;
  for (const float width : {120.0F, 200.0F, 320.0F, 420.0F, 500.0F, 640.0F, 1216.0F}) {
    view.whole = {0, 0, width, 800};
    view.arrange();
    std::vector<Rect> texts;
    for (const auto& call : within(view.draw(), Shape::text, view.regions.gutter)) texts.push_back(call.rect);
    for (std::size_t i = 0; i < texts.size(); ++i)
      for (std::size_t j = 0; j < i; ++j) {
        const Rect &a = texts[i], &b = texts[j];
        EXPECT_FALSE(a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom)
            << "at a width of " << width;
      }
  }
}

TEST(DrawGutter, ADamagedTraceIsSaid) {
  analyzer::Job job = synthetic_job();
  job.ranks[1].lost = {{1'300, 2'000}};
  const View view(std::move(job));
  std::size_t said = 0;
  for (const auto& call : within(view.draw(), Shape::text, view.regions.gutter)) {
    if (call.text != "trace damaged") continue;
    ++said;
    EXPECT_GE(call.rect.top, view.frame().rank_top(1));
    EXPECT_LT(call.rect.top, view.frame().rank_top(2));
  }
  EXPECT_EQ(said, 1u);
}

TEST(DrawGutter, FiguresEndAtTheSamePixel) {
  const View view;
  const RecordingCanvas canvas = view.draw();
  std::vector<float> ends;
  for (const auto& call : canvas.of(Shape::text)) {
    if (call.text == "900 ns" || call.text == "600 ns" || call.text.starts_with("exposed "))
      ends.push_back(call.rect.right);
  }
  ASSERT_GE(ends.size(), 6u);
  for (const float end : ends)
    EXPECT_NEAR(end, view.regions.gutter.right - static_cast<float>(view.sizes.padding), 1);
}

}  // namespace
}  // namespace lockstep::viewer
