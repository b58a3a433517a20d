// Kernels of a pipeline's stage get their passes from the ranges around their launches.
#include "analyzer/import/run/device_passes.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <string>

#include "analyzer/import/run/recorded_rank.h"
#include "analyzer/import/run/run.h"
#include "trace/events/operator_ranges.h"

namespace lockstep::analyzer::run {
namespace {

constexpr int kMicrobatches = 2;

// A step of two forward and two backward passes, of which the latter are launched by another thread while
// PyTorch waits in `backward`; behind them the optimizer's kernel. Kernels run 1000 ns after their launches.
void write_stage(trace::Writer& writer, bool messages, const char* forward, const char* backward,
                 const char* domain) {
  writer.set_metadata("rank", "0");
  writer.set_metadata("world_size", "2");
  const trace::LaneId host = writer.add_lane({trace::LaneKind::host_thread, kTrainer, 1, 0, "main"});
  const trace::LaneId autograd = writer.add_lane({trace::LaneKind::host_thread, kTrainer, 2, 0, "autograd"});
  const trace::LaneId stream = writer.add_lane({trace::LaneKind::device_stream, kTrainer, 7, 0, ""});
  writer.append(trace::Step{host, 0, 9000, 3});
  trace::CorrelationId correlation = 0;
  const auto launch = [&](trace::LaneId lane, std::int64_t time, const char* kernel) {
    writer.append(trace::ApiCall{lane, time, time + 10, writer.intern("cudaLaunchKernel"), ++correlation});
    writer.append(trace::DeviceActivity{stream, time + 1000, time + 1100, writer.intern(kernel),
                                        trace::ActivityClass::compute, correlation, 0});
  };
  const auto range = [&](std::int64_t begin, std::int64_t end, const char* name, std::uint16_t depth) {
    writer.append(trace::HostRange{host, host, begin, end, writer.intern(name), writer.intern(domain), 0, 0,
                                   depth, true});
  };
  for (int pass = 0; pass < kMicrobatches; ++pass) {
    range(100 + 1000 * pass, 400 + 1000 * pass, forward, 0);
    launch(host, 200 + 1000 * pass, "gemm");
    range(500 + 1000 * pass, 900 + 1000 * pass, backward, 0);
    range(510 + 1000 * pass, 890 + 1000 * pass, backward, 1);
    launch(autograd, 600 + 1000 * pass, "gemm");
  }
  launch(host, 5000, "adam");
  if (!messages) return;
  writer.append(trace::ApiCall{host, 5100, 5110, writer.intern("cudaLaunchKernel"), ++correlation});
  writer.append(trace::DeviceActivity{stream, 6200, 6300, writer.intern("ncclDevKernel_SendRecv(args)"),
                                      trace::ActivityClass::compute, correlation, 0});
}

// "F0 B0 F1 B1 -": the passes and microbatches of the computations, in the order of the file.
template <void (*kWrite)(trace::Writer&)>
std::string passes() {
  const TemporaryFolder folder;
  const RankImport import = must(import_file(write_file(folder, "rank-0.lst", kWrite)));
  std::string text;
  for (const Activity& activity : import.trace.activities) {
    if (activity.activity_class != Class::compute) continue;
    if (!text.empty()) text += ' ';
    if (activity.compute == kNone) {
      text += '-';
      continue;
    }
    const Computation& computation = import.trace.computations[activity.compute];
    text += (computation.pass == Pass::forward ? "F" : "B") + std::to_string(computation.microbatch);
  }
  return text;
}

void stage_of_pytorch(trace::Writer& writer) {
  write_stage(writer, true, "forward", "backward", trace::kOperatorDomain);
}
void stage_of_megatron(trace::Writer& writer) {
  write_stage(writer, true, "forward-compute", "backward-compute", "");
}
void without_messages(trace::Writer& writer) {
  write_stage(writer, false, "forward", "backward", trace::kOperatorDomain);
}
void own_names(trace::Writer& writer) {
  write_stage(writer, true, "forward", "backward", "my program");
}

TEST(DevicePasses, AreOfTheRangesAroundLaunchesWhateverThreadLaunched) {
  EXPECT_EQ(passes<stage_of_pytorch>(), "F0 B0 F1 B1 -");
}

TEST(DevicePasses, AreKnownByTheFrameworksNames) {
  EXPECT_EQ(passes<stage_of_megatron>(), "F0 B0 F1 B1 -");
}

TEST(DevicePasses, AreNotGivenWhereNoMessagesAreExchanged) {
  EXPECT_EQ(passes<without_messages>(), "- - - - -");
}

// "forward" is a word that may mean anything.
TEST(DevicePasses, AreNotOfAProgramsOwnRangesOfTheName) {
  EXPECT_EQ(passes<own_names>(), "- - - - -");
}

}  // namespace
}  // namespace lockstep::analyzer::run
