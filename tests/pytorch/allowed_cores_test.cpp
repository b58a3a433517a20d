// Which cores a rank may run on is what it may use while it trains: programs pin themselves once they know
// their rank.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>

#include <string>

#include "analyzer/open_job.h"
#include "tests/end_to_end/support.h"
#include "tests/pytorch/torchrun.h"

namespace lockstep::end_to_end {
namespace {

// Trains since its process group is there, and pins itself to one core half a second later.
constexpr const char* kPinsItself = R"(
import os, sys, time
import torch
import torch.distributed as dist

dist.init_process_group("gloo", init_method="file://" + sys.argv[1], rank=0, world_size=1)
weight = torch.ones(4, requires_grad=True)
optimizer = torch.optim.SGD([weight], lr=0.1)
core = max(os.sched_getaffinity(0))
for step in range(50):
    if step == 5:
        os.sched_setaffinity(0, {core})
    dist.all_reduce(torch.ones(4))
    weight.sum().backward()
    optimizer.step()
    time.sleep(0.1)
print(core)
)";

class AllowedCores : public TorchTest {};

TEST_F(AllowedCores, AreThoseThatAProgramTakesOnceItHasBegun) {
  cpu_set_t allowed;
  ASSERT_EQ(sched_getaffinity(0, sizeof allowed, &allowed), 0);
  if (CPU_COUNT(&allowed) < 2) GTEST_SKIP() << "SKIPPED: this machine has one core";
  const TemporaryFolder folder;
  const Outcome recorded = run({binary("lockstep"), "record", "--quiet", "-o", folder / "run", "--",
                                LOCKSTEP_PYTHON, "-c", kPinsItself, folder / "store"},
                               {"OMP_NUM_THREADS=1", "PYTHONWARNINGS=ignore"});
  ASSERT_EQ(recorded.exit_code, 0) << recorded.standard_error;
  const Result<analyzer::Job> job = analyzer::open_job({folder / "run"});
  ASSERT_TRUE(job.ok()) << job.error().message;
  ASSERT_EQ(job.value().ranks.size(), 1U);
  EXPECT_EQ(job.value().ranks[0].core_set + "\n", recorded.standard_output);
}

}  // namespace
}  // namespace lockstep::end_to_end
