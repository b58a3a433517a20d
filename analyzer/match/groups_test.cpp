// Messages of a pipeline that go by another group than the one that its stages have.
#include "analyzer/match/groups.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "analyzer/match/test_matching.h"

namespace lockstep::analyzer {
namespace {

using testing::ElementsAre;

// Two copies of a pipeline of two stages, as DeepSpeed makes them: ranks 0 and 2, 1 and 3.
struct Replicas {
  JobBuilder job;
  std::uint32_t world = job.group("0", {0, 1, 2, 3}, "default_pg");
  std::uint32_t first = job.group("8", {0, 2}, "(pipeline)"), second = job.group("9", {1, 3}, "(pipeline)");

  void send(int from, int to, Nanoseconds begin, std::uint32_t group) {
    job.rank(from).send(to, begin, begin + 5).in_group(group);
    job.rank(to).recv(from, begin + 1, begin + 5).in_group(group);
  }
  // The names of the groups of all matches.
  std::vector<std::string> groups() const {
    const Matched result = match(job);
    std::vector<std::string> names;
    for (const Match& match : result.matching.matches) {
      names.push_back(result.matching.groups[match.group].name);
      for (const MatchRecord record : result.matching.records_of(match)) {
        const std::int32_t rank = result.job.ranks[record.rank].rank;
        EXPECT_EQ(result.matching.groups_of_records.find(rank, communication_of(result.job, record)),
                  match.group);
      }
    }
    return names;
  }
};

TEST(Groups, MessagesOfAPipelineByTheGroupOfAllRanksAreThePipelines) {
  Replicas replicas;
  replicas.send(0, 2, 10, replicas.world);
  replicas.send(1, 3, 11, replicas.world);
  replicas.send(2, 0, 20, replicas.world);
  for (const int rank : {0, 1, 2, 3})
    replicas.job.rank(rank).all_reduce(30, 40).in_group(replicas.world).sequence(7);
  EXPECT_THAT(replicas.groups(), ElementsAre("0", "8", "8", "9"));
}

TEST(Groups, MessagesBetweenPipelinesAreNoPipelines) {
  Replicas replicas;
  replicas.send(0, 1, 10, replicas.world);
  EXPECT_THAT(replicas.groups(), ElementsAre("0"));
}

// Then what goes by another group is something else, and its order another one.
TEST(Groups, APipelineWithMessagesOfItsOwnGetsNoOthers) {
  Replicas replicas;
  replicas.send(0, 2, 10, replicas.first);
  replicas.send(0, 2, 20, replicas.world);
  replicas.send(1, 3, 21, replicas.world);
  EXPECT_THAT(replicas.groups(), testing::UnorderedElementsAre("8", "0", "9"));
}

}  // namespace
}  // namespace lockstep::analyzer
