// What travels of sparse tensors is not what their shapes say, and the call can't tell how much it is.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "analyzer/open_job.h"
#include "tests/end_to_end/support.h"
#include "tests/pytorch/torchrun.h"

namespace lockstep::end_to_end {
namespace {

using testing::UnorderedElementsAre;

class PytorchSparse : public TorchTest {};

TEST_F(PytorchSparse, BytesOfSparseGradientsAreNotKnown) {
  const TemporaryFolder folder;
  std::vector<std::string> command{binary("lockstep"), "record", "-o", folder / "run", "--"};
  const std::vector<std::string> job = ranks_of("sparse_job.py", {});
  command.insert(command.end(), job.begin(), job.end());
  const Outcome outcome = run(command, kQuietEnvironment);
  ASSERT_EQ(outcome.exit_code, 0) << outcome.standard_error;
  const auto opened = analyzer::open_job({folder / "run"}, {});
  ASSERT_TRUE(opened.ok()) << opened.error().message;
  ASSERT_EQ(opened.value().ranks.size(), 2u);
  for (const analyzer::RankTrace& rank : opened.value().ranks) {
    std::vector<std::int64_t> reduced;
    for (const analyzer::Communication& operation : rank.communications)
      if (operation.operation == trace::Operation::all_reduce) reduced.push_back(operation.bytes);
    EXPECT_THAT(reduced, UnorderedElementsAre(-1, 1024, -1, -1, -1))
        << "of rank " << rank.rank << ": the program's own and DDP's";
  }
}

}  // namespace
}  // namespace lockstep::end_to_end
