// A program's own Python threads run beside training, under the same name: what they run and wait is not what
// the threads that train do.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <sstream>
#include <string>
#include <vector>

#include "analyzer/open_job.h"
#include "tests/end_to_end/support.h"
#include "tests/pytorch/torchrun.h"

namespace lockstep::end_to_end {
namespace {

// Prints what its main thread ran in the last half of its steps, and what its exporter ran meanwhile, ns.
constexpr const char* kExports = R"(
import json, sys, threading, time
import torch
import torch.distributed as dist

dist.init_process_group("gloo", init_method="file://" + sys.argv[1], rank=0, world_size=1)
weight = torch.ones(4, requires_grad=True)
optimizer = torch.optim.SGD([weight], lr=0.1)
stop, ran = False, 0

def export():
    global ran
    history = [{"loss": i * 0.5} for i in range(1000)]
    while not stop:
        json.dumps(history)
        ran = time.thread_time_ns()

exporter = threading.Thread(target=export)
exporter.start()
for step in range(120):
    if step == 60:
        main, before = time.thread_time_ns(), ran
    dist.all_reduce(torch.ones(4))
    weight.sum().backward()
    optimizer.step()
    time.sleep(0.02)
print(time.thread_time_ns() - main, ran - before)
stop = True
exporter.join()
)";

// What the threads that were followed had run until then.
std::int64_t ran_until(const std::vector<analyzer::SchedulingPoint>& points, analyzer::Nanoseconds time) {
  std::int64_t ran = 0;
  for (const analyzer::SchedulingPoint& point : points)
    if (point.time <= time) ran = point.on_cpu_ns;
  return ran;
}

class OwnThreads : public TorchTest {};

TEST_F(OwnThreads, OfPythonDoNotCountAsTraining) {
  for (const std::string stacks : {"20", "0"}) {
    const TemporaryFolder folder;
    const Outcome recorded = run({binary("lockstep"), "record", "--quiet", "--stacks", stacks, "-o",
                                  folder / "run", "--", LOCKSTEP_PYTHON, "-c", kExports, folder / "store"},
                                 kQuietEnvironment);
    ASSERT_EQ(recorded.exit_code, 0) << recorded.standard_error;
    std::int64_t main_ran = 0, exporter_ran = 0;
    std::istringstream(recorded.standard_output) >> main_ran >> exporter_ran;
    ASSERT_GT(exporter_ran, 0) << recorded.standard_output;
    const Result<analyzer::Job> job = analyzer::open_job({folder / "run"});
    ASSERT_TRUE(job.ok()) << job.error().message;
    ASSERT_EQ(job.value().ranks.size(), 1U);
    const std::vector<analyzer::SchedulingPoint>& points = job.value().ranks[0].scheduling;
    if (points.empty()) GTEST_SKIP() << "SKIPPED: no schedstat on this machine";
    // Until it is told of, in the first steps, the exporter is taken for one of the pool.
    const std::vector<analyzer::StepMark>& steps = job.value().ranks[0].steps;
    ASSERT_EQ(steps.size(), 120U);
    const std::int64_t followed = ran_until(points, steps.back().end) - ran_until(points, steps[60].begin);
    EXPECT_LT(followed, main_ran + exporter_ran / 3) << "--stacks " << stacks << ", of " << exporter_ran;
  }
}

}  // namespace
}  // namespace lockstep::end_to_end
