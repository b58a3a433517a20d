// The table of collectives: filtered, sorted, and one of them shown.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>

#include "tests/temporary_folder.h"
#include "viewer/journey/journey.h"
#include "viewer/journey/runs.h"
#include "viewer/opening/open_run.h"

namespace lockstep::viewer::journey {
namespace {

class Collectives : public Journey {
 protected:
  Collectives() {
    write_run(folder_.path());
    scene_ = open_run({folder_.path().string()}).value();
  }
  const std::vector<std::uint32_t>& rows() { return app().collectives().table().rows(); }
  std::vector<std::uint64_t> lengths() {
    std::vector<std::uint64_t> result;
    for (const std::uint32_t row : rows())
      result.push_back(distance(scene_->collectives()[row].begin, scene_->collectives()[row].end));
    return result;
  }
  void select(User& user, std::uint32_t collective) {
    user.engine().ItemClick(fmt::format("//Collectives/collectives/$${}/##row", collective).c_str());
    user.settle();
  }

  test::TemporaryFolder folder_;
  std::unique_ptr<Scene> scene_;
};

TEST_F(Collectives, AreFilteredByWhatIsTyped) {
  open(*scene_);
  play([this](User& user) {
    user.show("Collectives");
    EXPECT_EQ(rows().size(), 2U * kRunSteps);
    user.engine().ItemClick("//Collectives/##filter");
    user.type("step13 rank2");
    ASSERT_EQ(rows().size(), 1U) << "the first of the step: rank 2 comes last to it";
    EXPECT_EQ(scene_->collectives()[rows()[0]].step, 13);
    EXPECT_THAT(user.drawn_text(), testing::HasSubstr("1 collective,"));
    user.engine().KeyCharsReplace("nothing like that");
    user.settle();
    EXPECT_TRUE(rows().empty());
    EXPECT_THAT(user.drawn_text(), testing::HasSubstr("0 collectives"));
    user.engine().KeyCharsReplace("");
    user.engine().KeyPress(ImGuiKey_Delete);
    user.settle();
    EXPECT_EQ(rows().size(), 2U * kRunSteps);
  });
}

TEST_F(Collectives, AreSortedByTheColumnThatIsClicked) {
  open(*scene_);
  play([this](User& user) {
    user.show("Collectives");
    user.engine().SetRef("Collectives");
    user.engine().TableClickHeader("collectives", "took");
    user.settle();
    const std::vector<std::uint64_t> once = lengths();
    user.engine().TableClickHeader("collectives", "took");
    user.settle();
    const std::vector<std::uint64_t> twice = lengths();
    EXPECT_TRUE(std::is_sorted(once.begin(), once.end()) || std::is_sorted(once.rbegin(), once.rend()));
    EXPECT_TRUE(std::is_sorted(twice.begin(), twice.end()) || std::is_sorted(twice.rbegin(), twice.rend()));
    EXPECT_NE(once.front(), twice.front()) << "the second click turns the order around";
  });
}

TEST_F(Collectives, AClickLightsItUpOnEveryRank) {
  open(*scene_);
  play([this](User& user) {
    user.show("Collectives");
    for (const std::uint32_t wanted : {rows()[2], rows()[0], rows()[5]}) {
      select(user, wanted);
      EXPECT_EQ(lit_collective(*scene_, user.state()), wanted);
      const Places places = user.places();
      ASSERT_EQ(scene_->parts(wanted).size(), static_cast<std::size_t>(kRunRanks));
      for (const analyzer::CollectiveRank& part : scene_->parts(wanted)) {
        const auto rank = *scene_->index_of(part.rank);
        const auto item = scene_->find_activity(rank, part.activity);
        ASSERT_TRUE(item);
        // On the screen, and the same operation under the pointer.
        const Point at = places.point(*item);
        EXPECT_TRUE(places.lanes().contains(at.x, at.y)) << "rank " << part.rank;
        user.point_to(at);
        ASSERT_TRUE(user.state().hovered);
        EXPECT_EQ(scene_->collective_of(*user.state().hovered), wanted);
      }
      user.show("Details");
      EXPECT_THAT(user.drawn_text(),
                  testing::AllOf(testing::HasSubstr("arrived"), testing::HasSubstr("waited")));
    }
  });
}

}  // namespace
}  // namespace lockstep::viewer::journey
