// What links ranks on the screen: messages, the chain of waits, and how far clocks may be off.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analyzer/model/job_builder.h"
#include "analyzer/model/pipeline_job.h"
#include "viewer/testing/job_without_times.h"
#include "viewer/testing/view_fixture.h"
#include "viewer/timeline/messages.h"

namespace lockstep::viewer {
namespace {

using analyzer::JobBuilder;
using testing::Contains;
using testing::HasSubstr;
using testing::Not;
using Shape = RecordingCanvas::Shape;
using Call = RecordingCanvas::Call;

// Rank 0 sends to rank 1: the send from 100 to 400, the receive from 300 to 420.
JobBuilder one_message() {
  JobBuilder job;
  const std::uint32_t group = job.group("pipeline", {0, 1, 2});
  job.rank(0).compute(0, 100).send(1, 100, 400).in_group(group);
  job.rank(1).compute(0, 300).recv(0, 300, 420).in_group(group);
  job.rank(2).compute(0, 500);
  return job;
}

std::vector<Call> of_color(const RecordingCanvas& canvas, Shape shape, Color color) {
  std::vector<Call> found = canvas.of(shape);
  std::erase_if(found, [&](const Call& call) {
    return call.layer != 1 || !(with_alpha(call.color, 1) == with_alpha(color, 1));
  });
  return found;
}

// Lines that lead from one rank to another.
std::vector<Call> slanted(const View& view, const RecordingCanvas& canvas) {
  std::vector<Call> found = of_color(canvas, Shape::line, view.theme.text);
  std::erase_if(found, [](const Call& call) {
    return call.rect.top == call.rect.bottom || call.rect.left == call.rect.right;
  });
  return found;
}

TEST(Messages, LeadFromTheSendsBeginToTheReceivesEnd) {
  View view(one_message().build());
  view.show(0, 500);
  const RecordingCanvas canvas = view.draw();
  EXPECT_TRUE(canvas.clips_closed());
  const auto lines = slanted(view, canvas);
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_NEAR(lines[0].rect.left, view.x(100), 1);
  EXPECT_NEAR(lines[0].rect.right, view.x(420), 1);
  const Rect from = view.area(0, LaneRole::compute), to = view.area(1, LaneRole::compute);
  EXPECT_GT(lines[0].rect.bottom, lines[0].rect.top) << "down, to rank 1";
  EXPECT_GT(lines[0].rect.top, from.top);
  EXPECT_GT(lines[0].rect.bottom, to.top);
  const auto heads = of_color(canvas, Shape::triangle, view.theme.text);
  bool at_the_end = false;
  for (const Call& head : heads)
    at_the_end |=
        std::abs(head.rect.right - view.x(420)) <= 1 && head.rect.bottom <= lines[0].rect.bottom + 3;
  EXPECT_TRUE(at_the_end);
}

TEST(Messages, TheSendMayComeFromBelow) {
  JobBuilder job;
  const std::uint32_t group = job.group("pipeline", {0, 1});
  job.rank(0).recv(1, 300, 420).in_group(group);
  job.rank(1).send(0, 100, 400).in_group(group);
  View view(job.build());
  const auto message = message_of(*view.scene, 0);
  ASSERT_TRUE(message.has_value());
  EXPECT_TRUE(message->directed);
  EXPECT_EQ(message->from.rank, 1u);
  EXPECT_EQ(message->to.rank, 0u);
}

TEST(Messages, CollectivesAreNone) {
  const View view;
  EXPECT_FALSE(message_of(*view.scene, 0).has_value());
  EXPECT_TRUE(messages_in_view(view.frame()).empty());
}

TEST(Messages, TheLitOneStandsOut) {
  View view(one_message().build());
  view.show(0, 500);
  view.state.selected = message_of(*view.scene, 0)->to;
  const RecordingCanvas canvas = view.draw();
  bool found = false;
  for (const Call& call : of_color(canvas, Shape::line, view.theme.lit))
    found |= std::abs(call.rect.left - view.x(100)) <= 1 && std::abs(call.rect.right - view.x(420)) <= 1;
  EXPECT_TRUE(found);
  EXPECT_TRUE(slanted(view, canvas).empty()) << "not twice";
}

TEST(Messages, ToARankThatIsNotShownAreNotDrawn) {
  View view(one_message().build());
  view.show(0, 500);
  view.state.order.filter = "0,2";
  view.arrange();
  EXPECT_TRUE(slanted(view, view.draw()).empty());
}

// Of a pipeline: exactly those of which a side is on the screen, by brute force.
TEST(Messages, AreThoseInView) {
  analyzer::PipelinePlan plan;
  plan.stages = 4;
  plan.order = analyzer::one_forward_one_backward(4, 8);
  View view(analyzer::pipeline_job(plan).build());
  const TimeRange content = view.scene->timeline().content;
  for (int i = 0; i < 40; ++i) {
    const Nanoseconds begin = content.begin + (content.end - content.begin) * i / 40;
    view.show(begin, begin + 3 + 10 * i);
    const TimeRange visible = view.frame().axis.visible();
    std::vector<std::uint32_t> expected;
    for (std::uint32_t c = 0; c < view.scene->collectives().size(); ++c) {
      const auto message = message_of(*view.scene, c);
      if (!message) continue;
      bool seen = false;
      for (const Item& side : {message->from, message->to}) {
        const Row& row = view.scene->timeline().ranks[side.rank].lanes[side.lane].rows[side.row];
        seen |= row.end[side.at] >= visible.begin && row.begin[side.at] <= visible.end;
      }
      if (seen) expected.push_back(c);
    }
    std::vector<std::uint32_t> found;
    for (const Message& message : messages_in_view(view.frame())) found.push_back(message.collective);
    EXPECT_EQ(found, expected) << i;
  }
}

TEST(Messages, ATangleIsNotDrawn) {
  JobBuilder job;
  const std::uint32_t group = job.group("pipeline", {0, 1});
  for (int i = 0; i < 1'000; ++i) {
    job.rank(0).send(1, 100 * i, 100 * i + 50).in_group(group);
    job.rank(1).recv(0, 100 * i, 100 * i + 60).in_group(group);
  }
  View view(job.build());
  EXPECT_TRUE(messages_in_view(view.frame()).empty());
  view.show(10'000, 12'000);
  EXPECT_NEAR(static_cast<double>(messages_in_view(view.frame()).size()), 21, 1);
}

// Rank 2 is late in every step of the synthetic job: chain from rank 0's wait.
TEST(Chain, LeadsToWhatTheLateRankDidAndSaysSo) {
  View view;
  view.show(0, kSyntheticStep);
  view.state.selected = view.scene->find_activity(0, 1);
  view.state.chain_shown = true;
  view.arrange();
  const RecordingCanvas canvas = view.draw();
  EXPECT_TRUE(canvas.clips_closed());
  bool across = false;
  for (const Call& line : of_color(canvas, Shape::line, view.theme.warning)) {
    const Rect from = view.area(0, LaneRole::communication), to = view.area(2, LaneRole::communication);
    across |= std::abs(line.rect.left - view.x(800)) <= 1 && line.rect.left == line.rect.right &&
              from.contains(line.rect.left, line.rect.top) && to.contains(line.rect.left, line.rect.bottom);
  }
  EXPECT_TRUE(across) << "from rank 0's wait straight to rank 2's arrival";
  EXPECT_THAT(canvas.texts(), Contains(HasSubstr("rank 2: matmul")));
  // Its compute is framed.
  bool framed = false;
  const Rect compute = view.area(2, LaneRole::compute);
  for (const Call& frame : of_color(canvas, Shape::frame, view.theme.warning))
    framed |= std::abs(frame.rect.top - compute.top) <= 2 && std::abs(frame.rect.right - view.x(800)) <= 3;
  EXPECT_TRUE(framed);
}

TEST(Chain, IsDrawnOnDemandAndFollowsTheSelection) {
  View view;
  view.show(0, kSyntheticStep);
  view.state.selected = view.scene->find_activity(0, 1);
  view.apply({});
  EXPECT_TRUE(view.state.chain.items.empty());
  EXPECT_TRUE(view.apply({.chain = true}));
  EXPECT_EQ(view.state.chain.items.size(), 2u);
  view.state.selected = view.scene->find_activity(2, 0);
  view.arrange();
  EXPECT_EQ(view.state.chain.items.size(), 1u);
  view.apply({.chain = true});
  EXPECT_TRUE(view.state.chain.items.empty());
}

// What is not seen is not switched either: the next press, of somebody who then selected something, shows it.
TEST(Chain, IsNotSwitchedWhereNoneCouldBeSeen) {
  View view;
  view.show(0, kSyntheticStep);
  EXPECT_FALSE(view.apply({.chain = true}));
  EXPECT_FALSE(view.state.chain_shown);
  EXPECT_THAT(why_no_chain(*view.scene, view.state), HasSubstr("nothing is selected"));
  view.state.selected = view.scene->find_activity(0, 0);
  EXPECT_FALSE(view.apply({.chain = true}));
  EXPECT_FALSE(view.state.chain_shown) << "a kernel waits for nobody";
  EXPECT_THAT(why_no_chain(*view.scene, view.state), HasSubstr("nothing held it up"));
  view.state.selected = view.scene->find_activity(0, 1);
  EXPECT_EQ(why_no_chain(*view.scene, view.state), "");
  EXPECT_TRUE(view.apply({.chain = true}));
  EXPECT_EQ(view.state.chain.items.size(), 2u);
  view.apply({.escape = true});
  EXPECT_FALSE(view.apply({.chain = true}));
  EXPECT_TRUE(view.state.chain_shown) << "asked for, and to be seen with the next selection";
  const View dumps(job_without_times());
  EXPECT_THAT(why_no_chain(*dumps.scene, dumps.state), HasSubstr("no times"));
}

// Two hosts; the second's clock is right within 50 ns.
analyzer::Job two_hosts(std::int64_t late) {
  JobBuilder job;
  const std::uint32_t group = job.group("dp", {0, 1});
  job.rank(0).compute(0, 500).all_reduce(500, 1'000).in_group(group).sequence(0);
  job.rank(1).compute(0, 500 + late).all_reduce(500 + late, 1'000).in_group(group).sequence(0);
  analyzer::Job made = job.build();
  made.ranks[0].host = "a";
  made.ranks[1].host = "b";
  made.ranks[1].clock.domain = 1;
  made.ranks[1].clock.uncertainty_ns = 50;
  return made;
}

TEST(ClockError, IsDrawnAtTheArrivalsOfALitCollective) {
  View view(two_hosts(300));
  view.show(0, 1'000);
  view.state.selected = view.scene->find_activity(0, 1);
  const RecordingCanvas canvas = view.draw();
  std::vector<Call> whiskers = of_color(canvas, Shape::line, view.theme.text);
  std::erase_if(whiskers, [](const Call& line) { return line.rect.top != line.rect.bottom; });
  ASSERT_EQ(whiskers.size(), 1u) << "rank 0's clock is the job's own";
  EXPECT_NEAR(whiskers[0].rect.left, view.x(750), 1);
  EXPECT_NEAR(whiskers[0].rect.right, view.x(850), 1);
  EXPECT_THAT(canvas.texts(), Contains("±50 ns"));
  EXPECT_THAT(canvas.texts(), Contains("last: rank 1, 300 ns after the one before"));
  // Where it is narrower than can be seen, it is not drawn.
  view.show(0, 100'000);
  EXPECT_THAT(view.draw().texts(), Not(Contains("±50 ns")));
  EXPECT_TRUE(of_color(view.draw(), Shape::line, view.theme.text).empty());
}

TEST(ClockError, NamesNobodyWhoIsLateByLess) {
  View view(two_hosts(30));
  view.show(0, 1'000);
  view.state.selected = view.scene->find_activity(0, 1);
  const auto texts = view.draw().texts();
  EXPECT_THAT(texts, Contains("last: nobody, within clock error"));
  EXPECT_THAT(texts, Not(Contains(HasSubstr("last: rank"))));
}

TEST(ClockError, AClockThatIsRelatedToNoneIsSaidSo) {
  analyzer::Job job = two_hosts(300);
  job.ranks[1].clock.related = false;
  const View view(std::move(job));
  EXPECT_THAT(view.draw().texts(), Contains("own clock"));
}

}  // namespace
}  // namespace lockstep::viewer
