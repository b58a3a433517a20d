#include "viewer/timeline/rank_order.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <set>

#include "viewer/testing/view_fixture.h"
#include "viewer/timeline/rank_filter.h"

namespace lockstep::viewer {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// Two nodes of four ranks: dp groups across them (0 4, 1 5, …), tp groups of four within them.
JobFacts two_nodes() {
  JobFacts facts;
  for (std::int32_t rank = 0; rank < 8; ++rank) {
    RankFacts each;
    each.rank = rank;
    each.host = rank < 4 ? "node2" : "node10";
    each.lost_ns = rank == 5 ? 900 : rank == 2 ? 400 : 0;
    each.is_late = rank == 5;
    each.waited_ns = rank == 5 ? -1 : 100 * rank;
    facts.ranks.push_back(each);
  }
  facts.groups.push_back({"world", "world", {0, 1, 2, 3, 4, 5, 6, 7}});
  facts.groups.push_back({"tp 0", "tp", {0, 1, 2, 3}});
  facts.groups.push_back({"tp 1", "tp", {4, 5, 6, 7}});
  for (std::uint32_t i = 0; i < 4; ++i) facts.groups.push_back({"dp", "dp", {i, i + 4}});
  return facts;
}

RankOrder ordered(const std::string& text) {
  return parse_order(text).value();
}

std::vector<std::string> titles(const RankSequence& sequence) {
  std::vector<std::string> all;
  for (const RankSection& section : sequence.sections) all.push_back(section.title);
  return all;
}

TEST(OrderRanks, ByNumber) {
  const RankSequence sequence = order_ranks(two_nodes(), {});
  EXPECT_THAT(sequence.ranks, ElementsAre(0, 1, 2, 3, 4, 5, 6, 7));
  EXPECT_EQ(sequence.pinned, 0u);
  EXPECT_THAT(sequence.sections, IsEmpty());
}

TEST(OrderRanks, ByLostAndByOwnWaiting) {
  EXPECT_THAT(order_ranks(two_nodes(), ordered("lost")).ranks, ElementsAre(5, 2, 0, 1, 3, 4, 6, 7));
  EXPECT_THAT(order_ranks(two_nodes(), ordered("waiting")).ranks, ElementsAre(7, 6, 4, 3, 2, 1, 0, 5))
      << "whose waits nobody knows stands last";
}

TEST(OrderRanks, ByHostInSections) {
  const RankSequence sequence = order_ranks(two_nodes(), ordered("host"));
  EXPECT_THAT(titles(sequence), ElementsAre("node2", "node10")) << "as their ranks stand, not by letter";
  EXPECT_EQ(sequence.sections[1].first, 4u);
  EXPECT_EQ(sequence.sections[1].shown, 4u);
  EXPECT_EQ(sequence.sections[1].summary, "4 ranks: 4 to 7  ·  others waited 900 ns for them");
}

TEST(OrderRanks, ByTheLargestGroupThatIsNotTheWholeJob) {
  EXPECT_THAT(titles(order_ranks(two_nodes(), ordered("group"))), ElementsAre("tp 0", "tp 1"));
}

TEST(OrderRanks, ByGroupsOfAKind) {
  const RankSequence sequence = order_ranks(two_nodes(), ordered("group=dp"));
  EXPECT_THAT(titles(sequence), ElementsAre("dp", "dp", "dp", "dp"));
  EXPECT_THAT(sequence.ranks, ElementsAre(0, 4, 1, 5, 2, 6, 3, 7));
  std::set<std::string> keys;
  for (const RankSection& section : sequence.sections) keys.insert(section.key);
  EXPECT_EQ(keys.size(), 4u) << "each closes alone";
  EXPECT_THAT(titles(order_ranks(two_nodes(), ordered("group=pp"))), ElementsAre("no group"));
}

TEST(OrderRanks, AClosedSectionSaysHowManyItHolds) {
  RankOrder order = ordered("host");
  toggle_section(order, "host=node2");
  const RankSequence sequence = order_ranks(two_nodes(), order);
  EXPECT_THAT(sequence.ranks, ElementsAre(4, 5, 6, 7));
  EXPECT_FALSE(sequence.sections[0].open);
  EXPECT_THAT(sequence.sections[0].summary, HasSubstr("4 ranks: 0 to 3"));
  toggle_section(order, "host=node2");
  EXPECT_EQ(order_ranks(two_nodes(), order).ranks.size(), 8u);
}

TEST(ToggleSections, ClosesAllThenOpensAll) {
  RankOrder order = ordered("host");
  order.closed = {"host=node2"};
  toggle_sections(two_nodes(), order);
  EXPECT_THAT(order_ranks(two_nodes(), order).ranks, IsEmpty());
  EXPECT_EQ(order_ranks(two_nodes(), order).sections.size(), 2u);
  toggle_sections(two_nodes(), order);
  EXPECT_EQ(order_ranks(two_nodes(), order).ranks.size(), 8u);
}

TEST(OrderRanks, PinnedRanksComeFirstWhateverTheFilter) {
  RankOrder order = ordered("lost");
  toggle_pin(order, 7);
  toggle_pin(order, 1);
  toggle_pin(order, 99);
  order.filter = "0:2";
  const RankSequence sequence = order_ranks(two_nodes(), order);
  EXPECT_THAT(sequence.ranks, ElementsAre(7, 1, 2, 0));
  EXPECT_EQ(sequence.pinned, 2u);
  toggle_pin(order, 7);
  EXPECT_THAT(order_ranks(two_nodes(), order).ranks, ElementsAre(1, 2, 0));
}

TEST(OrderRanks, AWrongFilterHidesNothing) {
  RankOrder order;
  order.filter = "0:2 whatever";
  EXPECT_EQ(order_ranks(two_nodes(), order).ranks.size(), 8u);
}

// Whatever the order, each rank that passes stands there exactly once: in its section, or pinned.
TEST(OrderRanks, EveryRankOnceWhateverIsAskedFor) {
  std::mt19937 random(7);
  const auto below = [&](std::uint32_t bound) { return static_cast<std::uint32_t>(random() % bound); };
  for (int round = 0; round < 300; ++round) {
    JobFacts facts;
    const std::uint32_t count = 1 + below(40);
    for (std::uint32_t i = 0; i < count; ++i) {
      RankFacts rank;
      rank.rank = static_cast<std::int32_t>(2 * i);
      rank.host = std::string(1, static_cast<char>('a' + below(4)));
      rank.lost_ns = below(5);
      rank.waited_ns = static_cast<std::int64_t>(below(5)) - 1;
      facts.ranks.push_back(rank);
    }
    for (std::uint32_t g = below(5); g-- > 0;) {
      GroupFacts group{std::string(1, static_cast<char>('p' + below(2))), "", {}};
      group.kind = group.name;
      for (std::uint32_t i = 0; i < count; ++i)
        if (below(2) == 0) group.members.push_back(i);
      if (!group.members.empty()) facts.groups.push_back(group);
    }
    const char* const orders[] = {"rank", "host", "group", "group=p", "lost", "waiting"};
    RankOrder order = ordered(orders[below(6)]);
    for (std::uint32_t p = below(4); p-- > 0;) toggle_pin(order, static_cast<std::int32_t>(below(2 * count)));
    if (below(2) == 0) order.filter = "10:40";
    if (below(2) == 0) order.closed = {"host=a", "host=c"};
    const RankSequence sequence = order_ranks(facts, order);

    std::multiset<std::uint32_t> expected;
    for (std::uint32_t i = 0; i < count; ++i) {
      const RankFacts& rank = facts.ranks[i];
      const bool pinned =
          std::find(order.pinned.begin(), order.pinned.end(), rank.rank) != order.pinned.end();
      const bool passes = order.filter.empty() || (rank.rank >= 10 && rank.rank <= 40);
      const bool closed =
          order.by == OrderBy::host && !order.closed.empty() && (rank.host == "a" || rank.host == "c");
      if (pinned || (passes && !closed)) expected.insert(i);
    }
    EXPECT_EQ(std::multiset<std::uint32_t>(sequence.ranks.begin(), sequence.ranks.end()), expected);
    std::uint32_t at = sequence.pinned;
    for (const RankSection& section : sequence.sections) {
      EXPECT_EQ(section.first, at);
      for (std::uint32_t i = 0; i < section.shown; ++i)
        EXPECT_THAT(section.members, testing::Contains(sequence.ranks[at + i]));
      at += section.shown;
    }
    if (!sequence.sections.empty()) {
      EXPECT_EQ(at, sequence.ranks.size());
    }
    for (std::size_t i = sequence.pinned + 1; order.by == OrderBy::lost && i < sequence.ranks.size(); ++i) {
      const RankFacts &a = facts.ranks[sequence.ranks[i - 1]], &b = facts.ranks[sequence.ranks[i]];
      EXPECT_TRUE(a.lost_ns > b.lost_ns || (a.lost_ns == b.lost_ns && a.rank < b.rank));
    }
  }
}

TEST(MakeShown, OpensItsSectionAndDropsTheFilterOnlyWhereItHides) {
  RankOrder order = ordered("host");
  order.closed = {"host=node2", "host=node10"};
  order.filter = "0:3";
  make_shown(two_nodes(), 2, order);
  EXPECT_EQ(order.filter, "0:3");
  EXPECT_THAT(order.closed, ElementsAre("host=node10"));
  make_shown(two_nodes(), 6, order);
  EXPECT_EQ(order.filter, "");
  EXPECT_THAT(order.closed, IsEmpty());
}

TEST(RankFilter, NumbersHostsGroupsAndTheLate) {
  const auto shown = [](const std::string& text) {
    RankOrder order;
    order.filter = text;
    EXPECT_TRUE(parse_rank_filter(text).ok()) << text;
    return order_ranks(two_nodes(), order).ranks;
  };
  EXPECT_THAT(shown("3,5:6"), ElementsAre(3, 5, 6));
  EXPECT_THAT(shown("6: 0"), ElementsAre(0, 6, 7));
  EXPECT_THAT(shown("rank=:1"), ElementsAre(0, 1));
  EXPECT_THAT(shown("host=NODE2"), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(shown("host=node1*"), ElementsAre(4, 5, 6, 7));
  EXPECT_THAT(shown("host=node"), IsEmpty()) << "node2 is not node";
  EXPECT_THAT(shown("group=tp"), ElementsAre(0, 1, 2, 3, 4, 5, 6, 7)) << "a kind";
  EXPECT_THAT(shown("host=node2 6"), IsEmpty()) << "words of different kinds must all hold";
  EXPECT_THAT(shown("late"), ElementsAre(5));
  EXPECT_THAT(shown("late=300ns"), ElementsAre(2, 5));
  EXPECT_EQ(shown("  ").size(), 8u);
}

TEST(RankFilter, SaysWhatMayStandThere) {
  for (const char* const text : {"x", "3-5", "5:3", ":", "host=", "late=x", "-1", "3,,x", "rank=", "cpu=3"}) {
    const auto filter = parse_rank_filter(text);
    ASSERT_FALSE(filter.ok()) << text;
  }
  EXPECT_THAT(parse_rank_filter("host=a 3-5").error().message,
              HasSubstr("'3-5' is no filter of ranks: write for example 3,7:12"));
  EXPECT_EQ(parse_rank_filter("3,5:2").error().message, "'5:2' ends before it begins: write 2:5");
  EXPECT_EQ(parse_rank_filter("5:5").value().ranks,
            (std::vector<std::pair<std::int64_t, std::int64_t>>{{5, 5}}));
}

TEST(ParseOrder, ReadsWhatItWrites) {
  for (const char* const text : {"rank", "host", "group", "group=dp", "lost", "waiting"})
    EXPECT_EQ(order_text(parse_order(text).value()), text);
  for (const char* const text : {"", "ranks", "lost=3", "host=a", "Lost"}) {
    ASSERT_FALSE(parse_order(text).ok()) << text;
    EXPECT_THAT(parse_order(text).error().message, HasSubstr("rank, host, group"));
  }
}

TEST(NextOrder, GoesRoundThroughWhatTheJobHas) {
  std::vector<std::string> seen;
  RankOrder order;
  do {
    seen.push_back(order_text(order));
    order = next_order(order, two_nodes());
  } while (order.by != OrderBy::rank && seen.size() < 20);
  EXPECT_THAT(seen, ElementsAre("rank", "host", "group=tp", "group=dp", "lost", "waiting"));
  JobFacts plain;
  plain.ranks.resize(2);
  plain.groups.push_back({"", "", {0}});
  EXPECT_EQ(next_order({}, plain).by, OrderBy::lost) << "one host, no group with a name";
}

TEST(KindOfGroup, IsTheNameWithoutItsNumber) {
  EXPECT_EQ(kind_of_group("dp 0"), "dp");
  EXPECT_EQ(kind_of_group("dp_12"), "dp");
  EXPECT_EQ(kind_of_group("dp"), "dp");
  EXPECT_EQ(kind_of_group("7"), "7");
  EXPECT_EQ(kind_of_group("tp2x"), "tp2x");
  EXPECT_EQ(kind_of_group(""), "");
}

// Of a whole scene: the synthetic job's rank 2 is late, then rank 3.
TEST(JobFacts, AreTheReports) {
  const View view;
  const JobFacts& facts = view.scene->facts();
  ASSERT_EQ(facts.ranks.size(), 4u);
  EXPECT_EQ(facts.ranks[2].lost_ns, 2'400);
  EXPECT_TRUE(facts.ranks[2].is_late);
  EXPECT_FALSE(facts.ranks[0].is_late);
  EXPECT_EQ(facts.ranks[0].waited_ns, 900);
  ASSERT_EQ(facts.groups.size(), 1u);
  EXPECT_EQ(facts.groups[0].name, "world");
  EXPECT_EQ(facts.groups[0].members.size(), 4u);
}

// Layout, by every pixel: what stands where, and that it is found there.
TEST(LayOut, PutsRanksInTheirSequence) {
  std::mt19937 random(11);
  SyntheticOptions options;
  options.late.assign(30, 0);
  options.steps = 1;
  View view(options);
  for (int round = 0; round < 20; ++round) {
    RankSequence sequence;
    for (std::uint32_t rank = 0; rank < 30; ++rank)
      if (random() % 3 != 0) sequence.ranks.push_back(rank);
    std::shuffle(sequence.ranks.begin(), sequence.ranks.end(), random);
    const auto count = static_cast<std::uint32_t>(sequence.ranks.size());
    sequence.pinned = static_cast<std::uint32_t>(random() % 4);
    if (random() % 2 == 0) {
      for (std::uint32_t first = sequence.pinned; first <= count; first += 5)
        sequence.sections.push_back({fmt::format("{}", first), "", "", first, 0, {}, true});
    }
    const int room = static_cast<int>(random() % 1'000);
    const Layout layout = lay_out(view.scene->timeline(), view.state.expansion, view.sizes, sequence, room);
    EXPECT_EQ(layout.shown, sequence.ranks);
    EXPECT_LE(layout.fixed, sequence.pinned);
    EXPECT_LE(layout.fixed_height, room / 3 * 2);
    for (std::uint32_t rank = 0; rank < 30; ++rank)
      EXPECT_EQ(layout.is_shown(rank),
                std::find(sequence.ranks.begin(), sequence.ranks.end(), rank) != sequence.ranks.end());
    // Ranks and sections fill the height without gap or overlap.
    std::vector<int> covered(static_cast<std::size_t>(layout.height), -1);
    const auto cover = [&](int y, int height, int what) {
      for (int at = y; at < y + height; ++at) {
        ASSERT_EQ(covered[static_cast<std::size_t>(at)], -1);
        covered[static_cast<std::size_t>(at)] = what;
      }
    };
    for (const std::uint32_t rank : layout.shown)
      cover(layout.ranks[rank].y, layout.ranks[rank].height, static_cast<int>(rank));
    for (std::size_t i = 0; i < layout.sections.size(); ++i)
      cover(layout.sections[i].y, layout.sections[i].height, 1'000 + static_cast<int>(i));
    EXPECT_EQ(layout.sections.size(), sequence.sections.size());
    for (int y = 0; y < layout.height; y += 1 + static_cast<int>(random() % 7)) {
      const RowHit hit = row_at(layout, y);
      const int what = covered[static_cast<std::size_t>(y)];
      ASSERT_GE(what, 0) << "a gap at " << y;
      if (what >= 1'000) {
        EXPECT_EQ(hit.section, static_cast<std::uint32_t>(what - 1'000));
        EXPECT_FALSE(hit.rank.has_value());
      } else {
        EXPECT_EQ(hit.rank, static_cast<std::uint32_t>(what));
      }
    }
    for (int i = 0; i < 20; ++i) {
      const int top = static_cast<int>(random() % static_cast<unsigned>(layout.height + 1)) - 10;
      const int bottom = top + 1 + static_cast<int>(random() % 400);
      std::vector<std::uint32_t> expected;
      for (std::size_t at = layout.fixed; at < layout.shown.size(); ++at) {
        const RankPlace& place = layout.ranks[layout.shown[at]];
        if (place.y < bottom && place.y + place.height > top) expected.push_back(layout.shown[at]);
      }
      const auto [first, last] = ranks_between(layout, top, bottom);
      EXPECT_EQ(std::vector<std::uint32_t>(layout.shown.begin() + static_cast<std::ptrdiff_t>(first),
                                           layout.shown.begin() + static_cast<std::ptrdiff_t>(last)),
                expected);
    }
  }
}

}  // namespace
}  // namespace lockstep::viewer
