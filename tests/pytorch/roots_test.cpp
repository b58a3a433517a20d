// Who leads a reduce or a broadcast is recorded: the others do not wait for each other in it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/open_job.h"
#include "tests/end_to_end/support.h"
#include "tests/pytorch/torchrun.h"

namespace lockstep::end_to_end {
namespace {

using testing::ElementsAre;

class PytorchRoots : public TorchTest {};

TEST_F(PytorchRoots, OfReducesAndBroadcastsAreRecorded) {
  const TemporaryFolder folder;
  std::vector<std::string> command{binary("lockstep"), "record", "-o", folder / "run", "--"};
  const std::vector<std::string> job = ranks_of("roots_job.py", {}, 3);
  command.insert(command.end(), job.begin(), job.end());
  const Outcome outcome = run(command, kQuietEnvironment);
  ASSERT_EQ(outcome.exit_code, 0) << outcome.standard_error;
  const auto opened = analyzer::open_job({folder / "run"}, {});
  ASSERT_TRUE(opened.ok()) << opened.error().message;
  ASSERT_EQ(opened.value().ranks.size(), 3u);
  for (const analyzer::RankTrace& rank : opened.value().ranks) {
    std::vector<std::int32_t> reduces, broadcasts, of_two;
    for (const analyzer::Communication& operation : rank.communications) {
      if (operation.bytes == 8192)
        of_two.push_back(operation.peer);
      else if (operation.operation == trace::Operation::reduce)
        reduces.push_back(operation.peer);
      else if (operation.operation == trace::Operation::broadcast)
        broadcasts.push_back(operation.peer);
    }
    EXPECT_THAT(reduces, ElementsAre(0, 0, 1, 1, 2, 2)) << rank.rank;
    EXPECT_THAT(broadcasts, ElementsAre(0, 1, 2)) << rank.rank;
    EXPECT_EQ(of_two, rank.rank == 0 ? std::vector<std::int32_t>{} : std::vector<std::int32_t>{2})
        << "a rank of the job, not of the group";
  }
}

}  // namespace
}  // namespace lockstep::end_to_end
