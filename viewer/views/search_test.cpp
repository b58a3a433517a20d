#include "viewer/views/search.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "viewer/testing/job_without_times.h"
#include "viewer/testing/scene_of.h"
#include "viewer/testing/synthetic_job.h"
#include "viewer/timeline/standings.h"

namespace lockstep::viewer {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

// Per rank and step: a matmul, an all_reduce, the host's step and its data loading.
class SearchTest : public testing::Test {
 protected:
  std::vector<SearchHit> hits(const std::string& text) {
    Search search(*scene_);
    search.ask(text);
    search.wait();
    EXPECT_EQ(search.error(), "");
    return search.hits();
  }
  std::string error(const std::string& text) {
    Search search(*scene_);
    search.ask(text);
    search.wait();
    EXPECT_THAT(search.hits(), IsEmpty());
    return search.error();
  }
  std::unique_ptr<Scene> scene_ = scene_of(synthetic_job());  // 4 ranks, 3 steps
};

TEST_F(SearchTest, FindsByPartsOfNamesWhateverTheirCase) {
  EXPECT_THAT(hits("matmul"), SizeIs(12));
  EXPECT_THAT(hits("MatM"), SizeIs(12));
  EXPECT_THAT(hits("mat mul"), SizeIs(12));
  EXPECT_THAT(hits("mat reduce"), IsEmpty());
  EXPECT_THAT(hits(""), IsEmpty());
  EXPECT_THAT(hits("   "), IsEmpty());
}

TEST_F(SearchTest, FindsByPattern) {
  EXPECT_THAT(hits("/^all_.*e$/"), SizeIs(12));
  EXPECT_THAT(hits("/MAT|REDUCE/"), SizeIs(24));
  EXPECT_THAT(hits("/^nothing$/"), IsEmpty());
  EXPECT_THAT(hits("/e/ rank=1 class=collective"), SizeIs(3));
}

TEST_F(SearchTest, FindsByWhatThingsAre) {
  EXPECT_THAT(hits("rank=2"), SizeIs(12));
  EXPECT_THAT(hits("class=collective"), SizeIs(12));
  EXPECT_THAT(hits("class=compute rank=0"), SizeIs(3));
  EXPECT_THAT(hits("class=host step"), SizeIs(12));
  EXPECT_THAT(hits("class=copy"), IsEmpty());
  EXPECT_THAT(hits("step=1 rank=0"), SizeIs(2));
  EXPECT_THAT(hits("rank=99"), IsEmpty());
  // Rank 2 computes for 700 ns, rank 3 for 500, the others for 400.
  EXPECT_THAT(hits("class=compute longer=500"), SizeIs(6));
  EXPECT_THAT(hits("class=compute longer=501"), SizeIs(3));
  EXPECT_THAT(hits("class=compute shorter=0.4us"), SizeIs(6));
}

TEST_F(SearchTest, HitsAreInOrderOfTimeAndStandWhereTheySay) {
  const auto found = hits("matmul");
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (i > 0) {
      EXPECT_LE(found[i - 1].begin, found[i].begin);
    }
    const auto activity = scene_->activity_of(found[i].item);
    ASSERT_TRUE(activity.has_value());
    EXPECT_EQ(scene_->data(found[i].item.rank).activities[*activity].begin, found[i].begin);
  }
}

TEST_F(SearchTest, SaysWhatIsWrong) {
  EXPECT_THAT(error("/(unclosed/"), HasSubstr("(unclosed"));
  EXPECT_THAT(error("rank=x"), HasSubstr("rank=3"));
  EXPECT_THAT(error("class=gpu"), HasSubstr("compute, collective, p2p, copy or host"));
  EXPECT_THAT(error("longer=5h"), HasSubstr("5h"));
}

TEST_F(SearchTest, ANewTextEndsTheFormerSearch) {
  Search search(*scene_);
  for (const char* text : {"m", "ma", "mat", "matm", "rank=1 matmul"}) search.ask(text);
  search.wait();
  EXPECT_THAT(search.hits(), SizeIs(3));
  EXPECT_FALSE(search.busy());
}

TEST_F(SearchTest, SaysWhyNothingIsFound) {
  Search search(*scene_);
  const auto why = [&search](const std::string& text) {
    search.ask(text);
    search.wait();
    return search.why_none();
  };
  EXPECT_EQ(why("rank=9"), "ranks are 0 to 3");
  EXPECT_EQ(why("matmul"), "") << "of another search";
  EXPECT_THAT(why("matmul colour=red"), HasSubstr("'colour' is no attribute"));
  EXPECT_EQ(why("nothing of that name"), "");
  EXPECT_EQ(why(""), "");
}

// Flight recorders tell what was issued, and not when: there is nothing on the timeline to find.
TEST(SearchWithoutTimes, SaysWhereTheOperationsStand) {
  const auto scene = scene_of(job_without_times());
  ASSERT_TRUE(scene->order_alone());
  Search search(*scene);
  search.ask("all_gather");
  search.wait();
  EXPECT_THAT(search.hits(), IsEmpty());
  EXPECT_EQ(search.why_none(), kWhereOrderStands);
  search.ask("rank=9");
  search.wait();
  EXPECT_EQ(search.why_none(), "ranks are 0") << "what is wrong comes first";
}

// Evil names and patterns: no catastrophe, no end of stack.
TEST(SearchNames, OfAHundredKilobytesAreLookedAtAtTheirBeginning) {
  const std::string name(100'000, 'a');
  EXPECT_TRUE(matches(parse_search("/(a+)+$/").value(), name));
  EXPECT_FALSE(matches(parse_search("/(a+)+b/").value(), name));
  EXPECT_FALSE(matches(parse_search("zz").value(), name + "zz"));
}

}  // namespace
}  // namespace lockstep::viewer
