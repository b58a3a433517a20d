// What is drawn, on a canvas that records: counts, boxes and colours.
#include "viewer/timeline/draw.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "viewer/testing/view_fixture.h"

namespace lockstep::viewer {
namespace {

using analyzer::Cause;
using testing::Contains;
using testing::Not;
using Shape = RecordingCanvas::Shape;

TEST(Draw, ClosesEveryClip) {
  EXPECT_TRUE(View().draw().clips_closed());
}

TEST(Draw, AnOperationsWaitAndTransferStandApart) {
  View view;
  view.show(0, kSyntheticStep);
  const RecordingCanvas canvas = view.draw();
  // Rank 0 arrives at 500, the last one at 800, and the operation ends at 1,000.
  const auto boxes = boxes_in(view, canvas, 0, LaneRole::communication);
  ASSERT_EQ(boxes.size(), 2u);
  EXPECT_NEAR(boxes[0].rect.left, view.x(500), 1);
  EXPECT_NEAR(boxes[0].rect.right, view.x(800), 1);
  EXPECT_EQ(with_alpha(boxes[0].color, 1), cause_color(view.theme, Cause::barrier_wait));
  EXPECT_NEAR(boxes[1].rect.left, view.x(800), 1);
  EXPECT_NEAR(boxes[1].rect.right, view.x(1'000), 2);
  EXPECT_EQ(boxes[1].color, cause_color(view.theme, Cause::transfer));
  const auto stripes = within(canvas, Shape::hatch, view.area(0, LaneRole::communication));
  ASSERT_EQ(stripes.size(), 1u) << "only waiting is hatched";
  EXPECT_LE(stripes[0].rect.right, boxes[1].rect.left);
  EXPECT_THAT(canvas.texts(), Contains("wait 300 ns"));
  // The last arriver only moves data.
  const auto last = boxes_in(view, canvas, 2, LaneRole::communication);
  ASSERT_EQ(last.size(), 1u);
  EXPECT_NEAR(last[0].rect.left, view.x(800), 1);
  EXPECT_TRUE(within(canvas, Shape::hatch, view.area(2, LaneRole::communication)).empty());
}

TEST(Draw, AFoldHasTheColourOfWhatItHoldsMostOf) {
  analyzer::Job job;
  job.ranks.resize(1);
  job.ranks[0].lanes = {{trace::LaneKind::device_stream, 7, "stream 7"}};
  for (Nanoseconds i = 0; i < 50'000; ++i) {
    analyzer::Activity activity;
    activity.begin = i * 100;
    activity.end = activity.begin + (i % 10 == 0 ? 5 : 90);
    activity.activity_class = i % 10 == 0 ? analyzer::Class::copy : analyzer::Class::compute;
    job.ranks[0].activities.push_back(activity);
  }
  const View view(std::move(job));
  const RecordingCanvas canvas = view.draw();
  const auto boxes = boxes_in(view, canvas, 0, LaneRole::compute);
  ASSERT_EQ(boxes.size(), 1u);
  EXPECT_GT(boxes[0].color.g, boxes[0].color.b) << "the green of compute, although a copy is first";
}

// A host's synchronisation on a stream keeps the device from nothing: no cause's colour, alone and folded,
// and what runs among many of them is seen.
TEST(Draw, ASynchronisationLooksLikeNoCause) {
  for (const bool dark : {true, false}) {
    for (const bool folded : {true, false}) {
      analyzer::Job job;
      job.ranks.resize(1);
      job.ranks[0].lanes = {{trace::LaneKind::device_stream, 7, "stream 7"}};
      for (Nanoseconds i = 0; i < (folded ? 50'000 : 1); ++i) {
        analyzer::Activity activity;
        activity.begin = i * 1'000;
        activity.end = activity.begin + 999;
        activity.activity_class = analyzer::Class::sync;
        job.ranks[0].activities.push_back(activity);
      }
      View view(std::move(job));
      view.theme = dark ? dark_theme() : light_theme();
      const RecordingCanvas canvas = view.draw();
      const auto boxes = boxes_in(view, canvas, 0, LaneRole::compute);
      ASSERT_EQ(boxes.size(), 1u);
      for (std::size_t cause = 0; cause < analyzer::kCauseCount; ++cause) {
        const Color other = cause_color(view.theme, static_cast<Cause>(cause));
        const auto apart = [&](auto channel) { return std::abs(boxes[0].color.*channel - other.*channel); };
        EXPECT_GT(apart(&Color::r) + apart(&Color::g) + apart(&Color::b), 60) << cause << dark << folded;
      }
      EXPECT_EQ(within(canvas, Shape::frame, view.area(0, LaneRole::compute)).size(), folded ? 0u : 1u);
    }
  }
}

TEST(Draw, AKernelsLabelIsItsOwnName) {
  analyzer::Job job;
  job.ranks.resize(1);
  job.ranks[0].lanes = {{trace::LaneKind::device_stream, 7, "stream 7"}};
  analyzer::Activity& kernel = job.ranks[0].activities.emplace_back();
  kernel.end = 1'000;
  kernel.name = job.strings.intern("void at::native::reduce_kernel<512, 1>(int)");
  View view(std::move(job));
  const auto texts = view.draw().texts();
  EXPECT_THAT(texts, Contains("reduce_kernel"));
  EXPECT_THAT(texts, Not(Contains(testing::StartsWith("void"))));
  EXPECT_EQ(item_label(*view.scene, {0, 1, 0, 0}), "void at::native::reduce_kernel<512, 1>(int)");
}

TEST(Draw, CostsWhatItsPixelsCost) {
  SyntheticOptions options;
  options.steps = 20'000;  // 80,000 activities a rank more than at 2,000
  const std::size_t many = View(options).draw().calls().size();
  options.steps = 2'000;
  const std::size_t few = View(options).draw().calls().size();
  EXPECT_LT(many, few * 3 / 2);
  EXPECT_LT(many, 20'000u);
}

TEST(Draw, OnlyRanksOnTheScreen) {
  SyntheticOptions options;
  options.late.assign(500, 0);
  View view(options);
  view.state.scroll = view.layout.ranks[200].y;
  const auto texts = view.draw().texts();
  EXPECT_THAT(texts, Contains("rank 200"));
  EXPECT_THAT(texts, Not(Contains("rank 199")));
  EXPECT_THAT(texts, Not(Contains("rank 300")));
}

TEST(Draw, TheGutterHasTheReportsFigures) {
  const auto texts = View().draw().texts();
  EXPECT_THAT(texts, Contains("900 ns")) << "rank 0 waited 3 × 300 ns";
  EXPECT_THAT(texts, Contains("600 ns")) << "rank 3 waited 3 × 200 ns";
  EXPECT_THAT(texts, Contains("waited for 2.40 µs")) << "for rank 2: 3 × (300 + 300 + 200) ns";
  for (const char* rank : {"rank 0", "rank 1", "rank 2", "rank 3"}) EXPECT_THAT(texts, Contains(rank));
}

// An operation of a few pixels shows how much of it was waiting, whatever pixels its border falls on: waiting
// stands above what moved data.
TEST(Draw, NarrowOperationsShowTheirShareOfWaiting) {
  for (int shift = 0; shift < 20; ++shift) {
    View view;
    // Rank 0's all-reduce takes 500 ns, of which it waits 300: about 4 pixels.
    view.show(-60'000 + 13 * shift, 64'000 + 13 * shift);
    const RecordingCanvas canvas = view.draw();
    const Rect area = view.area(0, LaneRole::communication);
    float waiting = 0, moving = 0;
    for (const auto& box : within(canvas, Shape::box, area)) {
      if (box.color == cause_color(view.theme, analyzer::Cause::barrier_wait)) waiting += box.rect.height();
      if (box.color == cause_color(view.theme, analyzer::Cause::transfer)) moving += box.rect.height();
    }
    EXPECT_NEAR(waiting, 3 * area.height() * 0.6F, 3) << shift;
    EXPECT_NEAR(moving, 3 * area.height() * 0.4F, 3) << shift;
  }
}

TEST(Draw, StepsHaveNumbersAndLines) {
  View view;
  const RecordingCanvas canvas = view.draw();
  const auto texts = canvas.texts();
  for (const char* step : {"step 0", "step 1", "step 2"})
    EXPECT_EQ(std::count(texts.begin(), texts.end(), step), 4) << step;
  // The device window of step 1 begins with the first activity that it launched.
  int lines = 0;
  for (const auto& line : canvas.of(Shape::line)) {
    lines += line.rect.left == line.rect.right &&
             std::abs(line.rect.left - view.x(kSyntheticStep + 100)) <= 1 &&
             line.rect.top >= view.regions.lanes.top;
  }
  EXPECT_EQ(lines, 4);
}

TEST(Draw, CrowdedStepsShareTheirLabels) {
  SyntheticOptions options;
  options.steps = 50'000;
  const View view(options);
  const RecordingCanvas canvas = view.draw();
  EXPECT_LT(canvas.of(Shape::line).size(), 1'500u);
  float last_end = -1;
  float last_top = -1;
  for (const auto& text : canvas.of(Shape::text)) {
    if (!text.text.starts_with("step ")) continue;
    if (text.rect.top == last_top) {
      EXPECT_GE(text.rect.left, last_end);
    }
    last_top = text.rect.top;
    last_end = text.rect.right;
  }
}

// However much of the step before is still on the screen.
TEST(Draw, AStepOfWhichLittleIsLeftTakesNoRoomFromTheNext) {
  View view;
  const StepSpan step = view.scene->timeline().ranks[0].steps[1];
  constexpr Nanoseconds kScreen = 992;  // as many as the lanes have pixels
  for (Nanoseconds left = 0; left < 120; ++left) {
    view.show(step.begin - left, step.begin - left + kScreen);
    const auto texts = view.draw().texts();
    EXPECT_EQ(std::count(texts.begin(), texts.end(), "step 1"), 4) << left;
  }
}

TEST(Draw, AHoveredCollectiveIsLitOnEveryRankWithItsLastArriver) {
  View view;
  view.show(0, kSyntheticStep);
  const TimelineInput input{.pointer = view.point(1, LaneRole::communication, 600)};
  EXPECT_TRUE(view.apply(input));
  ASSERT_TRUE(view.state.hovered.has_value());
  ASSERT_EQ(lit_collective(*view.scene, view.state), 0u);
  const RecordingCanvas canvas = view.draw();
  int framed = 0;
  for (std::size_t rank = 0; rank < 4; ++rank) {
    Rect area = view.area(rank, LaneRole::communication);
    area = {area.left - 2, area.top - 2, area.right + 2, area.bottom + 2};
    bool found = false;
    for (const auto& call : within(canvas, Shape::frame, area))
      found |= call.color == view.theme.lit && call.layer == 1;
    framed += found ? 1 : 0;
  }
  EXPECT_EQ(framed, 4);
  EXPECT_THAT(canvas.texts(), Contains("last: rank 2, 200 ns after the one before"));
  // Its arrow points at rank 2's arrival.
  bool pointed = false;
  for (const auto& arrow : canvas.of(Shape::triangle)) {
    pointed |= arrow.layer == 1 && std::abs((arrow.rect.left + arrow.rect.right) / 2 - view.x(800)) <= 1 &&
               arrow.rect.bottom < view.area(2, LaneRole::communication).top &&
               arrow.rect.bottom > view.area(2, LaneRole::compute).top;
  }
  EXPECT_TRUE(pointed);
}

TEST(Draw, OtherCollectivesFadeWhileOneIsLit) {
  View view;
  view.state.selected = view.scene->find_activity(2, 1);
  ASSERT_TRUE(view.state.selected.has_value());
  const RecordingCanvas canvas = view.draw();
  const auto boxes = boxes_in(view, canvas, 2, LaneRole::communication);
  ASSERT_EQ(boxes.size(), 3u) << "the last arriver's three transfers";
  EXPECT_EQ(boxes[0].color.a, 255);
  EXPECT_LT(boxes[1].color.a, 128);
  EXPECT_LT(boxes[2].color.a, 128);
}

TEST(Draw, AMeasuredRangeSaysItsExactLength) {
  View view;
  view.state.measured = TimeRange{100, 1'334};
  EXPECT_THAT(view.draw().texts(), Contains("1.23 µs = 1,234 ns"));
}

TEST(Draw, AMeasuredRangeOutsideTheViewHasNoLabel) {
  View view;
  view.state.measured = TimeRange{100, 1'334};
  view.show(1'400, 1'900);
  EXPECT_THAT(view.draw().texts(), Not(Contains("1.23 µs = 1,234 ns")));
  view.show(1'300, 1'900);
  EXPECT_THAT(view.draw().texts(), Contains("1.23 µs = 1,234 ns")) << "its end is in view";
}

TEST(Draw, ZoomsToSingleNanosecondsOfToday) {
  SyntheticOptions options;
  options.begin = 1'700'000'000'123'456'789;
  View view(options);
  // Around the end of rank 0's first compute, 500 ns into the first step.
  view.show(options.begin + 496, options.begin + 504);
  const RecordingCanvas canvas = view.draw();
  const auto compute = boxes_in(view, canvas, 0, LaneRole::compute);
  ASSERT_EQ(compute.size(), 1u);
  const float middle = view.regions.lanes.left + view.regions.lanes.width() / 2;
  EXPECT_NEAR(compute[0].rect.right, middle, 1.5);
  const auto communication = boxes_in(view, canvas, 0, LaneRole::communication);
  ASSERT_GE(communication.size(), 1u);
  EXPECT_NEAR(communication[0].rect.left, middle, 1.5);
}

TEST(Draw, EverythingStaysWithinTheLanes) {
  View view;
  view.state.view = zoom(view.state.view, 0.4, 0.2, view.scene->timeline().content);
  const RecordingCanvas canvas = view.draw();
  for (const auto& call : canvas.calls()) {
    if (call.shape != Shape::box && call.shape != Shape::hatch) continue;
    EXPECT_GE(std::max(call.rect.left, call.clip.left), 0);
    EXPECT_LE(std::min(call.rect.right, call.clip.right), view.whole.right);
  }
}

TEST(Draw, OneEventWithoutLength) {
  analyzer::Job job;
  job.ranks.resize(1);
  job.ranks[0].lanes = {{trace::LaneKind::device_stream, 7, "stream 7"}};
  analyzer::Activity activity;
  activity.begin = activity.end = 5;
  activity.name = job.strings.intern(std::string(100'000, 'x'));
  job.ranks[0].activities.push_back(activity);
  const View view(std::move(job));
  const RecordingCanvas canvas = view.draw();
  const auto boxes = boxes_in(view, canvas, 0, LaneRole::compute);
  ASSERT_EQ(boxes.size(), 1u);
  EXPECT_GE(boxes[0].rect.width(), 1);
}

TEST(Draw, TimesNearTheEndsOfInt64) {
  constexpr Nanoseconds kFar = (Nanoseconds{1} << 62) - 1;
  for (const Nanoseconds sign : {-1, 1}) {
    analyzer::Job job;
    job.ranks.resize(2);
    for (std::int32_t rank = 0; rank < 2; ++rank) {
      analyzer::RankTrace& trace = job.ranks[static_cast<std::size_t>(rank)];
      trace.rank = rank;
      trace.lanes = {{trace::LaneKind::device_stream, 7, "stream 7"}};
      analyzer::Activity activity;
      activity.begin = rank == 0 ? sign * kFar - 10 * (sign + 1) / 2 : 0;
      activity.end = activity.begin + 10;
      activity.name = job.strings.intern("kernel");
      trace.activities.push_back(activity);
    }
    View view(std::move(job));
    EXPECT_FALSE(view.draw().calls().empty());
    for (int i = 0; i < 200; ++i) {
      view.state.view = zoom(view.state.view, sign > 0 ? 1 : 0, 0.7, view.scene->timeline().content);
      if (i % 20 == 0) {
        EXPECT_FALSE(view.draw().calls().empty());
      }
    }
  }
}

TEST(Draw, PinnedRanksStandAboveWhatScrolls) {
  SyntheticOptions options;
  options.late.assign(500, 0);
  View view(options);
  view.state.order.pinned = {400};
  view.arrange();
  view.state.scroll = view.layout.ranks[200].y;
  const RecordingCanvas canvas = view.draw();
  EXPECT_THAT(canvas.texts(), Contains("rank 400"));
  EXPECT_THAT(canvas.texts(), Contains("rank 202"));
  EXPECT_THAT(canvas.texts(), Not(Contains("rank 0")));
  const float border = view.regions.lanes.top + static_cast<float>(view.layout.fixed_height);
  for (const auto& call : canvas.of(Shape::text)) {
    if (!call.text.starts_with("rank ")) continue;
    if (call.text == "rank 400")
      EXPECT_LE(call.clip.bottom, border);
    else
      EXPECT_GE(call.clip.top, border) << call.text << " must not show through the pinned one";
  }
  EXPECT_LT(canvas.calls().size(), 20'000u);
}

TEST(Draw, HostsHaveALineThatSaysWhoTheyHold) {
  analyzer::Job job = synthetic_job();
  for (std::size_t rank = 0; rank < 4; ++rank) job.ranks[rank].host = rank < 2 ? "node1" : "node2";
  View view(std::move(job));
  view.state.order.by = OrderBy::host;
  view.state.order.closed = {"host=node1"};
  view.arrange();
  const auto texts = view.draw().texts();
  EXPECT_THAT(texts, Contains("node1"));
  EXPECT_THAT(texts, Contains("2 ranks: 0, 1"));
  EXPECT_THAT(texts, Contains("2 ranks: 2, 3  ·  others waited 2.40 µs for them"));
  EXPECT_THAT(texts, Not(Contains("rank 0"))) << "its host is closed";
  EXPECT_THAT(texts, Contains("rank 2"));
}

TEST(Draw, AFilterThatNothingPassesIsNamed) {
  View view;
  view.state.order.filter = "host=nowhere";
  view.arrange();
  EXPECT_THAT(view.draw().texts(), Contains("No rank is shown: none is host=nowhere"));
}

TEST(Draw, WhereNobodyKnowsWhoWaitedItIsCommunication) {
  analyzer::Job job = synthetic_job();
  job.ranks.resize(1);
  job.ranks_missing = {1, 2, 3};
  View view(std::move(job));
  view.show(400, 1'100);
  EXPECT_THAT(view.draw().texts(), Contains("communication  500 ns"));
  View whole;
  whole.show(790, 1'010);
  EXPECT_THAT(whole.draw().texts(), Contains("transfer  200 ns"));
}

}  // namespace
}  // namespace lockstep::viewer
