// What Python's garbage collector takes of a pass is no computation.
#include "analyzer/import/run/garbage.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <tuple>

#include "analyzer/import/run/recorded_rank.h"
#include "analyzer/import/run/run.h"
#include "trace/events/operator_ranges.h"

namespace lockstep::analyzer::run {
namespace {

// A thread computes `backward` from 1000 to 2000 and `optimizer` from 2000 to 3000; `collector` collects
// garbage from 1500 to 2200, and the program has a range of that name from 2500 to 2600.
void write_collecting(trace::Writer& writer, std::uint64_t collector) {
  writer.set_metadata("rank", "0");
  writer.set_metadata("world_size", "2");
  const trace::LaneId compute = writer.add_lane({trace::LaneKind::compute_thread, kTrainer, 1, 0, "main"});
  const trace::LaneId host = writer.add_lane({trace::LaneKind::host_thread, kTrainer, 1, 0, "main"});
  const trace::LaneId ranges =
      writer.add_lane({trace::LaneKind::host_thread, kTrainer, collector, 0, "main (PyTorch)"});
  writer.append(trace::Step{host, 1000, 3000, 0});
  for (const auto& [begin, end, name] :
       {std::tuple(1000, 2000, "backward"), std::tuple(2000, 3000, "optimizer")})
    writer.append(
        trace::DeviceActivity{compute, begin, end, writer.intern(name), trace::ActivityClass::compute, 0, 0});
  const auto range = [&](trace::LaneId lane, std::int64_t begin, std::int64_t end, const char* domain) {
    writer.append(trace::HostRange{lane, lane, begin, end, writer.intern(trace::kGarbageCollection),
                                   writer.intern(domain), 0, 0, 0, true});
  };
  range(ranges, 1500, 2200, trace::kOperatorDomain);
  range(host, 2500, 2600, "my program");
}

// "1000-1500 2000-2000 2000-2000 2200-3000": the computations, in the order of the rank.
template <void (*kWrite)(trace::Writer&)>
std::string computed() {
  const TemporaryFolder folder;
  const RankImport import = must(import_file(write_file(folder, "rank-0.lst", kWrite)));
  std::string text;
  for (const Activity& activity : import.trace.activities)
    text += (text.empty() ? "" : " ") + std::string(import.strings.view(activity.name)) + ' ' +
            std::to_string(activity.begin) + '-' + std::to_string(activity.end);
  return text;
}

void on_the_same_thread(trace::Writer& writer) {
  write_collecting(writer, 1);
}
void on_another_thread(trace::Writer& writer) {
  write_collecting(writer, 2);
}

// A range keeps its begin and its end, with nothing computed there where that was cut.
TEST(GarbageCollections, AreCutOutOfWhatTheirThreadComputes) {
  EXPECT_EQ(computed<on_the_same_thread>(),
            "backward 1000-1500 backward 2000-2000 optimizer 2000-2000 optimizer 2200-3000");
}

TEST(GarbageCollections, OfOtherThreadsCutNothing) {
  EXPECT_EQ(computed<on_another_thread>(), "backward 1000-2000 optimizer 2000-3000");
}

}  // namespace
}  // namespace lockstep::analyzer::run
